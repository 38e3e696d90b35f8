#include "shoal/world/decision.hpp"

#include <algorithm>

namespace shoal {

std::string to_text(const Decision& decision) {
  return decision.reason.empty() ? decision.value : decision.value + ": " + decision.reason;
}

std::string value_of(const Decisions& decisions, const std::string& option) {
  const auto last = std::find_if(decisions.rbegin(), decisions.rend(),
                                 [&](const Decision& decision) { return decision.option == option; });
  return last == decisions.rend() ? "" : last->value;
}

void decide_again(Decisions& decisions, const std::string& option, const std::string& value,
                  const std::string& reason) {
  for (Decision& decision : decisions) {
    if (decision.option == option) decision.value = value, decision.reason = reason;
  }
}

}  // namespace shoal
