// Checks and times the rings on one GPU: push, pop, push and pop in turn, and the time until a pushed item is seen.
//
//   gpu_queue [--threads N[,N...]] [--bytes 8,32] [--workers thread,warp,block] [--ops push,pop,both,lag] [--items LOG2]
//             [--rings 'bare,slot hold,...'] [--trials N] [--advance N] [--limit SECONDS] [--json FILE]
//   gpu_queue --stress OPERATIONS [--config-seconds S] [--limit SECONDS] [--json FILE]
//
// Rings: the slot ring with poppers that hold tickets and with poppers that claim them; a broker queue and a CAS queue (items of 8
// bytes); and the bare limit: one addition by each worker's leader, then stores or loads, with no protocol (as in the Atos paper,
// Fig. 1). bench/queue/plot_gpu_queue.py draws the figure. Rates are items that went through, from medians of CUDA event times.
// Every timed run is checked by count and by a mix of all words; before that, each kind is checked per producer by count, sum and
// mix. Push and pop run N threads. Push and pop in turn needs all threads resident; it runs as many of the N as can be, and each
// does the share of the others as well.
//
// --stress pushes and pops with random stalls between reserving, writing and publishing, at capacities 2 to 2^20. Every wait has a
// deadline: a run that makes no progress ends with an error that says where. Exit status 1 if anything was wrong.
//
// Source: Chen et al., Atos (ICPP 2022), Fig. 1.
#include <chrono>
#include <cstdio>
#include <string>

#include "gpu_queue_times.cuh"
#include "shoal/core/error.hpp"

namespace {

using namespace shoal;
using namespace shoal::bench;

template <class Face>
inline constexpr bool kRival = false;
template <class T>
inline constexpr bool kRival<BrokerFace<T>> = true;
template <class T>
inline constexpr bool kRival<CasFace<T>> = true;

template <bool kHold, class Face, class T>
void of_ring(Arena<T>& arena, const Arguments& a, const std::string& ring) {
  const auto of_worker = [&]<class W>(W*, const std::string& worker) {
    if (!has(a.workers, worker) || !has(a.rings, ring)) return;
    if constexpr (!Face::kBare) {
      if constexpr (!kRival<Face>) {
        if (a.stress > 0) return stress<kHold, Face, W>(arena, a, ring, worker);
      }
      check<kHold, Face, W>(arena, a, ring, worker);
    }
    if (a.stress > 0) return;
    measure<kHold, Face, W>(arena, a, ring, worker);
    if constexpr (!Face::kBare && sizeof(T) > 8 && !kRival<Face>) {
      if (has(a.ops, "lag")) lag<kHold, Face, W>(arena, a, ring, worker);
    }
  };
  of_worker(static_cast<GpuThread*>(nullptr), "thread");
  of_worker(static_cast<GpuWarp*>(nullptr), "warp");
  of_worker(static_cast<GpuBlock*>(nullptr), "block");
}

template <int kBytes>
void of_size(const Arguments& a) {
  using T = Item<kBytes>;
  if (!has(a.bytes, std::to_string(kBytes))) return;
  Arena<T> arena(ticket_t{1} << (a.stress > 0 ? 20 : a.log2_items + 1));
  of_ring<false, BareFace<T>>(arena, a, "bare");
  of_ring<true, SlotFace<T>>(arena, a, kRings[0]);
  of_ring<false, SlotFace<T>>(arena, a, kRings[1]);
  if constexpr (kBytes == 8) {
    of_ring<false, BrokerFace<T>>(arena, a, kRings[2]);
    of_ring<false, CasFace<T>>(arena, a, kRings[3]);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments a = parse(argc, argv);
  if (num_devices() == 0) throw DeviceError("no GPU found; see `shoal doctor`");
  cudaDeviceProp gpu;
  SHOAL_CUDA(cudaGetDeviceProperties(&gpu, 0));
  sms = gpu.multiProcessorCount;
  const auto begin = std::chrono::steady_clock::now();
  of_size<8>(a);
  of_size<32>(a);
  if (a.stress > 0) {
    double operations = 0;
    for (const Row& r : rows) operations += 2.0 * r.items;
    std::printf("\n%s: %.3g pushes and pops of %.3g asked for\n", gpu.name, operations, a.stress);
  } else {
    print_table();
  }
  std::printf("%s, %llu wrong, stalled or too slow, %.0f s\n", gpu.name, static_cast<unsigned long long>(failures),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  if (!a.json.empty()) write_json(a, gpu, argc, argv);
  return failures == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gpu_queue: %s\n", e.what());
  return 1;
}
