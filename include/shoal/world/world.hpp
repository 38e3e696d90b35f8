// The PEs of a run: how many there are, which of them this process has, and how one PE reaches another's memory. Also the
// collective calls that PEs make while no worklist runs. They are made by the host threads that run a program's body, one
// thread per PE. All PEs must make the same calls in the same order. If they do not, or if one never comes, the program
// ends with a line that says at which call each PE is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "shoal/core/types.hpp"

namespace shoal {

class Boards;
class Heap;

class World {
 public:
  /// How a PE reaches the memory of another PE: by loads, stores and atomics (memory), or by messages only (wire).
  enum class Reach { memory, wire };
  /// A collective call: its name, and the type of the data that it exchanges.
  struct Call {
    const char* name = "";
    const std::type_info* type = &typeid(void);

    template <class T>
    static Call of(const char* name) {
      return {name, &typeid(T)};
    }
    bool same_name(const Call& other) const { return std::strcmp(name, other.name) == 0; }
    bool operator==(const Call& other) const { return same_name(other) && *type == *other.type; }
  };

  /// What a PE contributes to a call: bytes, which every PE gets, and a pointer, which only the PEs of its process get.
  struct Given {
    std::span<const std::byte> bytes;
    const void* pointer = nullptr;
  };

  /// A world of one process.
  /// @param patience_seconds  how long a call waits for a PE that does not come while its process uses hardly any processor
  ///   time
  World(pe_t n_pes, double patience_seconds);
  /// A world of several processes: waits until all have come. PEs are numbered process by process.
  /// @param n_here  PEs of this process
  /// @param boards  of all processes, never used before
  /// @param options one line that must be the same in all processes
  /// @throws TransportError: a process does not come; UsageError: one has other options
  World(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options);
  ~World();

  pe_t n_pes() const { return first_.back(); }
  int n_processes() const { return static_cast<int>(first_.size()) - 1; }
  int process() const { return process_; }
  pe_t first_here() const { return first_[static_cast<std::size_t>(process_)]; }
  pe_t n_here() const { return end_here() - first_here(); }  ///< the PEs from first_here() on are in this process
  int process_of(pe_t pe) const;
  Reach reach(pe_t pe) const { return process_of(pe) == process() ? Reach::memory : Reach::wire; }  ///< from here

  // Collectives: every PE calls them, from its own host thread.

  /// Begins a call with this PE's contribution, and waits until all PEs have begun the same call.
  ///
  /// A PE may take long between two calls. But if other PEs wait for it, and its process has used hardly any processor time
  /// for patience_seconds, it is taken to be waiting for something that will never come, and the run ends.
  /// @param me  the PE of the calling thread
  /// @return [n_pes] what all PEs contributed. The vector is valid until `me` begins its next call; what it points to is
  ///   valid until leave_call()
  /// @throws UsageError on all PEs: another PE began another call, or its body has returned, or it stands still;
  ///   DeviceError: its body threw; TransportError: its process stands still, or ended the run
  const std::vector<Given>& all_gather(pe_t me, const Call& call, const Given& mine);
  /// Within a call that all PEs have begun: waits for the PEs of this process once more. Afterwards what they contributed
  /// may be destroyed.
  void leave_call(pe_t me);
  void barrier(pe_t me) { all_gather(me, Call{"barrier"}, Given{}); }

  /// Exchanges bytes between all processes. One thread of every process calls it, either within a call that all PEs have
  /// begun, or while no PE is in a call.
  /// @return [n_processes] the bytes of each process
  /// @throws as all_gather()
  std::vector<std::vector<std::byte>> exchange(const Call& call, std::span<const std::byte> mine);

  /// The memory that the processes share; null: there is one process, or they share none.
  Heap* heap() const;

  /// To be called before a run of a worklist, by one thread of every process: starts the timers with which watch() detects
  /// processes that stand still.
  void begin_watch();
  /// To be called now and then during a run, by one thread: publishes this process's sign of life, and checks the others.
  /// @return why the run cannot go on: a process ended it, or stands still. exchange() then throws the same. Empty: all is
  ///   well
  std::string watch();
  /// Ends the run for all processes.
  void end(const std::string& why);

  /// To be called when the body of PE `me` has returned. If another PE waits for `me` in a call, the program ends. The last
  /// PE of a process waits for the other processes.
  /// @throws as all_gather()
  void leave(pe_t me);
  /// To be called when the body of PE `me` threw: ends the run on all PEs.
  void fail(pe_t me, const std::string& why);

  /// Publishes this process's sign of life: the processor time that it has used. From any thread.
  void beat();
  /// Detects that this process's threads wait in a library call for a process that stands still, and will not return. To be
  /// called repeatedly by a thread that does nothing else.
  /// @return why this process must be ended; empty: its threads can go on
  std::string held_up();
  /// Whether process `p` knows that the run has failed, in itself or in another process, and is about to exit.
  bool takes_leave(int p) const;

  /// For the thread that started the PEs of this process: returns when every body has returned or thrown.
  /// @return false: a PE was found to stand still, and some body has not returned within two seconds after that
  bool wait_for_bodies();
  /// The error that ended the program; empty if there is none.
  std::string why();

 private:
  struct State;
  pe_t end_here() const { return first_[static_cast<std::size_t>(process_) + 1]; }

  int process_ = 0;
  std::vector<pe_t> first_;  ///< [processes + 1] the first PE of each process
  std::unique_ptr<State> state_;
};

}  // namespace shoal
