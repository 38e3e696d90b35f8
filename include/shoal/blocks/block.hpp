// What a block is, and the words through which blocks meet.
//
// A program is an array of blocks, more than there are PEs. A block is a plain struct, trivially copyable, with pointers to
// data on its PE. It takes steps. Step s makes state s + 1 of state s, in tiles, which workers do in any order and at the same
// time. A block keeps two states and writes them in turn (s & 1).
//
// A block has sides. A channel joins a side of one block with a side of another, or of the same, in both directions: what
// either packs in step s, the other unpacks in step s + 1. The memory of a channel is two buffers for each direction, at the
// receiver, which are used in turn as states are. To send is to store into the receiver's buffer, and then to add one to the
// receiver's count of arrivals; nobody waits for a send. A receive is the start of a step: it may begin when all that it needs
// has arrived, that is, when the count says so (StepWords). The n-th send of a side matches the n-th receive of the other.
//
// Members of a block B, all of them const, since the data lie behind pointers:
//
// | member                                     | who calls it | what it does                                          |
// |--------------------------------------------|--------------|-------------------------------------------------------|
// | `Value`                                    |              | what crosses channels                                 |
// | `tiles()`                                  | anybody      | tiles of a step, at least 1                           |
// | `start(w, tile)`                           | a worker     | writes the tile's part of state 0, and whatever lies  |
// |                                            |              | around it in either state                             |
// | `unpack(w, s, tile, side, const Value* in)`| a worker     | puts what came through a side, as far as the tile     |
// |                                            |              | reads it, beside state s                              |
// | `update(w, s, tile, bool measure)`         | a worker     | makes the tile's part of state s + 1 of state s;      |
// |                                            |              | returns how much this lane changed, if asked          |
// | `pack(w, s, tile, side, Value* out)`       | a worker     | stores the tile's part of what goes out at a side, of |
// |                                            |              | state s + 1                                           |
//
// A tile reads only what it has unpacked itself, and packs only what it has updated itself. So the three may be one pass over
// a tile, with nothing between tiles (fusion C of the paper), or kernels of their own over all tiles (no fusion, A, B): the
// block does not say which.
//
// Source: Choi et al., Improving Scalability with GPU-Aware Asynchronous Tasks (Charm++): chare arrays, the Channel API, and
// the reference numbers of SDAG's `when`, which are the counts here. docs/decisions/0028-blocks.md has the proof.
#pragma once
#include <cstdint>
#include <type_traits>

#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

using step_t = std::uint64_t;  ///< a step, counted from the array's start; also the reference number of what arrives

/// The words of a block, in the memory of its PE. Neighbours on other PEs add to `arrived`.
struct StepWords {
  PaddedWord<std::uint64_t, Scope::system> arrived[2];  ///< for steps of either parity, from the start on
  PaddedWord<std::uint64_t, Scope::system> finished;    ///< tiles, of all steps
};

/// The words of a PE.
struct PeWords {
  StateWord state;                                   ///< RunState: ends waits
  PaddedWord<std::uint64_t, Scope::system> next;     ///< tiles that workers have taken, of the current run
  PaddedWord<std::uint64_t, Scope::system> changed;  ///< the bits of the largest change that was measured
};

/// One end of a channel.
template <class Value>
struct Side {
  StepWords* other = nullptr;               ///< the words of the block at the other end; null: no channel here
  const Value* in[2] = {nullptr, nullptr};  ///< what came, for steps of either parity
  Value* out[2] = {nullptr, nullptr};       ///< the other end's `in`
};

/// A block as its PE has it.
template <class B>
struct Slot {
  B block;
  StepWords* words;
  Side<typename B::Value>* sides;  ///< [n_sides]
  std::uint32_t n_sides;
  std::uint32_t needs;       ///< arrivals for a step: one for each channel, and one of its own
  std::uint64_t first_tile;  ///< tiles of the blocks before it on this PE
  std::uint64_t tiles;
};

/// What a worker sees of its PE. By value.
template <class B>
struct PeView {
  Slot<B>* slots;  ///< [n_slots]
  std::uint32_t n_slots;
  std::uint64_t tiles;  ///< of one step of all of them
  PeWords* words;
};

/// What a run does.
struct StepRange {
  step_t first, end;
  bool measure;  ///< the changes that the last step makes
};

// The protocol. A block may begin step s when it has finished step s - 1 and all its neighbours have, and each tells it so with
// one arrival. Arrivals for steps of one parity are counted together, from the start on. That is exact, because none for s + 2
// can come before all for s have: it is sent after the neighbour's step s + 1, which needs this block's arrival for s + 1, sent
// after this block's step s, which began after all arrivals for s.
// The same argument shows that two buffers are enough: a neighbour writes the buffer of s + 2 in its step s + 1, when this
// block has finished step s, and so has read the buffer of s.

/// Whether all that step s needs has arrived; afterwards the caller sees it.
template <class B>
SHOAL_FN bool may_begin(const Slot<B>& slot, step_t s) {
  return slot.words->arrived[s & 1].load_acquire() >= std::uint64_t{slot.needs} * (s / 2 + 1);
}

/// A tile of step s is done, with all that it packed. Whoever does the last one tells the neighbours, and the block itself.
template <class B>
SHOAL_FN void finish_tile(const Slot<B>& slot, step_t s) {
  if (slot.words->finished.fetch_add_acq_rel(1) + 1 != (s + 1) * slot.tiles) return;
  const auto arrive = [s](StepWords& words) {
    auto& count = words.arrived[(s + 1) & 1];
    if constexpr (kOrdersEach) {
      count.fetch_add_release(1);
    } else {
      count.fetch_add(1);
    }
  };
  release_several<Scope::system>();
  for (std::uint32_t i = 0; i < slot.n_sides; ++i) {
    if (slot.sides[i].other != nullptr) arrive(*slot.sides[i].other);
  }
  arrive(*slot.words);
}

/// As before the first step: what step 0 needs is there.
template <class B>
void rewind(StepWords& words, const Slot<B>& slot) {
  words.arrived[0].store(slot.needs);
  words.arrived[1].store(0);
  words.finished.store(0);
}

}  // namespace shoal::blocks
