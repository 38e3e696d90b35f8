#include <algorithm>

#include "sssp_async.hpp"

namespace shoal {
namespace {

/// Each thread clears its share of its PE's distances.
struct ClearCpu {
  template <class Word>
  void operator()(const Machine& machine, const PlacedGraph& graph, const std::vector<Word*>& known) const {
    machine.team().run([&](pe_t pe, int thread) {
      const std::int64_t n = graph.num_vertices, t = machine.threads_per_pe();
      std::fill(known[pe] + n * thread / t, known[pe] + n * (thread + 1) / t, kUnreachedDistance<Word>);
    });
  }
};

}  // namespace

std::unique_ptr<SsspEngine> make_sssp_async_cpu(const Machine& machine, const PlacedGraph& graph,
                                                const LaunchPlan& plan, bool wide) {
  if (wide) return std::make_unique<SsspAsync<std::uint64_t, ClearCpu>>(machine, graph, plan, ClearCpu{});
  return std::make_unique<SsspAsync<std::uint32_t, ClearCpu>>(machine, graph, plan, ClearCpu{});
}

}  // namespace shoal
