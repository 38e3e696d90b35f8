// What the blocks of an array have given (blocks/give.hpp), made one by the host.
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

/// What all blocks gave of a state.
struct Given {
  step_t state;
  std::vector<double> values;  ///< [kGives]
};

/// Where the tiles of a process store what they give, and what becomes of it.
template <class B>
class GivenByTiles {
 public:
  /// @param memory  memory(bytes): of the host, which the PEs reach
  using Memory = std::function<std::shared_ptr<void>(std::size_t)>;
  GivenByTiles(const BlockArray<B>& array, Memory memory) : array_(array), memory_(std::move(memory)) {}

  /// Before a run, or before a look at one state.
  /// @throws UsageError  the blocks give nothing
  void begin(step_t n_states) {
    if (n_states > 0 && kGiven<B> == 0) throw UsageError("these blocks give nothing: kGives and give() are missing");
    at_.resize(array_.views().size());
    for (std::size_t p = 0; p < at_.size(); ++p) {
      const std::size_t bytes = n_states * array_.views()[p].tiles * kGiven<B> * sizeof(double);
      at_[p] = bytes == 0 ? nullptr : memory_(bytes);
    }
  }
  /// A PE's view with its place for that.
  PeView<B> view(pe_t p) const {
    PeView<B> pe = array_.views()[p];
    if (kGiven < B >> 0 && !at_.empty()) pe.given = static_cast<double*>(at_[p].get());
    return pe;
  }
  /// What the blocks that are here have given of the number-th of the states, made one. Their tiles have stored it.
  std::vector<double> here(step_t number) const {
    if constexpr (!Gives<B>) {
      return {};
    } else {
      return made_one([&](std::int64_t b, double* to) { return array_.here(b) && (of_block(b, number, to), true); });
    }
  }
  /// Every process: of all blocks.
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
  /// Every process: of all states of a run that are reduced.
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
  /// @param of  of(b, values): whether there is block b; what it gives
  template <class Of>
  std::vector<double> made_one(const Of& of) const {
    std::vector<double> all, of_one(kGiven<B>);
    for (const Reduction how : B::kGives) all.push_back(nothing_given(how));
    for (std::int64_t b = 0; b < array_.size(); ++b) {
      if (of(b, of_one.data())) add(all.data(), of_one.data());
    }
    return all;
  }
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
