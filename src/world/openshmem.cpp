#include "shoal/world/openshmem.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "calls_out.hpp"
#include "engine_file.hpp"
#include "openshmem_table.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/heap.hpp"

namespace shoal {
namespace {

class OpenShmemHeap : public Heap {
 public:
  OpenShmemHeap(const OpenShmem& shmem, CallsOut& calls, void* memory, std::size_t bytes)
      : Heap(shmem.process(), shmem.processes(), memory, bytes), shmem_(shmem), calls_(calls) {
    for (int p = 0; p < processes(); ++p) {
      near_.push_back(bytes > 0 && !by_library() ? static_cast<std::byte*>(shmem.reach(memory, p)) : nullptr);
      if (p != process()) some_far_ = some_far_ || near_.back() == nullptr;
    }
  }
  bool put(int process, std::size_t to, const void* from, std::size_t bytes) override {
    if (std::byte* const memory = near(process)) {
      std::memcpy(memory + to, from, bytes);
    } else {
      const CallsOut::Call call(calls_);
      shmem_.put_to(at(to), from, bytes, process);
    }
    return true;
  }
  bool put_word(int process, std::size_t to, std::uint64_t value) override {
    if (std::byte* const memory = near(process)) {
      reinterpret_cast<Word<std::uint64_t, Scope::system>*>(memory + to)->store_release(value);
    } else {
      const CallsOut::Call call(calls_);
      shmem_.put_value(reinterpret_cast<std::uint64_t*>(at(to)), value, process);
    }
    return true;
  }
  void fence() override {
    if (!some_far_) return;
    const CallsOut::Call call(calls_);
    shmem_.fence();
  }
  void quiet() override {
    if (!some_far_) return;
    const CallsOut::Call call(calls_);
    shmem_.quiet();
  }
  std::byte* reach(int process) override { return near(process); }
  bool puts_cost() const override { return some_far_; }
  void progress() override {
    if (!some_far_) return;
    const CallsOut::Call call(calls_);
    shmem_.progress();
  }

 private:
  /// Lets tests on one host use the path that is used between hosts.
  static bool by_library() {
    const char* const puts = std::getenv("SHOAL_OPENSHMEM_PUTS");
    return puts != nullptr && std::strcmp(puts, "library") == 0;
  }
  std::byte* near(int process) const { return near_[static_cast<std::size_t>(process)]; }

  const OpenShmem& shmem_;
  CallsOut& calls_;
  std::vector<std::byte*> near_;  ///< [processes] the heap of each, if stores reach it (same host); else null
  bool some_far_ = false;
};

class OpenShmemBoards : public Boards {
 public:
  OpenShmemBoards(const OpenShmem& shmem, void* memory, void* heap, std::size_t heap_bytes)
      : Boards(shmem.process(), shmem.processes(), memory), shmem_(shmem), heap_(shmem, calls_, heap, heap_bytes) {}
  /// Ends OpenSHMEM if all processes have come to the end; this waits for all of them.
  ~OpenShmemBoards() override {
    if (over_) shmem_.end();
  }
  void progress() override {
    const CallsOut::Call call(calls_);
    shmem_.progress();
  }
  double longest_call() const override { return calls_.longest(); }
  Heap* heap() override { return &heap_; }
  void all_over() override { over_ = true; }

 protected:
  void put(const void* bytes, std::size_t n) override {
    const CallsOut::Call call(calls_);
    for (int p = 0; p < processes(); ++p) {
      if (p != process()) shmem_.put(const_cast<void*>(bytes), n, p);
    }
  }
  void put_in_order(std::uint64_t* word) override {
    const CallsOut::Call call(calls_);
    shmem_.fence();
    for (int p = 0; p < processes(); ++p) {
      if (p != process()) shmem_.put_word(word, p);
    }
  }

 private:
  const OpenShmem& shmem_;
  CallsOut calls_;
  OpenShmemHeap heap_;
  bool over_ = false;
};

const OpenShmem& load() {
  const std::string file = engine_file("shoal_openshmem.so");
  // RTLD_GLOBAL, because Open MPI's plug-ins look for its symbols in the global scope.
  void* const object = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (object == nullptr) {
    const char* const why = ::dlerror();
    throw UsageError(
        "engine openshmem cannot be loaded: " + std::string(why != nullptr ? why : file) +
        "; `./run setup processes` installs OpenSHMEM (Debian: libopenmpi-dev openmpi-bin), then build again; or set "
        "SHOAL_ENGINES to the folder of shoal_openshmem.so");
  }
  const auto table = reinterpret_cast<OpenShmemTable*>(::dlsym(object, kOpenShmemSymbol));
  if (table == nullptr || table()->version != OpenShmem::kVersion) {
    throw UsageError(file + " belongs to another version of shoal; build it again");
  }
  return *table();
}

}  // namespace

std::string why_no_openshmem() {
  try {
    load();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::unique_ptr<Boards> openshmem_boards() {
  const OpenShmem& shmem = load();
  if (const char* const why = shmem.begin()) throw TransportError(why);
  void* const memory = shmem.allocate(Boards::bytes_of(shmem.processes()));
  if (memory == nullptr) {
    throw CapacityError("the shared heap of OpenSHMEM has no room for " +
                        std::to_string(Boards::bytes_of(shmem.processes())) +
                        " bytes of messages between processes; set SHMEM_SYMMETRIC_HEAP_SIZE to more");
  }
  // One allocation takes all of it, because every allocation waits for all processes, for any length of time.
  std::size_t heap_bytes = 0;
  void* heap = shmem.allocate_rest(&heap_bytes);
  if (heap == nullptr || std::align(kCacheLine, 0, heap, heap_bytes) == nullptr) heap_bytes = 0;
  return std::make_unique<OpenShmemBoards>(shmem, memory, heap, heap_bytes);
}

}  // namespace shoal
