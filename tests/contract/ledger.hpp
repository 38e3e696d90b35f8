// The ledger in which the tasks of the contract tests record, for each producer, which items were judged and which were run.
// Three 64-bit values per producer show whether any item was lost, doubled or changed: the number of items, the sum of their
// numbers, and the sum of a 64-bit hash of their numbers (so that one lost and one doubled item do not cancel).
#pragma once
#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "see.hpp"
#include "shoal/core/atomic.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/world/machine.hpp"

namespace shoal::contract {

SHOAL_FN inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

struct Sums {
  std::uint64_t count = 0, sum = 0, mixed = 0;

  void note(std::uint64_t number) {
    ++count;
    sum += number;
    mixed += mix(number ^ 0x5bd1e995);
  }
  bool operator==(const Sums&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Sums& s) {
  return out << "{count " << s.count << ", sum " << s.sum << ", mix " << s.mixed << "}";
}

enum Kind : int { kJudged = 0, kRun = 1, kKinds = 2 };

/// One PE's page of the ledger, in the memory of that PE. Any of its workers may write. Trivially copyable. The adds are
/// relaxed: the ledger must not order accesses that the worklist does not order.
struct LedgerView {
  using Tally = Word<std::uint64_t, Scope::device>;
  static constexpr std::uint32_t kStripes = 64;  ///< copies, so that thousands of lanes do not contend for one value

  Tally* words = nullptr;  ///< [kStripes][n_pes][kKinds][3]
  pe_t n_pes = 1;

  SHOAL_FN Tally* at(std::uint32_t stripe, pe_t producer, int kind) const {
    return words + ((stripe * static_cast<std::uint32_t>(n_pes) + producer) * kKinds + kind) * 3;
  }
  SHOAL_FN void note(Kind kind, pe_t producer, std::uint64_t number) const {
    const std::uint64_t mixed = mix(number ^ 0x5bd1e995);
    Tally* to = at(static_cast<std::uint32_t>(mixed % kStripes), producer, kind);
    to[0].fetch_add(1);
    to[1].fetch_add(number);
    to[2].fetch_add(mixed);
  }
};

/// The sums that are expected, or that were recorded: [owner][producer][kind].
using Page = std::vector<std::vector<std::vector<Sums>>>;
inline Page empty_page(pe_t n_pes) {
  return Page(n_pes, std::vector<std::vector<Sums>>(n_pes, std::vector<Sums>(kKinds)));
}

/// The pages of all PEs of a machine.
class Ledger {
 public:
  explicit Ledger(const Machine& machine) : machine_(machine) {
    for (pe_t p = 0; p < machine.n_pes(); ++p) memory_.push_back(machine.allocate(p, bytes(), "ledger"));
  }
  LedgerView view(pe_t pe) const { return {static_cast<LedgerView::Tally*>(memory_[pe].get()), machine_.n_pes()}; }
  void clear() {
    const std::vector<char> zeros(bytes());
    for (pe_t p = 0; p < machine_.n_pes(); ++p) machine_.copy_in(p, memory_[p].get(), zeros.data(), bytes());
  }
  Page read() const {
    Page page = empty_page(machine_.n_pes());
    std::vector<LedgerView::Tally> words(bytes() / sizeof(LedgerView::Tally));
    for (pe_t owner = 0; owner < machine_.n_pes(); ++owner) {
      machine_.copy_out(owner, words.data(), memory_[owner].get(), bytes());
      see(owner, words.data(), bytes());
      const LedgerView view{words.data(), machine_.n_pes()};
      for (std::uint32_t stripe = 0; stripe < LedgerView::kStripes; ++stripe) {
        for (pe_t producer = 0; producer < machine_.n_pes(); ++producer) {
          for (int kind = 0; kind < kKinds; ++kind) {
            const LedgerView::Tally* from = view.at(stripe, producer, kind);
            Sums& to = page[owner][producer][kind];
            to.count += from[0].load(), to.sum += from[1].load(), to.mixed += from[2].load();
          }
        }
      }
    }
    return page;
  }

 private:
  std::size_t bytes() const {
    return sizeof(LedgerView::Tally) * LedgerView::kStripes * static_cast<std::size_t>(machine_.n_pes()) * kKinds * 3;
  }
  const Machine& machine_;
  std::vector<std::shared_ptr<void>> memory_;
};

}  // namespace shoal::contract
