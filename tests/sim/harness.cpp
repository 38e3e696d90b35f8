#include "harness.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/// The number of the mutation that is switched on, in builds with headers from mutate.py; 0: none.
int shoal_mutant = 0;

namespace shoal::sim {
namespace {

struct Arguments {
  std::uint64_t first = 1, schedules = 2000;
  bool one = false;
  std::size_t trace = 60;
  double seconds = 0;
};

Verdict run_seed(Machine& machine, Scenario& scenario, std::uint64_t seed, bool trace, std::string& text) {
  Random random(seed);
  machine.clear();
  text = scenario.set_up(machine, random);
  Schedule schedule = Schedule::from_seed(seed, scenario.expected_steps(), scenario.max_steps());
  schedule.trace = trace;
  Verdict verdict = machine.run(schedule);
  while (verdict.ok && scenario.again(machine)) {
    schedule.seed = schedule.seed * 31 + 7;
    const Verdict next = machine.run(schedule);
    verdict.ok = next.ok, verdict.what = next.what;
    verdict.steps += next.steps, verdict.stale_reads += next.stale_reads;
    verdict.trace_hash = verdict.trace_hash * 31 + next.trace_hash;
  }
  if (!verdict.ok) return verdict;
  verdict.what = scenario.judge();
  verdict.ok = verdict.what.empty();
  return verdict;
}

const char* policy_name(std::uint64_t seed) {
  static const char* const names[] = {"uniform", "bursts", "priority", "stall"};
  return names[static_cast<int>(Schedule::from_seed(seed, 1, 1).policy)];
}

}  // namespace

int run_scenario(const char* name, Scenario& scenario, int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* flag) { return std::strcmp(argv[i], flag) == 0 && i + 1 < argc; };
    if (is("--seed")) {
      a.first = std::strtoull(argv[++i], nullptr, 10), a.one = true;
    } else if (is("--first")) {
      a.first = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--schedules")) {
      a.schedules = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--seconds")) {
      a.seconds = std::strtod(argv[++i], nullptr);
    } else if (is("--trace")) {
      a.trace = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--mutant")) {
      shoal_mutant = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr,
                   "%s: unknown or incomplete argument '%s'; known: --schedules N --first SEED --seed SEED "
                   "--seconds S --trace N --mutant K\n",
                   argv[0], argv[i]);
      return 2;
    }
  }
  if (a.one) a.schedules = 1;

  Machine machine;
  std::uint64_t done = 0, steps = 0, longest = 0, stale = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::string text;
  for (; done < a.schedules; ++done) {
    if (a.seconds > 0 && done % 64 == 0 && elapsed() > a.seconds) break;
    const std::uint64_t seed = a.first + done;
    Verdict verdict = run_seed(machine, scenario, seed, a.one, text);
    steps += verdict.steps, stale += verdict.stale_reads;
    if (verdict.steps > longest) longest = verdict.steps;
    if (verdict.ok && !a.one) continue;
    if (!a.one) verdict = run_seed(machine, scenario, seed, true, text);  // the same run again, with a trace
    std::printf("%s: %s\n  %s\n  seed %llu, policy %s, %llu steps, trace %016llx\n", name,
                verdict.ok ? "held" : verdict.what.c_str(), text.c_str(), static_cast<unsigned long long>(seed),
                policy_name(seed), static_cast<unsigned long long>(verdict.steps),
                static_cast<unsigned long long>(verdict.trace_hash));
    if (!verdict.ok || a.one) std::printf("%s", machine.trace(a.trace).c_str());
    if (!verdict.ok) std::printf("replay: %s --seed %llu\n", argv[0], static_cast<unsigned long long>(seed));
    return verdict.ok ? 0 : 1;
  }
  std::printf("%s: %llu schedules held, %llu steps (longest %llu), %llu stale reads, %.1f s\n", name,
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(longest), static_cast<unsigned long long>(stale), elapsed());
  return done < a.schedules ? 3 : 0;
}

}  // namespace shoal::sim
