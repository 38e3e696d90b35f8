#include <numeric>

#include "async.hpp"

namespace shoal {
namespace {

/// Operations on all vertices of a PE, by its threads. Each thread stores the vertices that are left of its share, and the seeds
/// among its share, at the beginning of the share's part of the arrays.
class HandsCpu {
 public:
  template <class Engine>
  void clear(const Engine& engine) {
    left_.assign(static_cast<std::size_t>(engine.machine().team().size()), 0);
    for_shares(engine, [&](const CsrView& rows, const KCorePe& pe, std::int64_t& left, vertex_t begin, vertex_t end) {
      for (vertex_t i = begin; i < end; ++i) {
        pe.degree[i] = static_cast<std::int32_t>(rows.offsets[i + 1] - rows.offsets[i]);
      }
      std::iota(pe.left + begin, pe.left + end, begin);
      left = end - begin;
    });
  }

  template <class Engine>
  std::vector<KCoreLook> look(const Engine& engine, std::int32_t done, std::int32_t k) {
    const auto t = static_cast<std::size_t>(engine.machine().threads_per_pe());
    std::vector<KCoreLook> parts(left_.size());
    for_shares(engine, [&](const CsrView& rows, const KCorePe& pe, std::int64_t& left, vertex_t begin, vertex_t) {
      KCoreLook part;
      vertex_t found = 0;
      const vertex_t* const end = pe.left + begin + left;
      for (const vertex_t* at = pe.left + begin; at < end; ++at) {
        bool stays = false;
        const vertex_t i = *at;
        if (pe.begins(i, done, k, stays)) pe.seeds[begin + found++] = rows.first + i;
        if (!stays) continue;
        part.least = std::min(part.least, pe.degree[i]);
        pe.left[begin + part.left++] = i;
      }
      left = part.left;
      if (found > 0) part.seeds = {{begin, found}};
      parts[static_cast<std::size_t>(&left - left_.data())] = std::move(part);
    });
    std::vector<KCoreLook> looks(engine.graph().n_pes());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      KCoreLook& look = looks[i / t];
      look.left += parts[i].left;
      look.least = std::min(look.least, parts[i].least);
      look.seeds.insert(look.seeds.end(), parts[i].seeds.begin(), parts[i].seeds.end());
    }
    return looks;
  }

 private:
  /// Calls f(rows, pe, left, begin, end) on each thread, with its share [begin, end) of the local vertices and the number of them
  /// that are left.
  template <class Engine, class F>
  void for_shares(const Engine& engine, F&& f) {
    const Machine& machine = engine.machine();
    machine.team().run([&](pe_t p, int thread) {
      const CsrView& rows = engine.graph().out[p];
      const std::int64_t n = rows.count, t = machine.threads_per_pe();
      f(rows, engine.pe(p), left_[static_cast<std::size_t>(p * t + thread)], static_cast<vertex_t>(n * thread / t),
        static_cast<vertex_t>(n * (thread + 1) / t));
    });
  }

  std::vector<std::int64_t> left_;  // [n_pes * threads_per_pe]
};

}  // namespace

std::unique_ptr<KCoreEngine> make_kcore_async_cpu(const Machine& machine, const PlacedGraph& graph,
                                                  const KCorePlan& plan) {
  return std::make_unique<KCoreAsync<HandsCpu>>(machine, graph, plan);
}

}  // namespace shoal
