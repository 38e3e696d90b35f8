#include "wire_memory.hpp"

#include "lockstep/peer_memory.cuh"
#include "shoal/world/machine.hpp"
#include "shoal/world/world.hpp"

namespace shoal::blocks {
namespace {

class OfGpus final : public WireMemory {
 public:
  OfGpus(const Machine& machine, const std::vector<std::size_t>& bytes)
      : machine_(machine), memory_(machine.devices(), machine.world()), all_(share(bytes)) {}
  std::byte* at(pe_t here, pe_t of) const override { return all_.get<std::byte>(here, of, 0); }

 private:
  PeerArrays share(const std::vector<std::size_t>& bytes) {
    std::vector<PeerArrays::List> mine;
    for (std::size_t p = 0; p < bytes.size(); ++p) {
      const auto n = static_cast<std::int64_t>(bytes[p]);
      mine.push_back({memory_.shared_zeros<std::byte>(static_cast<pe_t>(p), n, "channels to GPUs of other processes")});
    }
    machine_.wait_for_memory();
    return memory_.of_all(mine);
  }

  const Machine& machine_;
  PeerMemory memory_;
  PeerArrays all_;
};

}  // namespace

std::unique_ptr<WireMemory> wire_memory_of_gpus(const Machine& machine, const std::vector<std::size_t>& bytes) {
  return std::make_unique<OfGpus>(machine, bytes);
}

}  // namespace shoal::blocks
