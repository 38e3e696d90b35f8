// How a CPU thread writes a row of cells: vectorised, and with non-temporal stores where the states are larger than the caches.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shoal::blocks {

/// row[i] = f(i) for i in [0, n).
template <class T, class F>
void write_row(T* row, std::int64_t n, const F& f) {
  for (std::int64_t i = 0; i < n; ++i) row[i] = f(i);
}

#if defined(__x86_64__)
/// The same, a few cache lines at a time: computes into a buffer in the first-level cache and stores from there past the caches
/// (non-temporal stores), so that no line is read only to be overwritten. Meanwhile prefetches `ahead`, [n] values, into the
/// second-level cache: rows are as long as a page, and the processor's own prefetching ends at a page.
/// @param row    aligned to 64 bytes
template <class T, class F>
__attribute__((target("avx2"))) void stream_row(T* row, std::int64_t n, const T* ahead, const F& f) {
  constexpr std::int64_t kLine = 64 / sizeof(T), kSome = 4 * kLine;
  alignas(64) T some[kSome];
  std::int64_t i = 0;
  for (; i + kSome <= n; i += kSome) {
    for (std::int64_t k = 0; k < kSome; k += kLine)
      _mm_prefetch(reinterpret_cast<const char*>(ahead + i + k), _MM_HINT_T1);
    for (std::int64_t k = 0; k < kSome; ++k) some[k] = f(i + k);
    for (std::int64_t k = 0; k < kSome; k += kLine / 2) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(row + i + k),
                          _mm256_load_si256(reinterpret_cast<const __m256i*>(some + k)));
    }
  }
  for (; i < n; ++i) row[i] = f(i);
}
/// Call it after the last stream_row of a tile: orders the non-temporal stores before the counter that publishes the tile.
inline void end_streams() { _mm_sfence(); }
inline bool can_stream() { return __builtin_cpu_supports("avx2") != 0; }
#else
template <class T, class F>
void stream_row(T* row, std::int64_t n, const T*, const F& f) {
  write_row(row, n, f);
}
inline void end_streams() {}
inline bool can_stream() { return false; }
#endif

}  // namespace shoal::blocks
