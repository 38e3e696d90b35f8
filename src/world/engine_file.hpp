// Finds the shared objects that the library loads when they are needed (engines/).
#pragma once
#include <string>

namespace shoal {

/// The path of the file in the folder that SHOAL_ENGINES names, or else in that of the build. The file need not exist.
std::string engine_file(const std::string& name);

}  // namespace shoal
