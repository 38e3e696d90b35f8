// Memory of the same layout in every process of a run, into which the others copy: what a wire leads to. A place in it is a
// process and an offset; there are no addresses of other processes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace shoal {

class Heap {
 public:
  /// @param memory  this process's, of `bytes` bytes; must outlive this object
  Heap(int process, int processes, void* memory, std::size_t bytes)
      : process_(process), processes_(processes), memory_(static_cast<std::byte*>(memory)), bytes_(bytes) {}
  virtual ~Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  int process() const { return process_; }
  int processes() const { return processes_; }
  std::byte* at(std::size_t offset) const { return memory_ + offset; }  ///< here

  // All processes make the same calls of these two, in the same order, so that all get the same offsets. They do not wait for
  // each other: before a process puts something into a part, or uses it for something else, all must have come so far.

  /// A part of the heap, aligned to a cache line, zero here.
  /// @throws CapacityError: there is no space for it; names `what` and how much is missing
  std::size_t allocate(std::size_t bytes, const char* what);
  void release(std::size_t offset);

  // Of any thread. They may return before it is done, but `from` may be changed at once. False: it failed for good.

  /// Copies bytes to offset `to` of another process.
  virtual bool put(int process, std::size_t to, const void* from, std::size_t bytes) = 0;
  /// Stores a word at offset `to` of another process. Whoever acquires it sees what was put there before a fence() before this.
  virtual bool put_word(int process, std::size_t to, std::uint64_t value) = 0;
  /// What is put afterwards is not seen before what was put earlier, at each process.
  virtual void fence() = 0;
  /// Waits until everything that was put has arrived.
  virtual void quiet() = 0;
  /// Where offset 0 of another process is, if loads, stores and atomics of this process get there; else null.
  virtual std::byte* reach(int process) { return (void)process, nullptr; }
  /// Whether a put to some process takes a library's time, and not only that of a copy: then few and large ones are better.
  virtual bool puts_cost() const { return false; }
  /// Called again and again by who waits for something from another process.
  virtual void progress() {}

 private:
  const int process_, processes_;
  std::byte* const memory_;
  const std::size_t bytes_;
  std::map<std::size_t, std::size_t> parts_;  ///< in use: offset -> bytes
};

}  // namespace shoal
