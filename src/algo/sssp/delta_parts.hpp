// Building blocks of delta-stepping on CPU threads: arithmetic for each kind of distance, rows stored for sequential reading, and
// buckets.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "shoal/algo/sssp.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal::sssp_delta {

struct Narrow {
  using Word = std::uint32_t;
  using Weight = std::uint32_t;
  static Word add(Word distance, Weight weight) { return std::min(distance, kTooFar - weight) + weight; }
  static double value(Word distance) { return distance; }
  /// The largest distance that is at most `value`; `value` must not be negative.
  static Word at_most(double value) { return value < kTooFar ? static_cast<Word>(value) : kTooFar; }
  static Weight weight(ArcWeights weights, arc_t at) { return static_cast<Weight>(weights.ints[at]); }
};
struct Wide {
  using Word = std::uint64_t;
  using Weight = std::uint32_t;
  static Word add(Word distance, Weight weight) { return distance + weight; }
  static double value(Word distance) { return static_cast<double>(distance); }
  static Word at_most(double value) { return static_cast<Word>(value); }
  static Weight weight(ArcWeights weights, arc_t at) { return static_cast<Weight>(weights.ints[at]); }
};
struct Real {
  using Word = std::uint64_t;
  using Weight = double;
  static Word add(Word distance, Weight weight) {
    return std::bit_cast<Word>(std::bit_cast<double>(distance) + weight);
  }
  static double value(Word distance) { return std::bit_cast<double>(distance); }
  static Word at_most(double value) { return std::bit_cast<Word>(value); }
  static Weight weight(ArcWeights weights, arc_t at) { return weights.reals[at]; }
};

/// The rows of all PEs, with each weight beside its target, so that a row is read sequentially. If some arcs are heavy, each row is
/// sorted by weight, so that light arcs (weight below delta) come first.
template <class Math>
class Rows {
 public:
  using Weight = typename Math::Weight;
  struct Arc {
    vertex_t target;
    Weight weight;
  };
  struct Place {
    arc_t begin, heavy;  ///< where the row begins, and where its heavy arcs begin; both end where the next row begins
  };

  /// @param delta  arcs of weight below it are light; if it is above every weight, all arcs are light and no row is sorted
  Rows(const PlacedGraph& graph, double delta)
      : sorted_(delta <= graph.max_weight), place_(graph.num_vertices + 1), arc_(graph.num_arcs) {
    arc_t first_arc = 0;
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const CsrView& rows = graph.out[p];
      const arc_t shift = first_arc - rows.offsets[0];
      parallel_ranges(rows.count, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          fill_row(place_[rows.first + i], rows, graph.out_weights[p], i, shift, delta);
        }
      });
      first_arc += rows.offsets[rows.count] - rows.offsets[0];
    }
    place_[graph.num_vertices] = {first_arc, first_arc};
  }

  bool has_heavy() const { return sorted_; }
  const Place* place(vertex_t v) const { return &place_[v]; }
  const Arc* begin(vertex_t v) const { return arc_.data() + place_[v].begin; }
  const Arc* heavy(vertex_t v) const { return arc_.data() + place_[v].heavy; }
  const Arc* end(vertex_t v) const { return arc_.data() + place_[v + 1].begin; }

 private:
  void fill_row(Place& place, const CsrView& rows, ArcWeights weights, std::int64_t i, arc_t shift, double delta) {
    const arc_t from = rows.offsets[i], to = rows.offsets[i + 1];
    Arc* const row = arc_.data() + (from + shift);
    for (arc_t a = from; a < to; ++a) row[a - from] = {rows.targets[a], Math::weight(weights, a)};
    Arc* const end = row + (to - from);
    Arc* heavy = end;
    if (sorted_) {
      std::sort(row, end, [](const Arc& a, const Arc& b) { return a.weight < b.weight; });
      heavy = std::partition_point(row, end, [&](const Arc& arc) { return static_cast<double>(arc.weight) < delta; });
    }
    place = {from + shift, heavy - arc_.data()};
  }

  bool sorted_;
  HostArray<Place> place_;  // [num_vertices + 1]
  HostArray<Arc> arc_;      // [num_arcs]
};

/// A waiting vertex, with the distance that it had when it was added. If it has come nearer since, there is another entry for it.
template <class Word>
struct Entry {
  vertex_t v;
  Word distance;
};

/// The entries that one thread has put aside for later: the next kWindow buckets separately by number, all later ones together.
template <class Word>
class Buckets {
 public:
  static constexpr std::int64_t kWindow = 64;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  void clear() {
    for (auto& bucket : near_) bucket.clear();
    far_.clear();
    nearest_far_ = kNone;
  }
  /// @param number   bucket of the entry, at least `current`
  /// @param current  lowest bucket that will be added to or asked for from now on; never less than in earlier calls
  void add(std::int64_t number, std::int64_t current, Entry<Word> entry) {
    if (number < current + kWindow) {
      (*this)[number].push_back(entry);
    } else {
      far_.push_back(entry);
      nearest_far_ = std::min(nearest_far_, number);
    }
  }
  std::vector<Entry<Word>>& operator[](std::int64_t number) { return near_[number % kWindow]; }
  /// The first bucket at or after `current` that has entries; kNone if there is none.
  std::int64_t first(std::int64_t current) const {
    for (std::int64_t b = current; b < current + kWindow; ++b) {
      if (!near_[b % kWindow].empty()) return std::min(b, nearest_far_);
    }
    return nearest_far_;
  }
  bool far_reached(std::int64_t current) const { return nearest_far_ < current + kWindow; }
  /// Distributes the far entries over buckets, now that `current` is reached. @param number_of  bucket of an entry; kNone: drop it
  template <class F>
  void spread_far(std::int64_t current, F&& number_of) {
    std::vector<Entry<Word>> far;
    far.swap(far_);
    nearest_far_ = kNone;
    for (const Entry<Word>& entry : far) {
      const std::int64_t number = number_of(entry);
      if (number != kNone) add(number, current, entry);
    }
  }

 private:
  std::vector<Entry<Word>> near_[kWindow];
  std::vector<Entry<Word>> far_;
  std::int64_t nearest_far_ = kNone;
};

}  // namespace shoal::sssp_delta
