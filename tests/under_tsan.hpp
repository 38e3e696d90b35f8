// Whether this build uses ThreadSanitizer. ThreadSanitizer makes tests ten times slower, and it searches for data races, not
// for wrong results. So tests under it run only one of several inputs or options that take the same paths through the code.
#pragma once

namespace shoal::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderTsan = true;
#else
inline constexpr bool kUnderTsan = false;
#endif

}  // namespace shoal::test
