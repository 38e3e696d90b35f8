// The PEs of a run: how many there are, which of them this process has, and how one reaches another's memory. And the calls
// that all PEs make together outside of a run of a worklist, from the host threads that run a program's body, one per PE.
// They must make the same calls in the same order. If they do not, or if one never comes, the program ends with a line that
// says at which call each PE is.
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
  /// How a PE gets to the memory of another: by loads, stores and atomics, or in messages only.
  enum class Reach { memory, wire };
  /// A call that all PEs make together: its name, and the type that it is about.
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

  /// What a PE gives to a call: bytes for every PE, and a pointer for those that share its memory.
  struct Given {
    std::span<const std::byte> bytes;
    const void* pointer = nullptr;
  };

  /// The PEs of one process.
  /// @param patience_seconds  how long calls wait for a PE while nothing happens
  World(pe_t n_pes, double patience_seconds);
  /// One of several processes: waits until all have come. PEs are numbered process by process.
  /// @param boards  of all processes, never used before
  /// @param options what must be the same in all processes, in one line
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

  /// Every PE begins a call and gives something; waits until all have begun it.
  ///
  /// A PE may take long between two calls. But if others wait for it, and its process has hardly used a processor for
  /// as long as the world has patience, then it must be waiting for something that does not come.
  /// @param me  the PE of the calling thread
  /// @return [n_pes] what all PEs gave; valid until `me` begins its next call, and what it points to until leave_call()
  /// @throws UsageError on all PEs: another PE began another call, or its body has returned, or it stands still;
  ///   DeviceError: its body threw; TransportError: its process stands still, or ended the run
  const std::vector<Given>& all_gather(pe_t me, const Call& call, const Given& mine);
  /// Within a call that all have begun: waits for the PEs of this process again. Afterwards what they gave may be
  /// destroyed.
  void leave_call(pe_t me);
  void barrier(pe_t me) { all_gather(me, Call{"barrier"}, Given{}); }

  /// For one thread of every process, within a call that all have begun, or while no PE is in a call: gives bytes to all
  /// processes.
  /// @return [n_processes] what all of them gave
  /// @throws as all_gather()
  std::vector<std::vector<std::byte>> exchange(const Call& call, std::span<const std::byte> mine);

  /// The memory that the processes share; null: there is one process, or they share none.
  Heap* heap() const;

  /// Before a run of a worklist, for one thread of every process: from now on watch() watches.
  void begin_watch();
  /// During a run, now and then, from one thread: shows the other processes that this one is there.
  /// @return why the run cannot go on: a process ended it, or stands still, and exchange() throws the same; empty: all is well
  std::string watch();
  /// This process ends the run for all.
  void end(const std::string& why);

  /// The body of PE `me` has returned; PEs that wait for it leave. The last of a process waits for the other processes.
  /// @throws as all_gather()
  void leave(pe_t me);
  /// The body of PE `me` threw; all leave.
  void fail(pe_t me, const std::string& why);

  /// From any thread: tells other processes that this one works, if it does.
  void beat();
  /// For a thread that does nothing else, again and again: why this process must be ended, since its threads wait in a library for
  /// a process that stands still, and do not come back. Empty: they go on.
  std::string held_up();
  /// Whether process `p` has failed, for a reason of its own or another's.
  bool takes_leave(int p) const;

  /// For the thread that started the PEs of this process: returns when every body has returned or thrown.
  /// @return false: a PE that stood still has not left two seconds after it was named
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
