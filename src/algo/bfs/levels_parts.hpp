// Parts of the level-synchronous search on CPU threads: a queue of vertices, a bitmap of vertices, and masks of 64 levels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "shoal/core/array.hpp"
#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::bfs_levels {

/// n uninitialised elements, in huge pages if the system grants them: random access to a large array then misses the caches, but
/// not the TLB as well.
template <class T>
HostArray<T> large_array(std::int64_t n) {
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  const std::size_t bytes = (static_cast<std::size_t>(n) * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
  if (static_cast<std::size_t>(n) * sizeof(T) < kHugePage) return HostArray<T>(n);
  void* p = std::aligned_alloc(kHugePage, bytes);
  if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  madvise(p, bytes, MADV_HUGEPAGE);  // advice: refusal changes nothing
#endif
  return HostArray<T>(static_cast<T*>(p), n, std::shared_ptr<void>(p, std::free));
}

/// Vertices in the order in which one thread found them. Keeps its memory when it is cleared.
class VertexQueue {
 public:
  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const vertex_t* begin() const { return data_.data(); }
  const vertex_t* end() const { return data_.data() + size_; }
  void clear() { size_ = 0; }

  /// Makes room for `more` vertices after the last. @throws std::bad_alloc with nothing changed
  /// @return where to write the first of them; afterwards call filled_to() with the end of what was written
  vertex_t* reserve(std::int64_t more) {
    if (size_ + more > data_.size()) grow(size_ + more);
    return data_.data() + size_;
  }
  void filled_to(const vertex_t* end) { size_ = end - data_.data(); }
  void append(vertex_t v) {
    *reserve(1) = v;
    ++size_;
  }

 private:
  /// Out of line: inlined, it takes registers from the loops that append.
  [[gnu::noinline]] void grow(std::int64_t wanted) {
    auto larger = large_array<vertex_t>(std::max<std::int64_t>({wanted, 2 * data_.size(), 1024}));
    if (size_ > 0) std::memcpy(larger.data(), data_.data(), size_ * sizeof(vertex_t));
    data_.swap(larger);
  }

  HostArray<vertex_t> data_;
  std::int64_t size_ = 0;
};

/// One bit per placed vertex, in 64-bit words. A word in which a PE's range begins may belong to several PEs.
class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(std::int64_t n) : words_(large_array<std::uint64_t>(words_of(n))) {}
  /// In memory that the caller owns. @param words  [words_of(n)]
  Bitmap(std::uint64_t* words, std::int64_t n) : words_(words, words_of(n), nullptr) {}
  static std::int64_t words_of(std::int64_t n) { return (n + 63) / 64; }
  const std::uint64_t* data() const { return words_.data(); }
  bool test(vertex_t v) const { return (words_[v / 64] >> (v % 64)) & 1; }
  std::uint64_t& word(std::int64_t w) { return words_[w]; }
  std::uint64_t word(std::int64_t w) const { return words_[w]; }
  /// Any thread may call it. @return whether the bit was not set before
  bool set(vertex_t v) {
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    std::uint64_t& word = words_[v / 64];
    for (std::uint64_t old = load(word); (old & bit) == 0;) {
      if (compare_swap(word, old, old | bit)) return true;
    }
    return false;
  }
  void swap(Bitmap& other) { words_.swap(other.words_); }

 private:
  HostArray<std::uint64_t> words_;
};

/// The 64-bit words that hold vertices of one PE, or of one process: words [first(), last()), and which bits of them belong to it.
struct OwnedWords {
  std::int64_t begin, end;  // placed vertices
  explicit OwnedWords(const CsrView& rows)
      : OwnedWords(rows.first, static_cast<std::int64_t>(rows.first) + rows.count) {}
  OwnedWords(std::int64_t begin, std::int64_t end) : begin(begin), end(end) {}

  std::int64_t first() const { return begin / 64; }
  std::int64_t last() const { return begin == end ? first() : (end + 63) / 64; }
  /// Bits of word w in [first(), last()) that belong to the PE or process.
  std::uint64_t mask(std::int64_t w) const {
    std::uint64_t bits = ~std::uint64_t{0};
    if (w * 64 < begin) bits &= ~std::uint64_t{0} << (begin - w * 64);
    if (w * 64 + 64 > end) bits &= ~std::uint64_t{0} >> (w * 64 + 64 - end);
    return bits;
  }
};

/// Bit i is set where levels[i] == wanted, i in [0, count), count at most 64.
inline std::uint64_t equal_mask(const level_t* levels, level_t wanted, int count) {
  std::uint64_t bits = 0;
#if defined(__SSE2__)
  if (count == 64) {
    const __m128i x = _mm_set1_epi32(static_cast<int>(wanted));
    auto equal = [&](int i) {
      return _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + i)), x);
    };
    for (int i = 0; i < 64; i += 16) {
      const __m128i low = _mm_packs_epi32(equal(i), equal(i + 4)), high = _mm_packs_epi32(equal(i + 8), equal(i + 12));
      bits |= static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) << i;
    }
    return bits;
  }
#endif
  for (int i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(levels[i] == wanted) << i;
  return bits;
}

}  // namespace shoal::bfs_levels
