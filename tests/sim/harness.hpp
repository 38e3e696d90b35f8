// The frame of a simulation program: seeds in, verdicts out.
//
//   sim_ring [--schedules N] [--first SEED] [--seconds S]   runs seeds FIRST, FIRST+1, ...; stops at the first failure
//   sim_ring --seed SEED [--trace N]                        replays one, with the last N operations
//   ... --mutant K                                          in the mutant build: with mutation K switched on
//
// One seed decides the case (how many workers, which capacities, which items) and the schedule. Exit status: 0 all held,
// 1 a failure was found (report on stdout), 2 usage, 3 stopped by --seconds before all schedules were run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "machine.hpp"

namespace shoal::sim {

/// Something to be simulated. set_up and judge run outside the simulation, so they may use memory as they like.
class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Prepares memory and adds workers. Returns the case in one line, for the report.
  virtual std::string set_up(Machine& machine, Random& random) = 0;
  /// After a run that ended by itself: true if workers were added for another run of the same case.
  virtual bool again(Machine&) { return false; }
  /// After the last run. Returns what is wrong, or nothing.
  virtual std::string judge() = 0;
  /// About how many steps a run takes, and how many none ever takes.
  virtual unsigned expected_steps() const = 0;
  virtual std::uint64_t max_steps() const = 0;
};

/// One of several scenarios that expect as many steps, by the seed.
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
