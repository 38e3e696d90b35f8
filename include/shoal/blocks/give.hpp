// Reductions over an array of blocks: what blocks give of a state becomes one value. (What the host does: blocks/given.hpp.)
//
// A block that gives has
//   static constexpr Reduction kGives[] = {Reduction::sum, Reduction::max};
//   give(w, s, tile, values)   adds what this lane looks at of the tile's part of state s to values[0], values[1], as kGives says
// In a run tiles give when they have been updated, and nobody waits for it: each stores its values. The host makes one of them
// afterwards, tile after tile and block after block. So a sum has the same bits on any number of PEs and processes and in every form,
// as long as blocks have the same tiles, and workers as many lanes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "shoal/blocks/block.hpp"
#include "shoal/core/types.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal::blocks {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// What changes nothing.
SHOAL_FN constexpr double nothing_given(Reduction how) {
  return how == Reduction::sum ? 0.0 : how == Reduction::min ? kInfinity : -kInfinity;
}
SHOAL_FN constexpr double reduced(Reduction how, double a, double b) {
  return how == Reduction::sum ? a + b : how == Reduction::min ? (b < a ? b : a) : (b > a ? b : a);
}

/// How many values a block gives (0, where it gives none), and how the I-th is reduced.
template <class B>
inline constexpr std::size_t kGiven = 0;
template <Gives B>
inline constexpr std::size_t kGiven<B> = std::size(B::kGives);
template <class B, std::size_t I>
inline constexpr Reduction kReduced = B::kGives[I];

/// Of two values.
template <Reduction How>
struct Reduced {
  SHOAL_FN double operator()(double a, double b) const { return reduced(How, a, b); }
};
template <class B, Worker W, std::size_t... I>
SHOAL_FN void give_values(const W& w, const B& block, step_t s, std::uint64_t tile, double* at,
                          std::index_sequence<I...>) {
  double values[] = {nothing_given(kReduced<B, I>)...};
  block.give(w, s, tile, values);
  ((values[I] = w.combine(values[I], nothing_given(kReduced<B, I>), Reduced<kReduced<B, I>>{})), ...);
  if (w.lane() == 0) ((at[I] = values[I]), ...);
}

/// Stores what a tile gives of state s. Every lane.
/// @param at  [kGives]
template <class B, Worker W>
SHOAL_FN void give_tile(const W& w, const B& block, step_t s, std::uint64_t tile, double* at) {
  if constexpr (Gives<B>) {
    static_assert(Combines<W>, "such a worker does not combine what its lanes give");
    give_values(w, block, s, tile, at, std::make_index_sequence<kGiven<B>>{});
  }
}

/// What a tile of state s gives within a run that reduces it; else nothing.
/// @param tile  of its block, whose place on the PE `slot` has
template <class B, Worker W>
SHOAL_FN void give_in_run(const W& w, const PeView<B>& pe, const Slot<B>& slot, const StepRange& range, step_t s,
                          std::uint64_t tile) {
  if constexpr (Gives<B>) {
    if (!range.gives(s)) return;
    const std::uint64_t at = range.number(s) * pe.tiles + slot.first_tile + tile;
    give_tile(w, B(slot.block), s, tile, pe.given + at * kGiven<B>);
  }
}

}  // namespace shoal::blocks
