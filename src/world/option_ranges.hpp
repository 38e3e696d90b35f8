// The ranges of numeric options of a run, for help texts. check_options() refuses other values.
#pragma once
#include <string>

namespace shoal {

/// "0 to 64 (0 chooses)". @param option  its name in to_json(): "pes_per_gpu". @return  empty if the option is no number
std::string legal_range(const std::string& option);

}  // namespace shoal
