// What a block is, and the atomic counters by which blocks synchronise.
//
// A program is an array of blocks, usually more of them than PEs. A block is a plain, trivially copyable struct with pointers
// to data on its PE. It advances in steps. Step s computes state s + 1 from state s. A step is divided into tiles, which workers
// process in any order and at the same time. A block keeps two states and writes them alternately: state s is number s & 1.
//
// A block has sides. A channel joins a side of one block to a side of another block, or of the same block, in both directions:
// what one end packs in step s, the other end unpacks in step s + 1. A channel has two buffers for each direction, in the
// receiver's memory, which are used alternately like the states. To send, a block stores into the receiver's buffer and then adds
// one to the receiver's count of arrivals; no sender ever waits. There is no separate receive: a step may begin when the count of
// arrivals (StepWords) shows that all its input has arrived. The n-th send of a side matches the n-th receive of the other end.
//
// Members of a block B. All of them are const, since the data lie behind pointers:
//
// | member                                     | who calls it | what it does                                          |
// |--------------------------------------------|--------------|-------------------------------------------------------|
// | `Value`                                    |              | type of the values that channels carry                |
// | `tiles()`                                  | anybody      | number of tiles of a step, at least 1                 |
// | `start(w, tile)`                           | a worker     | writes the tile's part of state 0, and in both states |
// |                                            |              | whatever lies around it (its part of the halo)        |
// | `unpack(w, s, tile, side, const Value* in)`| a worker     | puts what came through a side beside state s (into    |
// |                                            |              | its halo): those values that this tile reads          |
// | `update(w, s, tile)`                       | a worker     | computes the tile's part of state s + 1 from state s  |
// | `pack(w, s, tile, side, Value* out)`       | a worker     | stores what the side sends of state s + 1: the tile's |
// |                                            |              | part of it                                            |
//
// Of the received values a tile reads only those that it has unpacked itself, and it packs only what it has updated itself. So
// unpack, update and pack may be one pass over each tile, without synchronisation between tiles (fusion C of the paper), or
// separate kernels over all tiles (no fusion, A, B). The same block serves for both.
//
// Optional members:
//
// kNear and near(tile, i) for i < kNear name the tiles of the block that a tile reads, so that it does not wait for the others.
// The order is free, repetitions are allowed, and the tile itself must be among them. The relation must be symmetric: if b is
// near a, a is near b.
// touches(tile, side) says whether a tile unpacks from or packs for a side at all.
//
// change(w, s, tile) is called after update. Each lane returns by how much the values that it looks at have changed, not
// negative, and the largest change is kept.
//
// give(w, s, tile, values) adds the tile's contribution of state s to a reduction; each lane adds that of the values that it
// looks at. kGives has one Reduction for each value, so it also says how many values there are (blocks/give.hpp).
// hear(w, s, tile, message) receives a message that the host sends to all blocks, or to one, before step s (tell() of a
// launcher). There may be one overload for each type of message. Each tile may change only what it alone reads, and nothing of
// state s that has already been packed.
//
// Between blocks of one PE on a GPU two ways avoid the buffers, if a block supports them. Arrivals are counted as usual, except
// where tiles of both blocks wait for each other directly (Side::tiles).
// read_beside(side, other), called on the host, makes update read the values beyond a side directly in the other block's state
// from then on. It returns false where that is not possible.
// hand_over(w, s, tile, side, other) replaces pack. It writes into the halo of the other block's state s + 1, as the other
// block's unpack would do. The last step of a run packs all the same, since blocks may be moved or stored after it.
//
// state(s, f) makes it possible to store and move a block. It calls f(T* data, n) for each array that state s and its halo
// consist of, in the same order and with the same sizes on whatever PE the block is.
//
// Source: Choi et al., Improving Scalability with GPU-Aware Asynchronous Tasks (Charm++): chare arrays, the Channel API, and
// the reference numbers of SDAG's `when`, whose place the counts take here. docs/decisions/0028-blocks.md has the proof.
#pragma once
#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// How the values of many blocks are combined into one.
enum class Reduction { sum, min, max };

}  // namespace shoal

namespace shoal::blocks {

using step_t = std::uint64_t;  ///< a step, counted from the array's start; also the reference number of what arrives

/// The counters of a block, in the memory of its PE. Neighbours, also those on other PEs, add to `arrived`.
struct StepWords {
  PaddedWord<std::uint64_t, Scope::system> arrived[2];   ///< arrivals for even and odd steps, since the start
  PaddedWord<std::uint64_t, Scope::system> finished[2];  ///< tiles done in even and odd steps, since the start
  PaddedWord<std::uint64_t, Scope::device> busy;         ///< ticks() that its tiles took, in runs that weigh
};

/// The counter of a tile: how many steps it has done.
using TileWord = Word<std::uint64_t, Scope::device>;

template <class B>
concept KnowsNearTiles = requires(const B& block, std::uint64_t tile, std::uint32_t i) {
  { block.near(tile, i) } -> std::convertible_to<std::uint64_t>;
  { B::kNear } -> std::convertible_to<std::uint32_t>;
};

/// Blocks that can read a neighbour's state in place.
template <class B>
concept ReadsBeside = requires(B& block, const B& other) {
  { block.read_beside(std::uint32_t{}, other) } -> std::convertible_to<bool>;
};

/// Blocks that can write what crosses a side directly to where the other block reads it, so that nothing is unpacked:
/// hand_over(w, s, tile, side, other) in place of pack. HandsOver: only workers of several lanes use it.
template <class B, class W>
concept CanHandOver = requires(const W& w, const B& block, const B& other) {
  block.hand_over(w, step_t{}, std::uint64_t{}, std::uint32_t{}, other);
};
template <class B, class W>
concept HandsOver = W::kMaxLanes >
1 && CanHandOver<B, W>;

/// Blocks that can say which tile of the other block lies beyond a tile that touches a side.
template <class B>
concept KnowsTilesBeyond = KnowsNearTiles<B> && requires(const B& block, std::uint64_t tile, std::uint32_t side) {
  { block.touches(tile, side) } -> std::convertible_to<bool>;
  { block.beyond(tile, side) } -> std::convertible_to<std::uint64_t>;
};

template <class B>
concept Gives = requires {
  std::size(B::kGives);
};

/// The atomic words of a PE.
struct PeWords {
  StateWord state;                                   ///< a RunState; every wait ends when it is not `running`
  PaddedWord<std::uint64_t, Scope::system> next;     ///< tiles that workers have taken, of the current run
  PaddedWord<std::uint64_t, Scope::system> changed;  ///< the bits of the largest change that was measured
};

/// The counters at one end of a channel to another GPU, in the memory of the PE that has this end. Kernels of one step each wait
/// for them: no host can order kernels of different processes, and between GPUs of one process a counter is faster than an event.
struct WireEnd {
  PaddedWord<std::uint64_t, Scope::system> came;    ///< steps for which all has come; only the other end writes it
  PaddedWord<std::uint64_t, Scope::system> packed;  ///< tiles that have packed for the side, of all steps
};

/// One end of a channel.
template <class Value>
struct Side {
  StepWords* other = nullptr;               ///< the counters of the block at the other end; null: no channel here
  const Value* in[2] = {nullptr, nullptr};  ///< received values, for even and odd steps
  Value* out[2] = {nullptr, nullptr};       ///< the other end's `in`
  const void* near = nullptr;               ///< the other block, if it is on the same PE of a GPU: for hand_over()
  bool reads = false, is_read = false;      ///< this block, or the other, reads the other's state in place
  /// If both are true: the counters of the other block's tiles; tiles at this side wait for these, not for arrivals. Else null.
  const TileWord* tiles = nullptr;
  WireEnd *wire = nullptr, *others_wire = nullptr;  ///< of a channel to another GPU: both ends
  std::uint64_t touching = 0;                       ///< of such a channel: tiles that pack for it in a step
};

/// A block as its PE sees it.
template <class B>
struct Slot {
  B block;
  StepWords* words;
  Side<typename B::Value>* sides;  ///< [n_sides]
  std::uint32_t n_sides;
  std::uint32_t channels;    ///< arrivals that a step needs: one for each channel, except where Side::tiles is used
  std::uint64_t first_tile;  ///< number of tiles of the blocks before it on this PE
  std::uint64_t tiles;
  TileWord* done;  ///< [tiles]
  /// Within a run, when blocks of a GPU read in place and hand over what they can: the number of sides that still must be
  /// unpacked, and of sides that are packed or handed over. Where it is 0, a step skips the loop over its sides.
  std::uint32_t unpacked, packed;
  bool tiles_meet;  ///< there are sides where Side::tiles is used
  bool wired;       ///< there are channels to other GPUs
};

/// What a worker sees of its PE. Passed by value.
template <class B>
struct PeView {
  Slot<B>* slots;  ///< [n_slots]
  std::uint32_t n_slots;
  std::uint64_t tiles;  ///< of one step of all slots
  PeWords* words;
  double* given = nullptr;  ///< [states that are reduced][tiles][kGives] in a run of blocks that give
};

/// What a run does.
struct StepRange {
  step_t first, end;
  bool measure;           ///< measure the largest change that the last step makes
  bool weigh = false;     ///< measure how long each block's tiles take
  step_t give_every = 0;  ///< blocks give of each state whose number is a multiple of it; 0: of none

  /// Whether state s is reduced, its index among the reduced states of this run, and how many these are.
  SHOAL_FN bool gives(step_t s) const { return give_every > 0 && s % give_every == 0; }
  SHOAL_FN step_t number(step_t s) const { return s / give_every - first / give_every - 1; }
  SHOAL_FN step_t n_given() const { return give_every > 0 ? end / give_every - first / give_every : 0; }
};

// The protocol. A tile may take step s when two conditions hold: the tiles that it reads have done step s - 1, and all neighbours
// of its block have finished step s - 1. Each neighbour signals the latter with one arrival for step s.
//
// Arrivals for steps of one parity share one counter, which needs no reset between steps. The count is exact, because no arrival
// for s + 2 can come before all arrivals for s: the neighbour sends it after its step s + 1. That step needs this block's arrival
// for s + 1, which is sent after this block's step s, and all tiles of step s began after all arrivals for s had come.
//
// The same argument shows that two buffers are enough: a neighbour writes the buffer of s + 2 in its step s + 1. By then this
// block has finished step s, so it has read the buffer of s. Two states are enough as well: in step s a tile overwrites its part
// of state s - 1, and by then all tiles that read that part have done step s - 1.
//
// Tiles of a block may be in different steps at the same time. But if the block has a channel, no tile is in s + 2 before all
// have done s, since the arrival for s + 2 needs this block's arrival for s + 1. So the finished tiles of one parity share one
// counter, too.
//
// Two blocks that read each other's states in place need no arrivals: a tile at such a side waits for the tile beyond the side in
// the same way as for tiles of its own block, and the same argument holds.

/// An upper bound of how many tiles a tile reads: those near it, and one beyond each side.
template <class B>
SHOAL_FN std::uint32_t near_tiles(const Slot<B>& slot) {
  if constexpr (KnowsTilesBeyond<B>) {
    return B::kNear + (slot.tiles_meet ? slot.n_sides : 0);
  } else if constexpr (KnowsNearTiles<B>) {
    return B::kNear;
  } else {
    return 1;
  }
}
/// The counter of the i-th tile that a tile reads; null: there is no i-th.
template <class B>
SHOAL_FN const TileWord* near_word_of(const Slot<B>& slot, const B& block, std::uint64_t tile, std::uint32_t i) {
  if constexpr (KnowsTilesBeyond<B>) {
    if (i >= B::kNear) {
      const std::uint32_t side = i - B::kNear;
      if (!block.touches(tile, side)) return nullptr;
      const TileWord* const tiles = slot.sides[side].tiles;
      return tiles == nullptr ? nullptr : tiles + block.beyond(tile, side);
    }
  }
  if constexpr (KnowsNearTiles<B>) {
    return slot.done + block.near(tile, i);
  } else {
    return nullptr;
  }
}

/// What a worker does besides its tiles: here nothing. (blocks/launch_cpu.hpp has another one, which carries to other processes.)
struct NothingBesides {
  SHOAL_FN void while_it_waits() const {}
  SHOAL_FN void after_a_tile(std::uint32_t, step_t) const {}  // slot, steps that the tile has taken
};

/// Waits until a tile may take step s. Every lane of the worker calls it. The lanes share out the counters, beginning with the
/// last lane, since the first lane may still be busy with the end of the tile before.
/// @return whether the tile may take the step; false: the run has ended. Afterwards all lanes see what was done before.
/// @param near_word  near_word(i) is the counter of the i-th tile that this one reads; null: there is no i-th
template <class B, class W, class NearWord, class Besides = NothingBesides>
SHOAL_FN bool await_tile(const W& w, const StateWord& state, const Slot<B>& slot, step_t s, const NearWord& near_word,
                         const Besides& besides = {}) {
  const std::uint32_t near = near_tiles(slot);
  bool go = true;
  const auto wait_until = [&](auto ready) {
    return spin_wait(state, [&] {
      if (ready()) return true;
      besides.while_it_waits();
      return false;
    });
  };
  for (std::uint32_t i = w.size() - 1 - w.lane(); i < near + 2 && go; i += w.size()) {
    if (i == 0) {
      go = state.load() == 0;
    } else if (i == 1) {
      if (slot.channels == 0) continue;
      const std::uint64_t all = std::uint64_t{slot.channels} * (s / 2 + 1);
      go = wait_until([&] { return slot.words->arrived[s & 1].load_acquire() >= all; });
    } else if constexpr (KnowsNearTiles<B>) {
      const TileWord* const done = near_word(i - 2);
      if (done == nullptr) continue;
      go = wait_until([&] { return done->load_acquire() >= s; });
    } else if (s > 0) {
      const std::uint64_t all = slot.tiles * ((s - 1) / 2 + 1);
      go = wait_until([&] { return slot.words->finished[(s - 1) & 1].load_acquire() >= all; });
    }
  }
  return !w.any(!go);
}

/// Records that a tile has done step s, including its packs. Whoever finishes the last tile of the block sends the arrivals to
/// the neighbours. One lane calls it, after a barrier of the worker.
template <class B>
SHOAL_FN void finish_tile(const Slot<B>& slot, step_t s, std::uint64_t tile) {
  if constexpr (KnowsNearTiles<B>) {
    slot.done[tile].store_release(s + 1);
    if (slot.channels == 0) return;
  }
  if (slot.words->finished[s & 1].fetch_add_acq_rel(1) + 1 != (s / 2 + 1) * slot.tiles) return;
  release_several<Scope::system>();
  for (std::uint32_t i = 0; i < slot.n_sides; ++i) {
    if (slot.sides[i].other == nullptr || slot.sides[i].tiles != nullptr) continue;
    auto& count = slot.sides[i].other->arrived[(s + 1) & 1];
    if constexpr (kOrdersEach) {
      count.fetch_add_release(1);
    } else {
      count.fetch_add(1);
    }
  }
}

/// Sets those members of a slot that follow from its sides. @param hands  workers use hand_over() between blocks of the same PE
template <class B>
void count_sides(Slot<B>& slot, const Side<typename B::Value>* sides, bool hands) {
  slot.channels = slot.unpacked = slot.packed = 0;
  slot.tiles_meet = slot.wired = false;
  for (std::uint32_t i = 0; i < slot.n_sides; ++i) {
    const auto& side = sides[i];
    if (side.other == nullptr) continue;
    slot.channels += side.tiles == nullptr ? 1 : 0;
    slot.tiles_meet |= side.tiles != nullptr;
    slot.wired |= side.wire != nullptr;
    slot.unpacked += !side.reads && !(hands && side.near != nullptr) ? 1 : 0;
    slot.packed += !side.is_read ? 1 : 0;
  }
}

/// Sets the counters to the values that they have just before step s, when all its input has arrived.
template <class B>
void rewind(StepWords& words, const Slot<B>& slot, step_t s = 0) {
  for (const step_t parity : {0, 1}) {
    const auto steps = [&](step_t before) { return (before + 1 - parity) / 2; };  // of this parity
    words.arrived[parity].store(slot.channels * steps(s + 1));
    words.finished[parity].store(slot.tiles * steps(s));
  }
  words.busy.store(0);
}
/// The same for an end of a channel to another GPU. @param touching  Side::touching
inline void rewind(WireEnd& end, std::uint64_t touching, step_t s) {
  end.came.store(s);
  end.packed.store(s * touching);
}

}  // namespace shoal::blocks
