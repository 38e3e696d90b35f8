#include "shoal/worklist/trace.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "shoal/core/trace.hpp"
#include "shoal/worklist/schedule.hpp"

namespace shoal {
namespace {

constexpr std::int64_t kEvery = 1'000'000;  // ns
constexpr const char* kStates[] = {"busy", "polling", "idle", nullptr};
static_assert(std::size(kStates) == static_cast<std::size_t>(WorkerState::count));

std::string name_of(pe_t pe) { return "PE " + std::to_string(pe); }

}  // namespace

struct RunTrace::Watch {
  Trace& trace;
  const pe_t first, n_pes;
  const int workers;
  const WorklistParts* const parts;  ///< null: the caller adds
  std::vector<StateLog> logs;        ///< [PEs x workers]
  std::int64_t added_at = 0;
  std::vector<std::int64_t> last;  ///< the last value written, for each PE and counter
  std::mutex mutex;
  std::condition_variable leave;
  bool leaving = false;
  std::thread thread;

  Watch(Trace& into, pe_t first_pe, pe_t pes, int workers_of_pe, const WorklistParts* of)
      : trace(into),
        first(first_pe),
        n_pes(pes),
        workers(workers_of_pe),
        parts(of),
        logs(static_cast<std::size_t>(pes) * static_cast<std::size_t>(workers_of_pe)) {
    if (parts != nullptr) thread = std::thread([this] { watch(); });
  }
  ~Watch() { stop(); }

  void watch() {
    std::unique_lock lock(mutex);
    try {
      do {
        add(parts->snapshots());
      } while (!leave.wait_for(lock, std::chrono::nanoseconds(kEvery), [this] { return leaving; }));
    } catch (const std::bad_alloc&) {
      // There is no memory for more of the trace; what it has is drawn.
    }
  }
  void stop() {
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      leaving = true;
    }
    leave.notify_one();
    thread.join();
  }

  /// Writes only the values that have changed.
  void add(const std::vector<PeSnapshot>& pes) {
    const std::int64_t at = trace_now();
    added_at = at;
    std::size_t next = 0;
    const auto count = [&](std::size_t p, const char* what, std::int64_t value) {
      if (next == last.size()) last.push_back(value + 1);
      if (std::exchange(last[next++], value) == value) return;
      trace.count(name_of(first + static_cast<pe_t>(p)), what, at, static_cast<double>(value));
    };
    for (std::size_t p = 0; p < pes.size(); ++p) {
      const PeSnapshot& pe = pes[p];
      // Tickets may be taken before there are items for them, hence the max; items count as created by the PE that sent them.
      const auto waiting = static_cast<std::int64_t>(pe.ring_tail - pe.ring_head);
      count(p, "items in the ring", std::max<std::int64_t>(0, waiting));
      count(p, "items completed", static_cast<std::int64_t>(pe.completed));
      count(p, "chunks of spill", static_cast<std::int64_t>(pe.spilled_chunks));
    }
    std::uint64_t created = 0, completed = 0;
    for (const PeSnapshot& pe : pes) {
      created += pe.created();
      completed += pe.completed;
    }
    count(0, "items not completed, of all PEs", static_cast<std::int64_t>(created - completed));
  }
};

RunTrace::RunTrace(const WorklistParts& parts, int workers) {
  const Machine& machine = parts.machine();
  if (Trace* const trace = tracing()) {
    watch_ = std::make_unique<Watch>(*trace, machine.first_pe(), machine.n_pes(), workers, &parts);
  }
}
RunTrace::RunTrace(pe_t first, pe_t n_pes) {
  if (Trace* const trace = tracing()) watch_ = std::make_unique<Watch>(*trace, first, n_pes, 0, nullptr);
}
RunTrace::~RunTrace() = default;

StateLog* RunTrace::log(pe_t pe, int worker) {
  return watch_ == nullptr ? nullptr : &watch_->logs[static_cast<std::size_t>(pe * watch_->workers + worker)];
}
bool RunTrace::due() const { return watch_ != nullptr && trace_now() - watch_->added_at >= kEvery; }
void RunTrace::add(const std::vector<PeSnapshot>& pes) {
  if (watch_ != nullptr) watch_->add(pes);
}

void RunTrace::kernels(const std::string& name, std::int64_t begin) {
  if (watch_ == nullptr) return;
  for (pe_t p = 0; p < watch_->n_pes; ++p) {
    watch_->trace.span(watch_->trace.track(name_of(watch_->first + p), "kernels, as the host sees them"), name, begin,
                       trace_now());
  }
}

void RunTrace::draw() {
  if (watch_ == nullptr) return;
  watch_->stop();
  if (watch_->parts != nullptr) watch_->add(watch_->parts->snapshots());
  const std::int64_t end = trace_now();
  for (std::size_t i = 0; i < watch_->logs.size(); ++i) {
    const auto pe = static_cast<pe_t>(i / static_cast<std::size_t>(watch_->workers));
    const std::string worker = "worker " + std::to_string(i % static_cast<std::size_t>(watch_->workers));
    draw_states(watch_->trace, watch_->trace.track(name_of(watch_->first + pe), worker), watch_->logs[i], kStates, end);
  }
}

}  // namespace shoal
