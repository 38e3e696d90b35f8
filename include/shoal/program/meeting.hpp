// Where the PEs of a program meet, that is, the host threads that run its body, one per PE. They must make the same
// calls in the same order. If they do not, the program ends with a line that says at which call each PE is.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/program/meeting_call.hpp"

namespace shoal {

class Meeting {
 public:
  explicit Meeting(pe_t n) : pes_(static_cast<std::size_t>(n)) {
    for (auto& board : boards_) board.resize(pes_.size());
  }

  /// PE `me` begins a call and publishes a pointer; waits until all PEs have begun the call.
  /// @return [PEs] the pointers of all PEs; valid until `me` begins its next call
  /// @throws UsageError on all PEs: another PE began another call, or its body has returned; DeviceError: its body
  ///   threw
  const std::vector<const void*>& begin(pe_t me, const MeetingCall& call, const void* mine = nullptr);
  /// Within a call that all have begun: waits for all again. Afterwards what they published may be destroyed.
  void wait(pe_t me);

  /// The body of PE `me` has returned; PEs that wait for it leave.
  void leave(pe_t me);
  /// The body of PE `me` threw; all leave.
  void fail(pe_t me);

  /// For the thread that started the PEs: returns when every body has returned or thrown.
  ///
  /// A PE may take long between two calls. But if others wait for it, and the whole process has hardly used a processor
  /// for `timeout_seconds`, then it must be waiting for something that does not come: the others leave, with the
  /// UsageError of begin().
  /// @return false: it has not left two seconds later, either
  bool watch(double timeout_seconds);
  /// The error that ended the program; empty if there is none.
  std::string why();

 private:
  enum class Place { outside, begins, within, left, failed };
  struct Pe {
    Place place = Place::outside;
    MeetingCall call;         ///< the last call that it began
    std::uint64_t calls = 0;  ///< begun
  };

  void arrive(std::unique_lock<std::mutex>& lock, pe_t me, Place place);
  void compare(pe_t one, pe_t other);
  void end(const std::string& why);
  void throw_if_ended() const;
  std::string describe(pe_t p) const;
  bool all_gone() const;
  bool may_be_stuck() const;

  std::mutex mutex_;  ///< guards the rest, except that a board may be read once all have begun the call
  std::condition_variable changed_;
  std::vector<Pe> pes_;
  std::vector<const void*>
      boards_[2];  ///< used in turn, because a fast PE may begin the next call while others still read
  pe_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool ended_ = false;
  std::string why_;
};

}  // namespace shoal
