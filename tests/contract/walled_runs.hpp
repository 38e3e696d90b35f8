// A worklist of several processes behind walls (transport/walled.hpp) that looks like one of one process, so that whatever runs
// on that runs on this.
#pragma once
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/transport/walled.hpp"
#include "shoal/worklist/worklist.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/world.hpp"

namespace shoal::contract {

/// The processes, each with its world and its machine, as many PEs as `all` has in sum.
class Walled {
 public:
  /// @param pes_of  of each process
  Walled(const std::vector<pe_t>& pes_of, int threads, const WalledPlan& plan, double patience_seconds = 20)
      : memory_(static_cast<int>(pes_of.size()), std::size_t{16} << 20) {
    const auto n = pes_of.size();
    worlds_.resize(n), machines_.resize(n);
    on_each([&](std::size_t p) {
      Options options;
      options.device = DeviceKind::cpu;
      options.pes = pes_of[p], options.threads = threads;
      machines_[p] = std::make_unique<Machine>(options);
      worlds_[p] = std::make_unique<World>(pes_of[p], patience_seconds,
                                           std::make_unique<WalledBoards>(memory_, static_cast<int>(p), plan), "");
      machines_[p]->join(*worlds_[p]);
    });
  }

  std::size_t processes() const { return worlds_.size(); }
  World& world(std::size_t p) const { return *worlds_[p]; }
  const Machine& machine(std::size_t p) const { return *machines_[p]; }

  /// Calls body(process) on a thread of each process, and rethrows what the first of them threw.
  template <class Body>
  void on_each(Body body) {
    std::vector<std::exception_ptr> errors(worlds_.size());
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < worlds_.size(); ++p) {
      threads.emplace_back([&, p] {
        try {
          body(p);
        } catch (...) {
          errors[p] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  WalledMemory memory_;
  std::vector<std::unique_ptr<World>> worlds_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

/// Has what tests use of a Worklist.
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
