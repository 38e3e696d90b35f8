// Whether this is a build under ThreadSanitizer. It makes everything ten times slower, and looks for accesses that meet, not for
// wrong answers: of inputs and options that take the same paths through the code it gets one.
#pragma once

namespace shoal::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderTsan = true;
#else
inline constexpr bool kUnderTsan = false;
#endif

}  // namespace shoal::test
