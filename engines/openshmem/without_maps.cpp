#include "without_maps.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace shoal {
namespace {

std::FILE* open_without_maps(const char* file, const char* mode) {
  return std::fopen(std::strcmp(file, "/proc/self/maps") == 0 ? "/dev/null" : file, mode);
}

struct Relocations {
  const ElfW(Rela) * at = nullptr;
  std::size_t bytes = 0;
};

/// The slot in which a loaded library keeps the address of another library's function; null if there is none.
void** find_slot(const link_map& library, const char* function) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  Relocations calls, data;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto at = entry->d_un.d_ptr + (entry->d_un.d_ptr < library.l_addr ? library.l_addr : 0);
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_JMPREL) calls.at = reinterpret_cast<const ElfW(Rela)*>(at);
    if (entry->d_tag == DT_PLTRELSZ) calls.bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) data.at = reinterpret_cast<const ElfW(Rela)*>(at);
    if (entry->d_tag == DT_RELASZ) data.bytes = entry->d_un.d_val;
  }
  if (symbols == nullptr || names == nullptr) return nullptr;
  for (const Relocations& all : {calls, data}) {
    for (std::size_t i = 0; all.at != nullptr && i < all.bytes / sizeof(ElfW(Rela)); ++i) {
      const auto symbol = ELF64_R_SYM(all.at[i].r_info);
      if (symbol == 0 || std::strcmp(names + symbols[symbol].st_name, function) != 0) continue;
      return reinterpret_cast<void**>(library.l_addr + all.at[i].r_offset);
    }
  }
  return nullptr;
}

/// Stores the value even if the loader has made the page read-only.
void store(void** slot, void* value) {
  struct Search {
    std::uintptr_t at;
    bool read_only;
  } search{reinterpret_cast<std::uintptr_t>(slot), false};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* of) {
        auto& looked_for = *static_cast<Search*>(of);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_GNU_RELRO || looked_for.at < begin || looked_for.at >= begin + part.p_memsz) continue;
          looked_for.read_only = true;
        }
        return 0;
      },
      &search);
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(search.at / page_bytes * page_bytes);
  if (search.read_only && ::mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  *slot = value;
  if (search.read_only) ::mprotect(page, page_bytes, PROT_READ);
}

}  // namespace

WithoutMaps::WithoutMaps(const void* function) {
  Dl_info known;
  link_map* library = nullptr;
  if (::dladdr1(function, &known, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0) return;
  slot_ = find_slot(*library, "fopen");
  if (slot_ == nullptr) return;
  was_ = *slot_;
  store(slot_, reinterpret_cast<void*>(open_without_maps));
}

WithoutMaps::~WithoutMaps() {
  if (slot_ != nullptr) store(slot_, was_);
}

}  // namespace shoal
