#include "known_words.hpp"

#include <cstring>

#if defined(SHOAL_HAVE_CUDA)
#include "shoal/device/cuda_check.cuh"
#endif

namespace shoal {

void fill_ones(const Machine& machine, const std::vector<std::shared_ptr<void>>& memory, std::size_t bytes) {
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) {
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemsetAsync(memory[p].get(), 0xFF, bytes, nullptr));
    }
    for (const int device : machine.devices()) {
      DeviceGuard guard(device);
      SHOAL_CUDA(cudaStreamSynchronize(nullptr));
    }
    return;
  }
#endif
  machine.team().run([&](pe_t pe, int thread) {
    const std::size_t t = static_cast<std::size_t>(machine.threads_per_pe()), i = static_cast<std::size_t>(thread);
    const std::size_t begin = bytes * i / t, end = bytes * (i + 1) / t;
    std::memset(static_cast<char*>(memory[pe].get()) + begin, 0xFF, end - begin);
  });
}

}  // namespace shoal
