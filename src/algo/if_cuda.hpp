// What differs between builds with and without CUDA. No other header asks which it is, so that most sources are the same in both.
#pragma once

namespace shoal {

/// A function that only builds with CUDA have; null in others.
#if defined(SHOAL_HAVE_CUDA)
template <auto* kFunction>
inline constexpr auto* if_cuda = kFunction;
#else
template <auto* kFunction>
inline constexpr decltype(kFunction) if_cuda = nullptr;
#endif

}  // namespace shoal
