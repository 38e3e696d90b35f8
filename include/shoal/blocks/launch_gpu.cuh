// Runs blocks on GPUs, in the forms `resident` and `kernels`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/completions.hpp"
#include "shoal/blocks/completions_gpu.cuh"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/given.hpp"
#include "shoal/blocks/kernels_gpu.cuh"
#include "shoal/blocks/launch_units_gpu.cuh"
#include "shoal/blocks/trace_gpu.cuh"
#include "shoal/blocks/watch_gpu.cuh"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/state_log.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// The host's part of a run: it launches, and waits once. The work of a PE is ordered by its stream in work_. With several processes,
/// each launches its own blocks; kernels of different processes wait for each other by counters in memory that both reach (WireEnd,
/// StepWords).
template <class B>
class Launcher {
 public:
  explicit Launcher(BlockArray<B>& array, const LaunchOptions& options = {})
      : array_(array),
        options_(options),
        given_(array, [](std::size_t bytes) { return pinned_memory(bytes, "values that blocks give"); }),
        measured_(pinned_memory(static_cast<std::size_t>(array.machine().n_pes()) * sizeof(std::uint64_t),
                                "measurements of a run")),
        trace_(array.machine().devices(), work_),
        by_unit_({array_, options_, given_, work_, trace_, watch_, calls_}),
        watch_(
            array.machine(), array.wires(), [&array](pe_t p) { return array.views()[p].words; }, options_, work_,
            by_unit_.streams()) {
    Decisions decisions;
    options_ = decide_launch(options, sizes(array), decisions);  // what the caller has left open
    if (options_.halos != Halos::direct) array_.send_by_copies();
    std::fill_n(measured(), array.machine().n_pes(), 0);
    for (const int device : array.machine().devices()) {
      work_.emplace_back(device);
      DeviceGuard guard(device);  // loads all kernels before the first resident one is launched
      cudaFuncAttributes attributes;
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, start_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, resident_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, part_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, change_kernel<B>));
      if constexpr (Gives<B>) SHOAL_CUDA(cudaFuncGetAttributes(&attributes, give_kernel<B>));
    }
    placed();
  }

  /// Call it after blocks were moved.
  void placed() {
    if (options_.form != BlockForm::kernels) return;
    by_unit_.place();
    if (started_) by_unit_.make_graph();
  }

  /// Every process; all get the same result.
  static BlockSizes sizes(const BlockArray<B>& array) {
    std::uint64_t tiles = 0;
    for (const PeView<B>& pe : array.views()) tiles = std::max(tiles, pe.tiles);
    auto some = static_cast<std::uint64_t>(workers(array.machine()));
    if (array.wires() != nullptr) {  // so that all processes choose the same
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
  /// The number of workers of a PE: as many as the GPU holds at the same time, divided by the number of its PEs.
  static int workers(const Machine& machine) {
    const int device = machine.devices()[0];
    DeviceGuard guard(device);
    int multiprocessors = 0, fit = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, resident_kernel<B>, kThreads, 0));
    return std::max(1, multiprocessors * fit / machine.pes_per_gpu());
  }

  /// Writes state 0. Every process.
  void start() {
    array_.rewind();
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      start_kernel<<<workers, kThreads, 0, stream>>>(pe);
    });
    started_ = true;
    if (options_.form == BlockForm::kernels) by_unit_.make_graph();
  }

  /// Between runs, before step s: calls hear() with a message for every tile of every block. Every process, the same.
  template <class Message>
  void tell(step_t s, const Message& message) {
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      hear_kernel<<<workers, kThreads, 0, stream>>>(pe, 0, pe.tiles, s, message);
    });
  }
  /// The same for the tiles of block b alone. @throws UsageError  there is no block b
  template <class Message>
  void tell(step_t s, std::int64_t b, const Message& message) {
    array_.shape().number_of(array_.shape().place_of(b));
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      if (!array_.here(b) || &pe != &array_.views()[array_.home(b)]) return;
      const Slot<B>& slot = array_.slots()[array_.home(b)][array_.number(b)];
      hear_kernel<<<workers, kThreads, 0, stream>>>(pe, slot.first_tile, slot.first_tile + slot.tiles, s, message);
    });
  }

  /// Registers a call for the next run that reaches `steps` steps. It is made once, when all blocks that are here have taken
  /// these steps, or block b has, while the run goes on (blocks/completions.hpp). In the form `resident` a kernel ends after
  /// these steps, and another kernel takes the rest.
  void when_done(step_t steps, std::function<void()> call) { completions_.add(-1, steps, std::move(call)); }
  void when_done(std::int64_t b, step_t steps, std::function<void()> call) {
    completions_.add(array_.shape().number_of(array_.shape().place_of(b)), steps, std::move(call));
  }

  /// All blocks take the steps of a range. Every process.
  /// @return seconds, from the first launch until all work is done; of several processes, those of the slowest
  /// @throws DeviceError  the CUDA runtime failed, or the run made no progress; Interrupted; with several processes the error of
  ///   the first that has one, or as World::exchange()
  double run(const StepRange& range) {
    trace_.begin();
    given_.begin(range.n_given());
    run_ = range;
    calls_.begin(completions_.take(range));
    watch_.begin(range);
    std::exception_ptr error;
    double seconds = 0;
    const std::int64_t begin = trace_now();
    try {
      launch(range);
      watch_.wait(trace_);
      seconds = static_cast<double>(trace_now() - begin) / 1e9;
      if (watch_.ended() == RunState::running) {
        calls_.finish();
      } else {
        calls_.drop();
      }
    } catch (const std::exception& thrown) {
      watch_.abandon(thrown.what());
      calls_.drop();
      trace_.drop();
      if (array_.wires() == nullptr) throw;
      error = std::current_exception();
    }
    RunOfAll all{seconds, 0};
    if (!error && watch_.ended() == RunState::running) error = watch_.ended_on_gpu(by_unit_.units());
    if (array_.wires() == nullptr) {
      throw_if_interrupted();
      if (error) std::rethrow_exception(error);
      all.change = measured_here();
    } else {
      all = watch_.end_with_others(error, {all.seconds, measured_here()});
    }
    change_ = all.change;
    gave_ = given_.of_all(range);
    if (trace_) trace_.draw(array_, by_unit_.units());
    return all.seconds;
  }

  /// After a run up to state s, which need not have measured: the largest change that step s - 1 made, by comparing both states.
  /// Every process.
  double measure(step_t s) {
    array_.prepare_run();
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      change_kernel<<<workers, kThreads, 0, stream>>>(pe, s - 1);
    });
    return change_ = array_.change_of_all();
  }
  /// After a run that measured: the largest change of its last step, over the blocks of all processes.
  double change() const { return change_; }
  /// After start() or a run up to state s: the reduction of what all blocks give of state s. Every process. @return [kGives]
  std::vector<double> reduce(step_t s) {
    given_.begin(1);
    if constexpr (Gives<B>) {
      for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
        const auto p = static_cast<pe_t>(&pe - array_.views().data());
        give_kernel<<<workers, kThreads, 0, stream>>>(given_.view(p), s);
      });
    }
    return given_.of_all(0);
  }
  /// In a run with give_every, when all blocks of this process have reached a state: the reduction of what they gave of it.
  std::vector<double> gave(step_t state) const { return given_.here(run_.number(state)); }
  /// After a run with give_every: for each reduced state, the reduction over the blocks of all processes.
  const std::vector<Given>& given() const { return gave_; }
  /// How often the host waited for GPUs in the last run. (Polls of kernels that run for long are not counted.)
  int waits() const { return watch_.waits(); }

 private:
  /// Calls launch(view, workers, stream) for each PE that has tiles, and waits for all of them.
  template <class Launch>
  void for_all_tiles(const Launch& launch) {
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      const PeView<B>& pe = array_.views()[p];
      if (pe.tiles == 0) continue;
      DeviceGuard guard(array_.machine().devices()[p]);
      launch(pe, static_cast<unsigned>(std::min<std::uint64_t>(pe.tiles, 1u << 16)), work_[p]);
      SHOAL_CUDA(cudaGetLastError());
    }
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) SHOAL_CUDA(cudaStreamSynchronize(work_[p]));
  }

  /// Launches all work of a run.
  void launch(const StepRange& range) {
    const Machine& machine = array_.machine();
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemsetAsync(array_.views()[p].words, 0, sizeof(PeWords), work_[p]));
    }
    if (options_.form == BlockForm::kernels) {
      by_unit_.launch(range);
    } else {
      launch_resident(range);
    }
    for (pe_t p = 0; p < machine.n_pes() && range.measure; ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemcpyAsync(measured() + p, &array_.views()[p].words->changed, sizeof(*measured()),
                                 cudaMemcpyDeviceToHost, work_[p]));
    }
  }
  /// The largest change that the PEs of this process have measured; 0 if the run does not measure.
  double measured_here() const {
    return run_.measure ? change_of(*std::max_element(measured(), measured() + array_.machine().n_pes())) : 0;
  }

  std::uint64_t* measured() const { return static_cast<std::uint64_t*>(measured_.get()); }

  /// Launches one kernel per PE, or several one after another if calls are registered for steps within the range.
  void launch_resident(const StepRange& range) {
    for (step_t s = range.first; s < range.end || s == range.first;) {
      const step_t end = std::min(calls_.next(s), range.end);
      launch_resident(range, s, end);
      calls_.launched(s, end, [this](std::int64_t) { return in_work(); });
      if (end == s || (end < range.end && !watch_.keep_pace(1, by_unit_.units(), 0, work_[0]))) break;
      s = end;
    }
  }
  void launch_resident(const StepRange& range, step_t first, step_t end) {
    const Machine& machine = array_.machine();
    const auto most = static_cast<std::uint64_t>(workers(machine));
    StepRange part = range;
    part.first = first;
    part.end = end;
    part.measure = range.measure && end == range.end;
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      PeView<B> pe = given_.view(p);
      if (pe.tiles == 0) continue;
      pe.given = given_.at(p, StepRange{range.first, first, false, false, range.give_every}.n_given());
      DeviceGuard guard(machine.devices()[p]);
      if (first > range.first) SHOAL_CUDA(cudaMemsetAsync(&pe.words->next, 0, sizeof(pe.words->next), work_[p]));
      void* arguments[] = {&pe, &part};
      trace_.mark(p, "");
      SHOAL_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(resident_kernel<B>),
                                             dim3(static_cast<unsigned>(std::min(most, pe.tiles))), dim3(kThreads),
                                             arguments, 0, work_[p]));
      trace_.mark(p, "steps " + std::to_string(first) + " to " + std::to_string(end - 1) + ", resident");
    }
  }

  /// Where steps of all PEs end.
  std::vector<RunCalls::Place> in_work() const {
    std::vector<RunCalls::Place> places;
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) places.push_back({array_.machine().devices()[p], work_[p]});
    return places;
  }

  BlockArray<B>& array_;
  LaunchOptions options_;
  GivenByTiles<B> given_;
  std::vector<Given> gave_;         ///< of the last run
  std::shared_ptr<void> measured_;  ///< [n_pes] bits of the largest change
  std::vector<Stream> work_;        ///< [n_pes]
  RunTrace trace_;
  UnitLauncher<B> by_unit_;  ///< for the form `kernels`
  RunWatch watch_;
  StepRange run_{0, 0, false};
  bool started_ = false;
  double change_ = 0;
  Completions completions_;
  RunCalls calls_;
};

}  // namespace shoal::blocks::gpu
