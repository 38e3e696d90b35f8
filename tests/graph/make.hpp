// Graphs by name, for tests.
#pragma once
#include <string>

#include "shoal/graph/generate.hpp"

namespace shoal::test {

/// @param argument  as of the command: "kron:10,directed"
inline Csr make(const std::string& argument) { return generate(parse_generator(argument)); }

}  // namespace shoal::test
