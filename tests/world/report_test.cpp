// Each count of a run reaches the counter of its name in the report, reports are added correctly, and each counter is printed
// once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shoal/worker/worker.hpp"
#include "shoal/worklist/tally.hpp"
#include "shoal/world/report.hpp"

namespace shoal {
namespace {

/// A report whose k-th counter is first + k * step.
Report numbered(std::int64_t first, std::int64_t step) {
  Report report;
  for (const Counter& c : kCounters) {
    report.*c.field = first;
    first += step;
  }
  return report;
}

TEST(Report, CountersOfTwoRunsAddUp) {
  Report sum = numbered(1000, 1);
  sum += numbered(1, 7);
  std::int64_t mine = 1000, other = 1;
  for (const Counter& c : kCounters) {
    const bool peak = std::string(c.name).find("peak") == 0;
    EXPECT_EQ(sum.*c.field, peak ? std::max(mine, other) : mine + other) << c.name;
    mine += 1, other += 7;
  }
  Report higher;
  higher.peak_ring = 5000;
  sum += higher;
  EXPECT_EQ(sum.peak_ring, 5000);
}

TEST(Report, TrafficOfTwoRunsAddsUpByPairAndTheRestStays) {
  Report sum, run;
  sum.seconds = 1;
  sum.traffic = {{0, 1, 10, 2, 160}, {1, 0, 3, 3, 48}};
  sum.cut_arcs = 9;
  sum.chosen = {{"fetch", "4", "asked for"}};
  sum.phase_seconds = {{"read", .5}};
  run.seconds = 2;
  run.traffic = {{1, 0, 4, 1, 64}, {0, 2, 1, 1, 16}};
  run.cut_arcs = 7;
  run.chosen = {{"fetch", "8", "asked for"}};
  run.phase_seconds = {{"read", .25}};
  sum += run;
  EXPECT_EQ(sum.seconds, 3);
  const std::int64_t want[3][5] = {{0, 1, 10, 2, 160}, {1, 0, 7, 4, 112}, {0, 2, 1, 1, 16}};
  ASSERT_EQ(sum.traffic.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Traffic& got = sum.traffic[i];
    const std::int64_t all[5] = {got.from, got.to, got.items, got.messages, got.bytes};
    for (int k = 0; k < 5; ++k) EXPECT_EQ(all[k], want[i][k]) << "pair " << i << ", number " << k;
  }
  EXPECT_EQ(sum.cut_arcs, 9);
  EXPECT_EQ(sum.chosen.at(0).value, "4");
  EXPECT_EQ(sum.phase_seconds.at(0).second, .5);
}

TEST(Report, EachCounterIsOnceInJsonAndInText) {
  const Report report = numbered(1234567, 1);
  const std::string text = to_text(report), json = to_json(report);
  const auto parsed = nlohmann::json::parse(json);
  const auto times = [](const std::string& all, const std::string& part) {
    int n = 0;
    for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++n;
    return n;
  };
  std::int64_t value = 1234567;
  for (const Counter& c : kCounters) {
    EXPECT_EQ(times(json, "\"" + std::string(c.name) + "\":"), 1) << c.name;
    EXPECT_EQ(parsed.at(c.name), value) << c.name;
    EXPECT_EQ(times("\n" + text, "\n  " + std::string(c.label) + " "), 1) << c.name << " in\n" << text;
    ++value;
  }
  EXPECT_EQ(to_text(Report{}), "");
}

TEST(Report, WhatALaneCountsReachesTheCounterOfItsName) {
  LaneTally<CpuThread> tally = {};
  tally.pushed = 11, tally.run = 13, tally.idle_calls = 17, tally.peak_ring = 19;
  const auto control = std::make_unique<PeControl>();  // all zero
  add_up(CpuThread{}, tally, *control);
  LaneTally<CpuThread> of_another = {};
  of_another.pushed = 100, of_another.peak_ring = 5;
  add_up(CpuThread{}, of_another, *control);
  EXPECT_EQ(control->counts.pushed.load(), 111u);
  EXPECT_EQ(control->counts.run.load(), 13u);
  EXPECT_EQ(control->counts.idle_calls.load(), 17u);
  EXPECT_EQ(control->counts.peak_ring.load(), 19u) << "a peak is not a sum";
  EXPECT_EQ(control->counts.stale.load(), 0u);
}

}  // namespace
}  // namespace shoal
