#if defined(SHOAL_HAVE_CUDA)
#include "shoal/blocks/halo_copies.cuh"

#include "shoal/device/cuda_check.cuh"

namespace shoal::blocks::gpu {

HaloCopies::HaloCopies(const std::vector<int>& devices, const std::vector<Crossing>& crossings, const Units& units,
                       Halos halos, const std::function<pe_t(std::int64_t)>& home)
    : staged_(halos == Halos::staged), devices_(devices), sent_by_(units.size()), read_by_(units.size()) {
  for (const int device : devices_) {
    from_.emplace_back(device, Urgency::urgent);
    to_.emplace_back(device, Urgency::urgent);
  }
  for (const Crossing& crossing : crossings) {
    const auto unit_of = [&](std::int64_t b) {
      std::int64_t u = 0;
      while (units.together() ? units[u].pe != home(b) : units[u].block != b) ++u;
      return static_cast<std::size_t>(u);
    };
    sent_by_[unit_of(crossing.block)].push_back(copies_.size());
    read_by_[unit_of(crossing.other)].push_back(copies_.size());
    copies_.push_back({crossing, {}, {}, {}});
    Copy& copy = copies_.back();
    for (int parity = 0; parity < 2; ++parity) {
      if (staged_) copy.host[parity] = pinned_memory(crossing.bytes, "halos on their way between GPUs");
      copy.left.emplace_back(devices_[crossing.from]);
      copy.came.emplace_back(devices_[staged_ ? crossing.to : crossing.from]);
    }
  }
}
HaloCopies::~HaloCopies() {
  for (const auto* const streams : {&from_, &to_}) {
    for (const Stream& stream : *streams) cudaStreamSynchronize(stream);
  }
}

void HaloCopies::send(std::int64_t u, step_t s, cudaEvent_t packed) {
  const auto parity = static_cast<std::size_t>(s & 1);
  for (const std::size_t number : sent_by_[static_cast<std::size_t>(u)]) {
    Copy& copy = copies_[number];
    const Crossing& of = copy.of;
    DeviceGuard guard(devices_[of.from]);
    const cudaStream_t away = from_[of.from];
    SHOAL_CUDA(cudaStreamWaitEvent(away, packed, 0));
    if (!staged_) {
      // cudaMemcpyPeerAsync cannot be captured into a graph. This is the same copy, since the addresses determine the GPUs.
      SHOAL_CUDA(cudaMemcpyAsync(of.in[parity], of.out[parity], of.bytes, cudaMemcpyDefault, away));
      SHOAL_CUDA(cudaEventRecord(copy.came[parity], away));
      continue;
    }
    void* const host = copy.host[parity].get();
    SHOAL_CUDA(cudaMemcpyAsync(host, of.out[parity], of.bytes, cudaMemcpyDeviceToHost, away));
    SHOAL_CUDA(cudaEventRecord(copy.left[parity], away));
    DeviceGuard there(devices_[of.to]);
    const cudaStream_t on = to_[of.to];
    SHOAL_CUDA(cudaStreamWaitEvent(on, copy.left[parity], 0));
    SHOAL_CUDA(cudaMemcpyAsync(of.in[parity], host, of.bytes, cudaMemcpyHostToDevice, on));
    SHOAL_CUDA(cudaEventRecord(copy.came[parity], on));
  }
}
void HaloCopies::await(std::int64_t u, step_t s, cudaStream_t stream) const {
  for (const std::size_t number : read_by_[static_cast<std::size_t>(u)]) {
    SHOAL_CUDA(cudaStreamWaitEvent(stream, copies_[number].came[s & 1], 0));
  }
}
void HaloCopies::await_all(step_t s, cudaStream_t stream) const {
  for (const Copy& copy : copies_) SHOAL_CUDA(cudaStreamWaitEvent(stream, copy.came[s & 1], 0));
}

}  // namespace shoal::blocks::gpu
#endif
