// Steps on GPUs: the forms `resident` and `kernels`.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/events.cuh"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/graph.cuh"
#include "shoal/blocks/kernels_gpu.cuh"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// Work of the host in a run: it launches, waits once, and looks whether resident kernels move. Everything of a PE is ordered by
/// its stream work_; everything of all blocks, in the form `kernels`, by that of PE 0. Of several processes each launches what is
/// here; their kernels wait for each other by words in memory that both reach (WireEnd, StepWords).
template <class B>
class Launcher {
 public:
  explicit Launcher(BlockArray<B>& array, const LaunchOptions& options = {})
      : array_(array),
        options_(options),
        measured_(pinned_memory(static_cast<std::size_t>(array.machine().n_pes()) * sizeof(std::uint64_t),
                                "what a run measures")) {
    Decisions decisions;
    options_ = decide_launch(options, sizes(array), decisions);  // where the caller has not decided
    std::fill_n(measured(), array.machine().n_pes(), 0);
    for (const int device : array.machine().devices()) {
      work_.emplace_back(device);
      look_.emplace_back(device);
      reached_.emplace_back(device);
      paced_.emplace_back(device);
      DeviceGuard guard(device);  // all kernels are loaded before the first one that stays is launched
      cudaFuncAttributes attributes;
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, start_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, resident_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, part_kernel<B>));
    }
    placed();
  }

  /// Blocks were moved.
  void placed() {
    if (options_.form != BlockForm::kernels) return;
    streams_.clear();
    packed_.clear();
    units_.clear();
    make_units();
    for (Unit& unit : units_) {
      std::sort(unit.after.begin(), unit.after.end());
      unit.after.erase(std::unique(unit.after.begin(), unit.after.end()), unit.after.end());
      const int device = array_.machine().devices()[unit.pe];
      streams_.emplace_back(device);
      for (int parity = 0; parity < 2; ++parity) packed_.emplace_back(device);
    }
    graph_ = Graph();
    if (started_) make_graph();
  }

  static BlockSizes sizes(const BlockArray<B>& array) {
    std::uint64_t tiles = 0;
    for (const PeView<B>& pe : array.views()) tiles = std::max(tiles, pe.tiles);
    auto some = static_cast<std::uint64_t>(workers(array.machine()));
    if (array.wires() != nullptr) {  // all processes decide alike
      const std::uint64_t mine[] = {tiles, some};
      for (const auto& bytes : array.wires()->exchange(std::as_bytes(std::span(mine)))) {
        std::uint64_t its[2] = {tiles, some};
        std::memcpy(its, bytes.data(), std::min(sizeof its, bytes.size()));
        tiles = std::max(tiles, its[0]);
        some = std::min(some, its[1]);
      }
    }
    return {true, array.machine().all_pes(), tiles, some};
  }
  /// Workers of a PE: as many as are resident at the same time, of all PEs of its GPU.
  static int workers(const Machine& machine) {
    const int device = machine.devices()[0];
    DeviceGuard guard(device);
    int multiprocessors = 0, fit = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, resident_kernel<B>, kThreads, 0));
    return std::max(1, multiprocessors * fit / machine.pes_per_gpu());
  }

  void start() {
    array_.rewind();
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      const PeView<B>& pe = array_.views()[p];
      if (pe.tiles == 0) continue;
      DeviceGuard guard(array_.machine().devices()[p]);
      start_kernel<<<static_cast<unsigned>(std::min<std::uint64_t>(pe.tiles, 1u << 16)), kThreads, 0, work_[p]>>>(pe);
      SHOAL_CUDA(cudaGetLastError());
    }
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) SHOAL_CUDA(cudaStreamSynchronize(work_[p]));
    started_ = true;
    make_graph();
  }

  /// All blocks take the steps of a range. Every process.
  /// @return seconds, from the first launch until all is done; of several processes, those of the slowest
  /// @throws DeviceError  the CUDA runtime failed, or nothing moved; Interrupted; of several processes: what the first threw, and as
  ///   World::exchange()
  double run(const StepRange& range) {
    begin_trace();
    run_ = range;
    waits_ = 0;
    ended_ = RunState::running;
    if (array_.wires() != nullptr) begin_with_others(range);
    std::exception_ptr error;
    const auto begin = Clock::now();
    try {
      launch(range);
      wait();
    } catch (const std::exception& thrown) {
      abandon(thrown.what());
      times_.reset();
      if (array_.wires() == nullptr) throw;
      error = std::current_exception();
    }
    RunOfAll all{seconds_since(begin), 0};
    if (!error && ended_ == RunState::running) error = ended_on_gpu();
    if (array_.wires() == nullptr) {
      throw_if_interrupted();
      if (error) std::rethrow_exception(error);
      all.change = measured_here();
    } else {
      all = end_with_others(error, all.seconds);
    }
    change_ = all.change;
    if (times_ != nullptr) draw();
    return all.seconds;
  }

  /// After a run that measured: the largest change of its last step.
  double change() const { return change_; }
  /// How often the host waited for GPUs in the last run. (Looks at kernels that run for long are not counted.)
  int waits() const { return waits_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  /// For the form `kernels`: which blocks are launched together, and what comes after what.
  void make_units() {
    std::vector<std::int64_t> unit_of(static_cast<std::size_t>(array_.size()), -1);
    if (together()) {
      units_.resize(static_cast<std::size_t>(array_.machine().n_pes()));
      for (pe_t p = 0; p < array_.machine().n_pes(); ++p) units_[p].pe = p;
    }
    for (std::int64_t b = 0; b < array_.size(); ++b) {
      if (!array_.here(b)) continue;
      unit_of[b] = together() ? array_.home(b) : std::ssize(units_);
      if (!together()) units_.push_back({array_.home(b), b, array_.number(b), 0, 0, false, {}});
    }
    for (std::int64_t b = 0; b < array_.size(); ++b) {
      if (!array_.here(b)) continue;
      const Slot<B>& slot = array_.slots()[array_.home(b)][array_.number(b)];
      Unit& unit = units_[unit_of[b]];
      ++unit.blocks;
      unit.tiles = std::max(unit.tiles, slot.tiles);
      unit.wired |= slot.wired;
      for (const std::int64_t other : array_.neighbors(b)) {
        if (array_.here(other) && unit_of[other] != unit_of[b]) unit.after.push_back(unit_of[other]);
      }
    }
    const auto device = [&](const Unit& unit) { return array_.machine().devices()[unit.pe]; };
    const bool words_do = fits_queues();
    for (Unit& unit : units_) {
      // Kernels wait for other GPUs themselves.
      std::erase_if(unit.after, [&](std::int64_t other) { return words_do && device(units_[other]) != device(unit); });
      // One that waits may keep others of its GPU from running, which are behind it in a queue, or find no multiprocessor. So it comes
      // after all of the step before that other GPUs wait for: what it waits for, here and there, is never behind one that waits.
      for (std::int64_t other = 0; other < std::ssize(units_) && unit.wired; ++other) {
        const Unit& its = units_[other];
        if (its.wired && &its != &unit && device(its) == device(unit)) unit.after.push_back(other);
      }
    }
  }
  static constexpr std::int64_t kQueue = 512;  ///< launches that a GPU's queue has room for, with as many events
  /// At most.
  std::int64_t launches_a_step() const {
    const std::int64_t sides = options_.fusion == Fusion::none ? 12 : 2;
    return std::max<std::int64_t>(std::ssize(units_), 1) * (options_.fusion == Fusion::c || together() ? 1 : 1 + sides);
  }
  /// Whether all kernels of a graph fit a GPU's queue. Else the host might wait in a launch, for a GPU that waits for another one's part
  /// of the same graph, which is launched afterwards.
  bool fits_queues() const { return launches_a_step() * std::max(options_.graph, 1) <= kQueue; }

  /// Launches all that a run does.
  void launch(const StepRange& range) {
    const Machine& machine = array_.machine();
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemsetAsync(array_.views()[p].words, 0, sizeof(PeWords), work_[p]));
    }
    if (options_.form == BlockForm::kernels) {
      gather();
      launch_all(range);
      spread();
    } else {
      launch_resident(range);
    }
    for (pe_t p = 0; p < machine.n_pes() && range.measure; ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemcpyAsync(measured() + p, &array_.views()[p].words->changed, sizeof(*measured()),
                                 cudaMemcpyDeviceToHost, work_[p]));
    }
  }
  double measured_here() const {
    return run_.measure ? change_of(*std::max_element(measured(), measured() + array_.machine().n_pes())) : 0;
  }

  // Of several processes.
  void begin_with_others(const StepRange& range) {
    RunHere here{{}, [this] { return static_cast<std::uint32_t>(ended_); }, [this](RunState why) { end_as(why); }};
    if (options_.form == BlockForm::resident) {
      here.taken = [this] {
        std::uint64_t tiles = 0;
        for (pe_t p = 0; p < array_.machine().n_pes(); ++p) tiles += tiles_taken(p);
        return tiles;
      };
    }
    array_.wires()->begin_run(range, std::move(here), options_.stall_timeout_seconds);
    // Who comes to a meeting first sleeps, and is late to go on. From the third one on all come within some microseconds.
    for (int i = 0; i < 2; ++i) array_.wires()->exchange({});
    ahead_ = 0;
    looked_at_ = Clock::now();
  }
  RunOfAll end_with_others(std::exception_ptr error, double seconds) {
    if (ended_ != RunState::running && !error) drain("the run has ended");
    return array_.wires()->end_run(error, {seconds, measured_here()});
  }
  /// What there is to say if a kernel has ended the run, since it has waited for too long.
  std::exception_ptr ended_on_gpu() {
    if (std::none_of(units_.begin(), units_.end(), [](const Unit& unit) { return unit.wired; })) return nullptr;
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      PeWords words;
      array_.machine().copy_out(p, &words, array_.views()[p].words, sizeof(words));
      if (words.state.load() == 0) continue;
      ended_ = RunState::stalled;
      return std::make_exception_ptr(DeviceError("blocks: PE " + std::to_string(array_.machine().first_pe() + p) +
                                                 " has waited " + exact(patience_seconds()) +
                                                 " s for what other GPUs send"));
    }
    return nullptr;
  }
  /// So long kernels wait for each other: longer than it takes to find out that a process is gone or stands still, which says more.
  double patience_seconds() const { return options_.stall_timeout_seconds + 5; }
  /// Now and then: whether the run goes on. Ends it here if it has ended elsewhere.
  bool goes_on() {
    if (array_.wires() != nullptr && seconds_since(looked_at_) >= 0.05) {
      looked_at_ = Clock::now();
      array_.wires()->look();
      if (ended_ == RunState::running && interrupt_token().stop_requested()) end_as(RunState::interrupted);
    }
    return ended_ == RunState::running;
  }
  /// Launches wait where a GPU has too much to do, and so would the host, for a process that is gone. So it stays some steps ahead only.
  /// @param p  PE of the stream in which so many steps were launched
  /// @return whether the run goes on
  bool keep_pace(step_t steps, pe_t p, cudaStream_t stream) {
    if (array_.wires() == nullptr || capturing_) return true;
    ahead_ += steps;
    if (ahead_ < static_cast<step_t>(std::clamp<std::int64_t>(kQueue / launches_a_step(), 1, 64))) return goes_on();
    ahead_ = 0;
    for (cudaError_t status; (status = cudaEventQuery(paced_[p])) != cudaSuccess;) {
      if (status != cudaErrorNotReady) cuda_check(status, "a kernel of blocks");
      if (!goes_on()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    DeviceGuard guard(array_.machine().devices()[p]);
    SHOAL_CUDA(cudaEventRecord(paced_[p], stream));
    return goes_on();
  }

  void make_graph() {
    if (options_.form != BlockForm::kernels || options_.graph <= 0 || graph_) return;
    const auto steps = static_cast<step_t>(options_.graph);
    DeviceGuard guard(array_.machine().devices()[0]);
    run_ = {0, 4 + steps, false};
    capturing_ = true;
    graph_.capture(work_[0], [&] { launch_steps({2, 2 + steps, false}); });  // they stand for all steps but the first
    capturing_ = false;
  }

  /// A run's trace: events in the streams, which are timed, where there were others or none. It has no code in kernels.
  void begin_trace() {
    timed_.clear();
    starts_.clear();
    marks_.clear();
    if (tracing() != nullptr) times_ = std::make_unique<GpuTimes>(array_.machine().devices(), work_);
  }
  std::ptrdiff_t new_time(pe_t p) { return times_->event(p, array_.machine().devices()[p]); }
  /// A place in PE p's stream. @param ended  what has ended there and began at the mark before; empty: nothing
  bool mark(pe_t p, std::string ended) {
    const std::ptrdiff_t event = times_ == nullptr ? -1 : new_time(p);
    if (event < 0) return false;
    SHOAL_CUDA(cudaEventRecord((*times_)[event], work_[p]));
    marks_.push_back({p, event, std::move(ended)});
    return true;
  }
  void draw() {
    Trace& trace = *tracing();
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      const Mark &from = marks_[i - 1], &to = marks_[i];
      if (to.ended.empty() || from.pe != to.pe) continue;
      trace.span(trace.track("PE " + std::to_string(to.pe), "kernels"), to.ended, times_->at(from.event),
                 times_->at(to.event));
    }
    std::map<std::pair<std::int64_t, step_t>, std::int64_t> ended;
    for (const auto& [which, event] : timed_) {
      if (event >= 0) ended[which] = times_->at(event);
    }
    std::vector<TracedStep> steps;
    for (const auto& [which, end] : ended) {  // it began when what it waits for had ended
      const auto [u, s] = which;
      std::int64_t begin = -1;
      const auto after = [&](std::int64_t other) {
        const auto found = ended.find({other, s - 1});
        if (found != ended.end()) begin = std::max(begin, found->second);
      };
      after(u);
      for (const std::int64_t other : units_[u].after) after(other);
      const auto start = starts_.find(s - 1);
      if (begin < 0 && start != starts_.end()) begin = times_->at(start->second);
      if (begin < 0) continue;
      for (std::int64_t b = 0; b < array_.size(); ++b) {
        const Unit& unit = units_[u];
        if (!array_.here(b) || array_.home(b) != unit.pe || (!together() && b != unit.block)) continue;
        const auto tiles = static_cast<std::int64_t>(array_.slots()[unit.pe][array_.number(b)].tiles);
        steps.push_back({b, s - 1, std::min(begin, end), end, tiles});
      }
    }
    draw_steps(trace, std::move(steps), array_.channels());
    times_.reset();
  }
  std::uint64_t* measured() const { return static_cast<std::uint64_t*>(measured_.get()); }

  void launch_resident(StepRange range) {
    const Machine& machine = array_.machine();
    const auto most = static_cast<std::uint64_t>(workers(machine));
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      PeView<B> pe = array_.views()[p];
      if (pe.tiles == 0) continue;
      DeviceGuard guard(machine.devices()[p]);
      void* arguments[] = {&pe, &range};
      mark(p, "");
      SHOAL_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(resident_kernel<B>),
                                             dim3(static_cast<unsigned>(std::min(most, pe.tiles))), dim3(kThreads),
                                             arguments, 0, work_[p]));
      mark(p, "steps " + std::to_string(range.first) + " to " + std::to_string(range.end - 1) + ", resident");
    }
  }

  /// What PE 0's stream does from now on comes after what other PEs' streams have, and the other way round.
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

  /// The first step, the last one where it measures, and what makes no whole graph are launched kernel by kernel.
  void launch_all(const StepRange& range) {
    const auto steps = static_cast<step_t>(options_.graph);
    step_t s = range.first;
    if (graph_) {
      // The first and the last step of a run are not in graphs: what crosses sides is in buffers before and after a run.
      const step_t begin = (s + 2) / 2 * 2, end = range.end - 1;
      if (begin + steps <= end) {
        launch_steps({s, begin, false});
        mark(0, "");
        for (s = begin; s + steps <= end; s += steps) {
          throw_if_interrupted();
          graph_.launch(work_[0]);
          if (!keep_pace(steps, 0, work_[0])) return;
          mark(0, "graph of steps " + std::to_string(s) + " to " + std::to_string(s + steps - 1));
        }
      }
    }
    launch_steps({s, range.end, range.measure});
  }
  /// Step s of a block comes after step s - 1 of itself, by its stream, and of its neighbours, by their events. The whole comes
  /// in PE 0's stream.
  void launch_steps(const StepRange& range) {
    if (range.first == range.end) return;
    if (mark(0, "")) starts_[range.first] = marks_.back().event;
    SHOAL_CUDA(cudaEventRecord(reached_[0], work_[0]));
    for (const Stream& stream : streams_) SHOAL_CUDA(cudaStreamWaitEvent(stream, reached_[0], 0));
    for (step_t s = range.first; s < range.end; ++s) {
      throw_if_interrupted();
      for (std::int64_t b = 0; b < std::ssize(units_); ++b) {
        DeviceGuard guard(array_.machine().devices()[units_[b].pe]);
        if (s > range.first) {  // what came before the range has ended
          for (const std::int64_t other : units_[b].after) {
            SHOAL_CUDA(cudaStreamWaitEvent(streams_[b], packed(other, s), 0));
          }
        }
        launch_step(b, s, range.measure && s + 1 == range.end);
        if (times_ != nullptr) timed_[{b, s + 1}] = new_time(units_[b].pe);
        SHOAL_CUDA(cudaEventRecord(packed(b, s + 1), streams_[b]));
      }
      if (!units_.empty() && !keep_pace(1, units_[0].pe, streams_[0])) return;
    }
    for (std::int64_t b = 0; b < std::ssize(units_); ++b) {
      SHOAL_CUDA(cudaStreamWaitEvent(work_[0], packed(b, range.end), 0));
    }
  }
  /// What says that a block has packed for step s. For a trace each has an event of its own, which is timed.
  cudaEvent_t packed(std::int64_t b, step_t s) const {
    if (times_ != nullptr) {
      const auto own = timed_.find({b, s});
      if (own != timed_.end() && own->second >= 0) return (*times_)[own->second];
    }
    return packed_[static_cast<std::size_t>(2 * b) + (s & 1)];
  }
  void launch_step(std::int64_t u, step_t s, bool measure) {
    const Unit& unit = units_[u];
    if (unit.blocks == 0) return;
    const auto& slots = array_.slots()[unit.pe];
    const std::uint32_t n = slots[unit.first].n_sides, all = ~0u;
    const auto patience_ns = static_cast<std::uint64_t>(patience_seconds() * 1e9);
    const auto launch = [&](const Part& part) {
      constexpr std::uint32_t kMost = 65535;  // of a grid's second dimension
      for (std::uint32_t at = 0; at < unit.blocks; at += kMost) {
        const dim3 workers(static_cast<unsigned>(unit.tiles), std::min(kMost, unit.blocks - at));
        part_kernel<<<workers, kThreads, 0, streams_[u]>>>(array_.views()[unit.pe], unit.first + at, s, part,
                                                           patience_ns);
        SHOAL_CUDA(cudaGetLastError());
      }
    };
    if (options_.fusion == Fusion::c || together()) {
      return launch({0, all, true, measure, 0, all, s > run_.first, s + 1 < run_.end});
    }
    const auto joined = [&](std::uint32_t i) { return array_.joined(unit.block, i); };
    const bool packs = options_.fusion != Fusion::none, unpacks = options_.fusion == Fusion::b;
    for (std::uint32_t i = 0; i < n && !unpacks && s > 0; ++i) {
      if (joined(i)) launch({i, i + 1, false, false, 0, 0, false, false});
    }
    if (unpacks && s > 0) launch({0, n, false, false, 0, 0, false, false});
    launch({0, 0, true, measure, 0, 0, false, false});
    for (std::uint32_t i = 0; i < n && !packs; ++i) {
      if (joined(i)) launch({0, 0, false, false, i, i + 1, false, false});
    }
    if (packs) launch({0, 0, false, false, 0, n, false, false});
  }

  /// Until all PEs are done. Ends resident kernels that do not move, or whose work was called off.
  void wait() {
    const Machine& machine = array_.machine();
    const auto begin = Clock::now();
    auto looked_at = begin, moved_at = begin;
    std::vector<std::uint64_t> last(machine.n_pes()), now(machine.n_pes());
    std::string stalled;
    bool ended = false;
    ++waits_;
    for (pe_t p = 0; p < machine.n_pes();) {
      const cudaError_t status = cudaStreamQuery(work_[p]);
      if (status == cudaSuccess) {
        ++p;
        continue;
      }
      if (status != cudaErrorNotReady) cuda_check(status, "a kernel of blocks");
      if (times_ != nullptr && options_.form == BlockForm::resident) count_tiles();
      if (seconds_since(begin) < 0.05) continue;  // short runs: no sleep, no look
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (array_.wires() != nullptr) {
        if (goes_on()) continue;
        return drain("the run has ended");
      }
      if (seconds_since(looked_at) < 0.1 || options_.form == BlockForm::kernels) continue;
      looked_at = Clock::now();
      for (pe_t q = 0; q < machine.n_pes(); ++q) now[q] = tiles_taken(q);
      if (now != last) {
        last = now;
        moved_at = looked_at;
      }
      if (!ended && interrupt_token().stop_requested()) {
        ended = true;
        moved_at = looked_at;
        end_as(RunState::interrupted);
      } else if (!ended && seconds_since(moved_at) > options_.stall_timeout_seconds) {
        stalled = "blocks: no PE took a tile for " + exact(options_.stall_timeout_seconds) + " s; taken:";
        for (const std::uint64_t tiles : now) stalled += " " + std::to_string(tiles);
        ended = true;
        moved_at = looked_at;
        end_as(RunState::stalled);
      } else if (ended && seconds_since(moved_at) > 2) {
        std::fprintf(stderr, "shoal: error: a step does not return: %s\n", stalled.c_str());
        std::_Exit(75);  // a kernel cannot be stopped; only the end of the process ends it
      }
    }
    if (!stalled.empty()) throw DeviceError(stalled);
  }
  /// Beside a resident kernel.
  std::uint64_t tiles_taken(pe_t p) {
    std::uint64_t tiles = 0;
    SHOAL_CUDA(
        cudaMemcpyAsync(&tiles, &array_.views()[p].words->next, sizeof(tiles), cudaMemcpyDeviceToHost, look_[p]));
    SHOAL_CUDA(cudaStreamSynchronize(look_[p]));
    return tiles;
  }
  /// For a trace, once in a millisecond: how far resident kernels are.
  void count_tiles() {
    constexpr std::int64_t kEvery = 1'000'000;
    if (trace_now() - counted_at_ < kEvery) return;
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      const double tiles = static_cast<double>(tiles_taken(p));
      tracing()->count("PE " + std::to_string(p), "tiles taken", trace_now(), tiles);
    }
    counted_at_ = trace_now();
  }
  void end_as(RunState why) {
    ended_ = why;
    static const std::uint32_t words[] = {static_cast<std::uint32_t>(RunState::stalled),
                                          static_cast<std::uint32_t>(RunState::interrupted)};
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      cudaMemcpyAsync(&array_.views()[p].words->state, &words[why == RunState::interrupted], sizeof(words[0]),
                      cudaMemcpyHostToDevice, look_[p]);
    }
    for (const Stream& stream : look_) cudaStreamSynchronize(stream);
  }
  /// After an error: other PEs' kernels would wait for ever. Further errors are ignored.
  void abandon(const char* why) noexcept {
    end_as(RunState::stalled);
    drain(why);
    cudaGetLastError();
  }
  /// Until kernels have left that were told to.
  void drain(const char* why) noexcept {
    const auto begin = Clock::now();
    const auto running = [](const Stream& stream) { return cudaStreamQuery(stream) == cudaErrorNotReady; };
    while (std::any_of(work_.begin(), work_.end(), running) || std::any_of(streams_.begin(), streams_.end(), running)) {
      if (seconds_since(begin) > 10) {
        std::fprintf(stderr, "shoal: error: %s; and a kernel does not return\n", why);
        std::_Exit(75);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  BlockArray<B>& array_;
  LaunchOptions options_;
  std::shared_ptr<void> measured_;  ///< [n_pes] what the PEs have measured
  std::vector<Stream> work_, look_;
  std::vector<Event> reached_;  ///< [n_pes] a place in work_
  std::vector<Event> paced_;    ///< [n_pes] where the host waits for others, some steps ahead
  /// Form `kernels`: blocks of a PE whose steps are launched together, numbered as blocks are, or as PEs.
  struct Unit {
    pe_t pe = 0;                          ///< of those that are here
    std::int64_t block = 0;               ///< where it is one
    std::uint32_t first = 0, blocks = 0;  ///< of the PE's
    std::uint64_t tiles = 0;              ///< of the block that has most
    bool wired = false;                   ///< it waits for other GPUs
    std::vector<std::int64_t>
        after;  ///< units whose step before comes before: those that have neighbours of its blocks
  };
  bool together() const { return options_.fusion == Fusion::d; }
  std::vector<Unit> units_;
  StepRange run_{0, 0, false};
  std::vector<Stream> streams_;  ///< [units]
  std::vector<Event> packed_;    ///< [2 x units] a unit has packed for a step of either parity
  Graph graph_;
  bool started_ = false, capturing_ = false;
  int waits_ = 0;
  double change_ = 0;
  RunState ended_ = RunState::running;  ///< how the host has ended the run
  step_t ahead_ = 0;                    ///< launched since paced_ was recorded
  Clock::time_point looked_at_;

  struct Mark {
    pe_t pe;
    std::ptrdiff_t event;
    std::string ended;
  };
  std::unique_ptr<GpuTimes> times_;  ///< of a run that is traced
  std::int64_t counted_at_ = 0;
  std::vector<Mark> marks_;
  std::map<step_t, std::ptrdiff_t> starts_;                          ///< of launch_steps(), by its first step
  std::map<std::pair<std::int64_t, step_t>, std::ptrdiff_t> timed_;  ///< by block and step: packed()
};

}  // namespace shoal::blocks::gpu
