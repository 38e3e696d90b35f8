// What was decided where the options left something open, and what a run found out about itself: data, for reports.
#pragma once
#include <string>
#include <vector>

namespace shoal {

struct Decision {
  std::string option;  ///< as options name it ("worker"), or what else a run has to say ("sampling")
  std::string value;   ///< "block"
  std::string reason;  ///< "a few very long rows keep a warp busy for long"; may be empty
};

/// In the order in which they were made.
using Decisions = std::vector<Decision>;

/// "value: reason", as people read it; the value alone where there is no reason.
std::string to_text(const Decision& decision);

/// The value that was decided last for an option; empty when nothing was.
std::string value_of(const Decisions& decisions, const std::string& option);

/// Another value and reason for an option that has been decided. Nothing happens where nothing was.
void decide_again(Decisions& decisions, const std::string& option, const std::string& value, const std::string& reason);

}  // namespace shoal
