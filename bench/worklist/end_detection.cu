// How long a run goes on after its last item: the time from the end of the last item to the check that finds nothing left. Also the
// time of a run without work.
//
//   end_detection [--device gpu|cpu] [--pes N] [--worker KIND] [--hops N] [--items N] [--trials N] [--json FILE]
//                 [flags of every run]
//
// Items hop from PE to PE. The last hop of each is on PE 0, whose worker 0 checks for the end, so both times are read from one
// clock (the GPU's global timer, or the host's). The transport records when completed counters are read: the last such time is that
// of the check that found the end. To measure what the checks cost, the same run is also made with one check in sixteen, in turns;
// both are medians. Every run's hops are counted. Prints a line; exit status 1 if anything was wrong.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "latency_bench.hpp"
#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/worklist/worklist.hpp"

namespace {

using namespace shoal;
using bench::now_ns;
using Stamp = Word<std::uint64_t, Scope::device>;

struct Hop {
  static constexpr KernelSet kKernels = kAllKernels;
  struct Item {
    std::uint32_t left;  ///< hops after this one
  };
  pe_t n_pes;
  Stamp* done;  ///< PE 0's: the time when the last hop ended, complemented, so that fetch_min keeps the latest time

  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.left % static_cast<std::uint32_t>(n_pes)); }
  SHOAL_FN bool accept(Item) const { return true; }
  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    if (item.left > 0) {
      out.push(w, Item{item.left - 1});
    } else if (w.lane() == 0) {
      done->fetch_min(~now_ns());
    }
  }
};

/// Direct transport that records when a completed counter was read. With `seldom`, PE 0 gets an answer only once in 16 reads;
/// otherwise it gets 0, that is, nothing is completed yet, which is always safe.
struct NotingTransport : DirectTransport {
  Stamp* looked = nullptr;  ///< PE 0's: when it last read a counter
  Stamp* seldom = nullptr;  ///< PE 0's: [0] whether `seldom` is on, [1 + q] number of reads from PE q
  template <class T>
  SHOAL_FN T get(pe_t pe, const SharedWord<T>* word) const {
    if (seldom->load() != 0 && seldom[1 + pe].fetch_add(1) % 16 != 15) return 0;
    const T value = DirectTransport::get(pe, word);
    looked->store(now_ns());
    return value;
  }
};
static_assert(Transport<NotingTransport>);

struct Spread {
  double median, p99, most;
};
Spread spread(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return {x[x.size() / 2], x[x.size() - 1 - x.size() / 100], x.back()};
}

int measure(const Options& options, std::uint32_t hops, std::uint32_t items, int trials, const std::string& json) {
  const Machine machine(options);
  const pe_t n = machine.n_pes();
  Decisions why;
  const LaunchPlan plan = plan_launch(options, machine.on_gpu(), n, std::max(items, 1u << 12), 1, why);
  std::vector<std::uint64_t> begin(3 + static_cast<std::size_t>(n));  // last hop, last read, seldom, reads from each PE
  const std::shared_ptr<void> memory = machine.allocate(0, begin.size() * sizeof(Stamp), "stamps");
  Stamp* const stamps = static_cast<Stamp*>(memory.get());
  NotingTransport transport;
  transport.looked = stamps + 1;
  transport.seldom = stamps + 2;
  Worklist<Hop, NotingTransport> list(machine, plan, transport);
  const std::vector<Hop> tasks(n, Hop{n, stamps});
  bool right = true;
  std::vector<double> found, empty, always, seldom, per_hop;
  const auto run_once = [&](std::uint32_t many, bool seldom_looks) {
    begin[0] = ~std::uint64_t{0};
    begin[2] = seldom_looks ? 1 : 0;
    machine.copy_in(0, stamps, begin.data(), begin.size() * sizeof(Stamp));
    std::vector<std::vector<Hop::Item>> seeds(n);
    for (std::uint32_t i = 0; i < many; ++i) seeds[i % n].push_back({hops});
    const Report report = list.run(tasks, seeds);
    right &= report.run == static_cast<std::int64_t>(many) * (static_cast<std::int64_t>(hops) + 1);
    return report.seconds * 1e6;
  };
  for (int trial = 0; trial < trials + 1; ++trial) {  // the first trial loads the kernels
    const double nothing = run_once(0, false);
    const double rarely = run_once(items, true);
    const double often = run_once(items, false);
    std::uint64_t at[2];
    machine.copy_out(0, at, stamps, sizeof(at));
    right &= at[1] >= ~at[0];
    if (trial == 0) continue;
    found.push_back((static_cast<double>(at[1]) - static_cast<double>(~at[0])) * 1e-3);
    empty.push_back(nothing);
    seldom.push_back(rarely);
    always.push_back(often);
    per_hop.push_back((often - nothing) / std::max(1u, hops));
  }
  const Spread end = spread(found), whole = spread(empty), run = spread(always), rare = spread(seldom),
               hop = spread(per_hop);
  const double cost = (run.median - rare.median) / rare.median;
  std::printf(
      "end_detection: %s: %d PEs of %d %s, %s, worker %s: end found %.2f us after the last item (p99 %.2f, most %.2f), "
      "%.2f %% "
      "of a run of %.0f us; looking costs it %+.2f %%; a run without work %.1f us; a hop %.2f us; %d trials, %u items "
      "of %u hops\n",
      right ? "ok" : "FAILED: hops were lost, or the end was found before the last item was done", static_cast<int>(n),
      list.workers_per_pe(), machine.on_gpu() ? "GPU workers" : "CPU threads", name(plan.kernel), name(plan.worker),
      end.median, end.p99, end.most, 100 * end.median / run.median, run.median, 100 * cost, whole.median, hop.median,
      trials, items, hops);
  if (!json.empty()) {
    const auto of = [](const Spread& s) {
      return nlohmann::json{{"median", s.median}, {"p99", s.p99}, {"most", s.most}};
    };
    nlohmann::ordered_json out = bench::result_head("end_detection", machine, plan, list.workers_per_pe());
    out.update({{"items", items},
                {"hops", hops},
                {"trials", trials},
                {"end_found_us", of(end)},
                {"run_us", of(run)},
                {"run_with_a_sixteenth_of_the_looks_us", of(rare)},
                {"run_without_work_us", of(whole)},
                {"hop_us", of(hop)},
                {"right", right}});
    bench::write_result(out, json);
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long a run goes on after its last item.");
  RunFlags flags;
  std::uint32_t hops = 100, items = 1;
  int trials = 100;
  std::string json;
  app.add_option("--hops", hops, "hops of each item")
      ->check(CLI::Range(std::uint32_t{0}, std::uint32_t{100000000}))
      ->capture_default_str();
  app.add_option("--items", items, "items at once")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{10000000}))
      ->capture_default_str();
  app.add_option("--trials", trials)->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--json", json, "writes the result there as well");
  flags.add_to(app);
  CLI11_PARSE(app, argc, argv);
  try {
    Options options;
    flags.read(options);
    return measure(options, hops, items, trials, json);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "end_detection: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "end_detection: error: %s\n", error.what());
    return 1;
  }
}
