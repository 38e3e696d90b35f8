#include <algorithm>
#include <chrono>
#include <cstring>

#include "jacobi3d.hpp"
#include "shoal/blocks/launch_cpu.hpp"
#include "shoal/blocks/rows.hpp"
#include "shoal/core/error.hpp"

namespace shoal {

template <class T>
std::unique_ptr<GridSteps<T>> make_jacobi3d(const Machine& machine, const GridOptions& options,
                                            const Jacobi3d<T>& program) {
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) return make_jacobi3d_gpu(machine, options, program);
#endif
  return std::make_unique<GridStepsBy<Jacobi3d<T>, blocks::cpu::Launcher>>(machine, program.size, options, program);
}
template std::unique_ptr<GridSteps<float>> make_jacobi3d(const Machine&, const GridOptions&, const Jacobi3d<float>&);
template std::unique_ptr<GridSteps<double>> make_jacobi3d(const Machine&, const GridOptions&, const Jacobi3d<double>&);

double copy_rate(const Machine& machine, std::int64_t bytes) {
#if defined(SHOAL_HAVE_CUDA)
  if (machine.on_gpu()) return copy_rate_gpu(machine, bytes);
#endif
  const auto threads = static_cast<std::size_t>(machine.team().size());
  const std::size_t share = std::max<std::size_t>(static_cast<std::size_t>(bytes) / threads / 64, 1) * 64;
  const auto from = machine.allocate_host(share * threads, "what is copied");
  const auto to = machine.allocate_host(share * threads, "a copy");
  const auto each = [&](auto f) {
    machine.team().run([&](pe_t pe, int thread) {
      const std::size_t at = static_cast<std::size_t>(pe * machine.threads_per_pe() + thread) * share;
      f(static_cast<char*>(to.get()) + at, static_cast<char*>(from.get()) + at);
    });
  };
  each([&](char* mine, char* theirs) {
    std::memset(mine, 1, share);
    std::memset(theirs, 2, share);
  });
  double best = 0;
  for (int i = 0; i < 10; ++i) {  // memcpy and streaming stores in turns: which is faster differs by machine
    const auto begin = std::chrono::steady_clock::now();
    each([&](char* mine, char* theirs) {
      if (i % 2 == 0 || !blocks::can_stream()) {
        std::memcpy(mine, theirs, share);
        return;
      }
      const auto* const from_row = reinterpret_cast<const double*>(theirs);
      const auto values = static_cast<std::int64_t>(share / sizeof(double));
      blocks::stream_row(reinterpret_cast<double*>(mine), values, from_row + 512,
                         [from_row](std::int64_t k) { return from_row[k]; });
      blocks::end_streams();
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, 2 * static_cast<double>(share * threads) / seconds);
  }
  return best;
}

}  // namespace shoal
