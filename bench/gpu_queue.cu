// The rings on one GPU: push, pop, push and pop in turn, and how long a pushed item takes to be seen. Checks, then times.
//
//   gpu_queue [--threads N[,N...]] [--bytes 8,32] [--workers thread,warp,block] [--ops push,pop,both,lag] [--items LOG2]
//             [--trials N] [--advance N] [--limit SECONDS] [--json FILE]
//   gpu_queue --stress OPERATIONS [--config-seconds S] [--limit SECONDS] [--json FILE]
//
// Rings: slot ring and segment ring, each with poppers that hold and that claim, beside the bare limit: one addition by each
// worker's leader, then stores or loads, with no protocol (as in the Atos paper, Fig. 1). Rates are items that went through,
// medians of CUDA event times. Every timed run is checked by count and by a mix of all words; before, each kind is checked
// per producer by count, sum and mix. Push and pop run N threads; push and pop in turn needs all threads resident and runs
// as many of the N as are, each doing the others' share as well.
//
// --stress pushes and pops with random stalls between reserving, writing and publishing, at capacities 2 to 2^20. Every wait
// has a deadline: a run that stands still ends with an error that says where. Exit status 1 when anything was wrong.
//
// Source: Chen et al., Atos (ICPP 2022), Fig. 1.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu_queue_kernels.cuh"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/device_memory.cuh"
#include "shoal/core/error.hpp"

namespace {

using namespace shoal;
using namespace shoal::bench;

struct Arguments {
  std::vector<std::uint64_t> threads;
  std::vector<std::string> bytes = {"8", "32"}, workers = {"thread", "warp", "block"},
                           ops = {"push", "pop", "both", "lag"};
  int log2_items = 24, trials = 5;
  lane_t advance = 0;
  double limit_seconds = 1, stress = 0, config_seconds = 1;
  std::string json;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}
bool has(const std::vector<std::string>& list, const std::string& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int k = 10; k <= 21; ++k) a.threads.push_back(std::uint64_t{1} << k);
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (i + 1 == argc)
      throw UsageError(arg + ": no such option, or its value is missing; see the head of bench/gpu_queue.cu");
    const std::string value = argv[++i];
    if (arg == "--threads") {
      a.threads.clear();
      for (const auto& n : split(value)) a.threads.push_back(std::stoull(n));
    } else if (arg == "--bytes") {
      a.bytes = split(value);
    } else if (arg == "--workers") {
      a.workers = split(value);
    } else if (arg == "--ops") {
      a.ops = split(value);
    } else if (arg == "--items") {
      a.log2_items = std::stoi(value);
    } else if (arg == "--trials") {
      a.trials = std::stoi(value);
    } else if (arg == "--advance") {
      a.advance = static_cast<lane_t>(std::stoul(value));
    } else if (arg == "--limit") {
      a.limit_seconds = std::stod(value);
    } else if (arg == "--stress") {
      a.stress = std::stod(value);
    } else if (arg == "--config-seconds") {
      a.config_seconds = std::stod(value);
    } else if (arg == "--json") {
      a.json = value;
    } else {
      throw UsageError(arg + ": no such option; see the head of bench/gpu_queue.cu");
    }
  }
  for (auto n : a.threads) {
    if (n < kBlock || n > (1u << 24) || (n & (n - 1)) != 0) {
      throw UsageError("--threads wants powers of two of at least " + std::to_string(kBlock) + ", at most 2^24");
    }
  }
  for (const auto& b : a.bytes) {
    if (b != "8" && b != "32") throw UsageError("--bytes " + b + ": 8 and 32 are known");
  }
  for (const auto& o : a.ops) {
    if (!has({"push", "pop", "both", "lag"}, o)) throw UsageError("--ops " + o + ": push, pop, both and lag are known");
  }
  for (const auto& w : a.workers) {
    if (!has({"thread", "warp", "block"}, w)) throw UsageError("--workers " + w + ": thread, warp and block are known");
  }
  if (a.trials < 1 || a.log2_items < 20 || a.log2_items > 26)
    throw UsageError("--trials from 1, --items from 20 to 26");
  return a;
}

/// Memory for any of the rings at one size, made once.
template <class T>
struct Arena {
  ticket_t most;
  DeviceArray<Slot<T>> slots;
  DeviceArray<SegmentCounters> segments;
  DeviceArray<RingCounters> counters{1, "counters"};
  DeviceArray<Run> run{1, "run"};

  explicit Arena(ticket_t n)
      : most(n), slots(static_cast<std::int64_t>(n), "slots"), segments(static_cast<std::int64_t>(n), "segments") {}

  template <class Face>
  Face face(ticket_t capacity, lane_t advance) {
    if (capacity > most)
      throw UsageError("a ring of " + std::to_string(capacity) + " slots does not fit; raise --items");
    if constexpr (std::is_same_v<Face, SlotFace<T>>) {
      return {{slots.data(), capacity, counters.data(), advance}};
    } else if constexpr (std::is_same_v<Face, SegmentFace<T>>) {
      Face f;
      f.ring.set_capacity(capacity);
      f.ring.slots = reinterpret_cast<T*>(slots.data());
      f.ring.segments = segments.data();
      f.ring.counters = counters.data();
      f.ring.advance = advance;
      return f;
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

struct Row {
  std::string op, ring, worker;
  int bytes = 0;
  std::uint64_t threads = 0, launched = 0, items = 0, capacity = 0;
  double seconds = 0, rate = 0, of_bare = 0, p50_ns = 0, p99_ns = 0, max_ns = 0, push_ns = 0;
  std::string verdict = "ok";
};
constexpr ticket_t kFirst = 7;  ///< first ticket: batches do not begin where segments do
std::vector<Row> rows;
std::uint64_t failures = 0;
int sms = 0;

template <class Kernel>
std::uint64_t resident_blocks(Kernel kernel, int block) {
  int per_sm = 0;
  SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, block, 0));
  return static_cast<std::uint64_t>(per_sm) * sms;
}

std::string verdict_of(const Run& r, std::uint64_t pushed, std::uint64_t popped, bool bare) {
  static const char* const kSites[] = {"nowhere", "reserve", "place", "take", "churn"};
  if (r.state.load() != 0) {
    return std::string(r.slow != 0 ? "TOO SLOW, in " : "STALLED in ") + kSites[r.site] + ", thread " +
           std::to_string(r.thread) + ", ticket " + std::to_string(r.ticket);
  }
  if (r.torn.load() != 0) return "WRONG: " + std::to_string(r.torn.load()) + " torn items";
  if (r.pushed.load() != pushed)
    return "WRONG: pushed " + std::to_string(r.pushed.load()) + " of " + std::to_string(pushed);
  if (bare) return "ok";  // nothing says what a bare pop finds
  if (r.popped.load() != popped)
    return "WRONG: popped " + std::to_string(r.popped.load()) + " of " + std::to_string(popped);
  if (popped == pushed && r.pushed_mix.load() != r.popped_mix.load()) return "WRONG: the mixes differ";
  return "ok";
}

/// Times `launch` between two events. Seconds.
double timed(const std::function<void()>& launch) {
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
double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}
/// Prints a row at once, so that what was measured survives a run that is cut off.
void keep(Row row) {
  failures += row.verdict != "ok";
  std::printf("%-6s %-13s %-6s %2d B %8llu threads, ring of %8llu: %9.4f G items/s  %s\n", row.op.c_str(),
              row.ring.c_str(), row.worker.c_str(), row.bytes, static_cast<unsigned long long>(row.threads),
              static_cast<unsigned long long>(row.capacity), row.rate / 1e9, row.verdict.c_str());
  std::fflush(stdout);
  rows.push_back(std::move(row));
}

template <bool kHold, class Face, class W, class T>
void measure(Arena<T>& arena, const Arguments& a, const std::string& ring, const std::string& worker) {
  const auto limit = static_cast<std::uint64_t>(a.limit_seconds * 1e9);
  // Items per thread are what the slower of push and pop did in kGoal seconds at the size before: a ring that collapses
  // under many threads must not take the machine with it. One that cannot move an item per thread in kGoal is not asked on.
  constexpr double kGoal = 0.02;
  double rate_before = 1e6 * std::log2(static_cast<double>(a.threads.front()));
  for (const std::uint64_t threads : a.threads) {
    std::uint64_t items = std::min<std::uint64_t>(std::uint64_t{1} << a.log2_items, threads << 11);
    while (items > threads && items > rate_before * kGoal * 4) items /= 2;
    if (items > rate_before * kGoal * 16) {
      std::printf("  %s %s %d B: not measured from %llu threads on, at %.3g items/s before\n", ring.c_str(),
                  worker.c_str(), static_cast<int>(sizeof(T)), static_cast<unsigned long long>(threads), rate_before);
      return;
    }
    double slowest = 1e12;
    Row row{"", ring, worker, static_cast<int>(sizeof(T)), threads};
    if (has(a.ops, "push") || has(a.ops, "pop")) {
      const ticket_t capacity = 2 * items, end = kFirst + items;
      const Face face = arena.template face<Face>(capacity, a.advance);
      const auto blocks = static_cast<unsigned>(threads / kBlock);
      std::vector<double> push, pop;
      double spent = 0;
      row.launched = threads, row.items = items, row.capacity = capacity;
      row.verdict = "ok";
      for (int trial = 0; trial < a.trials + 1 && spent < 0.5 && row.verdict == "ok"; ++trial) {  // the first warms up
        arena.reset(face, capacity, kFirst);
        const double pushing = timed([&] {
          push_all<Face, W>
              <<<blocks, kBlock>>>(face, arena.run.data(), static_cast<std::uint32_t>(items / threads), limit);
        });
        row.verdict = verdict_of(arena.result(), items, 0, Face::kBare);
        if (row.verdict != "ok") break;
        const double popping =
            timed([&] { pop_all<kHold, Face, W><<<blocks, kBlock>>>(face, arena.run.data(), end, limit); });
        row.verdict = verdict_of(arena.result(), items, items, Face::kBare);
        spent += pushing + popping;
        if (trial > 0 || spent >= 0.5) push.push_back(pushing), pop.push_back(popping);
      }
      for (const auto& [op, seconds] : {std::pair("push", push), std::pair("pop", pop)}) {
        if (!has(a.ops, op)) continue;
        row.op = op;
        row.seconds = seconds.empty() ? 0 : median(seconds);
        row.rate = seconds.empty() ? 0 : items / row.seconds;
        slowest = std::min(slowest, row.rate);
        keep(row);
      }
    }
    if (has(a.ops, "both")) {
      const auto kernel = push_pop<kHold, Face, W>;
      const std::uint64_t blocks = std::min(resident_blocks(kernel, kBlock), threads / kBlock);
      row.op = "both";
      row.launched = blocks * kBlock;
      std::uint32_t quota = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, items / row.launched));
      row.items = quota * row.launched;
      row.capacity = std::uint64_t{1} << 22;
      while (row.capacity > arena.most || (row.capacity > 4 * row.launched && row.capacity > 65536)) row.capacity /= 2;
      const Face base = arena.template face<Face>(row.capacity, a.advance);
      row.verdict = "ok";
      std::vector<double> both;
      double spent = 0;
      for (int trial = 0; trial < a.trials + 1 && spent < 0.5 && row.verdict == "ok"; ++trial) {
        arena.reset(base, row.capacity, kFirst);
        const double seconds = timed([&] {
          Face face = base;
          Run* run = arena.run.data();
          std::uint64_t ns = limit;
          void* arguments[] = {&face, &run, &quota, &ns};
          SHOAL_CUDA(
              cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(kBlock), arguments, 0));
        });
        row.verdict = verdict_of(arena.result(), row.items, row.items, Face::kBare);
        spent += seconds;
        if (trial > 0 || spent >= 0.5) both.push_back(seconds);
      }
      row.seconds = both.empty() ? 0 : median(both);
      row.rate = both.empty() ? 0 : row.items / row.seconds;
      slowest = std::min(slowest, row.rate);
      keep(row);
    }
    rate_before = slowest;
  }
}

/// One churn: its verdict, by count, sum and mix of every producer.
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
  out.verdict = verdict_of(r, c.total, 0, true);
  if (out.verdict == "ok" && bad != 0) out.verdict = "WRONG: the items of " + std::to_string(bad) + " producers";
  if (out.verdict == "ok" && r.done.load() != c.total) {
    out.verdict = "WRONG: popped " + std::to_string(r.done.load()) + " of " + std::to_string(c.total);
  }
  RingCounters at;
  arena.counters.download(&at, 1);
  if (out.verdict != "ok") {
    out.verdict += "; tail " + std::to_string(at.tail.load()) + ", head " + std::to_string(at.head.load()) + ", room " +
                   std::to_string(at.room.load()) + ", popped " + std::to_string(r.done.load()) + " of " +
                   std::to_string(c.total);
  }
  out.pushed = r.pushed.load();
  out.push_ns = out.pushed == 0 ? 0 : static_cast<double>(r.push_ns.load()) / out.pushed;
  return out;
}

/// Half of the blocks push, at a rate that the others keep up with; how long until an item is in a popper's hands.
template <bool kHold, class Face, class W, class T>
void lag(Arena<T>& arena, const Arguments& a, const std::string& ring, const std::string& worker) {
  constexpr std::uint64_t kSamples = 1 << 20;
  static DeviceArray<std::uint32_t> samples(kSamples, "samples");
  const int block = std::is_same_v<W, GpuThread> ? 32 : kBlock;
  for (const std::uint32_t pause : {1000u, 10000u, 100000u}) {
    // 1,056 warps, or 4,224 threads of thread workers, push.
    const unsigned pushing = static_cast<unsigned>(sms), blocks = 2 * pushing;
    const ticket_t capacity = std::min<ticket_t>(arena.most, 1 << 20);
    const Face face = arena.template face<Face>(capacity, a.advance);
    Churn c{};
    c.push_blocks = pushing;
    c.pop_from = pushing;
    c.quota = static_cast<std::uint32_t>(8 * kSamples / (std::uint64_t{pushing} * block));
    c.quota = std::min(c.quota, 4000000u / pause + 8);
    c.pause_ns = pause;
    c.limit_ns = static_cast<std::uint64_t>(a.limit_seconds * 1e9);
    c.lag_ns = samples.data();
    c.lag_samples = kSamples;
    if (blocks > resident_blocks(churn<kHold, Face, W>, block))
      throw DeviceError("lag: the blocks are not all resident");
    const Outcome out = churn_once<kHold, Face, W>(arena, face, capacity, 0, blocks, block, c);
    std::vector<std::uint32_t> ns(std::min<std::uint64_t>(kSamples, out.pushed));
    Row row{"lag", ring, worker, static_cast<int>(sizeof(T)), std::uint64_t{pushing} * block};
    row.launched = std::uint64_t{blocks} * block, row.items = out.pushed, row.capacity = capacity;
    row.verdict = out.verdict;
    row.seconds = out.seconds, row.rate = out.pushed / out.seconds, row.push_ns = out.push_ns;
    if (!ns.empty()) {
      samples.download(ns.data(), static_cast<std::int64_t>(ns.size()));
      std::sort(ns.begin(), ns.end());
      row.p50_ns = ns[ns.size() / 2], row.p99_ns = ns[ns.size() - 1 - ns.size() / 100], row.max_ns = ns.back();
    }
    std::printf(
        "lag   %-13s %-6s pause %6u ns: %8.3f G items/s, a push takes %6.0f ns; seen after median %6.0f, p99 %7.0f "
        "(%.1f pushes), max %8.0f ns  %s\n",
        ring.c_str(), worker.c_str(), pause, row.rate / 1e9, row.push_ns, row.p50_ns, row.p99_ns,
        row.push_ns > 0 ? row.p99_ns / row.push_ns : 0, row.max_ns, row.verdict.c_str());
    std::fflush(stdout);
    keep(row);
  }
}

/// Per producer, before anything is timed.
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
  // First tickets just before a power of two, where a counter that is too narrow would show.
  static const ticket_t kStarts[] = {0, (1ull << 8) - 3, (1ull << 16) - 3, (1ull << 32) - 3, (1ull << 63) - 3};
  static int number = 0;
  constexpr int kLarge = 2, kKinds = 2 * 2 * 3 * 2;  // large capacities; rings, ways, workers, sizes
  for (const ticket_t capacity : {2, 4, 8, 64, 1024, 1 << 16, 1 << 20}) {
    const bool tiny = capacity < 1024, large = capacity >= (1 << 16);
    const double target = large ? a.stress / (kLarge * kKinds) : a.stress / 1e4;
    const int block = tiny ? 64 : kBlock;
    const std::uint64_t resident = resident_blocks(churn<kHold, Face, W>, block);
    // Few workers on tiny rings; as many as fit, up to the capacity, on others.
    // Claiming poppers that find nothing crowd one word: beyond some hundred workers that is all they do.
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

template <bool kHold, class Face, class T>
void of_ring(Arena<T>& arena, const Arguments& a, const std::string& ring) {
  const auto of_worker = [&]<class W>(W*, const std::string& worker) {
    if (!has(a.workers, worker)) return;
    if constexpr (!Face::kBare) {
      if (a.stress > 0) return stress<kHold, Face, W>(arena, a, ring, worker);
      check<kHold, Face, W>(arena, a, ring, worker);
    }
    if (a.stress > 0) return;
    measure<kHold, Face, W>(arena, a, ring, worker);
    if constexpr (!Face::kBare && sizeof(T) > 8) {
      if (has(a.ops, "lag")) lag<kHold, Face, W>(arena, a, ring, worker);
    }
  };
  of_worker(static_cast<GpuThread*>(nullptr), "thread");
  of_worker(static_cast<GpuWarp*>(nullptr), "warp");
  of_worker(static_cast<GpuBlock*>(nullptr), "block");
}

const char* const kRings[] = {"slot hold", "slot claim", "segment hold", "segment claim"};

template <int kBytes>
void of_size(const Arguments& a) {
  using T = Item<kBytes>;
  if (!has(a.bytes, std::to_string(kBytes))) return;
  Arena<T> arena(ticket_t{1} << (a.stress > 0 ? 20 : a.log2_items + 1));
  of_ring<false, BareFace<T>>(arena, a, "bare");
  of_ring<true, SlotFace<T>>(arena, a, kRings[0]);
  of_ring<false, SlotFace<T>>(arena, a, kRings[1]);
  of_ring<true, SegmentFace<T>>(arena, a, kRings[2]);
  of_ring<false, SegmentFace<T>>(arena, a, kRings[3]);
}

void print_table() {
  std::map<std::string, Row*> at;
  const auto key = [](const Row& r, const std::string& ring) {
    return r.op + "/" + r.worker + "/" + std::to_string(r.bytes) + "/" + std::to_string(r.threads) + "/" + ring;
  };
  for (Row& r : rows) at[key(r, r.ring)] = &r;
  std::printf("\nG items/s (in brackets: of the bare limit)\n%-5s %-7s %5s %8s %9s", "op", "worker", "bytes", "threads",
              "bare");
  for (const char* ring : kRings) std::printf(" %20s", ring);
  std::printf("\n");
  for (const Row& bare : rows) {
    if (bare.ring != "bare") continue;
    std::printf("%-5s %-7s %5d %8llu %9.3f", bare.op.c_str(), bare.worker.c_str(), bare.bytes,
                static_cast<unsigned long long>(bare.threads), bare.rate / 1e9);
    for (const char* ring : kRings) {
      const auto found = at.find(key(bare, ring));
      if (found == at.end()) {
        std::printf(" %20s", "-");
      } else if (found->second->verdict != "ok") {
        std::printf(" %20s", found->second->verdict.substr(0, 7).c_str());
      } else {
        found->second->of_bare = found->second->rate / bare.rate;
        std::printf(" %12.3f (%4.0f%%)", found->second->rate / 1e9, 100 * found->second->of_bare);
      }
    }
    std::printf("\n");
  }
}

void write_json(const Arguments& a, const cudaDeviceProp& gpu, int argc, char** argv) {
  int driver = 0, runtime = 0;
  SHOAL_CUDA(cudaDriverGetVersion(&driver));
  SHOAL_CUDA(cudaRuntimeGetVersion(&runtime));
  std::string options;
  for (int i = 1; i < argc; ++i) options += (i > 1 ? " " : "") + std::string(argv[i]);
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::FILE* file = std::fopen(a.json.c_str(), "w");
  if (file == nullptr) throw UsageError(a.json + " cannot be written");
  std::fprintf(
      file,
      "{\"benchmark\": \"gpu_queue\", \"gpu\": \"%s\", \"cuda_driver\": %d, \"cuda_runtime\": %d, "
      "\"date\": \"%s\", \"options\": \"%s\", \"trials\": %d, \"advance\": %u, \"failures\": %llu,\n \"rows\": [",
      gpu.name, driver, runtime, date, options.c_str(), a.trials, a.advance, static_cast<unsigned long long>(failures));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    std::fprintf(
        file,
        "%s\n  {\"op\": \"%s\", \"ring\": \"%s\", \"worker\": \"%s\", \"bytes\": %d, \"threads\": %llu, "
        "\"launched\": %llu, \"items\": %llu, \"capacity\": %llu, \"seconds\": %.9g, \"items_per_second\": %.6g, "
        "\"of_bare\": %.4g, \"lag_p50_ns\": %.6g, \"lag_p99_ns\": %.6g, \"lag_max_ns\": %.6g, \"push_ns\": %.6g, "
        "\"verdict\": \"%s\"}",
        i > 0 ? "," : "", r.op.c_str(), r.ring.c_str(), r.worker.c_str(), r.bytes,
        static_cast<unsigned long long>(r.threads), static_cast<unsigned long long>(r.launched),
        static_cast<unsigned long long>(r.items), static_cast<unsigned long long>(r.capacity), r.seconds, r.rate,
        r.of_bare, r.p50_ns, r.p99_ns, r.max_ns, r.push_ns, r.verdict.c_str());
  }
  std::fprintf(file, "\n]}\n");
  if (std::fclose(file) != 0) throw UsageError(a.json + " could not be written in full");
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
