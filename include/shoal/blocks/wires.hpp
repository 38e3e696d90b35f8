// Channels between blocks of different processes.
//
// Everything that other processes write lies in the heap (world/heap.hpp), at offsets that all processes know: for each side
// whose channel leads to another process, its two buffers, and the counters of its block. Processes of one host reach each
// other's memory. Between them nothing else is needed: packing stores into the receiver's buffer and adds to its count of
// arrivals, as within one process.
//
// GPUs of several processes of one host reach each other's memory, too. For them, buffers and counters lie in GPU memory that the
// processes map, and each GPU has its own addresses for it (src/blocks/wire_memory.hpp).
//
// A channel to another host is cut into two halves, and each half looks like a whole channel to its block. The sender has a pair
// of local buffers and a local count of arrivals. Carrying connects the halves: when the sender's count shows that the arrival of
// a step is due, the buffer is put into the receiver's buffer, and then, after a fence, the number of the step is put into a
// 64-bit value there. The receiver's process polls this value, and adds one arrival to its block's count for each new step. The
// value only grows and has one writer, so it does no harm if it comes late. Workers carry while they wait for a tile and after
// each tile. There is no thread for it, and no worker waits for a send.
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

/// Functions that take bytes of blocks, or fill memory with the next ones.
using BytesOut = std::function<void(const void*, std::size_t)>;
using BytesIn = std::function<void(void*, std::size_t)>;

namespace blocks {

/// A side of a block whose channel leads to a block of another process.
struct WiredSide {
  std::int64_t block;
  std::uint32_t side;
  std::int64_t other;
  std::uint32_t others_side;
  std::size_t bytes;  ///< that cross it in a step, in each direction
};

/// The result of a run over all processes.
struct RunOfAll {
  double seconds = 0;  ///< of the process that took longest
  double change = 0;   ///< the largest change of all processes
};

/// Access to a run in this process.
struct RunHere {
  std::function<std::uint64_t()> taken;  ///< tiles taken so far; empty: stalls are not detected by tiles
  std::function<std::uint32_t()> state;  ///< the RunState that has ended the run on a PE; 0: it has not ended
  std::function<void(RunState)> end_as;  ///< ends the run on all PEs on which it has not ended
};

/// This process's ends of the channels to other processes, and the messages between processes in a run of blocks.
class Wires {
 public:
  /// Allocates a part of the world's heap, or memory of the machine's GPUs. Every process makes one with the same arguments, at
  /// the same place of the program.
  /// @param where  [blocks] the PE of each block, numbered over all processes
  /// @param sides  the wired sides of all blocks of all processes, in order of blocks and sides
  /// @throws CapacityError; UsageError: the arguments of processes differ; as World::exchange()
  Wires(const Machine& machine, const std::vector<pe_t>& where, std::vector<WiredSide> sides);
  ~Wires();
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;

  int process_of(std::int64_t block) const;
  /// The counters of a block that is here, in memory that other processes reach; null: the block has no wired side.
  StepWords* words(std::int64_t block) const;
  // The members of Side for a wired side of a block that is here.
  void* in(std::int64_t block, std::uint32_t side, int parity) const;
  void* out(std::int64_t block, std::uint32_t side, int parity) const;
  StepWords* other(std::int64_t block, std::uint32_t side) const;
  /// On GPUs, both ends of the channel: this one, and the other one. Else null.
  std::pair<WireEnd*, WireEnd*> ends(std::int64_t block, std::uint32_t side) const;

  // Between runs, to set all counters to the values just before step s: call begin_rewind(), then set the counters of the blocks,
  // then call end_rewind(). Every process.
  void begin_rewind();
  void end_rewind(step_t s);

  /// Begins a run. Every process calls it, with the same range.
  /// @param patience_seconds  if no process takes a tile for so long, the run ends with an error
  /// @throws UsageError: processes begin different runs; as World::exchange()
  void begin_run(const StepRange& range, RunHere here, double patience_seconds);
  /// Ends a run. Every process calls it, after its workers have left the run. When it returns, everything that was sent has
  /// arrived.
  /// @param error  what the run threw in this process; null: nothing
  /// @param mine   the result of the PEs of this process
  /// @throws in all processes the error of the first process that has one; TransportError: another process is gone, or no tile
  ///   was taken for too long
  RunOfAll end_run(std::exception_ptr error, const RunOfAll& mine);

  /// A host that waits for GPUs calls it from time to time: ends the run here if it has ended elsewhere, or if a process is gone.
  void look();
  /// A worker that waits calls it again and again. Carries, and from time to time does what look() does.
  /// @param looks  a counter of calls that belongs to the worker
  void wait(std::uint32_t& looks);
  /// Carries whatever is due, unless another worker is carrying at the moment. Any worker may call it.
  void carry() {
    if (far_) carry_to_others();
  }

  /// Sends bytes to all processes. Every process calls it. @return [processes] the bytes of each
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) const;
  /// Broadcast: what `give` writes in process `from` is passed to `out` in all processes. Every process calls it.
  void pass(int from, const std::function<void(const BytesOut&)>& give, const BytesOut& out) const;

 private:
  struct State;
  void carry_to_others();

  std::unique_ptr<State> state_;
  bool far_ = false;  ///< some channels lead to memory that stores do not reach
};

}  // namespace blocks
}  // namespace shoal
