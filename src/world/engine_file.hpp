// Where the shared objects are that the library loads when they are needed (engines/).
#pragma once
#include <string>

namespace shoal {

/// Of the folder that SHOAL_ENGINES names, or of the build's. Whether it exists is another matter.
std::string engine_file(const std::string& name);

}  // namespace shoal
