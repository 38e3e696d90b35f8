// Runs blocks on GPUs in the form `kernels`: several kernels for each step, in streams that events order, or in a CUDA graph.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/completions_gpu.cuh"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/given.hpp"
#include "shoal/blocks/graph.cuh"
#include "shoal/blocks/halo_copies.cuh"
#include "shoal/blocks/kernels_gpu.cuh"
#include "shoal/blocks/trace_gpu.cuh"
#include "shoal/blocks/units.hpp"
#include "shoal/blocks/watch_gpu.cuh"
#include "shoal/core/interrupt.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/event.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// What a Launcher has for a run, whatever its form.
template <class B>
struct RunOnGpus {
  BlockArray<B>& array;
  const LaunchOptions& options;
  const GivenByTiles<B>& given;
  const std::vector<Stream>& work;  ///< [n_pes] the streams in which a run begins and ends
  RunTrace& trace;
  RunWatch& watch;
  RunCalls& calls;
};

/// Launches the steps of units of blocks (units.hpp). The work of all PEs of a process is ordered by the stream of PE 0.
template <class B>
class UnitLauncher {
 public:
  explicit UnitLauncher(const RunOnGpus<B>& run)
      : array_(run.array),
        options_(run.options),
        given_(run.given),
        work_(run.work),
        trace_(run.trace),
        watch_(run.watch),
        calls_(run.calls) {}

  /// Before the first run, and after blocks were moved: makes streams, events and copies anew. There is no graph then.
  void place() {
    streams_.clear();
    reached_.clear();
    packed_.clear();
    handed_.clear();
    units_ = Units(array_, options_);
    for (const int device : array_.machine().devices()) reached_.emplace_back(device);
    for (const Unit& unit : units_) {
      const int device = array_.machine().devices()[unit.pe];
      streams_.emplace_back(device);
      for (int parity = 0; parity < 2; ++parity) packed_.emplace_back(device);
    }
    for (const Unit& unit : units_) {
      if (!options_.urgent_packs) continue;
      const int device = array_.machine().devices()[unit.pe];
      streams_.emplace_back(device, Urgency::urgent);
      for (int i = 0; i < 2; ++i) handed_.emplace_back(device);
    }
    copies_.reset();
    if (options_.halos != Halos::direct) copies_ = std::make_unique<HaloCopies>(array_, units_, options_.halos);
    graph_ = Graph();
  }

  /// After place() and when the blocks have their state 0: captures steps in a graph, if the options say so.
  void make_graph() {
    if (options_.graph <= 0 || graph_) return;
    const auto steps = static_cast<step_t>(options_.graph);
    DeviceGuard guard(array_.machine().devices()[0]);
    run_ = {0, 4 + steps, false};
    capturing_ = true;
    graph_.capture(work_[0], [&] { launch_steps({2, 2 + steps, false}); });  // valid for all steps but the first
    capturing_ = false;
  }

  /// Launches all steps of a run.
  void launch(const StepRange& range) {
    run_ = range;
    gather();
    launch_all(range);
    spread();
  }

  const Units& units() const { return units_; }
  /// [units], or [2 x units] with LaunchOptions::urgent_packs
  const std::vector<Stream>& streams() const { return streams_; }

 private:
  /// gather(): later work in PE 0's stream waits for the work now in the streams of the other PEs. spread(): the other way round.
  void gather() {
    for (pe_t p = 1; p < array_.machine().n_pes(); ++p) {
      SHOAL_CUDA(cudaEventRecord(reached_[p], work_[p]));
      SHOAL_CUDA(cudaStreamWaitEvent(work_[0], reached_[p], 0));
    }
  }
  void spread() {
    SHOAL_CUDA(cudaEventRecord(reached_[0], work_[0]));
    for (pe_t p = 1; p < array_.machine().n_pes(); ++p) SHOAL_CUDA(cudaStreamWaitEvent(work_[p], reached_[0], 0));
  }

  /// Launches the steps of a run, as graphs where possible. The first and the last step, and steps that do not fill a graph, are
  /// launched kernel by kernel.
  void launch_all(const StepRange& range) {
    const auto steps = static_cast<step_t>(options_.graph);
    step_t s = range.first;
    if (graph_ && range.give_every == 0) {  // kernels in a graph do not know the number of their state
      // The first and the last step of a run are not in graphs: before and after a run the values that cross sides are in the
      // buffers, while kernels in a graph may hand them over.
      const step_t begin = (s + 2) / 2 * 2, end = range.end - 1;
      if (begin + steps <= end) {
        launch_steps({s, begin, false});
        trace_.mark(0, "");
        for (s = begin; s + steps <= end; s += steps) {
          throw_if_interrupted();
          if (calls_.next(s) < s + steps) {  // a call is due within the graph
            launch_steps({s, s + steps, false});
            continue;
          }
          graph_.launch(work_[0]);
          calls_.launched(s, s + steps, [this](std::int64_t) { return in_work(); });
          if (!keep_pace(steps, 0, work_[0])) return;
          trace_.mark(0, "graph of steps " + std::to_string(s) + " to " + std::to_string(s + steps - 1));
        }
      }
    }
    launch_steps({s, range.end, range.measure});
  }
  /// Launches steps kernel by kernel. Step s of a unit comes after its own step s - 1 by its stream, and after step s - 1 of the
  /// units in Unit::after by events. All of it comes after the earlier work in PE 0's stream, and before the later work.
  void launch_steps(const StepRange& range) {
    if (range.first == range.end) return;
    trace_.mark_steps(range.first);
    SHOAL_CUDA(cudaEventRecord(reached_[0], work_[0]));
    for (const Stream& stream : streams_) SHOAL_CUDA(cudaStreamWaitEvent(stream, reached_[0], 0));
    for (step_t s = range.first; s < range.end; ++s) {
      throw_if_interrupted();
      for (std::int64_t b = 0; b < units_.size(); ++b) {
        DeviceGuard guard(array_.machine().devices()[units_[b].pe]);
        if (s > range.first) {  // all steps before the range have ended
          for (const std::int64_t other : units_[b].after) {
            SHOAL_CUDA(cudaStreamWaitEvent(packs_in(b), packed(other, s), 0));
          }
          if (copies_) copies_->await(b, s, packs_in(b));
        }
        launch_step(b, s, range.measure && s + 1 == range.end);
        trace_.add_step(b, s + 1, units_[b].pe);
        SHOAL_CUDA(cudaEventRecord(packed(b, s + 1), packs_in(b)));
        if (copies_) copies_->send(b, s + 1, packed(b, s + 1));
      }
      if (!capturing_) calls_.launched(s, s + 1, [this](std::int64_t block) { return in_streams(block); });
      if (units_.size() > 0 && !keep_pace(1, units_[0].pe, streams_[0])) return;
    }
    for (std::int64_t b = 0; b < units_.size(); ++b) {
      SHOAL_CUDA(cudaStreamWaitEvent(work_[0], packed(b, range.end), 0));
    }
    if (copies_) copies_->await_all(range.end, work_[0]);
  }
  /// The event that completes when a unit has packed for step s. In a traced run each unit and step has a timed event of its own.
  cudaEvent_t packed(std::int64_t b, step_t s) const {
    const cudaEvent_t timed = trace_.step(b, s);
    return timed != nullptr ? timed : packed_[static_cast<std::size_t>(2 * b) + (s & 1)];
  }
  /// Launches the kernels of step s of unit u.
  void launch_step(std::int64_t u, step_t s, bool measure) {
    const Unit& unit = units_[u];
    if (unit.blocks == 0) return;
    const auto& slots = array_.slots()[unit.pe];
    const std::uint32_t n = slots[unit.first].n_sides, all = ~0u;
    const auto patience_ns = static_cast<std::uint64_t>(watch_.patience_seconds() * 1e9);
    double* const gives = run_.gives(s + 1) && !capturing_ ? given_.at(unit.pe, run_.number(s + 1)) : nullptr;
    const cudaStream_t updates_in = streams_[u];
    const auto launch = [&](Part part) {
      if (part.update) part.given = gives;
      const cudaStream_t stream = part.update ? updates_in : packs_in(u);
      constexpr std::uint32_t kMost = 65535;  // of a CUDA grid's second dimension
      for (std::uint32_t at = 0; at < unit.blocks; at += kMost) {
        const dim3 workers(static_cast<unsigned>(unit.tiles), std::min(kMost, unit.blocks - at));
        part_kernel<<<workers, kThreads, 0, stream>>>(array_.views()[unit.pe], unit.first + at, s, part, patience_ns);
        SHOAL_CUDA(cudaGetLastError());
      }
    };
    if (options_.fusion == Fusion::c || units_.together()) {
      return launch({0, all, true, measure, 0, all, s > run_.first, s + 1 < run_.end});
    }
    const auto joined = [&](std::uint32_t i) { return array_.joined(unit.block, i); };
    const bool packs = options_.fusion != Fusion::none, unpacks = options_.fusion == Fusion::b;
    for (std::uint32_t i = 0; i < n && !unpacks && s > 0; ++i) {
      if (joined(i)) launch({i, i + 1, false, false, 0, 0, false, false});
    }
    if (unpacks && s > 0) launch({0, n, false, false, 0, 0, false, false});
    follow(u, 0, packs_in(u), updates_in);
    launch({0, 0, true, measure, 0, 0, false, false});
    follow(u, 1, updates_in, packs_in(u));
    for (std::uint32_t i = 0; i < n && !packs; ++i) {
      if (joined(i)) launch({0, 0, false, false, i, i + 1, false, false});
    }
    if (packs) launch({0, 0, false, false, 0, n, false, false});
  }

  /// The stream of a unit's packs and unpacks.
  cudaStream_t packs_in(std::int64_t u) const {
    return streams_[static_cast<std::size_t>(options_.urgent_packs ? units_.size() + u : u)];
  }
  /// If packs have streams of their own: later work in `then` waits for the work now in `first`; both are streams of unit u.
  void follow(std::int64_t u, int which, cudaStream_t first, cudaStream_t then) {
    if (!options_.urgent_packs) return;
    const Event& event = handed_[static_cast<std::size_t>(2 * u + which)];
    SHOAL_CUDA(cudaEventRecord(event, first));
    SHOAL_CUDA(cudaStreamWaitEvent(then, event, 0));
  }

  bool keep_pace(step_t steps, pe_t p, cudaStream_t stream) {
    return capturing_ || watch_.keep_pace(steps, units_, p, stream);
  }
  /// Where steps end that were launched in work_.
  std::vector<RunCalls::Place> in_work() const { return {{array_.machine().devices()[0], work_[0]}}; }
  /// Where steps of a block end, or of all blocks (-1), that were launched in the streams of units.
  std::vector<RunCalls::Place> in_streams(std::int64_t block) const {
    std::vector<RunCalls::Place> places;
    for (std::int64_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      const bool its = block < 0 || (array_.here(block) && unit.pe == array_.home(block) &&
                                     (units_.together() || unit.block == block));
      if (its) places.push_back({array_.machine().devices()[unit.pe], packs_in(u)});
    }
    return places;
  }

  const BlockArray<B>& array_;
  const LaunchOptions& options_;
  const GivenByTiles<B>& given_;
  const std::vector<Stream>& work_;
  RunTrace& trace_;
  RunWatch& watch_;
  RunCalls& calls_;
  Units units_;
  std::vector<Stream> streams_;
  std::vector<Event> reached_;          ///< [n_pes] for gather() and spread()
  std::vector<Event> packed_;           ///< [2 x units] a unit has packed for an even or odd step
  std::vector<Event> handed_;           ///< [2 x units] for follow(), with urgent_packs
  std::unique_ptr<HaloCopies> copies_;  ///< null: Halos::direct
  Graph graph_;
  StepRange run_{0, 0, false};
  bool capturing_ = false;
};

}  // namespace shoal::blocks::gpu
