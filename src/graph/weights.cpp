#include "shoal/graph/weights.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/graph/csr_build.hpp"

namespace shoal {
namespace {

constexpr const char* kNames[] = {"file", "hash255", "unit"};

template <class T>
HostArray<T> borrow(const HostArray<T>& from) {
  return HostArray<T>(const_cast<T*>(from.data()), from.size(), nullptr);
}

/// The first arc for which refuse(weight) is true, or -1. Uses all threads.
template <class T, class Refuse>
arc_t first_refused(const HostArray<T>& weights, Refuse refuse) {
  std::atomic<arc_t> first{weights.size()};
  parallel_ranges(weights.size(), 1 << 18, [&](std::int64_t begin, std::int64_t end) {
    for (arc_t a = begin; a < end; ++a) {
      if (!refuse(weights[a])) continue;
      for (arc_t old = first; a < old && !first.compare_exchange_weak(old, a);) {
      }
      return;
    }
  });
  return first == weights.size() ? -1 : first.load();
}

void check_weights(const Csr& graph) {
  const bool real = graph.weight_kind == WeightKind::float64;
  const arc_t wrong = real ? first_refused(graph.real_weights, [](double w) { return !(w >= 0) || std::isinf(w); })
                           : first_refused(graph.int_weights, [](std::int32_t w) { return w < 0; });
  if (wrong < 0) return;
  const std::string cure =
      "; weights must be finite and not negative (zero is legal); correct it, or use --weights hash255 or unit";
  if (!graph.weight_remarks.negative.empty()) throw UsageError(graph.weight_remarks.negative + cure);
  const auto row = std::upper_bound(graph.offsets.begin(), graph.offsets.end(), wrong) - graph.offsets.begin() - 1;
  char weight[40];
  if (real)
    std::snprintf(weight, sizeof weight, "%g", graph.real_weights[wrong]);
  else
    std::snprintf(weight, sizeof weight, "%d", graph.int_weights[wrong]);
  throw UsageError((graph.name.empty() ? "the graph" : graph.name) + ": the edge from vertex " + std::to_string(row) +
                   " to vertex " + std::to_string(graph.targets[wrong]) + " (numbered from 0) has weight " + weight +
                   cure);
}

}  // namespace

const char* name(WeightSource source) { return kNames[static_cast<int>(source)]; }

WeightSource parse_weights(const std::string& text) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames)) {
    throw UsageError("weights '" + text + "' are not known; legal: file, hash255, unit");
  }
  return static_cast<WeightSource>(found - std::begin(kNames));
}

Csr with_weights(const Csr& graph, WeightSource source) {
  Csr out;
  out.offsets = borrow(graph.offsets);
  out.targets = borrow(graph.targets);
  out.symmetric = graph.symmetric;
  out.name = graph.name;
  if (source == WeightSource::file) {
    if (graph.weight_kind == WeightKind::none) {
      const std::string& missing = graph.weight_remarks.missing;
      throw UsageError((graph.name.empty() ? "the graph" : graph.name) + ": has no weights" +
                       (missing.empty() ? "" : ", " + missing) + "; to have them made, use --weights hash255 or unit");
    }
    check_weights(graph);
    out.weight_kind = graph.weight_kind;
    out.weight_remarks = graph.weight_remarks;
    out.int_weights = borrow(graph.int_weights);
    out.real_weights = borrow(graph.real_weights);
    return out;
  }
  out.weight_kind = WeightKind::int32;
  out.int_weights = HostArray<std::int32_t>(graph.num_arcs());
  parallel_ranges(graph.num_vertices(), kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a) {
        out.int_weights[a] = source == WeightSource::unit ? 1 : hash255(static_cast<vertex_t>(v), graph.targets[a]);
      }
    }
  });
  return out;
}

}  // namespace shoal
