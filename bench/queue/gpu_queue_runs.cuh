// Part of bench/queue/gpu_queue.cu: memory for the rings, runs in which every item is accounted for, checks and stress.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gpu_queue_kernels.cuh"
#include "gpu_queue_report.cuh"
#include "gpu_queue_rivals.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal::bench {

inline int sms = 0;             ///< multiprocessors of the device
constexpr ticket_t kFirst = 7;  ///< the first ticket; so batches do not begin at the first slot

/// Memory for any of the rings with items of one size, allocated once.
template <class T>
struct Arena {
  ticket_t most;
  DeviceArray<Slot<T>> slots;
  DeviceArray<RingCounters> counters{1, "counters"};
  DeviceArray<OrderedCounters> ordered{1, "counters"};
  DeviceArray<Run> run{1, "run"};

  explicit Arena(ticket_t n) : most(n), slots(static_cast<std::int64_t>(n), "slots") {}

  template <class Face>
  Face face(ticket_t capacity, lane_t advance) {
    if (capacity > most)
      throw UsageError("a ring of " + std::to_string(capacity) + " slots does not fit; raise --items");
    if constexpr (std::is_same_v<Face, SlotFace<T>>) {
      return {{slots.data(), capacity, counters.data(), advance}};
    } else if constexpr (std::is_same_v<Face, BrokerFace<T>>) {
      return {slots.data(), capacity, counters.data()};
    } else if constexpr (std::is_same_v<Face, CasFace<T>>) {
      return {reinterpret_cast<T*>(slots.data()), capacity, counters.data(), ordered.data()};
    } else {
      return {reinterpret_cast<T*>(slots.data()), capacity, counters.data()};
    }
  }
  template <class Face>
  void reset(const Face& face, ticket_t capacity, ticket_t start) {
    run.fill_bytes(0);
    reset_ring<<<static_cast<unsigned>(std::min<ticket_t>(2048, capacity / 256 + 1)), 256>>>(face, capacity, start);
    SHOAL_CUDA(cudaGetLastError());
  }
  Run result() {
    Run r;
    run.download(&r, 1);
    return r;
  }
};

template <class Kernel>
std::uint64_t resident_blocks(Kernel kernel, int block) {
  int per_sm = 0;
  SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block, 0));
  return static_cast<std::uint64_t>(per_sm) * sms;
}

/// @param churns  the kernel counted its progress, so that a slow run can be told from a stalled one
inline std::string verdict_of(const Run& r, std::uint64_t pushed, std::uint64_t popped, bool bare,
                              bool churns = false) {
  static const char* const kSites[] = {"nowhere", "reserve", "place", "take", "churn"};
  if (r.state.load() != 0) {
    return std::string(!churns       ? "NOT DONE IN TIME, in "
                       : r.slow != 0 ? "TOO SLOW, in "
                                     : "STALLED in ") +
           kSites[r.site] + ", thread " + std::to_string(r.thread) + ", ticket " + std::to_string(r.ticket);
  }
  if (r.torn.load() != 0) return "WRONG: " + std::to_string(r.torn.load()) + " torn items";
  if (r.pushed.load() != pushed)
    return "WRONG: pushed " + std::to_string(r.pushed.load()) + " of " + std::to_string(pushed);
  if (bare) return "ok";  // the values that a bare pop finds are not defined
  if (r.popped.load() != popped)
    return "WRONG: popped " + std::to_string(r.popped.load()) + " of " + std::to_string(popped);
  if (popped == pushed && r.pushed_mix.load() != r.popped_mix.load()) return "WRONG: the mixes differ";
  return "ok";
}

/// Times `launch` between two events. @return seconds
inline double timed(const std::function<void()>& launch) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    SHOAL_CUDA(cudaEventCreate(&begin));
    SHOAL_CUDA(cudaEventCreate(&end));
  }
  SHOAL_CUDA(cudaEventRecord(begin));
  launch();
  SHOAL_CUDA(cudaGetLastError());
  SHOAL_CUDA(cudaEventRecord(end));
  SHOAL_CUDA(cudaEventSynchronize(end));
  float ms = 0;
  SHOAL_CUDA(cudaEventElapsedTime(&ms, begin, end));
  return ms * 1e-3;
}
inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}
/// The result of one churn. The verdict compares count, sum and mix of every producer.
struct Outcome {
  std::string verdict;
  std::uint64_t pushed = 0;
  double seconds = 0, push_ns = 0;
};
template <bool kHold, class Face, class W, class T>
Outcome churn_once(Arena<T>& arena, const Face& face, ticket_t capacity, ticket_t start, unsigned blocks, int block,
                   Churn c) {
  static DeviceArray<Tally> sent(1 << 20, "tallies"), got(1 << 20, "tallies");
  static DeviceArray<unsigned long long> wrong(1, "verdict");
  if (std::uint64_t{blocks} * block > (1u << 20)) throw UsageError("more than 2^20 threads churn");
  sent.fill_bytes(0);
  got.fill_bytes(0);
  wrong.fill_bytes(0);
  arena.reset(face, capacity, start);
  c.run = arena.run.data();
  c.sent = sent.data();
  c.got = got.data();
  c.total = std::uint64_t{c.quota} * c.push_blocks * block;
  Face f = face;
  void* arguments[] = {&f, &c};
  Outcome out;
  out.seconds = timed(
      [&] { SHOAL_CUDA(cudaLaunchCooperativeKernel(churn<kHold, Face, W>, dim3(blocks), dim3(block), arguments, 0)); });
  compare<<<256, 256>>>(sent.data(), got.data(), blocks * block, wrong.data());
  SHOAL_CUDA(cudaGetLastError());
  unsigned long long bad = 0;
  wrong.download(&bad, 1);
  const Run r = arena.result();
  out.verdict = verdict_of(r, c.total, 0, true, true);
  if (out.verdict == "ok" && bad != 0) out.verdict = "WRONG: the items of " + std::to_string(bad) + " producers";
  if (out.verdict == "ok" && r.done.load() != c.total) {
    out.verdict = "WRONG: popped " + std::to_string(r.done.load()) + " of " + std::to_string(c.total);
  }
  RingCounters at;
  arena.counters.download(&at, 1);
  if (out.verdict != "ok") {
    out.verdict += "; tail " + std::to_string(at.tail.load()) + ", head " + std::to_string(at.head.load()) +
                   ", credits " + std::to_string(at.credits.load()) + ", popped " + std::to_string(r.done.load()) +
                   " of " + std::to_string(c.total);
  }
  out.pushed = r.pushed.load();
  out.push_ns = out.pushed == 0 ? 0 : static_cast<double>(r.push_ns.load()) / out.pushed;
  return out;
}

/// Checks every producer's items, before anything is timed.
template <bool kHold, class Face, class W, class T>
void check(Arena<T>& arena, const Arguments& a, const std::string& ring, const std::string& worker) {
  for (const ticket_t capacity : {ticket_t{256}, ticket_t{1} << 16}) {
    Churn c{};
    c.push_blocks = 16;
    c.quota = 16;
    c.limit_ns = static_cast<std::uint64_t>(a.limit_seconds * 1e9);
    const Face face = arena.template face<Face>(capacity, a.advance);
    const Outcome out = churn_once<kHold, Face, W>(arena, face, capacity, 253, 16, kBlock, c);
    Row row{"check",    ring,     worker,     static_cast<int>(sizeof(T)), 64 * kBlock, 64 * kBlock,
            out.pushed, capacity, out.seconds};
    row.rate = out.pushed / out.seconds;
    row.verdict = out.verdict;
    keep(row);
  }
}

template <bool kHold, class Face, class W, class T>
void stress(Arena<T>& arena, const Arguments& a, const std::string& ring, const std::string& worker) {
  // First tickets just below a power of two, where a counter that is too narrow would fail.
  static const ticket_t kStarts[] = {0, (1ull << 8) - 3, (1ull << 16) - 3, (1ull << 32) - 3, (1ull << 63) - 3};
  static int number = 0;
  constexpr int kLarge = 2, kKinds = 2 * 2 * 3 * 2;  // large capacities; rings x ways x workers x item sizes
  for (const ticket_t capacity : {2, 4, 8, 64, 1024, 1 << 16, 1 << 20}) {
    const bool tiny = capacity < 1024, large = capacity >= (1 << 16);
    const double target = large ? a.stress / (kLarge * kKinds) : a.stress / 1e4;
    const int block = tiny ? 64 : kBlock;
    const std::uint64_t resident = resident_blocks(churn<kHold, Face, W>, block);
    // Few workers on tiny rings; on others as many as fit, up to the capacity. Claiming poppers that find nothing contend for one
    // word: with more than some hundred workers they do nothing else.
    const std::uint64_t most = kHold                          ? resident
                               : std::is_same_v<W, GpuThread> ? 4
                               : std::is_same_v<W, GpuWarp>   ? 64
                                                              : 256;
    const auto blocks =
        static_cast<unsigned>(tiny ? 8
                                   : std::min<std::uint64_t>(std::min<std::uint64_t>(resident, most),
                                                             std::max<std::uint64_t>(8, capacity / 32)));
    const Face face = arena.template face<Face>(capacity, a.advance);
    Row row{"stress",
            ring,
            worker,
            static_cast<int>(sizeof(T)),
            std::uint64_t{blocks} * block,
            std::uint64_t{blocks} * block};
    row.capacity = capacity;
    std::uint32_t quota = tiny ? 16 : 256;
    while (row.verdict == "ok" && 2.0 * row.items < target && row.seconds < a.config_seconds) {
      Churn c{};
      c.push_blocks = blocks;
      c.quota = quota;
      c.stall_every = number % 2 == 0 ? 64 : 1024;
      c.limit_ns = static_cast<std::uint64_t>(a.limit_seconds * 1e9);
      const Outcome out = churn_once<kHold, Face, W>(arena, face, capacity, kStarts[number++ % 5], blocks, block, c);
      row.items += out.pushed;
      row.seconds += out.seconds;
      row.verdict = out.verdict;
      if (out.seconds < 0.1 && quota < (1u << 20)) quota *= 2;
    }
    row.rate = row.items / row.seconds;
    keep(row);
  }
}

}  // namespace shoal::bench
