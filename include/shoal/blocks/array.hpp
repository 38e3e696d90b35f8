// An array of blocks: which PE has which, their memory, and the channels between them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "shoal/blocks/steps.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {

namespace blocks {
/// Asks the system for large pages where host memory is not touched yet: rows of a grid are on as many pages as there are rows.
void want_large_pages(void* at, std::size_t bytes);
}  // namespace blocks

/// Owner of the blocks' memory, on the host. Made in three steps: the array; its blocks (put) and channels (join); place().
/// Then a form of a run works on it (blocks/launch_cpu.hpp, blocks/launch_gpu.cuh). Not thread-safe.
template <class B>
class BlockArray {
  static_assert(std::is_trivially_copyable_v<B>, "a block is copied to its PE byte by byte");

 public:
  using Value = typename B::Value;

  /// @param where  [blocks] the PE of each
  BlockArray(const Machine& machine, std::vector<pe_t> where)
      : machine_(machine),
        where_(std::move(where)),
        blocks_(where_.size()),
        ends_(where_.size()),
        numbers_(where_.size()) {}

  const Machine& machine() const { return machine_; }
  std::int64_t size() const { return static_cast<std::int64_t>(where_.size()); }
  pe_t pe(std::int64_t b) const { return where_[b]; }
  const B& operator[](std::int64_t b) const { return blocks_[b]; }

  /// `n` elements in the memory of a block's PE, with any contents. They live as long as the array.
  template <class T>
  T* alloc(std::int64_t b, std::int64_t n, const char* what) {
    memory_.push_back(
        machine_.allocate(where_[b], static_cast<std::size_t>(n) * sizeof(T), what, Machine::Contents::anything));
    constexpr std::size_t kWorthIt = std::size_t{4} << 20;
    if (!machine_.on_gpu() && static_cast<std::size_t>(n) * sizeof(T) >= kWorthIt) {
      blocks::want_large_pages(memory_.back().get(), static_cast<std::size_t>(n) * sizeof(T));
    }
    return static_cast<T*>(memory_.back().get());
  }
  void put(std::int64_t b, const B& block) { blocks_[b] = block; }

  /// A channel between side `i` of block a and side `j` of block b, `n` values in each direction.
  /// @throws UsageError  one of the two sides has a channel
  void join(std::int64_t a, std::uint32_t i, std::int64_t b, std::uint32_t j, std::int64_t n) {
    for (auto [block, side, other, others_side] : {std::tuple(a, i, b, j), std::tuple(b, j, a, i)}) {
      auto& ends = ends_[block];
      if (ends.size() <= side) ends.resize(side + 1);
      if (ends[side].other >= 0) {
        throw UsageError("side " + std::to_string(side) + " of block " + std::to_string(block) +
                         " has a channel to block " + std::to_string(ends[side].other) +
                         "; a second one is not possible");
      }
      ends[side] = {other, others_side, {nullptr, nullptr}};
      for (Value*& in : ends[side].in) in = alloc<Value>(block, n, "a buffer of a channel");
      if (a == b && i == j) break;
    }
  }

  /// Copies blocks and channels to the PEs. Afterwards nothing is put, joined or allocated.
  void place() {
    std::vector<blocks::StepWords*> words(where_.size());
    for (std::size_t b = 0; b < where_.size(); ++b) {
      words[b] = alloc<blocks::StepWords>(static_cast<std::int64_t>(b), 1, "the counts of a block");
    }
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      slots_.emplace_back();
      std::uint64_t tiles = 0;
      for (std::size_t b = 0; b < where_.size(); ++b) {
        if (where_[b] != p) continue;
        numbers_[b] = static_cast<std::uint32_t>(slots_[p].size());
        slots_[p].push_back(slot(b, tiles, words));
        tiles += slots_[p].back().tiles;
      }
      const auto n = static_cast<std::uint32_t>(slots_[p].size());
      views_.push_back({in_memory_of(p, slots_[p], "the blocks of a PE"), n, tiles,
                        in_memory_of(p, std::vector<blocks::PeWords>(1), "the words of a PE")});
    }
  }

  /// Before start(): as if no step had been taken.
  void rewind() {
    for (const auto& slots : slots_) {
      for (const auto& slot : slots) {
        const auto p = static_cast<pe_t>(&slots - slots_.data());
        blocks::StepWords words{};
        blocks::rewind(words, slot);
        machine_.copy_in(p, slot.words, &words, sizeof(words));
        const std::vector<blocks::TileWord> none(slot.tiles);
        machine_.copy_in(p, slot.done, none.data(), none.size() * sizeof(none[0]));
      }
    }
    prepare_run();
  }
  /// Before each run: no tile is taken, nothing is measured.
  void prepare_run() {
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      const blocks::PeWords none{};
      machine_.copy_in(p, views_[p].words, &none, sizeof(none));
    }
    machine_.wait_for_memory();
  }
  /// After a run that measured: the largest change of its last step.
  double change() const {
    std::uint64_t most = 0;
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      blocks::PeWords words;
      machine_.copy_out(p, &words, views_[p].words, sizeof(words));
      most = std::max(most, words.changed.load());
    }
    return blocks::change_of(most);
  }

  bool joined(std::int64_t b, std::uint32_t side) const { return side < ends_[b].size() && ends_[b][side].other >= 0; }
  /// Which of its PE's blocks b is.
  std::uint32_t number(std::int64_t b) const { return numbers_[b]; }
  /// The blocks at the other ends of b's channels.
  std::vector<std::int64_t> neighbors(std::int64_t b) const {
    std::vector<std::int64_t> others;
    for (const End& end : ends_[b]) {
      if (end.other >= 0) others.push_back(end.other);
    }
    return others;
  }
  const std::vector<blocks::PeView<B>>& views() const { return views_; }  ///< [n_pes]
  /// [n_pes] the host's copies of what views() point to, with pointers into the PEs' memory.
  const std::vector<std::vector<blocks::Slot<B>>>& slots() const { return slots_; }

 private:
  struct End {
    std::int64_t other = -1;
    std::uint32_t others_side = 0;
    Value* in[2] = {nullptr, nullptr};
  };

  blocks::Slot<B> slot(std::size_t b, std::uint64_t first_tile, const std::vector<blocks::StepWords*>& words) {
    std::vector<blocks::Side<Value>> sides;
    std::uint32_t channels = 0;
    for (const End& end : ends_[b]) {
      blocks::Side<Value> side;
      if (end.other >= 0) {
        ++channels;
        side.other = words[end.other];
        for (int k = 0; k < 2; ++k) {
          side.in[k] = end.in[k];
          side.out[k] = ends_[end.other][end.others_side].in[k];
        }
      }
      sides.push_back(side);
    }
    return {blocks_[b],
            words[b],
            in_memory_of(where_[b], sides, "the sides of a block"),
            static_cast<std::uint32_t>(sides.size()),
            channels,
            first_tile,
            static_cast<std::uint64_t>(blocks_[b].tiles()),
            alloc<blocks::TileWord>(static_cast<std::int64_t>(b), blocks_[b].tiles(), "the words of a block's tiles")};
  }
  template <class T>
  T* in_memory_of(pe_t p, const std::vector<T>& values, const char* what) {
    memory_.push_back(machine_.allocate(p, values.size() * sizeof(T), what, Machine::Contents::anything));
    if (!values.empty()) machine_.copy_in(p, memory_.back().get(), values.data(), values.size() * sizeof(T));
    return static_cast<T*>(memory_.back().get());
  }

  const Machine& machine_;
  std::vector<pe_t> where_;
  std::vector<B> blocks_;
  std::vector<std::vector<End>> ends_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<std::vector<blocks::Slot<B>>> slots_;
  std::vector<blocks::PeView<B>> views_;
};

}  // namespace shoal
