// A symmetric heap: memory with the same layout in every process of a run, into which the other processes copy. It is the
// destination of a wire. A location is given by a process and an offset, never by an address in another process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

class Heap {
 public:
  /// @param memory  the heap of this process, `bytes` bytes; must outlive this object
  Heap(int process, int processes, void* memory, std::size_t bytes)
      : process_(process), processes_(processes), memory_(static_cast<std::byte*>(memory)), bytes_(bytes) {}
  virtual ~Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  int process() const { return process_; }
  int processes() const { return processes_; }
  std::byte* at(std::size_t offset) const { return memory_ + offset; }  ///< in this process

  // All processes call allocate() and release() in the same order and with the same arguments, so that all get the same
  // offsets. These calls do not synchronise the processes. Before a process puts anything into a new block, or uses the
  // memory of a released block again, all processes must have made the call.

  /// Allocates a block, aligned to a cache line, and sets it to zero in this process.
  /// @return its offset
  /// @throws CapacityError  there is no space for it; names `what`, the size that was wanted and the largest that is left
  std::size_t allocate(std::size_t bytes, const char* what);
  void release(std::size_t offset);

  // The functions below may be called by any thread. A put may return before it is complete, but `from` may be changed at
  // once. It returns false if it has failed for good.

  /// Copies bytes to offset `to` of another process.
  virtual bool put(int process, std::size_t to, const void* from, std::size_t bytes) = 0;
  /// Stores a word at offset `to` of another process. A thread there that loads the word with acquire order also sees
  /// everything that was put to its process before the last fence() before this call.
  virtual bool put_word(int process, std::size_t to, std::uint64_t value) = 0;
  /// Orders puts: no process sees a later put before all earlier puts to it.
  virtual void fence() = 0;
  /// Waits until everything that was put has arrived.
  virtual void quiet() = 0;
  /// The address of offset 0 of another process, if loads, stores and atomics of this process work there; else null.
  virtual std::byte* reach(int process) { return (void)process, nullptr; }
  /// Whether a put to some process goes through a library, which takes more time than the copy alone. If so, a few large
  /// puts are better than many small ones.
  virtual bool puts_cost() const { return false; }
  /// Called repeatedly by a thread that waits for something from another process.
  virtual void progress() {}

 private:
  struct Part {
    std::size_t offset, bytes;
  };
  const int process_, processes_;
  std::byte* const memory_;
  const std::size_t bytes_;
  std::vector<Part> parts_;  ///< blocks in use, in order of their offsets
};

}  // namespace shoal
