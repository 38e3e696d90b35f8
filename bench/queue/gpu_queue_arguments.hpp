// The options of bench/queue/gpu_queue.cu.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/core/types.hpp"

namespace shoal::bench {

struct Arguments {
  std::vector<std::uint64_t> threads;
  std::vector<std::string> bytes = {"8", "32"}, workers = {"thread", "warp", "block"},
                           ops = {"push", "pop", "both", "lag"},
                           rings = {"bare", "slot hold", "slot claim", "broker", "cas"};
  int log2_items = 24, trials = 5;
  lane_t advance = 0;
  double limit_seconds = 1, stress = 0, config_seconds = 1;
  std::string json;
};

inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}
inline bool has(const std::vector<std::string>& list, const std::string& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

inline Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int k = 10; k <= 21; ++k) a.threads.push_back(std::uint64_t{1} << k);
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (i + 1 == argc)
      throw UsageError(arg + ": no such option, or its value is missing; see the head of bench/queue/gpu_queue.cu");
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
    } else if (arg == "--rings") {
      a.rings = split(value);
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
      throw UsageError(arg + ": no such option; see the head of bench/queue/gpu_queue.cu");
    }
  }
  for (auto n : a.threads) {
    if (n < 256 || n > (1u << 24) || (n & (n - 1)) != 0) {
      throw UsageError("--threads wants powers of two of at least " + std::to_string(256) + ", at most 2^24");
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

}  // namespace shoal::bench
