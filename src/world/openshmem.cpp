#include "shoal/world/openshmem.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "openshmem_table.hpp"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

class OpenShmemBoards : public Boards {
 public:
  OpenShmemBoards(const OpenShmem& shmem, void* memory)
      : Boards(shmem.process(), shmem.processes(), memory), shmem_(shmem) {}
  /// Ends OpenSHMEM if all processes have come to the end, for which it waits.
  ~OpenShmemBoards() override {
    if (over_) shmem_.end();
  }
  void progress() override { shmem_.progress(); }
  void all_over() override { over_ = true; }

 protected:
  void put(const void* bytes, std::size_t n) override {
    for (int p = 0; p < processes(); ++p) {
      if (p != process()) shmem_.put(const_cast<void*>(bytes), n, p);
    }
  }
  void put_in_order(std::uint64_t* word) override {
    shmem_.fence();
    for (int p = 0; p < processes(); ++p) {
      if (p != process()) shmem_.put_word(word, p);
    }
  }

 private:
  const OpenShmem& shmem_;
  bool over_ = false;
};

const OpenShmem& load() {
  const char* folder = std::getenv("SHOAL_ENGINES");
  const std::string file = std::string(folder != nullptr ? folder : SHOAL_ENGINES_FOLDER) + "/shoal_openshmem.so";
  // Open MPI's own parts look for its symbols among those of all.
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
    throw CapacityError("OpenSHMEM has no " + std::to_string(Boards::bytes_of(shmem.processes())) +
                        " bytes for what processes tell each other; set SHMEM_SYMMETRIC_HEAP_SIZE");
  }
  return std::make_unique<OpenShmemBoards>(shmem, memory);
}

}  // namespace shoal
