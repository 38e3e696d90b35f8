// The rate of a wire between two processes that carries nothing but puts. The messages of worklists are compared with it.
//
//   oshrun -np 2 bare_puts BYTES_OF_A_PUT MILLION_BYTES
//
// Both processes put to each other at the same time, at changing places, and wait until all puts have arrived. Process 0 prints how
// much arrived per second, at both together.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/world/heap.hpp"
#include "shoal/world/openshmem.hpp"
#include "shoal/world/world.hpp"

int main(int argc, char** argv) {
  using namespace shoal;
  constexpr long long kPart = 16 << 20;
  const long long bytes_of_a_put = argc == 3 ? std::atoll(argv[1]) : 0,
                  million_bytes = argc == 3 ? std::atoll(argv[2]) : 0;
  if (bytes_of_a_put < 1 || bytes_of_a_put > kPart || million_bytes < 1) {
    std::fprintf(stderr, "usage: oshrun -np 2 bare_puts BYTES_OF_A_PUT MILLION_BYTES, 1 to %lld and at least 1\n",
                 kPart);
    return 2;
  }
  try {
    const auto bytes = static_cast<std::size_t>(bytes_of_a_put);
    const std::int64_t puts = std::max(1LL, million_bytes * 1'000'000 / bytes_of_a_put);
    World world(1, 30, openshmem_boards(), argv[1]);
    if (world.n_processes() != 2) throw UsageError("bare_puts: start it as two processes");
    Heap& heap = *world.heap();
    const std::size_t base = heap.allocate(kPart, "puts"), places = kPart / bytes;
    const std::vector<std::byte> from(bytes);
    const auto all_are_here = [&] { world.exchange(World::Call{"puts"}, {}); };
    double seconds = 0;
    for (int turn = 0; turn < 2; ++turn) {  // the first turn makes the connections
      all_are_here();
      const auto began = std::chrono::steady_clock::now();
      for (std::int64_t i = 0; i < puts; ++i) {
        const auto place = static_cast<std::size_t>(i) % places;
        if (!heap.put(1 - world.process(), base + place * bytes, from.data(), bytes)) {
          throw TransportError("bare_puts: a put failed");
        }
      }
      heap.quiet();
      all_are_here();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    if (world.process() == 0) {
      const double all = 2 * static_cast<double>(puts) * static_cast<double>(bytes);
      std::printf("%zu bytes a put: %.1f MB/s, %.4f million puts a second\n", bytes, all / seconds / 1e6,
                  2 * static_cast<double>(puts) / seconds / 1e6);
    }
    world.leave(world.first_here());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
}
