// What tests of algorithms on GPUs have in common: four PEs, on as many devices as there are, values of every vertex where
// its owner has them, and what to say when two answers differ.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/device/device_memory.cuh"
#include "shoal/placement/device_graph.hpp"

namespace shoal::test {

/// Skips where there is no GPU.
class OnGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }
  static constexpr pe_t most_ = 4;  ///< PEs to try; where there are fewer devices they share them
};

/// A tuning that takes a path of its own through the code, and what a failure calls it.
template <class Tuning>
struct Way {
  std::string name;
  Tuning tuning;
};

/// The same ways, which wait for 20 s at a barrier: tests share machines.
template <class Tuning>
std::vector<Way<Tuning>> patient(std::vector<Way<Tuning>> ways) {
  for (Way<Tuning>& way : ways) way.tuning.deadline_seconds = 20;
  return ways;
}

inline std::vector<int> first_devices(pe_t n) {
  std::vector<int> devices;
  for (pe_t p = 0; p < n; ++p) devices.push_back(p % num_devices());
  return devices;
}

/// Options::pes_per_gpu for a run on so many PEs.
inline pe_t pes_per_gpu(pe_t pes) { return (pes + num_devices() - 1) / num_devices(); }

/// The graph on the first devices, one PE on each as far as there are.
inline PlacedGraph place(const Csr& graph, pe_t n_pes, PartitionKind kind = PartitionKind::block,
                         bool weights = false) {
  return place_on_devices(graph, make_partition(graph, n_pes, kind), first_devices(n_pes), weights);
}

/// A value of every vertex, at its owner.
template <class T>
class Placed {
 public:
  /// Full of rubbish. @param graph  must stay alive
  explicit Placed(const PlacedGraph& graph) : graph_(graph) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      DeviceGuard guard(graph.devices[p]);
      parts_.emplace_back(graph.out[p].count, "values of a test");
      parts_.back().fill_bytes(0x5A);
      at_.push_back(parts_.back().data());
    }
  }
  /// @param values  [vertices] in placed order
  Placed(const PlacedGraph& graph, const T* values) : Placed(graph) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) parts_[p].upload(values + graph.out[p].first, graph.out[p].count);
  }
  T* const* at() const { return at_.data(); }  ///< [n_pes]

 private:
  const PlacedGraph& graph_;
  std::vector<DeviceArray<T>> parts_;
  std::vector<T*> at_;
};

/// On the host, in the input's numbers.
/// @param at  [n_pes] where each owner has the values of its vertices
template <class T>
std::vector<std::remove_const_t<T>> fetch(const PlacedGraph& graph, T* const* at) {
  std::vector<std::remove_const_t<T>> out(graph.num_vertices);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    std::vector<std::remove_const_t<T>> part(graph.out[p].count);
    copy_to_host(part.data(), at[p], part.size() * sizeof(T));
    for (std::size_t i = 0; i < part.size(); ++i) {
      out[graph.partition.input(graph.out[p].first + static_cast<vertex_t>(i))] = part[i];
    }
  }
  return out;
}

/// Empty when they are the same. Unsigned words of all ones, which mean "none", are said as -1.
template <class Got, class Want>
std::string first_difference(const Got& got, const Want& want) {
  if (got.size() != want.size()) return std::to_string(got.size()) + " values, not " + std::to_string(want.size());
  for (std::size_t v = 0; v < got.size(); ++v) {
    if (got[v] == want[v]) continue;
    const auto said = [](auto x) { return std::to_string(static_cast<std::make_signed_t<decltype(x)>>(x)); };
    return "vertex " + std::to_string(v) + " has " + said(got[v]) + ", the reference says " + said(want[v]);
  }
  return "";
}

/// Fails the first, second ... allocation until build() succeeds: a CapacityError each time, and nothing is held after it.
/// @return how many failed
template <class Build>
int fail_each_allocation(Build&& build) {
  const std::int64_t before = AllocationFault::held;
  for (int k = 0; k < 1000; ++k) {
    AllocationFault::arm(k);
    bool failed = false;
    try {
      build();
    } catch (const CapacityError&) {
      failed = true;
    }
    AllocationFault::disarm();
    EXPECT_EQ(AllocationFault::held, before) << "after failing allocation " << k;
    if (!failed) return k;
  }
  ADD_FAILURE() << "a thousand allocations failed, and there are more";
  return 1000;
}

}  // namespace shoal::test
