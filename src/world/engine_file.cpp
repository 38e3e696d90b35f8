#include "engine_file.hpp"

#include <cstdlib>

namespace shoal {

std::string engine_file(const std::string& name) {
  const char* const folder = std::getenv("SHOAL_ENGINES");
  return std::string(folder != nullptr ? folder : SHOAL_ENGINES_FOLDER) + "/" + name;
}

}  // namespace shoal
