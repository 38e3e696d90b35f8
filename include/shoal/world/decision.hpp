// Decisions for reports: the values that were chosen where the options left a choice, and what a run found out about
// itself.
#pragma once
#include <string>
#include <vector>

namespace shoal {

struct Decision {
  std::string option;  ///< the option's name ("worker"), or another topic that a run reports on ("sampling")
  std::string value;   ///< "block"
  std::string reason;  ///< "a few very long rows would keep a single warp busy for long"; may be empty
};

/// In the order in which they were made.
using Decisions = std::vector<Decision>;

/// "value: reason", for people; only the value if there is no reason.
std::string to_text(const Decision& decision);

/// The value that was decided last for an option; empty if none was.
std::string value_of(const Decisions& decisions, const std::string& option);

/// Replaces the value and the reason of an option that has been decided. Does nothing if it has not been decided.
void decide_again(Decisions& decisions, const std::string& option, const std::string& value, const std::string& reason);

}  // namespace shoal
