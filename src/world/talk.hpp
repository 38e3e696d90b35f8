// Communication between the processes of a world by means of their boards: statements that all processes hear, the names of
// the processes, and the detection of processes that stand still.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/world/boards.hpp"
#include "stillness.hpp"

namespace shoal {

inline constexpr const char* kSameCalls = ": every PE must make the same calls in the same order";

/// Only one thread at a time may call its members, except end(), take_leave(), beat(), watch(), held_up() and const members.
class Talk {
 public:
  using Bytes = std::vector<std::byte>;

  /// Every process: waits for all processes, and compares `options`.
  /// @param n_here  PEs of this process
  /// @throws UsageError: processes differ; TransportError: one does not come
  Talk(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options);

  int process() const { return boards_->process(); }
  const std::vector<pe_t>& first() const {
    return first_;
  }  ///< [processes + 1] the first PE of each process, then the number of all PEs

  /// Exchanges `mine` with all processes, and checks that all make the same call. Makes as many statements as the longest data
  /// needs.
  /// @param where, type  the call, and the type of its data
  /// @return [processes] the data of each process
  /// @throws UsageError: a process makes another call; TransportError: one has ended the run, or stands still
  std::vector<Bytes> tell_all(const std::string& where, const std::string& type, std::span<const std::byte> mine);
  /// The same, but throws TransportError at once if watch() has found that the run cannot go on.
  std::vector<Bytes> exchange(const std::string& where, const std::string& type, std::span<const std::byte> mine);
  /// Starts the timers of watch().
  void begin_watch();
  /// Publishes a sign of life, and checks whether another process has ended the run or stands still.
  /// @return why the run cannot go on; empty: it can
  std::string watch();
  void beat();
  /// To be called repeatedly by a thread that does nothing else. Detects that a library call of this process does not return
  /// and another process stands still, so that this process can neither go on nor report it. Makes no library call itself.
  /// @return why this process cannot go on; empty: it can
  std::string held_up();
  void end(const std::string& why) { boards_->end(why); }
  void take_leave() { boards_->take_leave(); }
  bool takes_leave(int p) const { return boards_->takes_leave(p); }
  void all_over() { boards_->all_over(); }
  Heap* heap() const { return boards_->heap(); }

 private:
  int n_processes() const { return boards_->processes(); }
  std::vector<Bytes> hear_all(const std::string& where);
  int who_ended() const;
  std::string describe(int process) const;

  const double patience_seconds_;
  const std::unique_ptr<Boards> boards_;
  std::vector<pe_t> first_;
  std::uint64_t said_ = 0;              ///< number of the last statement
  std::vector<std::string> names_;      ///< of the processes, once they have come
  std::vector<Stillness> watched_;      ///< [processes] since begin_watch()
  std::vector<Stillness> stands_;       ///< held_up(): [processes]
  std::atomic<bool> given_up_ = false;  ///< a thread of this process has found another one that stands still
  std::mutex watch_mutex_;              ///< guards seen_
  std::string seen_;                    ///< why the run cannot go on, as watch() found
};

}  // namespace shoal
