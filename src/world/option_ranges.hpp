// What the numbers among the options of a run may be, for help: check_options() refuses all else.
#pragma once
#include <string>

namespace shoal {

/// "0 to 64 (0 chooses)". @param option  as in to_json(): "pes_per_gpu". @return  empty where it is no number
std::string legal_range(const std::string& option);

}  // namespace shoal
