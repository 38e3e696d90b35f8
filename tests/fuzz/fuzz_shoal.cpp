#include <string>

#include "fuzz_target.hpp"

// Reads the input once unchanged and once with corrected checksums, as mutations seldom pass a checksum.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal_fuzz::read(shoal::io::Format::shoal, data, size);
  const std::string sealed = shoal::io::reseal_shoal(std::string(reinterpret_cast<const char*>(data), size));
  return shoal_fuzz::read(shoal::io::Format::shoal, reinterpret_cast<const std::uint8_t*>(sealed.data()), size);
}
