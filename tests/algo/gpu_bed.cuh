// Common parts of the tests of algorithms on GPUs: up to four PEs on the available devices, values of every vertex in the
// memory of its owner, and the message if two results differ.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/device/device_memory.cuh"
#include "shoal/placement/device_graph.hpp"

namespace shoal::test {

/// Skips its tests if there is no GPU.
class OnGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no GPU here";
  }
  static constexpr pe_t most_ = 4;  ///< most PEs to test; if there are fewer devices, PEs share them
};

/// A tuning that takes a different path through the code, and its name for messages.
template <class Tuning>
struct Way {
  std::string name;
  Tuning tuning;
};

/// The same ways with a deadline of 20 s at barriers, as other processes may use the machine during tests.
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

/// Options::pes_per_gpu for a run on `pes` PEs.
inline pe_t pes_per_gpu(pe_t pes) { return (pes + num_devices() - 1) / num_devices(); }

/// Places the graph on the first devices, with one PE on each device if there are enough.
inline PlacedGraph place(const Csr& graph, pe_t n_pes, PartitionKind kind = PartitionKind::block,
                         bool weights = false) {
  return place_on_devices(graph, make_partition(graph, n_pes, kind), first_devices(n_pes), weights);
}

/// One value for each vertex, in the memory of its owner.
template <class T>
class Placed {
 public:
  /// Fills all values with a pattern that is no valid result. @param graph  must outlive this object
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

/// Copies values to the host, in the input's numbering.
/// @param at  [n_pes] the address of the values of each owner's vertices
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

/// Describes the first difference, or returns "" if there is none. Unsigned values with all bits set mean "none" and are
/// printed as -1.
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

/// Fails the first allocation, then the second, and so on, until build() succeeds. Each failure must give a CapacityError,
/// after which nothing is held.
/// @return the number of allocations that failed
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
  ADD_FAILURE() << "there are more than a thousand allocations";
  return 1000;
}

}  // namespace shoal::test
