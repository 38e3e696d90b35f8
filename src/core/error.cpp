#include "shoal/core/error.hpp"

#include "shoal/core/text.hpp"

namespace shoal {

Error::Error(const std::string& line) : std::runtime_error(printable(line)) {}

}  // namespace shoal
