// A worklist of several processes behind walls (transport/walled.hpp) with the interface of a worklist of one process, so that
// the same tests run on both.
#pragma once
#include <exception>
#include <memory>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/worklist/worklist.hpp"
#include "walled_processes.hpp"

namespace shoal::contract {

/// Has the members of Worklist that tests use.
template <class Task>
class WalledWorklist {
 public:
  using Item = typename Task::Item;

  WalledWorklist(Walled& walled, const LaunchPlan& plan) : walled_(walled), lists_(walled.processes()) {
    walled.on_each([&](std::size_t p) { lists_[p] = std::make_unique<Worklist<Task>>(walled_.machine(p), plan); });
  }

  /// @param task,seeds  of all PEs of all processes
  Report run(const std::vector<Task>& task, const std::vector<std::vector<Item>>& seeds) {
    std::vector<Report> reports(walled_.processes());
    walled_.on_each([&](std::size_t p) {
      const World& world = walled_.world(p);
      const auto first = static_cast<std::size_t>(world.first_here()), n = static_cast<std::size_t>(world.n_here());
      const auto mine = [&](const auto& of_all) {
        return std::vector(of_all.begin() + static_cast<std::ptrdiff_t>(first),
                           of_all.begin() + static_cast<std::ptrdiff_t>(first + n));
      };
      std::exception_ptr error;
      try {
        reports[p] = lists_[p]->run(mine(task), mine(seeds));
      } catch (...) {
        error = std::current_exception();
      }
      reports[p] = of_all_processes(walled_.world(p), reports[p], error);
    });
    return reports[0];
  }

  int workers_per_pe() const { return lists_[0]->workers_per_pe(); }

 private:
  Walled& walled_;
  std::vector<std::unique_ptr<Worklist<Task>>> lists_;
};

}  // namespace shoal::contract
