// What the processes of a world tell each other by their boards: statements that all hear, who they are, and who stands still.
#pragma once
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

/// One thread at a time, but for end(), take_leave(), beat(), watch(), held_up() and what is const.
class Talk {
 public:
  using Bytes = std::vector<std::byte>;

  /// Every process: waits for all, and compares `options`.
  /// @param n_here  PEs of this process
  /// @throws UsageError: processes differ; TransportError: one does not come
  Talk(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options);

  int process() const { return boards_->process(); }
  const std::vector<pe_t>& first() const {
    return first_;
  }  ///< [processes + 1] the first PE of each, and how many there are

  /// Tells all processes where this one is, and `mine`, in as many statements as the longest needs. @return what each has told
  /// @throws UsageError: a process is somewhere else; TransportError: one has ended the run, or stands still
  std::vector<Bytes> tell_all(const std::string& where, const std::string& type, std::span<const std::byte> mine);
  /// Likewise, and not after watch() has seen that another process ended the run.
  std::vector<Bytes> exchange(const std::string& where, const std::string& type, std::span<const std::byte> mine);
  /// The processes are watched from now on; for watch().
  void begin_watch();
  /// A sign of life, and why the run cannot go on: another process ended it, or stands still. Empty: it can.
  std::string watch();
  void beat();
  /// For a thread that does nothing else, again and again: why this process cannot go on and cannot say so by itself, since what copies
  /// to others does not come back and another process stands still. Empty: it can. Copies nothing itself.
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
  std::uint64_t said_ = 0;          ///< statements
  std::vector<std::string> names_;  ///< of the processes, once they have come
  std::vector<Stillness> watched_;  ///< [processes] since begin_watch()
  std::vector<Stillness> stands_;   ///< held_up(): [processes]
  std::mutex watch_mutex_;          ///< guards the next
  std::string seen_;                ///< what watch() has seen
};

}  // namespace shoal
