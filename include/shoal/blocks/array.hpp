// An array of blocks: which PE has which block, the blocks' memory, and the channels between them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "shoal/blocks/size_n.hpp"
#include "shoal/blocks/steps.hpp"
#include "shoal/blocks/wires.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

namespace blocks {

/// A copy from one PE to another one, made in each step: see BlockArray::send_by_copies().
struct Crossing {
  std::int64_t block, other;
  pe_t from, to;  ///< PEs of this process, counted from 0
  void* out[2];   ///< for even and odd steps
  void* in[2];
  std::size_t bytes;
};

}  // namespace blocks

/// The host's owner of the blocks' memory. A program sets it up in three stages: the constructor; its blocks (put) and channels
/// (join); place(). Then a launcher runs it (blocks/launch_cpu.hpp, blocks/launch_gpu.cuh). Between runs blocks can be stored,
/// and moved to other PEs. Not thread-safe.
///
/// With several processes, each makes the same array, of all blocks, with the same calls in the same order. A process has memory
/// only for the blocks of its own PEs; these blocks are "here". "Every process" marks calls that all processes must make.
template <class B>
class BlockArray {
  static_assert(std::is_trivially_copyable_v<B>, "a block is copied to its PE byte by byte");

 public:
  using Value = typename B::Value;

  /// @param size   blocks along each of 1 to 6 dimensions
  /// @param where  [blocks] the PE of each block, numbered over all processes (place_blocks(), blocks/mapping.hpp)
  /// @throws UsageError  `where` does not have one PE for each block
  BlockArray(const Machine& machine, const SizeN& size, std::vector<pe_t> where)
      : machine_(machine),
        shape_(check(size, where.size())),
        where_(std::move(where)),
        blocks_(where_.size()),
        ends_(where_.size()),
        numbers_(where_.size()),
        memory_(where_.size()) {}
  /// An array of one dimension.
  BlockArray(const Machine& machine, std::vector<pe_t> where)
      : BlockArray(machine, {static_cast<std::int64_t>(where.size())}, where) {}

  const Machine& machine() const { return machine_; }
  /// Blocks along each dimension. Converts between the place and the number of a block, and names neighbours.
  const SizeN& shape() const { return shape_; }
  std::int64_t size() const { return static_cast<std::int64_t>(where_.size()); }
  pe_t pe(std::int64_t b) const { return where_[b]; }  ///< numbered over all processes
  /// Whether the block is on a PE of this process.
  bool here(std::int64_t b) const {
    return where_[b] >= machine_.first_pe() && where_[b] < machine_.first_pe() + machine_.n_pes();
  }
  pe_t home(std::int64_t b) const { return where_[b] - machine_.first_pe(); }  ///< its PE, counted from 0 here
  const B& operator[](std::int64_t b) const { return blocks_[b]; }

  /// Allocates `n` elements in the memory of a block's PE; they live until the block is moved. On GPUs they are zero: lanes that
  /// read 16 bytes and copies of many rows also read the padding between rows; its values have no effect, but must be defined. On
  /// CPUs they are uninitialised, so that the threads that use them touch them first.
  /// @return null: the block is in another process
  /// @throws CapacityError
  template <class T>
  T* alloc(std::int64_t b, std::int64_t n, const char* what) {
    if (!here(b)) return nullptr;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    const auto contents = machine_.on_gpu() ? Machine::Contents::zero : Machine::Contents::anything;
    memory_[b].push_back(machine_.allocate(home(b), bytes, what, contents));
    return static_cast<T*>(memory_[b].back().get());
  }
  void put(std::int64_t b, const B& block) { blocks_[b] = block; }

  /// Joins side `i` of block a and side `j` of block b by a channel that carries `n` values in each direction and step.
  /// @throws UsageError  one of the two sides has a channel already
  void join(std::int64_t a, std::uint32_t i, std::int64_t b, std::uint32_t j, std::int64_t n) {
    for (auto [block, side, other, others_side] : {std::tuple(a, i, b, j), std::tuple(b, j, a, i)}) {
      auto& ends = ends_[block];
      if (ends.size() <= side) ends.resize(side + 1);
      if (ends[side].other >= 0) {
        throw UsageError("side " + std::to_string(side) + " of block " + std::to_string(block) +
                         " has a channel to block " + std::to_string(ends[side].other) +
                         "; a second one is not possible");
      }
      ends[side] = {other, others_side, n, {nullptr, nullptr}};
      if (here(block) && here(other)) alloc_buffers(block, ends[side]);
      if (a == b && i == j) break;
    }
  }

  /// Joins all blocks that are neighbours: along dimension d, side 2 d + 1 of a block to side 2 d of the next.
  /// @param values  values(b, d): how many values cross the channel from b to the next block along d
  /// @param wraps   periodic: the first block follows the last one, so each block has two neighbours along each dimension
  ///   (perhaps itself)
  template <class Values>
  void join_neighbors(const Values& values, bool wraps = false) {
    for (std::int64_t b = 0; b < size(); ++b) {
      for (int d = 0; d < shape_.dimensions(); ++d) {
        const std::int64_t next = shape_.neighbor(b, d, 1, wraps);
        const auto side = static_cast<std::uint32_t>(2 * d);
        if (next >= 0) join(b, side + 1, next, side, values(b, d));
      }
    }
  }

  /// Copies blocks and channels to the PEs. Afterwards put, join and alloc may no longer be called. Every process.
  void place() {
    slots_.clear();
    views_.clear();
    placed_.clear();
    if (machine_.world() != nullptr && wires_ == nullptr) wire();
    std::vector<Words> words(where_.size());
    for (std::size_t b = 0; b < where_.size(); ++b) {
      if (!here(b)) continue;
      blocks::StepWords* const shared = wires_ != nullptr ? wires_->words(b) : nullptr;
      words[b] = {shared != nullptr
                      ? shared
                      : in_memory_of(home(b), std::vector<blocks::StepWords>(1), "step counters of a block"),
                  in_memory_of(home(b), std::vector<blocks::TileWord>(static_cast<std::size_t>(blocks_[b].tiles())),
                               "counters of a block's tiles")};
    }
    for (std::size_t b = 0; b < where_.size(); ++b) {
      if (here(b) && machine_.on_gpu()) make_wire_ends(b);
      for (End& end : ends_[b]) {
        if (!is_copied(b, end) || end.sent[0] != nullptr) continue;
        for (Value*& sent : end.sent) sent = alloc<Value>(b, end.n, "copy buffer of a channel");
      }
    }
    std::vector<std::uint32_t> on(static_cast<std::size_t>(machine_.n_pes()), 0);
    for (std::size_t b = 0; b < where_.size(); ++b) {
      if (here(b)) numbers_[b] = on[home(b)]++;
    }
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      slots_.emplace_back();
      placed_.push_back(
          machine_.allocate(p, on[p] * sizeof(blocks::Slot<B>), "the blocks of a PE", Machine::Contents::anything));
      auto* const slots = static_cast<blocks::Slot<B>*>(placed_.back().get());
      std::uint64_t tiles = 0;
      for (std::size_t b = 0; b < where_.size(); ++b) {
        if (home(b) != p) continue;
        slots_[p].push_back(slot(b, tiles, words, slots));
        tiles += slots_[p].back().tiles;
      }
      if (on[p] > 0) machine_.copy_in(p, slots, slots_[p].data(), on[p] * sizeof(slots_[p][0]));
      views_.push_back({slots, on[p], tiles, in_memory_of(p, std::vector<blocks::PeWords>(1), "counters of a PE")});
    }
  }

  /// Call it after place() and before the first run: from now on blocks pack for other PEs into buffers on their own PE, and the
  /// caller copies these to the receivers (crossings()).
  /// @throws UsageError  there are several processes
  void send_by_copies() {
    if (wires_ != nullptr) throw UsageError("halos are copied within one process only; use --halos direct");
    by_copies_ = true;
    place();
  }
  /// After send_by_copies(): all copies that each step needs.
  std::vector<blocks::Crossing> crossings() const {
    std::vector<blocks::Crossing> all;
    for (std::int64_t b = 0; b < size(); ++b) {
      for (const End& end : ends_[b]) {
        if (!is_copied(b, end)) continue;
        const End& others = ends_[end.other][end.others_side];
        all.push_back({b,
                       end.other,
                       home(b),
                       home(end.other),
                       {end.sent[0], end.sent[1]},
                       {others.in[0], others.in[1]},
                       static_cast<std::size_t>(end.n) * sizeof(Value)});
      }
    }
    return all;
  }

  /// Writes state s of all blocks and the values received for step s. load() of an array of the same blocks reads it, also on
  /// other PEs. Every process; in each of them `out` gets the data of all blocks.
  void save(blocks::step_t s, const BytesOut& out) const;
  /// Restores what save(s) wrote, so that a run may go on with step s. Call it after start(), which writes what no step writes.
  /// Every process, each of which reads the data of all blocks.
  /// @throws UsageError  the data are of blocks of another shape
  void load(blocks::step_t s, const BytesIn& in);
  /// Copies `n` elements of block b from `from`, in the memory of its PE, to `to`, in the host memory of every process. Every
  /// process; `from` matters only where the block is here.
  template <class T>
  void fetch(std::int64_t b, const T* from, std::int64_t n, T* to) const;

  /// Moves blocks to other PEs between two runs, before step s.
  /// @param where  [blocks] the new PE of each block
  /// @param make   make(b) returns a block like b, allocated on its new PE, complete except for the states
  /// @return how many blocks were moved. If any were, earlier results of views() and slots() are no longer valid
  /// @throws UsageError  there are several processes
  template <class Make>
  std::int64_t move(const std::vector<pe_t>& where, blocks::step_t s, const Make& make);

  /// [blocks] how long the tiles of each block took, in ticks(), in all runs with StepRange::weigh since rewind().
  /// @throws UsageError  there are several processes
  std::vector<double> busy() const {
    require_one_process();
    std::vector<double> all;
    for (std::int64_t b = 0; b < size(); ++b) {
      blocks::StepWords words;
      machine_.copy_out(where_[b], &words, slots_[where_[b]][numbers_[b]].words, sizeof(words));
      all.push_back(static_cast<double>(words.busy.load()));
    }
    return all;
  }
  const std::vector<pe_t>& where() const { return where_; }

  /// Sets all counters to the values that they have just before step s. Every process.
  void rewind(blocks::step_t s = 0) {
    if (wires_ != nullptr) wires_->begin_rewind();
    for (const auto& slots : slots_) {
      for (const auto& slot : slots) {
        const auto p = static_cast<pe_t>(&slots - slots_.data());
        blocks::StepWords words{};
        blocks::rewind(words, slot, s);
        machine_.copy_in(p, slot.words, &words, sizeof(words));
        std::vector<blocks::TileWord> done(slot.tiles);
        for (blocks::TileWord& tile : done) tile.store(s);
        machine_.copy_in(p, slot.done, done.data(), done.size() * sizeof(done[0]));
      }
    }
    for (std::int64_t b = 0; b < size(); ++b) rewind_wire_ends(b, s);
    prepare_run();
    if (wires_ != nullptr) wires_->end_rewind(s);
  }
  /// Clears the words of each PE (PeWords) before a run: no tile is taken, nothing is measured.
  void prepare_run() {
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      const blocks::PeWords none{};
      machine_.copy_in(p, views_[p].words, &none, sizeof(none));
    }
    machine_.wait_for_memory();
  }
  /// After a run that measured: the largest change that its last step made to the blocks that are here.
  double change() const {
    std::uint64_t most = 0;
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      blocks::PeWords words;
      machine_.copy_out(p, &words, views_[p].words, sizeof(words));
      most = std::max(most, words.changed.load());
    }
    return blocks::change_of(most);
  }
  /// The same for the blocks of all processes. Every process.
  double change_of_all() const {
    double most = change();
    if (wires_ == nullptr) return most;
    for (const auto& bytes : wires_->exchange(std::as_bytes(std::span(&most, 1)))) {
      double its = 0;
      std::memcpy(&its, bytes.data(), std::min(sizeof(its), bytes.size()));
      most = std::max(most, its);
    }
    return most;
  }

  bool joined(std::int64_t b, std::uint32_t side) const { return side < ends_[b].size() && ends_[b][side].other >= 0; }
  /// The slot of block b on its PE.
  std::uint32_t number(std::int64_t b) const { return numbers_[b]; }
  /// The blocks at the other ends of b's channels.
  std::vector<std::int64_t> neighbors(std::int64_t b) const {
    std::vector<std::int64_t> others;
    for (const End& end : ends_[b]) {
      if (end.other >= 0) others.push_back(end.other);
    }
    return others;
  }
  /// For traces: [n_pes][slots] the number of the block in each slot.
  std::vector<std::vector<std::int64_t>> by_slot() const {
    std::vector<std::vector<std::int64_t>> blocks(slots_.size());
    for (std::int64_t b = 0; b < size(); ++b) {
      if (here(b)) blocks[home(b)].push_back(b);
    }
    return blocks;
  }
  /// For traces: all ends of channels, in order of blocks.
  std::vector<blocks::TracedChannel> channels() const {
    std::vector<blocks::TracedChannel> all;
    for (std::int64_t b = 0; b < size(); ++b) {
      for (const End& end : ends_[b]) {
        const auto side = static_cast<std::uint32_t>(&end - ends_[b].data());
        if (end.other >= 0) {
          all.push_back({b, end.other, side, end.n * static_cast<std::int64_t>(sizeof(Value))});
        }
      }
    }
    return all;
  }
  const std::vector<blocks::PeView<B>>& views() const { return views_; }  ///< [n_pes]
  /// [n_pes][slots] the host's copies of the slots that views() point to; their pointers point into the PEs' memory.
  const std::vector<std::vector<blocks::Slot<B>>>& slots() const { return slots_; }
  /// The channels to other processes; null: there is one process.
  blocks::Wires* wires() const { return wires_.get(); }

 private:
  struct End {
    std::int64_t other = -1;
    std::uint32_t others_side = 0;
    std::int64_t n = 0;
    Value* in[2] = {nullptr, nullptr};
    Value* sent[2] = {nullptr, nullptr};  ///< where this block packs, if send_by_copies()
    blocks::WireEnd* wire = nullptr;      ///< of a channel to another GPU
  };

  struct Words {  ///< of a block
    blocks::StepWords* steps;
    blocks::TileWord* tiles;
  };

  static const SizeN& check(const SizeN& size, std::size_t blocks) {
    if (size.volume() == static_cast<std::int64_t>(blocks)) return size;
    throw UsageError("an array of " + text_of(size) + " blocks needs a PE for each block, but " +
                     std::to_string(blocks) + " are given");
  }
  void require_one_process() const {
    if (wires_ == nullptr) return;
    throw UsageError(
        "blocks cannot be moved between processes; leave --balance out, or start one process with several PEs");
  }
  /// Makes the channels to other processes. Every process.
  void wire() {
    std::vector<blocks::WiredSide> sides;
    const World& world = *machine_.world();
    for (std::int64_t b = 0; b < size(); ++b) {
      for (std::uint32_t i = 0; i < ends_[b].size(); ++i) {
        const End& end = ends_[b][i];
        if (end.other < 0 || world.process_of(where_[b]) == world.process_of(where_[end.other])) continue;
        sides.push_back({b, i, end.other, end.others_side, static_cast<std::size_t>(end.n) * sizeof(Value)});
      }
    }
    wires_ = std::make_unique<blocks::Wires>(machine_, where_, sides);
    for (const blocks::WiredSide& side : sides) {
      if (!here(side.block)) continue;
      for (int k = 0; k < 2; ++k) {
        ends_[side.block][side.side].in[k] = static_cast<Value*>(wires_->in(side.block, side.side, k));
      }
    }
  }
  /// [blocks] how many arrays save() writes for each block; with one process zeros. Every process.
  std::vector<std::uint64_t> arrays_of_all(blocks::step_t s) const;
  /// Reads an array that another process has.
  static void skip(const BytesIn& in, std::vector<char>& some);

  void alloc_buffers(std::int64_t b, End& end) {
    for (Value*& in : end.in) in = alloc<Value>(b, end.n, "a buffer of a channel");
    end.sent[0] = end.sent[1] = nullptr;
  }
  bool is_copied(std::int64_t b, const End& end) const {
    return by_copies_ && end.other >= 0 && where_[end.other] != where_[b];
  }
  /// Calls f(data, bytes) for each array of state s of a block, and for the values received for step s.
  template <class F>
  void each_array(std::int64_t b, const B& block, blocks::step_t s, const F& f) const;
  /// Calls f(data, bytes) for pieces of an array, for each of which `some` has room.
  template <class F>
  static void for_pieces(void* data, std::size_t bytes, std::vector<char>& some, const F& f);

  /// How many tiles of a block pack for a side in one step.
  static std::uint64_t touching(const B& block, std::uint32_t side) {
    const auto tiles = static_cast<std::uint64_t>(block.tiles());
    if constexpr (requires { block.touches(tiles, side); }) {
      std::uint64_t some = 0;
      for (std::uint64_t tile = 0; tile < tiles; ++tile) some += block.touches(tile, side) ? 1 : 0;
      return some;
    }
    return tiles;
  }
  /// Allocates or finds the counters of a block's ends of channels to other GPUs, of this process and of others.
  void make_wire_ends(std::int64_t b) {
    for (std::uint32_t i = 0; i < ends_[b].size(); ++i) {
      End& end = ends_[b][i];
      end.wire = nullptr;
      if (end.other < 0 || is_copied(b, end)) continue;
      if (!here(end.other)) {
        end.wire = wires_->ends(b, i).first;
      } else if (machine_.devices()[home(b)] != machine_.devices()[home(end.other)]) {
        end.wire = in_memory_of(home(b), std::vector<blocks::WireEnd>(1), "counters of a channel");
      }
    }
  }
  void rewind_wire_ends(std::int64_t b, blocks::step_t s) {
    for (std::uint32_t i = 0; i < ends_[b].size(); ++i) {
      if (ends_[b][i].wire == nullptr) continue;
      blocks::WireEnd end{};
      blocks::rewind(end, touching(blocks_[b], i), s);
      machine_.copy_in(home(b), ends_[b][i].wire, &end, sizeof(end));
    }
  }

  /// Makes the slot of block b. @param slots  where the slots of its PE will be in its memory
  blocks::Slot<B> slot(std::size_t b, std::uint64_t first_tile, const std::vector<Words>& words,
                       const blocks::Slot<B>* slots) {
    std::vector<blocks::Side<Value>> sides;
    B block = blocks_[b];
    for (const End& end : ends_[b]) {
      blocks::Side<Value> side;
      if (end.other >= 0 && !here(end.other)) {
        const auto i = static_cast<std::uint32_t>(&end - ends_[b].data());
        side.other = wires_->other(b, i);
        for (int k = 0; k < 2; ++k) {
          side.in[k] = end.in[k];
          side.out[k] = static_cast<Value*>(wires_->out(b, i, k));
        }
        side.others_wire = wires_->ends(b, i).second;
      } else if (end.other >= 0) {
        side.other = words[end.other].steps;
        for (int k = 0; k < 2; ++k) {
          side.in[k] = end.in[k];
          side.out[k] = is_copied(b, end) ? end.sent[k] : ends_[end.other][end.others_side].in[k];
        }
        if (machine_.on_gpu() && where_[end.other] == where_[b]) {
          side.near = &slots[numbers_[end.other]].block;
          if constexpr (blocks::ReadsBeside<B>) {
            B theirs = blocks_[end.other];
            side.reads = block.read_beside(static_cast<std::uint32_t>(&end - ends_[b].data()), blocks_[end.other]);
            side.is_read = theirs.read_beside(end.others_side, blocks_[b]);
          }
          if (blocks::KnowsTilesBeyond<B> && side.reads && side.is_read) side.tiles = words[end.other].tiles;
        }
      }
      if (end.wire != nullptr) {
        side.wire = end.wire;
        side.touching = touching(block, static_cast<std::uint32_t>(sides.size()));
        if (here(end.other)) side.others_wire = ends_[end.other][end.others_side].wire;
      }
      sides.push_back(side);
    }
    blocks::Slot<B> slot{block,
                         words[b].steps,
                         in_memory_of(home(b), sides, "the sides of a block"),
                         static_cast<std::uint32_t>(sides.size()),
                         0,
                         first_tile,
                         static_cast<std::uint64_t>(blocks_[b].tiles()),
                         words[b].tiles,
                         0,
                         0,
                         false,
                         false};
    blocks::count_sides(slot, sides.data(), blocks::CanHandOver<B, CpuThread>);
    return slot;
  }
  template <class T>
  T* in_memory_of(pe_t p, const std::vector<T>& values, const char* what) {
    placed_.push_back(machine_.allocate(p, values.size() * sizeof(T), what, Machine::Contents::anything));
    if (!values.empty()) machine_.copy_in(p, placed_.back().get(), values.data(), values.size() * sizeof(T));
    return static_cast<T*>(placed_.back().get());
  }

  const Machine& machine_;
  SizeN shape_;
  bool by_copies_ = false;
  std::unique_ptr<blocks::Wires> wires_;
  std::vector<pe_t> where_;
  std::vector<B> blocks_;
  std::vector<std::vector<End>> ends_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::vector<std::shared_ptr<void>>> memory_;  ///< [blocks]
  std::vector<std::shared_ptr<void>> placed_;               ///< by place()
  std::vector<std::vector<blocks::Slot<B>>> slots_;
  std::vector<blocks::PeView<B>> views_;
};

}  // namespace shoal

#include "shoal/blocks/array_store.hpp"
