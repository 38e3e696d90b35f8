// The loop of a worker: take a tile, wait until it may take the step, do the step, announce it.
#pragma once
#include <time.h>  // not <chrono>: a user's program would have to compile it

#include <cstdint>

#include "shoal/blocks/block.hpp"
#include "shoal/blocks/give.hpp"
#include "shoal/blocks/trace.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal::blocks {

/// The bits of a double that is not negative. As integers they have the same order as the doubles.
SHOAL_FN inline std::uint64_t bits_of(double change) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(change));
#else
  return __builtin_bit_cast(std::uint64_t, change);
#endif
}
inline double change_of(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }

/// A clock, to be read twice by the same worker: for comparing how long blocks take.
SHOAL_FN inline std::uint64_t ticks() {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(clock64());
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

/// The slot of the block to which a tile belongs. @param tile  numbered over all tiles of the PE
template <class B>
SHOAL_FN std::uint32_t slot_of(const PeView<B>& pe, std::uint64_t tile) {
  std::uint32_t low = 0, high = pe.n_slots;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (pe.slots[middle].first_tile <= tile ? low : high) = middle;
  }
  return low;
}

/// Whether a tile unpacks from a side and packs for it. (The block is asked first, since that reads no memory.)
template <class B>
SHOAL_FN bool joins(const Slot<B>& slot, const B& block, std::uint64_t tile, std::uint32_t side) {
  if constexpr (requires { block.touches(tile, side); }) {
    if (!block.touches(tile, side)) return false;
  }
  return slot.sides[side].other != nullptr;
}

/// For kernels of one step each: waits until all values that a tile unpacks from the sides [begin, end) have come from other
/// GPUs. Every lane of the worker calls it. The number of the step follows from the side's count of tiles that have packed: it is
/// not complete for this step, since this tile has not packed yet.
/// @param too_long  called while a lane waits: returns true if it has waited too long, which ends the run
/// @return true: the values have come; false: the run has ended
template <class B, Worker W, class TooLong>
SHOAL_FN bool await_wires(const W& w, StateWord& state, const Slot<B>& slot, const B& block, std::uint64_t tile,
                          std::uint32_t begin, std::uint32_t end, TooLong too_long) {
  bool go = true;
  for (std::uint32_t i = begin + w.lane(); i < end && go; i += w.size()) {
    const auto& side = slot.sides[i];
    if (side.wire == nullptr || !joins(slot, block, tile, i)) continue;
    const step_t s = side.wire->packed.load() / side.touching;
    go = spin_wait(state, [&] {
      if (side.wire->came.load_acquire() >= s) return true;
      std::uint32_t running = 0;
      if (too_long()) state.compare_swap(running, static_cast<std::uint32_t>(RunState::stalled));
      return false;
    });
  }
  return !w.any(!go);
}
/// Records that a tile has packed for the sides [begin, end). The last tile at a side notifies the other end. One lane calls it,
/// after a barrier of the worker.
///
/// So the values of a side are sent when the tiles at this side are done, not when the whole block is done. The proof in
/// blocks/block.hpp holds for each side alone: the tiles that pack for a side are those that unpack from it, and each unpacks
/// before it packs.
template <class B>
SHOAL_FN void tell_wires(const Slot<B>& slot, const B& block, std::uint64_t tile, std::uint32_t begin,
                         std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i) {
    const auto& side = slot.sides[i];
    if (side.wire == nullptr || !joins(slot, block, tile, i)) continue;
    const std::uint64_t packed = side.wire->packed.fetch_add_acq_rel(1) + 1;
    if (packed % side.touching == 0) side.others_wire->came.store_release(packed / side.touching);
  }
}

/// Unpacks a tile's part of the values that came for step s through the sides [begin, end). Every lane of the worker calls it.
/// @param handed  the step before was in the same run, so values were handed over where that is possible
template <class B, Worker W>
SHOAL_FN void unpack_sides(const W& w, const Slot<B>& slot, const B& block, step_t s, std::uint64_t tile,
                           std::uint32_t begin, std::uint32_t end, [[maybe_unused]] bool handed = false) {
  if (s == 0 || (handed && slot.unpacked == 0)) return;  // start() has written state 0 together with its halo
  for (std::uint32_t i = begin; i < end; ++i) {
    if (slot.sides[i].reads) continue;
    if constexpr (HandsOver<B, W>) {
      if (handed && slot.sides[i].near != nullptr) continue;
    }
    if (joins(slot, block, tile, i)) block.unpack(w, s, tile, i, slot.sides[i].in[s & 1]);
  }
}
/// Packs or hands over a tile's part of the values that go out after step s through the sides [begin, end). Every lane of the
/// worker calls it.
/// @param hands  the next step is in the same run, so values are handed over where that is possible
template <class B, Worker W>
SHOAL_FN void pack_sides(const W& w, const Slot<B>& slot, const B& block, step_t s, std::uint64_t tile,
                         std::uint32_t begin, std::uint32_t end, [[maybe_unused]] bool hands = false) {
  if (hands && slot.packed == 0) return;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (hands && slot.sides[i].is_read) continue;
    if constexpr (HandsOver<B, W>) {
      if (hands && slot.sides[i].near != nullptr) {
        if (joins(slot, block, tile, i)) block.hand_over(w, s, tile, i, *static_cast<const B*>(slot.sides[i].near));
        continue;
      }
    }
    if (joins(slot, block, tile, i)) block.pack(w, s, tile, i, slot.sides[i].out[(s + 1) & 1]);
  }
}

/// Updates the largest change that a PE has measured by that of a tile. Every lane of the worker calls it, after a barrier.
template <class B, Worker W>
SHOAL_FN void measure_tile(const W& w, PeWords& words, const B& block, step_t s, std::uint64_t tile) {
  if constexpr (requires { block.change(w, s, tile); }) {
    const double change = block.change(w, s, tile);
    if (bits_of(change) > words.changed.load()) words.changed.fetch_max(bits_of(change));
  }
}

/// A whole step of a tile: unpack, update, pack. Every lane of the worker calls it. (The block is copied so that the compiler
/// knows that no store changes it. Each part makes a copy of its own, since on GPUs the update needs all registers.)
template <class B, Worker W, class Traced>
SHOAL_FN void do_tile(const W& w, const Slot<B>& slot, step_t s, std::uint64_t tile, const StepRange& range,
                      const Traced& traced) {
  if (slot.n_sides > 0) unpack_sides(w, slot, B(slot.block), s, tile, 0, slot.n_sides, s > range.first);
  w.sync();
  traced.unpacked();
  B(slot.block).update(w, s, tile);
  w.sync();
  traced.updated();
  if (slot.n_sides > 0) pack_sides(w, slot, B(slot.block), s, tile, 0, slot.n_sides, s + 1 < range.end);
}

/// The part of a step that one kernel does: unpacks of the sides [unpack_begin, unpack_end), the update, packs of the sides
/// [pack_begin, pack_end). An end may exceed the number of sides.
struct Part {
  std::uint32_t unpack_begin, unpack_end;
  bool update, measure;
  std::uint32_t pack_begin, pack_end;
  bool handed, hands;  ///< within a PE, values were handed over, or are handed over, in place of packing
  double* given =
      nullptr;  ///< [tiles of the PE][kGives] where tiles store what they give of the next state; null: they do not give
};

/// Does a tile's share of a part of step s. The launches are ordered so that values from the same GPU have come; for values from
/// other GPUs it waits. Every lane of the worker calls it.
/// @param too_long  see await_wires()
template <class B, Worker W, class TooLong>
SHOAL_FN void do_part(const W& w, PeWords& words, const Slot<B>& slot, step_t s, std::uint64_t tile, const Part& part,
                      const TooLong& too_long) {
  const auto sides = [&slot](std::uint32_t end) { return end < slot.n_sides ? end : slot.n_sides; };
  const std::uint32_t unpack_end = sides(part.unpack_end), pack_end = sides(part.pack_end);
  if (slot.wired && part.unpack_begin < unpack_end) {
    if (!await_wires(w, words.state, slot, B(slot.block), tile, part.unpack_begin, unpack_end, too_long)) return;
  }
  unpack_sides(w, slot, B(slot.block), s, tile, part.unpack_begin, unpack_end, part.handed);
  if (part.update) {
    w.sync();
    B(slot.block).update(w, s, tile);
    w.sync();
    if (part.measure) measure_tile(w, words, B(slot.block), s, tile);
    if constexpr (Gives<B>) {
      double* const mine = part.given + (slot.first_tile + tile) * kGiven<B>;
      if (part.given != nullptr) give_tile(w, B(slot.block), s + 1, tile, mine);
    }
  }
  pack_sides(w, slot, B(slot.block), s, tile, part.pack_begin, pack_end, part.hands);
  if (slot.wired && part.pack_begin < pack_end) {
    w.sync();
    if (w.lane() == 0) tell_wires(slot, B(slot.block), tile, part.pack_begin, pack_end);
  }
}

/// Takes all steps of a range with one tile, where every tile has a worker of its own. Every lane of the worker calls it.
/// @param slot   may be a copy in shared memory. The copy stays there, while values in global memory must be read again after
///   each wait
/// @param first  whether the tile is the first of its PE
template <class B, Worker W>
SHOAL_FN void keep_tile(const W& w, const PeView<B>& pe, const Slot<B>& slot, std::uint64_t tile, bool first,
                        const StepRange& range) {
  const std::uint32_t waits_for = w.size() - 1 - w.lane();  // this lane's first counter in await_tile()
  const TileWord* mine = nullptr;
  if (waits_for >= 2 && waits_for < near_tiles(slot) + 2) {
    mine = near_word_of(slot, B(slot.block), tile, waits_for - 2);
  }
  const auto near_word = [&](std::uint32_t i) {
    return i + 2 == waits_for ? mine : near_word_of(slot, B(slot.block), tile, i);
  };
  for (step_t s = range.first; s < range.end; ++s) {
    if (!await_tile(w, pe.words->state, slot, s, near_word)) return;
    if (range.weigh && w.lane() == 0) slot.words->busy.fetch_add(0 - ticks());
    do_tile(w, slot, s, tile, range, Untraced{});
    if (range.measure && s + 1 == range.end) measure_tile(w, *pe.words, B(slot.block), s, tile);
    give_in_run(w, pe, slot, range, s + 1, tile);
    w.sync();
    if (w.lane() == 0) {
      if (range.weigh) slot.words->busy.fetch_add(ticks());
      finish_tile(slot, s, tile);
      if (first) pe.words->next.fetch_add(pe.tiles);  // the host checks that steps are taken
    }
  }
}

/// Takes part in all steps of a range. Workers take the tiles of their PE in order: all tiles of step s, block by block, then
/// those of step s + 1. Every tile waits only for tiles of earlier steps, here and on other PEs. So some worker can always go on,
/// and there is no deadlock as long as each PE has a worker that runs. There is no barrier between steps: while the last tiles of
/// step s are in progress, other workers begin the first tiles of step s + 1 as soon as the input of these is there. Every lane
/// of the worker calls it.
/// @param traced   is notified of each tile (blocks/trace.hpp)
/// @param besides  what the worker does while it waits, and after each tile
template <class B, Worker W, class Traced = Untraced, class Besides = NothingBesides>
SHOAL_FN void take_steps(const W& w, const PeView<B>& pe, const StepRange& range, const Traced& traced = {},
                         const Besides& besides = {}) {
  const std::uint64_t all = (range.end - range.first) * pe.tiles;
  std::uint64_t next = w.lane() == 0 ? pe.words->next.fetch_add(1) : 0;
  for (std::uint64_t taken = w.from_leader(next); taken < all;) {
    const step_t s = range.first + taken / pe.tiles;
    const Slot<B>& slot = pe.slots[slot_of(pe, taken % pe.tiles)];
    const std::uint64_t tile = taken % pe.tiles - slot.first_tile;
    if (w.lane() == 0) next = pe.words->next.fetch_add(1);  // early, since it takes as long as a read of memory
    const auto near_word = [&](std::uint32_t i) { return near_word_of(slot, B(slot.block), tile, i); };
    if (!await_tile(w, pe.words->state, slot, s, near_word, besides)) return;
    traced.began();
    if (range.weigh && w.lane() == 0) slot.words->busy.fetch_add(0 - ticks());  // so no register keeps it
    do_tile(w, slot, s, tile, range, traced);
    traced.ended(static_cast<std::uint32_t>(&slot - pe.slots), s, tile);  // before finish_tile() announces it
    if (range.measure && s + 1 == range.end) measure_tile(w, *pe.words, B(slot.block), s, tile);
    give_in_run(w, pe, slot, range, s + 1, tile);
    taken = w.from_leader(next);  // a barrier of the lanes; then the first announces the tile
    if (w.lane() == 0) {
      if (range.weigh) slot.words->busy.fetch_add(ticks());
      finish_tile(slot, s, tile);
      besides.after_a_tile(static_cast<std::uint32_t>(&slot - pe.slots), s + 1);
    }
  }
}

}  // namespace shoal::blocks
