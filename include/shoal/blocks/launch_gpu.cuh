// Steps on GPUs: the forms `resident` and `kernels`.
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
#include "shoal/blocks/completions_gpu.cuh"
#include "shoal/blocks/events.cuh"
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
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// Work of the host in a run: it launches, and waits once. Everything of a PE is ordered by its stream work_; everything of all
/// blocks, in the form `kernels`, by that of PE 0. Of several processes each launches what is here; their kernels wait for each other by words in memory that both reach (WireEnd, StepWords).
template <class B>
class Launcher {
 public:
  explicit Launcher(BlockArray<B>& array, const LaunchOptions& options = {})
      : array_(array),
        options_(options),
        given_(array, [](std::size_t bytes) { return pinned_memory(bytes, "what blocks give"); }),
        measured_(pinned_memory(static_cast<std::size_t>(array.machine().n_pes()) * sizeof(std::uint64_t),
                                "what a run measures")),
        trace_(array.machine().devices(), work_),
        watch_(array, options_, work_, streams_) {
    Decisions decisions;
    options_ = decide_launch(options, sizes(array), decisions);  // where the caller has not decided
    if (options_.halos != Halos::direct) array_.send_by_copies();
    std::fill_n(measured(), array.machine().n_pes(), 0);
    for (const int device : array.machine().devices()) {
      work_.emplace_back(device);
      reached_.emplace_back(device);
      DeviceGuard guard(device);  // all kernels are loaded before the first one that stays is launched
      cudaFuncAttributes attributes;
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, start_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, resident_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, part_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, change_kernel<B>));
      if constexpr (Gives<B>) SHOAL_CUDA(cudaFuncGetAttributes(&attributes, give_kernel<B>));
    }
    placed();
  }

  /// Blocks were moved.
  void placed() {
    if (options_.form != BlockForm::kernels) return;
    streams_.clear();
    packed_.clear();
    handed_.clear();
    units_ = Units(array_, options_);
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
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      start_kernel<<<workers, kThreads, 0, stream>>>(pe);
    });
    started_ = true;
    make_graph();
  }

  /// Between runs, before step s: tells all blocks something, each of which hears it with all of its tiles. Every process, the same.
  template <class Message>
  void tell(step_t s, const Message& message) {
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      hear_kernel<<<workers, kThreads, 0, stream>>>(pe, 0, pe.tiles, s, message);
    });
  }
  /// The same to block b alone.
  template <class Message>
  void tell(step_t s, std::int64_t b, const Message& message) {
    array_.shape().number_of(array_.shape().place_of(b));
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      if (!array_.here(b) || &pe != &array_.views()[array_.home(b)]) return;
      const Slot<B>& slot = array_.slots()[array_.home(b)][array_.number(b)];
      hear_kernel<<<workers, kThreads, 0, stream>>>(pe, slot.first_tile, slot.first_tile + slot.tiles, s, message);
    });
  }

  /// The next run that comes to so many steps makes a call when all blocks that are here have taken them, or block b has, and goes
  /// on meanwhile (blocks/completions.hpp). Resident kernels end there, and others go on.
  void when_done(step_t steps, std::function<void()> call) { completions_.add(-1, steps, std::move(call)); }
  void when_done(std::int64_t b, step_t steps, std::function<void()> call) {
    completions_.add(array_.shape().number_of(array_.shape().place_of(b)), steps, std::move(call));
  }

  /// All blocks take the steps of a range. Every process.
  /// @return seconds, from the first launch until all is done; of several processes, those of the slowest
  /// @throws DeviceError  the CUDA runtime failed, or nothing moved; Interrupted; of several processes: what the first threw, and as
  ///   World::exchange()
  double run(const StepRange& range) {
    trace_.begin();
    given_.begin(range.n_given());
    run_ = range;
    wanted_ = completions_.take(range);
    watch_.begin(range);
    std::exception_ptr error;
    double seconds = 0;
    const auto begin = RunWatch<B>::Clock::now();
    try {
      launch(range);
      watch_.wait(trace_);
      seconds = RunWatch<B>::seconds_since(begin);
      if (watch_.ended() == RunState::running) {
        polling_.finish();
      } else {
        polling_.drop();
      }
    } catch (const std::exception& thrown) {
      watch_.abandon(thrown.what());
      polling_.drop();
      trace_.drop();
      if (array_.wires() == nullptr) throw;
      error = std::current_exception();
    }
    RunOfAll all{seconds, 0};
    if (!error && watch_.ended() == RunState::running) error = watch_.ended_on_gpu(units_);
    if (array_.wires() == nullptr) {
      throw_if_interrupted();
      if (error) std::rethrow_exception(error);
      all.change = measured_here();
    } else {
      all = watch_.end_with_others(error, {all.seconds, measured_here()});
    }
    change_ = all.change;
    gave_ = given_.of_all(range);
    if (trace_) trace_.draw(array_, units_);
    return all.seconds;
  }

  /// After a run of some steps, the last one before s: the largest change of that one, by a look at all cells. Every process.
  double measure(step_t s) {
    array_.prepare_run();
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      change_kernel<<<workers, kThreads, 0, stream>>>(pe, s - 1);
    });
    return change_ = array_.change_of_all();
  }
  /// After a run that measured: the largest change of its last step.
  double change() const { return change_; }
  /// After a run, or start(): what all blocks give of state s, the last one made. Every process. @return [kGives]
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
  /// In a run with give_every, of a state that all blocks of this process have come to: what these have given of it.
  std::vector<double> gave(step_t state) const { return given_.here(run_.number(state)); }
  /// After a run with give_every: what all processes' blocks gave of each of the states.
  const std::vector<Given>& given() const { return gave_; }
  /// How often the host waited for GPUs in the last run. (Looks at kernels that run for long are not counted.)
  int waits() const { return watch_.waits(); }

 private:
  /// Calls launch(view, workers, stream) for each PE that has tiles, and waits.
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

  void make_graph() {
    if (options_.form != BlockForm::kernels || options_.graph <= 0 || graph_) return;
    const auto steps = static_cast<step_t>(options_.graph);
    DeviceGuard guard(array_.machine().devices()[0]);
    run_ = {0, 4 + steps, false};
    capturing_ = true;
    graph_.capture(work_[0], [&] { launch_steps({2, 2 + steps, false}); });  // they stand for all steps but the first
    capturing_ = false;
  }

  bool keep_pace(step_t steps, pe_t p, cudaStream_t stream) {
    return capturing_ || watch_.keep_pace(steps, units_, p, stream);
  }
  std::uint64_t* measured() const { return static_cast<std::uint64_t*>(measured_.get()); }

  /// In one kernel for each PE, or in some, where somebody wants to be told.
  void launch_resident(const StepRange& range) {
    for (step_t s = range.first; s < range.end || s == range.first;) {
      const step_t end = std::min(next_wanted(s), range.end);
      launch_resident(range, s, end);
      tell_in_work(s, end);
      if (end == s || (end < range.end && !keep_pace(1, 0, work_[0]))) break;
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
      if (pe.given != nullptr)
        pe.given = given_at(p, StepRange{range.first, first, false, false, range.give_every}.n_given());
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
    if (graph_ && range.give_every == 0) {  // kernels in a graph do not know which state they make
      // The first and the last step of a run are not in graphs: what crosses sides is in buffers before and after a run.
      const step_t begin = (s + 2) / 2 * 2, end = range.end - 1;
      if (begin + steps <= end) {
        launch_steps({s, begin, false});
        trace_.mark(0, "");
        for (s = begin; s + steps <= end; s += steps) {
          throw_if_interrupted();
          if (next_wanted(s) < s + steps) {  // within the graph
            launch_steps({s, s + steps, false});
            continue;
          }
          graph_.launch(work_[0]);
          tell_in_work(s, s + steps);
          if (!keep_pace(steps, 0, work_[0])) return;
          trace_.mark(0, "graph of steps " + std::to_string(s) + " to " + std::to_string(s + steps - 1));
        }
      }
    }
    launch_steps({s, range.end, range.measure});
  }
  /// Step s of a block comes after step s - 1 of itself, by its stream, and of its neighbours, by their events. The whole comes
  /// in PE 0's stream.
  void launch_steps(const StepRange& range) {
    if (range.first == range.end) return;
    trace_.mark_steps(range.first);
    SHOAL_CUDA(cudaEventRecord(reached_[0], work_[0]));
    for (const Stream& stream : streams_) SHOAL_CUDA(cudaStreamWaitEvent(stream, reached_[0], 0));
    for (step_t s = range.first; s < range.end; ++s) {
      throw_if_interrupted();
      for (std::int64_t b = 0; b < units_.size(); ++b) {
        DeviceGuard guard(array_.machine().devices()[units_[b].pe]);
        if (s > range.first) {  // what came before the range has ended
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
      if (!capturing_) tell_in_streams(s + 1);
      if (units_.size() > 0 && !keep_pace(1, units_[0].pe, streams_[0])) return;
    }
    for (std::int64_t b = 0; b < units_.size(); ++b) {
      SHOAL_CUDA(cudaStreamWaitEvent(work_[0], packed(b, range.end), 0));
    }
    if (copies_) copies_->await_all(range.end, work_[0]);
  }
  /// What says that a block has packed for step s. For a trace each has an event of its own, which is timed.
  cudaEvent_t packed(std::int64_t b, step_t s) const {
    const cudaEvent_t timed = trace_.step(b, s);
    return timed != nullptr ? timed : packed_[static_cast<std::size_t>(2 * b) + (s & 1)];
  }
  void launch_step(std::int64_t u, step_t s, bool measure) {
    const Unit& unit = units_[u];
    if (unit.blocks == 0) return;
    const auto& slots = array_.slots()[unit.pe];
    const std::uint32_t n = slots[unit.first].n_sides, all = ~0u;
    const auto patience_ns = static_cast<std::uint64_t>(watch_.patience_seconds() * 1e9);
    double* const gives = run_.gives(s + 1) && !capturing_ ? given_at(unit.pe, run_.number(s + 1)) : nullptr;
    const cudaStream_t updates_in = streams_[u];
    const auto launch = [&](Part part) {
      if (part.update) part.given = gives;
      const cudaStream_t stream = part.update ? updates_in : packs_in(u);
      constexpr std::uint32_t kMost = 65535;  // of a grid's second dimension
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
  /// What comes in a stream of unit u follows what has come in its other one.
  void follow(std::int64_t u, int which, cudaStream_t first, cudaStream_t then) {
    if (!options_.urgent_packs) return;
    const Event& event = handed_[static_cast<std::size_t>(2 * u + which)];
    SHOAL_CUDA(cudaEventRecord(event, first));
    SHOAL_CUDA(cudaStreamWaitEvent(then, event, 0));
  }

  /// The next number of steps after s of which somebody wants to be told.
  step_t next_wanted(step_t s) const {
    const auto next =
        std::find_if(wanted_.begin(), wanted_.end(), [s](const Completion& one) { return one.steps > s; });
    return next == wanted_.end() ? ~step_t{0} : next->steps;
  }
  /// Steps up to `end` are in work_ now, and the last ones told of ended with `begin`.
  void tell_in_work(step_t begin, step_t end) {
    std::vector<CompletionThread::Place> places;
    if (options_.form == BlockForm::kernels) {
      places.push_back({array_.machine().devices()[0], work_[0]});
    } else {
      for (pe_t p = 0; p < array_.machine().n_pes(); ++p) places.push_back({array_.machine().devices()[p], work_[p]});
    }
    for (Completion& one : wanted_) {
      if (one.steps > begin && one.steps <= end) polling_.add(places, std::move(one.call));
    }
  }
  /// So many steps are in the streams of units.
  void tell_in_streams(step_t steps) {
    for (Completion& one : wanted_) {
      if (one.steps != steps) continue;
      std::vector<CompletionThread::Place> places;
      for (std::int64_t u = 0; u < units_.size(); ++u) {
        const Unit& unit = units_[u];
        const bool its = one.block < 0 || (array_.here(one.block) && unit.pe == array_.home(one.block) &&
                                           (units_.together() || unit.block == one.block));
        if (its) places.push_back({array_.machine().devices()[unit.pe], packs_in(u)});
      }
      polling_.add(places, std::move(one.call));
    }
  }

  /// Where a PE's tiles store what they give of the number-th of the states that are reduced.
  double* given_at(pe_t p, step_t number) const {
    const PeView<B> pe = given_.view(p);
    return pe.given == nullptr ? nullptr : pe.given + number * pe.tiles * kGiven<B>;
  }

  BlockArray<B>& array_;
  LaunchOptions options_;
  GivenByTiles<B> given_;
  std::vector<Given> gave_;         ///< in the last run
  std::shared_ptr<void> measured_;  ///< [n_pes] what the PEs have measured
  std::vector<Stream> work_;        ///< [n_pes]
  std::vector<Event> reached_;      ///< [n_pes] a place in work_
  // Of the form `kernels`:
  Units units_;
  std::vector<Stream> streams_;         ///< [units] or, where packs have their own, [2 x units]
  std::vector<Event> packed_;           ///< [2 x units] a unit has packed for a step of either parity
  std::vector<Event> handed_;           ///< [2 x units] between the streams of a unit, where packs have their own
  std::unique_ptr<HaloCopies> copies_;  ///< null: halos are stored
  Graph graph_;
  RunTrace trace_;
  RunWatch<B> watch_;
  StepRange run_{0, 0, false};
  bool started_ = false, capturing_ = false;
  double change_ = 0;
  Completions completions_;
  std::vector<Completion> wanted_;  ///< of the run
  CompletionThread polling_;
};

}  // namespace shoal::blocks::gpu
