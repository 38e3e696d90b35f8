// Runs `--operations` items through the worklist, on CPU threads or GPUs, and checks that none was lost, duplicated or changed.
//
// The number of items is known beforehand: an item carries the weight of its whole subtree and divides it among its children. Most
// weight runs down long spines that throw off small bushes and, now and then, a thousand leaves at once. So 10^10 items need space
// for only a few per root at a time. Each PE counts, per partner, the items that it made, judged and ran: their number, the sum of
// their numbers, and the sum of a mix of their numbers. All three must agree, and the total must be the weight of the roots. Prints
// one line; exit status 1 if anything is wrong.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/worklist/worklist.hpp"

namespace {

using namespace shoal;
using Tally = Word<std::uint64_t, Scope::device>;

enum Kind : int { kMade, kJudged, kRun, kKinds };
constexpr std::uint32_t kStripes = 512;  // copies of each sum, so that not all lanes add to one word
constexpr std::uint64_t kBush = 32;      // the largest weight of an item that is not on a spine
constexpr std::uint64_t kLeaves = 1000;  // leaves of a wide fan-out

SHOAL_FN std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

struct Children {
  std::int64_t count;
  SHOAL_FN std::int64_t size() const { return count; }
  SHOAL_FN std::int64_t operator[](std::int64_t i) const { return i; }
};

/// What to do wrong with some items, to test that the check finds it.
enum class Tamper { none, lost, doubled, changed };

struct Storm {
  struct Item {
    std::uint64_t number;
    std::uint64_t weight : 48;  ///< items in its subtree, itself included
    std::uint64_t producer : 16;
  };

  Tally* tallies;  ///< this PE's: [kStripes][kKinds][n_pes][3]
  pe_t me;
  pe_t n_pes;
  Tamper tamper = Tamper::none;

  SHOAL_FN void note(Kind kind, pe_t partner, const Item& item) const {
    const std::uint64_t mixed = mix(item.number ^ item.weight << 17);
    Tally* to = tallies + (((mixed % kStripes) * kKinds + kind) * n_pes + partner) * 3;
    to[0].fetch_add(1);
    to[1].fetch_add(item.number);
    to[2].fetch_add(mixed);
  }
  SHOAL_FN bool is_wide(const Item& item) const { return item.weight > 2 * kLeaves && (item.number >> 24) % 512 == 0; }

  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>((item.number >> 40) % n_pes); }
  SHOAL_FN bool accept(Item item) const {
    const bool spoilt = tamper != Tamper::none && item.number % 4099 == 0;
    if (spoilt && tamper == Tamper::changed) item.number ^= 1;
    if (!spoilt || tamper != Tamper::lost) note(kJudged, static_cast<pe_t>(item.producer), item);
    if (spoilt && tamper == Tamper::doubled) note(kJudged, static_cast<pe_t>(item.producer), item);
    return true;
  }
  SHOAL_FN Children range(Item item) const {
    note(kRun, static_cast<pe_t>(item.producer), item);
    const std::uint64_t below = item.weight - 1;
    if (below == 0) return {0};
    if (is_wide(item)) return {kLeaves + 1};
    if (item.weight > kBush) return {2};
    const std::uint64_t wanted = 1 + item.number % 4;
    return {static_cast<std::int64_t>(wanted < below ? wanted : below)};
  }
  SHOAL_FN Item make(Item item, std::int64_t i) const {
    const std::uint64_t below = item.weight - 1;
    std::uint64_t weight;
    if (is_wide(item)) {
      weight = i == 0 ? below - kLeaves : 1;
    } else if (item.weight > kBush) {
      const std::uint64_t bush = 1 + item.number % (kBush - 1);  // below > bush: the spine goes on
      weight = i == 0 ? below - bush : bush;
    } else {
      const std::uint64_t wanted = 1 + item.number % 4, children = wanted < below ? wanted : below;
      weight = below / children + (static_cast<std::uint64_t>(i) < below % children);
    }
    const Item made{mix(item.number * 0x10001 + static_cast<std::uint64_t>(i) + 1), weight,
                    static_cast<std::uint64_t>(me)};
    note(kMade, owner(made), made);
    return made;
  }
};

struct Sums {
  std::uint64_t count = 0, number = 0, mixed = 0;
  bool operator==(const Sums&) const = default;
};

/// The sums that PEs counted, by [kind][from PE][to PE].
class Book {
 public:
  explicit Book(const Machine& machine) : machine_(machine), n_(machine.n_pes()) {
    for (pe_t p = 0; p < n_; ++p) memory_.push_back(machine.allocate(p, bytes(), "tallies"));
  }
  Tally* tallies(pe_t pe) const { return static_cast<Tally*>(memory_[pe].get()); }
  void clear() {
    const std::vector<char> zeros(bytes());
    for (pe_t p = 0; p < n_; ++p) machine_.copy_in(p, memory_[p].get(), zeros.data(), bytes());
  }
  std::vector<Sums> read() const {
    std::vector<Sums> sums(static_cast<std::size_t>(kKinds * n_ * n_));
    std::vector<Tally> words(bytes() / sizeof(Tally));
    for (pe_t p = 0; p < n_; ++p) {
      machine_.copy_out(p, words.data(), memory_[p].get(), bytes());
      for (std::uint32_t stripe = 0; stripe < kStripes; ++stripe) {
        for (int kind = 0; kind < kKinds; ++kind) {
          for (pe_t partner = 0; partner < n_; ++partner) {
            const Tally* from = words.data() + ((stripe * kKinds + kind) * n_ + partner) * 3;
            Sums& to = kind == kMade ? sums[at(kMade, p, partner)] : sums[at(kind, partner, p)];
            to.count += from[0].load(), to.number += from[1].load(), to.mixed += from[2].load();
          }
        }
      }
    }
    return sums;
  }
  std::size_t at(int kind, pe_t from, pe_t to) const { return static_cast<std::size_t>((kind * n_ + from) * n_ + to); }

 private:
  std::size_t bytes() const { return sizeof(Tally) * kStripes * kKinds * static_cast<std::size_t>(n_) * 3; }
  const Machine& machine_;
  const pe_t n_;
  std::vector<std::shared_ptr<void>> memory_;
};

/// One line per pair of PEs whose sums disagree; empty if all is right.
std::string faults(const Book& book, const std::vector<Sums>& sums, pe_t n, std::uint64_t operations) {
  std::string text;
  std::uint64_t run = 0;
  for (pe_t from = 0; from < n; ++from) {
    for (pe_t to = 0; to < n; ++to) {
      const Sums &made = sums[book.at(kMade, from, to)], &judged = sums[book.at(kJudged, from, to)],
                 &ran = sums[book.at(kRun, from, to)];
      run += ran.count;
      if (made == judged && judged == ran) continue;
      text += "  PE " + std::to_string(from) + " -> PE " + std::to_string(to) + ": made " + std::to_string(made.count) +
              ", judged " + std::to_string(judged.count) + ", run " + std::to_string(ran.count) +
              (made.count == judged.count && judged.count == ran.count ? ": other items than were made" : "") + "\n";
    }
  }
  if (run != operations) text += "  " + std::to_string(run) + " items run, " + std::to_string(operations) + " wanted\n";
  return text;
}

int stress(const Options& options, std::uint64_t operations, std::uint64_t roots_per_pe, int repeat, Tamper tamper) {
  const Machine machine(options);
  const pe_t n = machine.n_pes();
  if (roots_per_pe == 0) roots_per_pe = machine.on_gpu() ? 1 << 15 : 1 << 8;
  std::uint64_t roots = roots_per_pe * static_cast<std::uint64_t>(n);
  if (roots > operations) roots = operations;
  Decisions why;
  const LaunchPlan plan = plan_launch(options, machine.on_gpu(), n, static_cast<std::int64_t>(roots * 32 / n), 2, why);
  Worklist<Storm> list(machine, plan);
  Book book(machine);
  std::vector<Storm> tasks;
  for (pe_t p = 0; p < n; ++p) tasks.push_back({book.tallies(p), p, n, tamper});
  int status = 0;
  for (int round = 0; round < repeat; ++round) {
    book.clear();
    std::vector<Sums> seeded(static_cast<std::size_t>(n * n));
    std::vector<std::vector<Storm::Item>> seeds(n);
    for (std::uint64_t r = 0; r < roots; ++r) {
      const pe_t p = static_cast<pe_t>(r % n);
      const Storm::Item item{mix((options.seed + round) * 1000003 + r), operations / roots + (r < operations % roots),
                             static_cast<std::uint64_t>(p)};
      Sums& sum = seeded[p * n + tasks[p].owner(item)];
      ++sum.count, sum.number += item.number, sum.mixed += mix(item.number ^ item.weight << 17);
      seeds[p].push_back(item);
    }
    const Report report = list.run(tasks, seeds);
    std::vector<Sums> sums = book.read();
    for (pe_t from = 0; from < n; ++from) {
      for (pe_t to = 0; to < n; ++to) {
        Sums& made = sums[book.at(kMade, from, to)];
        const Sums& seed = seeded[from * n + to];
        made.count += seed.count, made.number += seed.number, made.mixed += seed.mixed;
      }
    }
    const std::string wrong = faults(book, sums, n, operations);
    std::printf(
        "worklist_stress: %s: %llu items pushed, judged, taken and run in %.3f s (%.1f M/s), %lld spilled; "
        "%d PEs of %d %s, %s, worker %s, ring %llu, channel %llu, fetch %u, seed %llu\n%s",
        wrong.empty() ? "ok" : "FAILED", static_cast<unsigned long long>(operations), report.seconds,
        static_cast<double>(operations) / report.seconds * 1e-6, static_cast<long long>(report.spilled),
        static_cast<int>(n), list.workers_per_pe(), machine.on_gpu() ? "GPU workers" : "CPU threads", name(plan.kernel),
        name(plan.worker), static_cast<unsigned long long>(plan.capacity),
        static_cast<unsigned long long>(plan.channel_capacity), plan.fetch,
        static_cast<unsigned long long>(options.seed + round), wrong.c_str());
    std::fflush(stdout);
    if (!wrong.empty()) status = 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs many items through the worklist and checks that none was lost, doubled or changed.");
  RunFlags flags;
  std::uint64_t operations = 1000000, roots = 0;
  int repeat = 1;
  app.add_option("--operations", operations, "items in all, 1 to 10^13; each is pushed, judged, taken and run once")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10000000000000}))
      ->capture_default_str();
  app.add_option("--roots", roots, "items that each PE starts from; 0 chooses");
  app.add_option("--repeat", repeat, "runs, one after another on the same worklist, with seeds counted up")
      ->capture_default_str();
  Tamper tamper = Tamper::none;
  const std::map<std::string, Tamper> tampers = {
      {"none", Tamper::none}, {"lost", Tamper::lost}, {"doubled", Tamper::doubled}, {"changed", Tamper::changed}};
  app.add_option("--tamper", tamper, "none, lost, doubled or changed: spoils one tally in 4099, which must be found")
      ->transform(CLI::CheckedTransformer(tampers));
  flags.add_to(app);
  CLI11_PARSE(app, argc, argv);
  try {
    Options options;
    flags.read(options);
    return stress(options, operations, roots, repeat, tamper);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "worklist_stress: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worklist_stress: error: %s\n", error.what());
    return 1;
  }
}
