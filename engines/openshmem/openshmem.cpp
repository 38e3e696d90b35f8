// The OpenSHMEM library that was found at build time, as a table of functions.
#include <mpi.h>
#include <shmem.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "without_maps.hpp"
#include "world/openshmem_table.hpp"

namespace {

bool ended = false;
constexpr const char* kHeap = "1G";

/// When a process exits, Open MPI ends OpenSHMEM and waits for all processes, even for stopped and dead ones. This exits without
/// that.
void leave_without_waiting(int status, void*) {
  if (ended) return;
  std::fflush(nullptr);
  ::_exit(status);
}

void end() {
  ended = true;
  shmem_finalize();
}

/// Whether Open MPI's launcher started all processes on this host.
bool on_one_host() {
  const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return all != nullptr && here != nullptr && std::strcmp(all, here) == 0;
}

/// Chooses the transports of MPI. OpenSHMEM starts and ends through MPI, but no data of a run goes through it. What the user has
/// set is kept.
void choose_transports_of_mpi() {
  // Nothing uses MPI's shared memory (vader), and it is left behind if a process is killed. Closing ofi sleeps for a second.
  if (!on_one_host()) {
    ::setenv("OMPI_MCA_btl", "^vader,ofi", 0);
    return;
  }
  // On one host, looking for fast networks takes a third of a second. Without `include`, Open MPI finds no network on a host
  // that has only its loopback.
  ::setenv("OMPI_MCA_pml", "ob1", 0);
  ::setenv("OMPI_MCA_btl", "self,tcp", 0);
  if (std::getenv("OMPI_MCA_btl_tcp_if_exclude") == nullptr) ::setenv("OMPI_MCA_btl_tcp_if_include", "127.0.0.1/8", 0);
}

const char* begin() {
  ::setenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0", 0);  // without it, Open MPI 4.1.4 crashes at the end
  choose_transports_of_mpi();
  ::setenv("SHMEM_SYMMETRIC_HEAP_SIZE", kHeap, 0);  // memory of the heap that is not used costs nothing
  int provided = 0;
  const shoal::WithoutMaps no_static_memory(reinterpret_cast<const void*>(shmem_init_thread));
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0) return "OpenSHMEM does not start";
  ::on_exit(leave_without_waiting, nullptr);
  return provided == SHMEM_THREAD_MULTIPLE ? nullptr : "this OpenSHMEM may not be called by several threads";
}

void* allocate(std::size_t bytes) {
  void* const memory = shmem_calloc(1, bytes);
  shmem_barrier_all();  // Open MPI clears the memory after its own barrier, which would erase another process's puts
  return memory;
}

/// The value of SHMEM_SYMMETRIC_HEAP_SIZE in bytes.
std::size_t heap_bytes() {
  const char* const text = std::getenv("SHMEM_SYMMETRIC_HEAP_SIZE");
  if (text == nullptr) return 0;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(*end)));
  const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : unit == 'T' ? 40 : 0;
  return static_cast<std::size_t>(number * static_cast<double>(std::size_t{1} << shift));
}

/// Tries smaller and smaller sizes. The result is the same in all processes: all fail, or none does.
void* allocate_rest(std::size_t* bytes) {
  const std::size_t all = heap_bytes() / 64 * 64;
  for (std::size_t left = 15; left > 0; --left) {
    *bytes = all / 16 * left;
    if (void* const memory = shmem_malloc(*bytes)) return memory;
  }
  return nullptr;
}

void put_value(std::uint64_t* to, std::uint64_t value, int process) {
  shmem_ulong_p(reinterpret_cast<unsigned long*>(to), value, process);
}

void put_word(std::uint64_t* at, int process) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  auto* word = reinterpret_cast<unsigned long*>(at);
  shmem_ulong_p(word, __atomic_load_n(word, __ATOMIC_RELAXED), process);
}

// In Open MPI, shmem_test makes no progress over TCP; MPI_Iprobe does. One thread at a time is enough.
void progress() {
  static std::mutex one;
  const std::unique_lock<std::mutex> alone(one, std::try_to_lock);
  if (!alone) return;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

}  // namespace

extern "C" const shoal::OpenShmem* shoal_openshmem() {
  static const shoal::OpenShmem table = {
      shoal::OpenShmem::kVersion,
      begin,
      [] { return shmem_my_pe(); },
      [] { return shmem_n_pes(); },
      allocate,
      [](void* at, std::size_t bytes, int process) { shmem_putmem(at, at, bytes, process); },
      put_word,
      allocate_rest,
      [](void* at, int process) { return shmem_ptr(at, process); },
      [](void* to, const void* from, std::size_t bytes, int process) { shmem_putmem(to, from, bytes, process); },
      put_value,
      [] { shmem_quiet(); },
      [] { shmem_fence(); },
      progress,
      end,
  };
  return &table;
}
