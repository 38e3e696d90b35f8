// The functions for graphs on GPUs in a build without CUDA.
#if !defined(SHOAL_HAVE_CUDA)
#include <cstring>

#include "shoal/core/error.hpp"
#include "shoal/placement/device_graph.hpp"

namespace shoal {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw DeviceError(std::string(what) +
                    ": shoal was built without CUDA; build with nvcc (SHOAL_CUDA=on), or run with "
                    "--device cpu");
}

}  // namespace

PlacedGraph place_on_devices(const Csr&, Partition, std::vector<int>, bool) { refuse("place_on_devices"); }

bool can_generate_on_devices(PartitionKind) { return false; }

PlacedGraph generate_on_devices(const GeneratorSpec&, pe_t, PartitionKind, std::vector<int>, std::uint64_t,
                                std::optional<WeightSource>) {
  refuse("generate_on_devices");
}

PlacedGraph generate_share_on_devices(const GeneratorSpec&, PartitionKind, std::vector<int>, std::uint64_t,
                                      const ShareOfPes&, std::optional<WeightSource>) {
  refuse("generate_share_on_devices");
}

PlacedGraph move_to_devices(PlacedGraph, std::vector<int>) { refuse("move_to_devices"); }

void copy_to_host(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace shoal
#endif
