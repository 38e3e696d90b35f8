// The processes of a baseline and their communication, which is outside of the timed part, except for faces of grids. This class is
// one process alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "shoal/data/pending_file.hpp"

namespace shoal::baselines {

/// Values to or from another rank.
struct Message {
  int rank;
  double* words;
  int count;
};

/// All processes must call each function together.
class Processes {
 public:
  int rank = 0, size = 1;
  int rank_on_host = 0, on_host = 1;  ///< among the processes that share this one's host memory

  Processes() = default;
  virtual ~Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// For error messages: which launcher is known, and what to do if its variables say something else.
  virtual std::string launcher() const { return "this program was built without MPI"; }
  virtual std::string cure() const { return "start it without mpirun, or build it where there is MPI"; }
  virtual void barrier() {}
  virtual double most(double value) { return value; }
  virtual std::int64_t sum(std::int64_t value) { return value; }
  virtual int least(int value) { return value; }
  /// Sends `bytes` of process `root` to all processes.
  virtual void broadcast(void*, int /*bytes*/, int /*root*/) {}
  /// Process 0 gets the values of all processes, in order; the others get nothing.
  /// @param counts  [size] number of values of each process
  /// @throws CapacityError  there are more values than MPI can count
  virtual void gather_words(const void* own, const std::vector<std::int64_t>& counts, int word_bytes, void* all) {
    if (counts[0] > 0) std::memcpy(all, own, static_cast<std::size_t>(counts[0]) * word_bytes);
  }
  /// For one rank per process: begins to send and receive these messages, and returns. Nobody may change or read their memory until
  /// end_exchange(). Between two processes there is at most one message in each direction.
  virtual void begin_exchange(const std::vector<Message>& /*out*/, const std::vector<Message>& /*in*/) {}
  virtual void end_exchange() {}
  /// Ends all processes, now.
  [[noreturn]] virtual void end_all(int status) {
    io::remove_pending_files();
    std::_Exit(status);
  }

  template <class T>
  std::vector<T> gather(const std::vector<T>& own, const std::vector<std::int64_t>& counts) {
    std::int64_t words = 0;
    for (const std::int64_t count : counts) words += count;
    std::vector<T> all(rank == 0 ? words : 0);
    gather_words(own.data(), counts, sizeof(T), all.data());
    return all;
  }
};

}  // namespace shoal::baselines
