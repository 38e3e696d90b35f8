#include "shoal/worker/thread_team.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

// How often a thread polls before it goes to sleep: about 64 short pauses, and then it gives way: some 30 microseconds on a free
// core, and some milliseconds beside other processes that compute (give_way()). If there are more threads than cores, each yield lets
// another thread work.
constexpr unsigned kLooks = 192;

template <class Ready>
bool look(Ready ready) {
  for (Backoff backoff; backoff.spins() < kLooks; backoff.pause()) {
    if (ready()) return true;
  }
  return ready();
}

}  // namespace

struct ThreadTeam::Threads {
  std::mutex mutex;  // guards the rest; also taken to change epoch_ and after pending_ is 0, to lose no wake-up
  std::condition_variable begun, ended;
  bool stopping = false;
  std::exception_ptr first_error;
  std::vector<std::thread> started;
};

ThreadTeam::ThreadTeam(pe_t n_pes, int threads_per_pe)
    : n_pes_(n_pes), threads_per_pe_(threads_per_pe), threads_(std::make_unique<Threads>()) {
  if (n_pes < 1 || n_pes > kMaxPes) {
    throw UsageError("a team of threads needs 1 to " + std::to_string(kMaxPes) + " PEs, not " + std::to_string(n_pes));
  }
  if (threads_per_pe < 1 || threads_per_pe > kMaxThreads / n_pes) {
    throw UsageError("threads per PE must be 1 to " + std::to_string(kMaxThreads / n_pes) + " with " +
                     std::to_string(n_pes) + " PEs, not " + std::to_string(threads_per_pe));
  }
  epoch_.store(0);
  pending_.store(0);
  running_.store(0);
  try {
    threads_->started.reserve(size() - 1);
    for (int index = 1; index < size(); ++index) threads_->started.emplace_back([this, index] { serve(index); });
  } catch (const std::system_error& error) {
    const auto started = std::to_string(threads_->started.size() + 1);
    stop();
    throw CapacityError("the system gave " + started + " of " + std::to_string(size()) + " threads (" + error.what() +
                        "); lower --threads or --pes, or raise the process limit (ulimit -u)");
  } catch (...) {
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  {
    std::lock_guard lock(threads_->mutex);
    threads_->stopping = true;
    epoch_.store_release(epoch_.load() + 1);
  }
  threads_->begun.notify_all();
  for (auto& thread : threads_->started) thread.join();
}

void ThreadTeam::run_erased(Call call, void* callee) {
  std::uint32_t idle = 0;
  if (!running_.compare_swap_acquire(idle, 1)) {
    throw UsageError("a team of threads was asked to run while it runs; wait for the first run, or use a second team");
  }
  call_ = call;
  callee_ = callee;
  pending_.store(static_cast<std::uint32_t>(threads_->started.size()));
  if (!threads_->started.empty()) {
    {
      std::lock_guard lock(threads_->mutex);
      epoch_.store_release(epoch_.load() + 1);
    }
    threads_->begun.notify_all();  // no system call if no thread sleeps
  }
  call_one(0);
  auto all_returned = [&] { return pending_.load_acquire() == 0; };
  if (!look(all_returned)) {
    std::unique_lock lock(threads_->mutex);
    threads_->ended.wait(lock, all_returned);
  }
  std::exception_ptr error;
  {
    std::lock_guard lock(threads_->mutex);  // orders this after what the threads wrote
    error.swap(threads_->first_error);
  }
  running_.store_release(0);
  if (error) std::rethrow_exception(error);
}

void ThreadTeam::call_one(int index) noexcept {
  try {
    call_(callee_, index / threads_per_pe_, index % threads_per_pe_);
  } catch (...) {
    std::lock_guard lock(threads_->mutex);
    if (!threads_->first_error) threads_->first_error = std::current_exception();
  }
}

void ThreadTeam::serve(int index) {
  for (std::uint32_t seen = 0;;) {
    auto begun = [&] { return epoch_.load_acquire() != seen; };
    if (!look(begun)) {
      std::unique_lock lock(threads_->mutex);
      threads_->begun.wait(lock, begun);
    }
    seen = epoch_.load_acquire();    // only one run at a time, so it has grown by one
    if (threads_->stopping) return;  // written before this value of epoch_ was released
    call_one(index);
    if (pending_.fetch_add_acq_rel(~0u) == 1) {
      { std::lock_guard lock(threads_->mutex); }  // now the caller is before its test or asleep, not between the two
      threads_->ended.notify_one();
    }
  }
}

}  // namespace shoal
