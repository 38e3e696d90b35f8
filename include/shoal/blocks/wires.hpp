// Channels between blocks of different processes.
//
// What other processes write lies in the heap (world/heap.hpp), at places that all processes know: of each side whose channel
// leads elsewhere the two buffers, and the words of its block. Between processes that reach each other's memory (those of one
// host) that is all: who packs stores into the receiver's buffer and adds to its count of arrivals, as within a process.
//
// GPUs of several processes of one host reach each other's memory, too: there buffers and words lie in memory of the GPUs that the
// processes map, and each GPU has its own addresses of them (src/blocks/wire_memory.hpp).
//
// To another host a channel is cut in two. Each half looks like a whole channel to its block: at the sender are a pair of
// buffers and a count of arrivals, and somebody adds to the count of the receiver's block. What lies between is carried: when the
// sender's count says that a step's arrival is due, its buffer is put into the receiver's, and then, after a fence, the number of the
// step into a word there. The receiver's end looks at this word, and adds one arrival for each step. The word only grows and has
// one writer, so it may come late. Who waits for a tile carries, and who has done one; there is no thread for it, and nobody waits for a send.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "shoal/blocks/block.hpp"
#include "shoal/core/spin.hpp"

namespace shoal {

class Machine;
class World;

/// Where bytes of blocks go to, or come from.
using BytesOut = std::function<void(const void*, std::size_t)>;
using BytesIn = std::function<void(void*, std::size_t)>;

namespace blocks {

/// A side of a block whose channel leads to a block of another process.
struct WiredSide {
  std::int64_t block;
  std::uint32_t side;
  std::int64_t other;
  std::uint32_t others_side;
  std::size_t bytes;  ///< of what crosses it in a step
};

/// What is true of a run on all processes.
struct RunOfAll {
  double seconds = 0;  ///< of the process that took longest
  double change = 0;   ///< the largest
};

/// What there is of a run in this process.
struct RunHere {
  std::function<std::uint64_t()> taken;  ///< tiles, so far; empty: nobody looks whether tiles are taken
  std::function<std::uint32_t()> state;  ///< the RunState that has ended it on a PE; 0: none
  std::function<void(RunState)> end_as;  ///< ends it on all PEs that still run
};

/// This process's ends of such channels, and what the processes tell each other in a run of blocks.
class Wires {
 public:
  /// Takes part of the world's heap, or memory of the machine's GPUs. All processes make one with the same arguments, at the
  /// same place of the program.
  /// @param where  [blocks] the PE of each, among those of all processes
  /// @param sides  of all blocks of all processes, in order of blocks and sides
  /// @throws CapacityError; UsageError: processes differ; as World::exchange()
  Wires(const Machine& machine, const std::vector<pe_t>& where, std::vector<WiredSide> sides);
  ~Wires();
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;

  int process_of(std::int64_t block) const;
  /// The words of a block that is here, where others reach them; null: no channel of it leads elsewhere.
  StepWords* words(std::int64_t block) const;
  // Of a wired side of a block that is here, as Side has it.
  void* in(std::int64_t block, std::uint32_t side, int parity) const;
  void* out(std::int64_t block, std::uint32_t side, int parity) const;
  StepWords* other(std::int64_t block, std::uint32_t side) const;
  /// On GPUs, the ends of its channel: this one, and the other one. Else null.
  std::pair<WireEnd*, WireEnd*> ends(std::int64_t block, std::uint32_t side) const;

  // Everything as before step s, between runs: first begin_rewind(), then the blocks' words, then end_rewind(). Every process.
  void begin_rewind();
  void end_rewind(step_t s);

  /// All processes begin the same run together.
  /// @param patience_seconds  so long without a tile of any process ends the run
  /// @throws UsageError: they begin other runs; as World::exchange()
  void begin_run(const StepRange& range, RunHere here, double patience_seconds);
  /// After the workers of this process have left. What was sent has arrived everywhere afterwards.
  /// @param error  what the run threw in this process; null: nothing
  /// @param mine   of the PEs of this process
  /// @throws on all processes the error of the first that has one; TransportError: another process is gone, or nothing moves
  RunOfAll end_run(std::exception_ptr error, const RunOfAll& mine);

  /// Now and then, of a host that waits for GPUs: ends the run here if it has ended elsewhere, or if a process is gone.
  void look();
  /// Of a worker that waits, again and again. @param looks  how often, for this worker alone
  void wait(std::uint32_t& looks);
  /// Carries what waits to be carried, if nobody else does at the moment. Of any worker.
  void carry() {
    if (far_) carry_to_others();
  }

  /// Every process: gives bytes to all. @return [processes]
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) const;
  /// Every process: what `give` writes in process `from` comes out in all of them.
  void pass(int from, const std::function<void(const BytesOut&)>& give, const BytesOut& out) const;

 private:
  struct State;
  void carry_to_others();

  std::unique_ptr<State> state_;
  bool far_ = false;  ///< some channels lead to where stores do not get
};

}  // namespace blocks
}  // namespace shoal
