// The host's part of a reduction: it combines what the blocks of an array have given (blocks/give.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/give.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/types.hpp"

namespace shoal::blocks {

/// The reduced values of one state.
struct Given {
  step_t state;
  std::vector<double> values;  ///< [kGives]
};

/// The memory where the tiles of a process store what they give, and its reduction.
template <class B>
class GivenByTiles {
 public:
  /// memory(bytes) allocates host memory that the PEs can store into.
  using Memory = std::function<std::shared_ptr<void>(std::size_t)>;
  GivenByTiles(const BlockArray<B>& array, Memory memory) : array_(array), memory_(std::move(memory)) {}

  /// Allocates memory for a number of states, before a run or before reduce() of a launcher.
  /// @throws UsageError  n_states > 0, and the blocks have no kGives
  void begin(step_t n_states) {
    if (n_states > 0 && kGiven<B> == 0) throw UsageError("these blocks give nothing: kGives and give() are missing");
    at_.resize(array_.views().size());
    for (std::size_t p = 0; p < at_.size(); ++p) {
      const std::size_t bytes = n_states * array_.views()[p].tiles * kGiven<B> * sizeof(double);
      at_[p] = bytes == 0 ? nullptr : memory_(bytes);
    }
  }
  /// The view of a PE, with `given` set.
  PeView<B> view(pe_t p) const {
    PeView<B> pe = array_.views()[p];
    if (kGiven < B >> 0 && !at_.empty()) pe.given = static_cast<double*>(at_[p].get());
    return pe;
  }
  /// Where the tiles of a PE store what they give; null if they give nothing. @param number  index of the state among those that are
  /// reduced
  double* at(pe_t p, step_t number) const {
    const PeView<B> pe = view(p);
    return pe.given == nullptr ? nullptr : pe.given + number * pe.tiles * kGiven<B>;
  }
  /// The reduction over the blocks of this process. @param number  index of the state among those that are reduced; all tiles
  /// must have stored it. @return [kGives]; empty if the blocks give nothing
  std::vector<double> here(step_t number) const {
    if constexpr (!Gives<B>) {
      return {};
    } else {
      return made_one([&](std::int64_t b, double* to) { return array_.here(b) && (of_block(b, number, to), true); });
    }
  }
  /// The same over the blocks of all processes. Every process must call it.
  std::vector<double> of_all(step_t number) const {
    if constexpr (!Gives<B>) {
      return {};
    } else {
      if (array_.wires() == nullptr) return here(number);
      std::vector<double> mine;
      for (std::int64_t b = 0; b < array_.size(); ++b) {
        if (!array_.here(b)) continue;
        mine.resize(mine.size() + kGiven<B>);
        of_block(b, number, mine.data() + mine.size() - kGiven<B>);
      }
      const auto all = array_.wires()->exchange(std::as_bytes(std::span(mine)));
      std::vector<std::size_t> taken(all.size(), 0);
      return made_one([&](std::int64_t b, double* to) {
        const auto from = static_cast<std::size_t>(array_.wires()->process_of(b));
        std::memcpy(to, all[from].data() + taken[from], kGiven<B> * sizeof(double));
        taken[from] += kGiven<B> * sizeof(double);
        return true;
      });
    }
  }
  /// The same for all states that a run reduces. Every process must call it.
  std::vector<Given> of_all(const StepRange& range) const {
    std::vector<Given> all;
    for (step_t i = 0; i < range.n_given() && kGiven < B >> 0; ++i) {
      all.push_back({(range.first / range.give_every + 1 + i) * range.give_every, of_all(i)});
    }
    return all;
  }

 private:
  static void add(double* to, const double* values) {
    for (std::size_t i = 0; i < kGiven<B>; ++i) to[i] = reduced(B::kGives[i], to[i], values[i]);
  }
  /// Combines blocks in order of their numbers. @param of  of(b, values) writes what block b gives; false: block b is left out
  template <class Of>
  std::vector<double> made_one(const Of& of) const {
    std::vector<double> all, of_one(kGiven<B>);
    for (const Reduction how : B::kGives) all.push_back(nothing_given(how));
    for (std::int64_t b = 0; b < array_.size(); ++b) {
      if (of(b, of_one.data())) add(all.data(), of_one.data());
    }
    return all;
  }
  /// Combines what the tiles of block b have given, in their order.
  void of_block(std::int64_t b, step_t number, double* to) const {
    const pe_t p = array_.home(b);
    const Slot<B>& slot = array_.slots()[p][array_.number(b)];
    const std::uint64_t first = number * array_.views()[p].tiles + slot.first_tile;
    const double* const tiles = static_cast<const double*>(at_[p].get()) + first * kGiven<B>;
    for (std::size_t i = 0; i < kGiven<B>; ++i) to[i] = nothing_given(B::kGives[i]);
    for (std::uint64_t t = 0; t < slot.tiles; ++t) add(to, tiles + t * kGiven<B>);
  }

  const BlockArray<B>& array_;
  Memory memory_;
  std::vector<std::shared_ptr<void>> at_;  ///< [PEs] [states][tiles][kGives]
};

}  // namespace shoal::blocks
