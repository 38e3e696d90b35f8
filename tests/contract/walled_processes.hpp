// Processes behind walls (transport/walled.hpp). Each is a thread with its own world and its own machine.
#pragma once
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "shoal/transport/walled.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/world.hpp"

namespace shoal::contract {

/// The processes, each with its own world and machine.
class Walled {
 public:
  /// @param pes_of  the number of PEs of each process
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

  /// Calls body(process) on one thread for each process. Rethrows the exception of the first process (in their order) that
  /// threw.
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

}  // namespace shoal::contract
