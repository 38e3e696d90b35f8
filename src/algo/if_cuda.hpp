// The difference between builds with and without CUDA. No other header tests for CUDA, so most sources are the same in both.
#pragma once

namespace shoal {

/// A function that exists only in builds with CUDA; null in other builds.
#if defined(SHOAL_HAVE_CUDA)
template <auto* kFunction>
inline constexpr auto* if_cuda = kFunction;
#else
template <auto* kFunction>
inline constexpr decltype(kFunction) if_cuda = nullptr;
#endif

}  // namespace shoal
