// The results of bench/queue/gpu_queue.cu: a row for each measurement, a table, and JSON.
#pragma once
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu_queue_arguments.hpp"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal::bench {

struct Row {
  std::string op, ring, worker;
  int bytes = 0;
  std::uint64_t threads = 0, launched = 0, items = 0, capacity = 0;
  double seconds = 0, rate = 0, of_bare = 0, p50_ns = 0, p99_ns = 0, max_ns = 0, push_ns = 0;
  std::string verdict = "ok";
};
inline std::vector<Row> rows;
inline std::uint64_t failures = 0;

/// Keeps a row and prints it at once, so that results are not lost if the run is cut off.
inline void keep(Row row) {
  failures += row.verdict != "ok";
  std::printf("%-6s %-13s %-6s %2d B %8llu threads, ring of %8llu: %9.4f G items/s  %s\n", row.op.c_str(),
              row.ring.c_str(), row.worker.c_str(), row.bytes, static_cast<unsigned long long>(row.threads),
              static_cast<unsigned long long>(row.capacity), row.rate / 1e9, row.verdict.c_str());
  std::fflush(stdout);
  rows.push_back(std::move(row));
}

inline const char* const kRings[] = {"slot hold", "slot claim", "broker", "cas"};

inline void print_table() {
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

inline void write_json(const Arguments& a, const cudaDeviceProp& gpu, int argc, char** argv) {
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

}  // namespace shoal::bench
