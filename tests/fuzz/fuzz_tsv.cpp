#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return shoal_fuzz::read(shoal::io::Format::tsv, data, size);
}
