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
// | `update(w, s, tile)`                       | a worker     | makes the tile's part of state s + 1 of state s       |
// | `pack(w, s, tile, side, Value* out)`       | a worker     | stores the tile's part of what goes out at a side, of |
// |                                            |              | state s + 1                                           |
//
// A tile reads only what it has unpacked itself, and packs only what it has updated itself. So the three may be one pass over
// a tile, with nothing between tiles (fusion C of the paper), or kernels of their own over all tiles (no fusion, A, B): the
// block does not say which.
//
// A block may say which of its tiles a tile reads, so that it does not wait for the others: a constant kNear, and
// near(tile, i) for i < kNear, in any order, some more than once, the tile itself among them; with b near a, a is near b.
// Likewise touches(tile, side): whether a tile has to do with a side at all.
//
// change(w, s, tile), where it is there, says after update by how much the tile has changed: each lane, of what it looks at.
//
// give(w, s, tile, values), where it is there, adds what the tile gives of its part of state s to values: each lane of what it looks
// at. kGives says how many values there are, and how each is reduced: a Reduction for each. (blocks/give.hpp)
// hear(w, s, tile, message), where it is there, is told to all blocks, or to one, before step s (tell() of a launcher). There may be
// one for each type of message. Each tile changes what it alone reads, and nothing that has been packed of state s.
//
// Between blocks of one GPU there are two shorter ways than through buffers, which a block may know; what arrives is counted as ever.
// read_beside(side, other), on the host: from now on update reads what is beyond a side in the other block's state; false: it cannot.
// hand_over(w, s, tile, side, other), in place of pack: writes into what the other block has beside its state s + 1, as its unpack would.
// The last step of a run packs nonetheless, since blocks may be moved or stored then.
//
// A block may be stored and moved: state(s, f) calls f(T* data, n) for each array that state s and what lies around it are made
// of, in the same order and of the same sizes wherever the block is.
//
// Source: Choi et al., Improving Scalability with GPU-Aware Asynchronous Tasks (Charm++): chare arrays, the Channel API, and
// the reference numbers of SDAG's `when`, which are the counts here. docs/decisions/0028-blocks.md has the proof.
#pragma once
#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// How values of many blocks become one.
enum class Reduction { sum, min, max };

}  // namespace shoal

namespace shoal::blocks {

using step_t = std::uint64_t;  ///< a step, counted from the array's start; also the reference number of what arrives

/// The words of a block, in the memory of its PE. Neighbours on other PEs add to `arrived`.
struct StepWords {
  PaddedWord<std::uint64_t, Scope::system> arrived[2];   ///< for steps of either parity, from the start on
  PaddedWord<std::uint64_t, Scope::system> finished[2];  ///< tiles, of steps of either parity
  PaddedWord<std::uint64_t, Scope::device> busy;         ///< ticks() that its tiles took, in runs that weigh
};

/// Of a tile: the steps that it has done.
using TileWord = Word<std::uint64_t, Scope::device>;

template <class B>
concept KnowsNearTiles = requires(const B& block, std::uint64_t tile, std::uint32_t i) {
  { block.near(tile, i) } -> std::convertible_to<std::uint64_t>;
  { B::kNear } -> std::convertible_to<std::uint32_t>;
};

/// Blocks that can read a neighbour's state where it is.
template <class B>
concept ReadsBeside = requires(B& block, const B& other) {
  { block.read_beside(std::uint32_t{}, other) } -> std::convertible_to<bool>;
};

/// Blocks that can write what crosses a side to where the other one reads it, with nothing to unpack: hand_over(w, s, tile, side,
/// other) in place of pack. Workers of several lanes do.
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

/// The words of a PE.
struct PeWords {
  StateWord state;                                   ///< RunState: ends waits
  PaddedWord<std::uint64_t, Scope::system> next;     ///< tiles that workers have taken, of the current run
  PaddedWord<std::uint64_t, Scope::system> changed;  ///< the bits of the largest change that was measured
};

/// Of an end of a channel to another GPU, for kernels of one step each: those of other processes no host puts in order, and between GPUs
/// of one process a word is quicker than an event. In the memory of the PE that has the end.
struct WireEnd {
  PaddedWord<std::uint64_t, Scope::system> came;    ///< the steps for which all has come; the other end alone writes it
  PaddedWord<std::uint64_t, Scope::system> packed;  ///< tiles that have packed for the side, of all steps
};

/// One end of a channel.
template <class Value>
struct Side {
  StepWords* other = nullptr;               ///< the words of the block at the other end; null: no channel here
  const Value* in[2] = {nullptr, nullptr};  ///< what came, for steps of either parity
  Value* out[2] = {nullptr, nullptr};       ///< the other end's `in`
  const void* near = nullptr;           ///< the other block, where it is on the same GPU: it can be handed what crosses
  bool reads = false, is_read = false;  ///< this block, or the other one, reads the other's state in place of what came
  /// Where both do: tiles at this side wait for these, the other block's tiles, and nothing arrives here. Else null.
  const TileWord* tiles = nullptr;
  WireEnd *wire = nullptr, *others_wire = nullptr;  ///< of a channel to another GPU: both ends
  std::uint64_t touching = 0;                       ///< such a channel: tiles of this block that pack for it in a step
};

/// A block as its PE has it.
template <class B>
struct Slot {
  B block;
  StepWords* words;
  Side<typename B::Value>* sides;  ///< [n_sides]
  std::uint32_t n_sides;
  std::uint32_t channels;    ///< arrivals for a step: one for each, but for those whose tiles wait for tiles
  std::uint64_t first_tile;  ///< tiles of the blocks before it on this PE
  std::uint64_t tiles;
  TileWord* done;  ///< [tiles]
  /// Within a run, where a GPU's blocks read and hand over what they can: sides that are unpacked nonetheless, and sides of which
  /// anything is packed or handed over. Where there is none, a step does not look at its sides at all.
  std::uint32_t unpacked, packed;
  bool tiles_meet;  ///< there are sides whose tiles wait for the other block's
  bool wired;       ///< there are channels to other GPUs
};

/// What a worker sees of its PE. By value.
template <class B>
struct PeView {
  Slot<B>* slots;  ///< [n_slots]
  std::uint32_t n_slots;
  std::uint64_t tiles;  ///< of one step of all of them
  PeWords* words;
  double* given = nullptr;  ///< [states that are reduced][tiles][kGives] in a run of blocks that give
};

/// What a run does.
struct StepRange {
  step_t first, end;
  bool measure;           ///< the changes that the last step makes
  bool weigh = false;     ///< how long each block's tiles take
  step_t give_every = 0;  ///< blocks give of each state whose number is a multiple of it; 0: of none

  /// Which of the states of this run that are reduced state s is, if it is one.
  SHOAL_FN bool gives(step_t s) const { return give_every > 0 && s % give_every == 0; }
  SHOAL_FN step_t number(step_t s) const { return s / give_every - first / give_every - 1; }
  SHOAL_FN step_t n_given() const { return give_every > 0 ? end / give_every - first / give_every : 0; }
};

// The protocol. A tile may take step s when the tiles that it reads have done step s - 1, and when all neighbours of its block
// have finished step s - 1, which each tells with one arrival. Arrivals for steps of one parity are counted together, from the
// start on. That is exact, because none for s + 2 can come before all for s have: it is sent after the neighbour's step s + 1,
// which needs this block's arrival for s + 1, sent after this block's step s, all of whose tiles began after all arrivals for s.
// The same argument shows that two buffers are enough: a neighbour writes the buffer of s + 2 in its step s + 1, when this
// block has finished step s, and so has read the buffer of s. And two states: a tile writes over its part of state s - 1 in
// step s, when all tiles that read it have done step s - 1.
// Tiles of a block may be in several steps at the same time; but with a channel none is in s + 2 before all have done s, since
// the arrival for s + 2 needs this block's for s + 1. So the tiles that have done steps of one parity are counted together, too.
// Two blocks that read each other's states where they are need no arrivals: a tile at such a side waits for the tile beyond it as for
// those of its own block, and by the same argument.

/// How many tiles a tile may read: those near it, and one beyond each side.
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
/// The word of the i-th; null: there is none.
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

/// What a worker does besides its tiles: nothing, where all blocks are in one process. (blocks/wires.hpp has another one.)
struct NothingBesides {
  SHOAL_FN void while_it_waits() const {}
  SHOAL_FN void after_a_tile(std::uint32_t, step_t) const {}  // slot, steps that the tile has taken
};

/// Waits until a tile may take step s. Every lane; each waits for some of the words, the last ones first, since the first one may
/// be busy with what is behind it.
/// @return whether it may: false if the run has ended. Afterwards all lanes see what was done before.
/// @param near_word  near_word(i) is the word of the i-th tile that this one reads; null: there is none
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

/// A tile of step s is done, with all that it packed. Whoever does the last one tells the neighbours. One lane, after all have
/// met.
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

/// What a block has to do at its sides. @param hands  what crosses to a block of the same GPU is handed over
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

/// As before step s, when all that it needs is there.
template <class B>
void rewind(StepWords& words, const Slot<B>& slot, step_t s = 0) {
  for (const step_t parity : {0, 1}) {
    const auto steps = [&](step_t before) { return (before + 1 - parity) / 2; };  // of this parity
    words.arrived[parity].store(slot.channels * steps(s + 1));
    words.finished[parity].store(slot.tiles * steps(s));
  }
  words.busy.store(0);
}
/// Likewise an end of a channel to another GPU. @param touching  as Side has it
inline void rewind(WireEnd& end, std::uint64_t touching, step_t s) {
  end.came.store(s);
  end.packed.store(s * touching);
}

}  // namespace shoal::blocks
