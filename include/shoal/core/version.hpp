// The version, in one place for C++ and Python; CMakeLists.txt says the same (a test compares them).
#pragma once

namespace shoal {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace shoal
