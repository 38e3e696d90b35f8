// Injected deadlocks: each makes a run stall in its own way, on a given PE. The error comes in time and names the PE and the
// object at fault, the counters are written to a file, and the same worklist works afterwards.
#include "shoal/worklist/stall.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/pending_file.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal::contract {
namespace {

enum class Fault {
  none,
  never_returns,   ///< the task never returns
  returns_late,    ///< the task returns only when the run ends
  lost_put,        ///< PE `at` puts an item to PE `to`, and the put is lost
  lost_credits,    ///< PE `to` never gives credits back to PE `at`
  unfilled_slot,   ///< a pusher of PE `at` takes a ticket and never fills the slot
  lost_completed,  ///< PE `at` counts one completion too few
  extra_created,   ///< PE `at` counts one creation too many
  ticket_only,     ///< PE `at` takes a ticket of the queue to PE `to` and never puts
  unread_claim,    ///< a worker of PE `to` claims an item from PE `at` and does not read it
  held_spill,      ///< a worker of PE `at` fills its ring and its spill, then does nothing more
};

struct Drill {
  struct Item {
    pe_t at;
    std::uint32_t hops;    ///< hops left
    std::uint32_t plants;  ///< 1: injects the fault at its last hop
  };

  Fault fault = Fault::none;
  pe_t at = 0, to = 0;
  pe_t n_pes = 1;
  FaultState* wire = nullptr;

  pe_t owner(Item item) const { return item.at; }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.hops > 0) {
      out.push(w, {(item.at + 1) % n_pes, item.hops - 1, item.plants});
    } else if (item.plants == 1) {
      plant(w, out);
    }
  }

 private:
  template <class W, class Out>
  void plant(const W& w, Out& out) const {
    const auto& view = out.view();
    PeControl& here = *view.control[at];
    const auto wait = [&](bool for_ever) {
      for (Backoff backoff; for_ever || out.state().load() == 0;) backoff.pause();
    };
    switch (fault) {
      case Fault::none:
        break;
      case Fault::never_returns:
        wait(true);
        break;
      case Fault::returns_late:
        wait(false);
        break;
      case Fault::lost_put:
        // The next message of a segment carries what a lost one would have said, so all later puts are lost as well.
        wire->lose_puts(view.segments.on ? 1 << 20 : 1);
        out.push(w, {to, 0, 0});
        break;
      case Fault::lost_credits:
        here.ends[to].send.credits.fetch_sub(static_cast<std::int64_t>(view.channel_capacity));
        out.push(w, {to, 0, 0});
        break;
      case Fault::unfilled_slot: {
        lane_t credit = 0;
        EXPECT_EQ(view.ring.reserve(1, credit).count, 1u) << "nothing was planted";
        break;
      }
      case Fault::lost_completed:
        here.completed.fetch_add(~std::uint64_t{0});
        break;
      case Fault::extra_created:
        here.entered.fetch_add(1);
        break;
      case Fault::ticket_only:
        EXPECT_EQ(
            (view.segments.on ? view.segment_sender(to).reserve(1) : view.sender(view.channel(to, 0)).reserve(1)).count,
            1u)
            << "nothing was planted";
        break;
      case Fault::unread_claim:
        for (ChannelReceiveCounters& end = view.control[to]->ends[at].receive;;) {
          ticket_t head = end.head();
          if (end.drain.compare_swap(head, head + 1)) break;
        }
        out.push(w, {to, 0, 0});
        break;
      case Fault::held_spill:
        for (int i = 0; i < 100; ++i) out.push(w, {at, 0, 0});
        out.flush(w);
        wait(false);
        break;
    }
  }
};

struct Case {
  Fault fault;
  pe_t pes, at, to;
  std::string expected;  ///< regular expression for part of the line: the PE and the object
  bool segments = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << "fault " << static_cast<int>(c.fault) << " on " << c.pes << " PEs, at " << c.at << ", to " << c.to
       << (c.segments ? ", segments" : "");
}

class StallDrill : public ::testing::TestWithParam<Case> {
 protected:
  static LaunchPlan plan(const Case& c) {
    LaunchPlan plan = small_plan(KernelKind::persistent, 64);  // slots for all items that travel
    plan.channel_capacity = 64;
    plan.channels = 1;  // the faults change the counters of channel 0
    plan.batch_bytes = c.segments ? 48 : 0;
    plan.stall_timeout_seconds = 0.25;
    return plan;
  }
  static std::vector<Drill> tasks(const Case& c, FaultState* wire) {
    return std::vector<Drill>(c.pes, {c.fault, c.at, c.to, c.pes, wire});
  }
  /// Some items that travel, and one that injects the fault after two rounds.
  static std::vector<std::vector<Drill::Item>> seeds(const Case& c) {
    std::vector<std::vector<Drill::Item>> seeds(c.pes);
    for (pe_t p = 0; p < c.pes; ++p) seeds[p] = {{p, 7, 0}, {(p + 1) % c.pes, 5, 0}};
    seeds[c.at].push_back({c.at, 2 * static_cast<std::uint32_t>(c.pes), 1});
    return seeds;
  }
};

std::string dump_named_in(const std::string& line) {
  const std::size_t at = line.find("shoal-stall-");
  return at == std::string::npos ? "" : line.substr(at, line.find(".json") + 5 - at);
}

TEST_P(StallDrill, IsDiagnosedInTime) {
  const Case& c = GetParam();
  const Machine machine = cpu_machine(c.pes, 1);
  FaultState wire;
  Worklist<Drill, FaultyTransport<>> list(machine, plan(c), FaultyTransport<>(&wire));
  const auto start = std::chrono::steady_clock::now();
  std::string line;
  try {
    list.run(tasks(c, &wire), seeds(c));
    ADD_FAILURE() << "the run ended as if nothing were wrong";
  } catch (const DeviceError& error) {
    line = error.what();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_TRUE(std::regex_search(line, std::regex(c.expected))) << "expected '" << c.expected << "' in: " << line;
  EXPECT_NE(line.find("no progress for 0.25 s"), std::string::npos) << line;
  EXPECT_GE(seconds, 0.25);
  EXPECT_LT(seconds, 1.25) << line;  // the watchdog polls every 25 ms; the rest allows for a busy machine

  const std::string name = dump_named_in(line);
  std::ifstream file(name);
  ASSERT_TRUE(file) << "no dump: " << line;
  const nlohmann::json dump = nlohmann::json::parse(file);
  EXPECT_EQ(dump.at("pes").size(), static_cast<std::size_t>(c.pes));
  EXPECT_NE(line.find(dump.at("diagnosis").get<std::string>()), std::string::npos);
  std::remove(name.c_str());

  Case healthy = c;
  healthy.fault = Fault::none;
  wire.arm({});
  EXPECT_EQ(list.run(tasks(healthy, &wire), seeds(healthy)).run, c.pes * (8 + 6) + 2 * c.pes + 1);
}

TEST(StallDump, ListsPhasesAndFullChunks) {
  const auto control = std::make_unique<PeControl>();
  control->phase.store(Phase::pack(3, false, false, 5));
  control->tokens.store(8), control->carried_out.store(7);
  control->far[2].tail.store(5), control->far[2].head.store(4), control->far[2].credits.store(-3);
  const std::string name = dump({snapshot(*control, 1, 0)}, "why");
  std::ifstream file(name);
  ASSERT_TRUE(file) << name;
  const nlohmann::json expected = {{"number", 3},
                                   {"threshold", 5},
                                   {"parts", 8},
                                   {"carried_out", 7},
                                   {"full_chunks", {{{"slot", 2}, {"handed_over", 5}, {"claimed", 4}, {"free", -3}}}}};
  EXPECT_EQ(nlohmann::json::parse(file).at("pes").at(0).at("phases"), expected);
  std::remove(name.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Planted, StallDrill,
    ::testing::Values(
        Case{Fault::returns_late, 1, 0, 0, "PE 0: [0-9]+ items? taken and not completed"},
        Case{Fault::returns_late, 3, 0, 0, "PE 0: [0-9]+ items? taken and not completed"},
        Case{Fault::returns_late, 3, 2, 0, "PE 2: [0-9]+ items? taken and not completed"},
        Case{Fault::lost_put, 2, 0, 1, "channel PE 0 -> PE 1: 1 of [0-9]+ items? sent never arrived"},
        Case{Fault::lost_put, 2, 1, 0, "channel PE 1 -> PE 0: 1 of [0-9]+ items? sent never arrived"},
        Case{Fault::lost_put, 3, 2, 1, "channel PE 2 -> PE 1: 1 of [0-9]+ items? sent never arrived"},
        Case{Fault::lost_put, 3, 0, 2, "channel PE 0 -> PE 2: 1 of [0-9]+ items? sent never arrived"},
        Case{Fault::ticket_only, 3, 1, 2, "channel PE 1 -> PE 2: 1 of [0-9]+ items? sent never arrived"},
        Case{Fault::ticket_only, 2, 1, 0, "channel PE 1 -> PE 0: 1 of [0-9]+ items? sent never arrived"},
        Case{Fault::lost_credits, 2, 0, 1, "channel PE 0 -> PE 1: no credits"},
        Case{Fault::lost_credits, 3, 1, 2, "channel PE 1 -> PE 2: no credits"},
        Case{Fault::lost_credits, 3, 2, 0, "channel PE 2 -> PE 0: no credits"},
        Case{Fault::lost_put, 2, 0, 1, "channel PE 0 -> PE 1: [0-9]+ of [0-9]+ items? sent never arrived", true},
        Case{Fault::ticket_only, 3, 1, 2, "channel PE 1 -> PE 2: [0-9]+ of [0-9]+ items? sent never arrived", true},
        Case{Fault::lost_credits, 3, 1, 2, "channel PE 1 -> PE 2: no credits", true},
        Case{Fault::unfilled_slot, 1, 0, 0,
             "ring of PE 0: ticket [0-9]+ was given to a pusher and its slot never filled"},
        Case{Fault::unfilled_slot, 3, 1, 0,
             "ring of PE 1: ticket [0-9]+ was given to a pusher and its slot never filled"},
        Case{Fault::unfilled_slot, 3, 2, 0,
             "ring of PE 2: ticket [0-9]+ was given to a pusher and its slot never filled"},
        Case{Fault::lost_completed, 1, 0, 0, "PE 0: [0-9]+ items? taken and not completed"},
        Case{Fault::lost_completed, 3, 1, 0, "PE 1: [0-9]+ items? taken and not completed"},
        Case{Fault::extra_created, 3, 0, 0, "PE 0: [0-9]+ items? taken and not completed"},
        Case{Fault::extra_created, 3, 2, 0, "PE 2: [0-9]+ items? taken and not completed"},
        Case{Fault::unread_claim, 2, 0, 1, "channel PE 0 -> PE 1: 1 item arrived, and a worker of PE 1 claimed"},
        Case{Fault::unread_claim, 3, 2, 0, "channel PE 2 -> PE 0: 1 item arrived, and a worker of PE 0 claimed"},
        Case{Fault::held_spill, 1, 0, 0, "spill of PE 0"}, Case{Fault::held_spill, 3, 1, 0, "spill of PE 1"}));

// A task that never returns cannot be stopped. The process prints a diagnosis and ends with an exit code for this case.
class StallDeath : public StallDrill {};
TEST_P(StallDeath, EndsTheProcessWithTheDiagnosis) {
  const Case& c = GetParam();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "shoal_stall_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto run = [&] {  // in the child process, which is to end
    std::filesystem::current_path(folder);
    const io::PendingFile output("levels.npy");
    const Machine machine = cpu_machine(c.pes, 1);
    Worklist<Drill> list(machine, plan(c));
    list.run(tasks(c, nullptr), seeds(c));
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(kStuckExitCode), c.expected);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1)
      << "one dump of the counters, and no incomplete output file";
  std::filesystem::remove_all(folder);
}
INSTANTIATE_TEST_SUITE_P(Planted, StallDeath,
                         ::testing::Values(Case{Fault::never_returns, 1, 0, 0,
                                                "a task does not return: no progress.*PE 0: [0-9]+ items? taken"},
                                           Case{Fault::never_returns, 3, 1, 0,
                                                "a task does not return: no progress.*PE 1: [0-9]+ items? taken"},
                                           Case{Fault::never_returns, 3, 2, 0,
                                                "a task does not return: no progress.*PE 2: [0-9]+ items? taken"}));

}  // namespace
}  // namespace shoal::contract
