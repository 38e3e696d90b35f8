// The main loop of a simulation program: runs seeds and prints verdicts.
//
//   sim_ring [--schedules N] [--first SEED] [--seconds S]   runs seeds FIRST, FIRST+1, ...; stops at the first failure
//   sim_ring --seed SEED [--trace N]                        replays one seed and prints the last N operations
//   ... --mutant K                                          switches mutation K on (mutate.py; needs Python at the build)
//
// A seed decides the case (how many workers, which capacities, which items) and the schedule. Exit status: 0 all schedules were
// right, 1 a failure was found (report on stdout), 2 wrong usage, 3 stopped by --seconds before all schedules were run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "machine.hpp"

namespace shoal::sim {

/// What a program simulates. set_up and judge run outside of the simulation, so they may access memory in any way.
class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Prepares memory and adds workers. Returns the case in one line, for the report.
  virtual std::string set_up(Machine& machine, Random& random) = 0;
  /// Called after a run that ended by itself. Returns true if it has added workers for another run of the same case.
  virtual bool again(Machine&) { return false; }
  /// Called after the last run. Returns what is wrong, or "".
  virtual std::string judge() = 0;
  /// About how many steps a run takes, and a number of steps that no correct run reaches.
  virtual unsigned expected_steps() const = 0;
  virtual std::uint64_t max_steps() const = 0;
};

/// Several scenarios with similar numbers of steps. The seed chooses one of them.
template <class... Scenarios>
class OneOf final : public Scenario {
 public:
  std::string set_up(Machine& machine, Random& random) override {
    Scenario* const all[] = {&std::get<Scenarios>(scenarios_)...};
    now_ = all[random.below(sizeof...(Scenarios))];
    return now_->set_up(machine, random);
  }
  bool again(Machine& machine) override { return now_->again(machine); }
  std::string judge() override { return now_->judge(); }
  unsigned expected_steps() const override { return now_->expected_steps(); }
  std::uint64_t max_steps() const override { return now_->max_steps(); }

 private:
  std::tuple<Scenarios...> scenarios_;
  Scenario* now_ = &std::get<0>(scenarios_);
};

/// The main function of a simulation program.
int run_scenario(const char* name, Scenario& scenario, int argc, char** argv);

}  // namespace shoal::sim
