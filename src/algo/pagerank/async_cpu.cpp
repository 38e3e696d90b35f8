#include <algorithm>
#include <cmath>

#include "async.hpp"

namespace shoal {
namespace {

/// Operations on all vertices of a PE, by its threads.
struct HandsCpu {
  static constexpr double kShrink = 4;
  static double first(pe_t) { return 4; }

  template <class Engine, class F>
  static void for_all(const Engine& engine, pe_t p, F&& f) {
    const Machine& machine = engine.machine();
    const std::int64_t n = engine.graph().out[p].count, t = machine.threads_per_pe();
    machine.team().run([&](pe_t pe, int thread) {
      if (pe == p) f(thread, n * thread / t, n * (thread + 1) / t);
    });
  }
  /// Not needed: threads read the rows of all PEs equally fast.
  static const std::uint8_t* log_degrees(const PlacedGraph&, pe_t) { return nullptr; }
  /// Not needed: threads add to the residuals of all PEs equally fast.
  static double* owed(const PlacedGraph&, pe_t) { return nullptr; }
  template <class Engine>
  static void collect(const Engine&, pe_t) {}
  template <class Engine>
  static void forget_owed(const Engine&, pe_t) {}
  template <class Engine>
  void clear(const Engine& engine, pe_t p) const {
    for_all(engine, p, [&](int, std::int64_t begin, std::int64_t end) {
      const auto& task = engine.task(p);
      std::fill(task.y + begin, task.y + end, 0.0);
      std::fill(task.residual + begin, task.residual + end, 0.0);
    });
  }
  template <class Engine>
  PageRankSums sums(const Engine& engine, pe_t p) const {
    std::vector<PageRankSums> parts(static_cast<std::size_t>(engine.machine().threads_per_pe()));
    for_all(engine, p, [&](int thread, std::int64_t begin, std::int64_t end) {
      const auto& task = engine.task(p);
      PageRankSums part;
      for (std::int64_t i = begin; i < end; ++i) {
        const double r = task.residual[i];
        part.ranks += std::max(task.y[i] + r, 0.0);
        if (task.graph.offsets[i + 1] == task.graph.offsets[i]) continue;
        part.left += std::abs(r);
        part.drift += r;
        part.jumps += task.personal != nullptr ? task.personal[i] : task.uniform;
      }
      parts[static_cast<std::size_t>(thread)] = part;
    });
    PageRankSums all;
    for (const PageRankSums& part : parts) all += part;
    return all;
  }
  template <class Engine>
  void settle(const Engine& engine, pe_t p, double scale) const {
    for_all(engine, p, [&](int, std::int64_t begin, std::int64_t end) {
      const auto& task = engine.task(p);
      for (std::int64_t i = begin; i < end; ++i) task.y[i] = std::max(task.y[i] + task.residual[i], 0.0) * scale;
    });
  }
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_async_cpu(const Machine& machine, const PlacedGraph& graph,
                                                        const PageRankPlan& plan) {
  return std::make_unique<PageRankAsync<PageRankSummed, HandsCpu>>(machine, graph, plan);
}

}  // namespace shoal
