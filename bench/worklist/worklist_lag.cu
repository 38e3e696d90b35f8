// How long it takes until a pushed item is run by a worker that waits for it, and how long a push takes, while a thousand items are
// in flight.
//
//   worklist_lag [--device gpu|cpu] [--pes N] [--worker KIND] [--in-flight N] [--hops N] [--json FILE] [flags of every run]
//
// There are `--in-flight` chains of items at once; each item pushes the next one of its chain. A worker makes one push at a time,
// and a busy worker cannot take an item. So there are at most 15 chains for 16 workers, and a worker takes one item at a time
// (unless --fetch is given); otherwise the wait for a free worker would be measured. A push is timed until its item is in the queue
// (Out::flush, because workers of one lane gather their pushes). There are two measurements: every chain stays on its PE, and every
// chain goes round all PEs. A chain's clock is read on the PE where it began, so both times are from one clock (the GPU's global
// timer, or the host's); round all PEs, a lag is the time of one round divided by the number of PEs. Times are counted in bins that
// are an eighth of a power of two wide, and the upper edge of a bin is shown. Every item is counted. Prints two lines; exit status
// 1 if hops were lost.
//
// Source: Atos, Listing 6, publishes with one counter, so a fast pusher waits for a slow one. The requirement on a worklist is that
// the 99th percentile of the lag, which begins with the push, is at most ten pushes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
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
using Count = Word<std::uint64_t, Scope::device>;

constexpr int kBins = 512;  // eight bins for each power of two
SHOAL_FN int bin_of(std::uint64_t ns) {
  int log2 = 0;
  while (ns >> log2 > 15) ++log2;
  const int bin = 8 * log2 + static_cast<int>(ns >> log2);  // ns >> log2 is in [8, 16), or in [0, 8) at the first power
  return bin < kBins ? bin : kBins - 1;
}
double upper_edge(int bin) {
  if (bin < 16) return bin + 1;
  const int log2 = (bin - 8) / 8;
  return std::ldexp(bin - 8 * log2 + 1, log2);
}

struct Chain {
  static constexpr KernelSet kKernels = kAllKernels;
  struct Item {
    std::uint32_t left;  ///< hops after this one
    std::uint32_t chain;
    std::uint64_t pushed_at;  ///< when its chain last left its home PE, ns
  };
  pe_t n_pes;
  bool travels;
  Count* lag;     ///< [kBins] of this PE
  Count* pushes;  ///< [kBins] of this PE

  SHOAL_FN pe_t home(Item item) const { return static_cast<pe_t>(item.chain % static_cast<std::uint32_t>(n_pes)); }
  SHOAL_FN pe_t owner(Item item) const {
    return static_cast<pe_t>((item.chain + (travels ? item.left : 0)) % static_cast<std::uint32_t>(n_pes));
  }
  SHOAL_FN bool accept(Item) const { return true; }
  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    const std::uint64_t now = now_ns();
    const bool at_home = owner(item) == home(item);
    if (at_home && w.lane() == 0 && item.pushed_at != 0) lag[bin_of(now - item.pushed_at)].fetch_add(1);
    if (item.left == 0) return;
    const std::uint64_t started = now_ns();
    out.push(w, Item{item.left - 1, item.chain, at_home ? started : item.pushed_at});
    out.flush(w);
    if (w.lane() == 0) pushes[bin_of(now_ns() - started)].fetch_add(1);
  }
};

struct Bins {
  std::vector<std::uint64_t> count = std::vector<std::uint64_t>(kBins);
  std::uint64_t total = 0;
  double percentile(double p) const {
    std::uint64_t below = 0;
    for (int bin = 0; bin < kBins; ++bin) {
      below += count[static_cast<std::size_t>(bin)];
      if (static_cast<double>(below) >= p * static_cast<double>(total)) return upper_edge(bin);
    }
    return 0;
  }
  nlohmann::json json(double per) const {
    return {{"samples", total},
            {"median", percentile(0.5) / per},
            {"p90", percentile(0.9) / per},
            {"p99", percentile(0.99) / per},
            {"most", percentile(1) / per}};
  }
};

int measure(Options options, std::uint32_t chains, std::uint32_t hops, const std::string& json) {
  if (options.fetch == 0) options.fetch = 1;
  const Machine machine(options);
  const pe_t n = machine.n_pes();
  Decisions why;
  const LaunchPlan plan = plan_launch(options, machine.on_gpu(), n, std::max<std::int64_t>(chains, 1 << 12), 1, why);
  std::vector<std::shared_ptr<void>> memory;
  for (pe_t p = 0; p < n; ++p) memory.push_back(machine.allocate(p, 2 * kBins * sizeof(Count), "bins"));
  Worklist<Chain> list(machine, plan);
  const auto workers = static_cast<std::uint32_t>(list.workers_per_pe()) * static_cast<std::uint32_t>(n);
  chains = std::clamp(chains, 1u, std::max(1u, workers / 16 * 15));
  nlohmann::ordered_json out = bench::result_head("worklist_lag", machine, plan, list.workers_per_pe());
  out["in_flight"] = chains;
  out["hops"] = hops;
  bool right = true;
  for (const bool travels : {false, true}) {
    if (travels && n == 1) break;
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < n; ++p) {
      Count* bins = static_cast<Count*>(memory[p].get());
      tasks.push_back({n, travels, bins, bins + kBins});
    }
    Bins lag, push;
    double seconds = 0;
    for (int round = 0; round < 2; ++round) {  // the first round loads the kernels
      const std::vector<std::uint64_t> zeros(2 * kBins);
      for (pe_t p = 0; p < n; ++p) machine.copy_in(p, memory[p].get(), zeros.data(), zeros.size() * sizeof(zeros[0]));
      std::vector<std::vector<Chain::Item>> seeds(n);
      for (std::uint32_t c = 0; c < chains; ++c) seeds[c % n].push_back({hops, c, 0});
      const Report report = list.run(tasks, seeds);
      seconds = report.seconds;
      right &= report.run == static_cast<std::int64_t>(chains) * (static_cast<std::int64_t>(hops) + 1);
    }
    for (pe_t p = 0; p < n; ++p) {
      std::vector<std::uint64_t> bins(2 * kBins);
      machine.copy_out(p, bins.data(), memory[p].get(), bins.size() * sizeof(bins[0]));
      for (std::size_t i = 0; i < kBins; ++i) {
        lag.count[i] += bins[i], lag.total += bins[i];
        push.count[i] += bins[kBins + i], push.total += bins[kBins + i];
      }
    }
    const double turns = travels ? n : 1;  // hops per sample
    std::printf(
        "worklist_lag: %s: %s, %d PEs of %d %s, %s, worker %s, %u in flight: pushed to run %.2f us (p90 %.2f, p99 "
        "%.2f, "
        "most %.2f); a push %.2f us (p99 %.2f); p99 is %.1f pushes; %.1f M hops/s\n",
        right ? "ok" : "FAILED: hops were lost", travels ? "round all PEs" : "on its PE", static_cast<int>(n),
        list.workers_per_pe(), machine.on_gpu() ? "GPU workers" : "CPU threads", name(plan.kernel), name(plan.worker),
        chains, lag.percentile(0.5) / turns * 1e-3, lag.percentile(0.9) / turns * 1e-3,
        lag.percentile(0.99) / turns * 1e-3, lag.percentile(1) / turns * 1e-3, push.percentile(0.5) * 1e-3,
        push.percentile(0.99) * 1e-3, lag.percentile(0.99) / turns / push.percentile(0.5),
        static_cast<double>(push.total) / seconds * 1e-6);
    out[travels ? "round" : "local"] = {
        {"lag_ns", lag.json(turns)}, {"push_ns", push.json(1)}, {"seconds", seconds}, {"right", right}};
  }
  if (!json.empty()) bench::write_result(out, json);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How long a pushed item waits, and how long a push takes.");
  RunFlags flags;
  std::uint32_t chains = 1000, hops = 1000;
  std::string json;
  app.add_option("--in-flight", chains, "items under way at once, on all PEs together; at most 15 for 16 workers")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{10000000}))
      ->capture_default_str();
  app.add_option("--hops", hops, "hops of each")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{100000000}))
      ->capture_default_str();
  app.add_option("--json", json, "writes the result there as well");
  flags.add_to(app);
  CLI11_PARSE(app, argc, argv);
  try {
    Options options;
    flags.read(options);
    return measure(options, chains, hops, json);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "worklist_lag: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worklist_lag: error: %s\n", error.what());
    return 1;
  }
}
