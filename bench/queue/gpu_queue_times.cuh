// Part of bench/queue/gpu_queue.cu: rates, and the time until a pushed item is seen.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpu_queue_runs.cuh"

namespace shoal::bench {

template <bool kHold, class Face, class W, class T>
void measure(Arena<T>& arena, const Arguments& a, const std::string& ring, const std::string& worker) {
  const auto limit = static_cast<std::uint64_t>(a.limit_seconds * 1e9);
  // Items per thread are as many as the slower of push and pop moved in kGoal seconds at the previous size: a ring whose rate
  // collapses with many threads must not block the machine. A ring that cannot move one item per thread in kGoal is not measured
  // further.
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

/// Half of the blocks push, at a rate with which the others keep up. Measures how long it takes until a popper has an item.
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

}  // namespace shoal::bench
