// A machine writes the same rings and patterns into the memory of its PEs before a run, on CPU threads and on GPUs.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/queue/slot_ring.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {
namespace {

/// Calls write(memory) for memory of PE 0 that was filled with 0xA5, and returns its contents afterwards.
template <class T, class Write>
std::vector<T> written(const Machine& machine, std::size_t n, Write&& write) {
  const auto memory = machine.allocate(0, n * sizeof(T), "test", Machine::Contents::anything);
  machine.repeat(0, memory.get(), "\xA5\xA5\xA5", 4, n * sizeof(T) / 4);
  write(memory.get());
  machine.wait_for_memory();
  std::vector<T> out(n);
  machine.copy_out(0, out.data(), memory.get(), n * sizeof(T));
  return out;
}

void slots_are_numbered(DeviceKind device) {
  Options options;
  options.device = device;
  options.pes = 1;
  const Machine machine(options);
  struct Large {
    std::uint64_t a, b, c;
  };
  const auto small = written<Slot<std::uint32_t>>(
      machine, 3000, [&](void* at) { machine.number_slots(0, at, sizeof(Slot<std::uint32_t>), 3000, 1000, 300); });
  const auto large =
      written<Slot<Large>>(machine, 64, [&](void* at) { machine.number_slots(0, at, sizeof(Slot<Large>), 64, 64); });
  for (std::uint64_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(small[i].sequence.load(), i % 1000 + (i < 300)) << i;
    if (i < 300) ASSERT_EQ(small[i].value, i);
  }
  for (std::uint64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(large[i].sequence.load(), i);
    ASSERT_EQ(large[i].value.c, 0u);
  }
  const std::uint32_t three[3] = {1, 2, 3};
  const auto words =
      written<std::uint32_t>(machine, 3 * 700, [&](void* at) { machine.repeat(0, at, three, sizeof(three), 700); });
  for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], i % 3 + 1);
}

TEST(MachineMemory, SlotsAreNumberedOnThreads) { slots_are_numbered(DeviceKind::cpu); }
TEST(MachineMemory, SlotsAreNumberedOnGpus) {
  std::string why_none;
  if (list_devices(&why_none).empty()) GTEST_SKIP() << why_none;
  slots_are_numbered(DeviceKind::gpu);
}

}  // namespace
}  // namespace shoal
