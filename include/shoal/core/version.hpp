// The version, in one place for C++ and Python; CMakeLists.txt has the same version (a test compares them).
#pragma once

namespace shoal {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace shoal
