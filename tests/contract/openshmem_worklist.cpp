// Runs a worklist on PEs of several processes that oshrun starts. Items hop from PE to PE at random, and each PE records the
// items that it made, judged and ran: none may be lost, doubled or changed. Prints how long the run took. If a harm is given
// (kill, stop, throw or leave), it happens to process 1 half-way through the run.
//
//   oshrun -np N openshmem_worklist PES_PER_PROCESS THREADS OPERATIONS CAPACITY BATCH_BYTES PATIENCE_SECONDS
//                                   [kill|stop|throw|leave|none [persistent|discrete [ITEMS]]]
//
// ITEMS is the number of items of each PE that are under way at any time; the default is 4096.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "contract/ledger.hpp"
#include "shoal/core/error.hpp"
#include "shoal/worklist/worklist.hpp"
#include "shoal/world/openshmem.hpp"
#include "shoal/world/world.hpp"

namespace {

using namespace shoal;
using contract::mix;

/// The record of one PE: the number of items, and the sum of the hashes of their numbers.
struct Sums {
  Word<std::uint64_t, Scope::device> count, mixed;
  void note(std::uint64_t number) { count.fetch_add(1), mixed.fetch_add(mix(number)); }
};

struct Hops {
  struct Item {
    std::uint64_t number;
    std::uint32_t left, from;
  };
  Sums *made, *judged, *run;
  pe_t me = 0, n_pes = 1;
  std::uint32_t harm_at = ~0u;
  char harm = ' ';

  pe_t owner(Item item) const { return static_cast<pe_t>((item.number >> 32) % static_cast<std::uint64_t>(n_pes)); }
  bool accept(Item item) const {
    judged->note(item.number);
    return true;
  }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    run->note(item.number);
    if (item.left == harm_at) do_harm();
    if (item.left == 0) return;
    const Item next{mix(item.number), item.left - 1, static_cast<std::uint32_t>(me)};
    made->note(next.number);
    out.push(w, next);
  }
  void do_harm() const {
    if (harm == 'k') ::raise(SIGKILL);
    if (harm == 's') ::raise(SIGSTOP);
    if (harm == 't') throw CapacityError("planted");
    if (harm == 'l') std::_Exit(0);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  Options options;
  options.device = DeviceKind::cpu;
  options.pes = std::atoi(argv[1]);
  options.threads = std::atoi(argv[2]);
  const std::int64_t operations = std::atoll(argv[3]);
  const char harm = argc > 7 ? argv[7][0] : 'n';
  LaunchPlan plan;
  plan.capacity = static_cast<ticket_t>(std::atoll(argv[4]));
  plan.channel_capacity = plan.capacity / 4;
  plan.batch_bytes = std::atoll(argv[5]);
  plan.stall_timeout_seconds = std::atof(argv[6]);
  plan.fetch = 16;
  if (argc > 8 && std::string(argv[8]) == "discrete") plan.kernel = KernelKind::discrete;
  try {
    World world(options.pes, plan.stall_timeout_seconds, openshmem_boards(), argv[3]);
    Machine machine(options);
    machine.join(world);
    const pe_t n = world.n_pes();
    const auto pes = static_cast<std::size_t>(options.pes);
    const auto items = static_cast<std::uint32_t>(argc > 9 ? std::max(1, std::atoi(argv[9])) : 4096);
    const auto hops = static_cast<std::uint32_t>(operations / (std::int64_t{items} * n));
    std::vector<Sums> made(pes), judged(pes), ran(pes);
    std::vector<Hops> tasks(pes);
    std::vector<std::vector<Hops::Item>> seeds(pes);
    for (std::size_t p = 0; p < pes; ++p) {
      const pe_t me = world.first_here() + static_cast<pe_t>(p);
      tasks[p] = {&made[p], &judged[p], &ran[p], me, n};
      if (world.process() == 1 && p == 0) tasks[p].harm = harm, tasks[p].harm_at = harm == 'n' ? ~0u : hops / 2;
      for (std::uint32_t i = 0; i < items; ++i) {
        seeds[p].push_back({mix(static_cast<std::uint64_t>(me) << 32 | i), hops, static_cast<std::uint32_t>(me)});
        made[p].note(seeds[p].back().number);
      }
    }
    Worklist<Hops> list(machine, plan);
    Report report;
    std::exception_ptr error;
    try {
      report = list.run(tasks, seeds);
    } catch (...) {
      error = std::current_exception();
    }
    report = of_all_processes(world, report, error);
    std::uint64_t sums[6] = {};
    for (std::size_t p = 0; p < pes; ++p) {
      sums[0] += made[p].count.load(), sums[1] += made[p].mixed.load();
      sums[2] += judged[p].count.load(), sums[3] += judged[p].mixed.load();
      sums[4] += ran[p].count.load(), sums[5] += ran[p].mixed.load();
    }
    std::uint64_t all[6] = {};
    for (const auto& bytes : world.exchange({"sums"}, std::as_bytes(std::span(sums)))) {
      std::uint64_t its[6] = {};
      std::memcpy(its, bytes.data(), std::min(bytes.size(), sizeof its));
      for (int i = 0; i < 6; ++i) all[i] += its[i];
    }
    const auto wanted = static_cast<std::uint64_t>(hops + 1) * items * static_cast<std::uint64_t>(n);
    const bool right = all[0] == wanted && all[2] == wanted && all[4] == wanted && all[1] == all[3] && all[3] == all[5];
    if (world.process() == 0) {
      std::int64_t travelled = 0, messages = 0;
      for (const Traffic& pair : report.traffic) travelled += pair.items, messages += pair.messages;
      std::printf("%s: %lu items in %.3f s, %.2f million a second; %ld travelled, %.1f in a message\n",
                  right ? "right" : "WRONG", static_cast<unsigned long>(all[4]), report.seconds,
                  static_cast<double>(all[4]) / report.seconds / 1e6, static_cast<long>(travelled),
                  static_cast<double>(travelled) / static_cast<double>(std::max<std::int64_t>(messages, 1)));
    }
    for (pe_t p = world.first_here(); p < world.first_here() + options.pes; ++p) {
      // One after another: only the call for the last PE of a process waits.
      world.leave(p);
    }
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 4;
  }
}
