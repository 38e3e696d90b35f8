// Reductions over an array of blocks: combine the values that all blocks give of a state. (The host's part: blocks/given.hpp.)
//
// A block that gives has
//   static constexpr Reduction kGives[] = {Reduction::sum, Reduction::max};
//   give(w, s, tile, values)   combines what this lane reads of the tile's part of state s into values[0] (sum), values[1] (max)
// In a run, each tile gives after its update and stores its values in a place of its own, so nothing waits for a reduction.
// Later the host combines them, tile by tile and block by block. So a sum has the same bits on any number of PEs and processes
// and in every form, as long as blocks have the same tiles and workers have as many lanes.
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
/// The neutral element of a reduction.
SHOAL_FN constexpr double nothing_given(Reduction how) {
  return how == Reduction::sum ? 0.0 : how == Reduction::min ? kInfinity : -kInfinity;
}
SHOAL_FN constexpr double reduced(Reduction how, double a, double b) {
  return how == Reduction::sum ? a + b : how == Reduction::min ? (b < a ? b : a) : (b > a ? b : a);
}

/// How many values a block gives (0: it gives none), and how the I-th is reduced.
template <class B>
inline constexpr std::size_t kGiven = 0;
template <Gives B>
inline constexpr std::size_t kGiven<B> = std::size(B::kGives);
template <class B, std::size_t I>
inline constexpr Reduction kReduced = B::kGives[I];

/// A reduction of two values as a function object.
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

/// Calls give() of a tile, combines the values of all lanes, and stores them. Every lane of the worker calls it.
/// @param at  [kGives]
template <class B, Worker W>
SHOAL_FN void give_tile(const W& w, const B& block, step_t s, std::uint64_t tile, double* at) {
  if constexpr (Gives<B>) {
    static_assert(Combines<W>, "such a worker does not combine what its lanes give");
    give_values(w, block, s, tile, at, std::make_index_sequence<kGiven<B>>{});
  }
}

/// If the run reduces state s, stores what a tile gives of it. Every lane of the worker calls it.
/// @param tile  number of the tile in its block, the block of `slot`
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
