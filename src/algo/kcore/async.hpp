// Peeling on a machine's PEs, from the same source for CPU threads and GPUs.
#pragma once
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algo/known_words.hpp"
#include "engines.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal {

/// The vertices of a PE that have not been peeled yet, and the arrays in which they are listed.
struct KCorePe {
  static constexpr std::int32_t kNoDegree = std::numeric_limits<std::int32_t>::max();

  std::int32_t* degree;  ///< [count] of the PE; the next three have the same size
  std::int32_t* core;    ///< core numbers of the vertices that have been peeled
  vertex_t* left;        ///< local numbers of the vertices that are left when the next level begins
  vertex_t* seeds;       ///< placed numbers of the vertices that begin it

  /// Judges a vertex that was left when the level `done` began, after that level has ended (-1: before the first level). The vertex
  /// has been peeled since, or it begins level `k`, or it is left.
  /// @return whether it begins level k; sets `stays` to whether it is left
  SHOAL_FN bool begins(vertex_t i, std::int32_t done, std::int32_t k, bool& stays) const {
    const std::int32_t d = degree[i];
    stays = d > k;
    if (stays) return false;
    core[i] = d <= done ? done : k;
    if (d <= done) return false;
    degree[i] = k + 1;
    return true;
  }
};

/// The result of looking at the vertices of one PE.
struct KCoreLook {
  std::int64_t left = 0;                             ///< number of vertices that are left
  std::int32_t least = KCorePe::kNoDegree;           ///< smallest number of remaining neighbours among them
  std::vector<std::pair<vertex_t, vertex_t>> seeds;  ///< parts of KCorePe::seeds: begin, size
};

/// Owns counts, core numbers and the worklist, which runs once for each level. Between runs, all vertices that are left are looked
/// at once. All of this is timed.
/// @tparam Hands  operations on all vertices of the PEs, in the memory that holds them:
///                clear(engine)  marks every vertex as left, with all of its neighbours
///                look(engine, done, k) -> std::vector<KCoreLook>, one for each PE: calls KCorePe::begins for all that are left
template <class Hands>
class KCoreAsync : public KCoreEngine {
 public:
  KCoreAsync(const Machine& machine, const PlacedGraph& graph, const KCorePlan& plan)
      : machine_(machine), graph_(graph), worklist_(machine, plan.launch) {
    KCore task{};
    task.owners = graph.partition.owner;
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const auto get = [&](const char* what) {
        memory_.push_back(machine.allocate(p, graph.out[p].count * sizeof(std::int32_t), what));
        return memory_.back().get();
      };
      pes_.push_back({static_cast<std::int32_t*>(get("neighbours left")),
                      static_cast<std::int32_t*>(get("core numbers")), static_cast<vertex_t*>(get("vertices left")),
                      static_cast<vertex_t*>(get("seeds"))});
      task.degrees.part[graph.first_pe + p] = pes_[p].degree;
    }
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      task.graph = graph.out[p];
      task.degree = pes_[p].degree;
      task.seeds = pes_[p].seeds;
      tasks_.push_back(task);
    }
  }

  void run(Report& report) override {
    const auto start = std::chrono::steady_clock::now();
    hands_.clear(*this);
    Report total;
    std::int64_t levels = 0;
    for (std::int32_t done = -1, k = 0;;) {
      const std::vector<KCoreLook> looks = hands_.look(*this, done, k);
      Found found;
      std::vector<std::vector<KCore::Item>> seeds(looks.size());
      for (std::size_t p = 0; p < looks.size(); ++p) {
        found.add({looks[p].left, looks[p].least, !looks[p].seeds.empty()});
        for (const auto& [begin, size] : looks[p].seeds) add_seeds(seeds[p], graph_.out[p].first + begin, size);
      }
      const std::vector<Found> of_all = of_processes(machine_, found);
      found = {};
      for (const Found& its : of_all) found.add(its);
      if (found.left == 0) break;  // all other vertices have their core numbers
      if (!found.seeds) {
        done = k;  // no vertex has k or fewer neighbours left, so the next level with any is next
        k = found.least;
        continue;
      }
      if (k > 0) {  // for k = 0 there is no run: a vertex without neighbours affects no other
        for (KCore& task : tasks_) task.k = k;
        total += run_everywhere(machine_, worklist_, tasks_, seeds);
        ++levels;
      }
      done = k++;
    }
    total.chosen = std::move(report.chosen);
    total.chosen.push_back({"levels", std::to_string(levels), "a run of the worklist for each core number"});
    total.phase_seconds = std::move(report.phase_seconds);
    total.phase_seconds.emplace_back("worklist", total.seconds);  // the rest of the time passes between its runs
    total.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report = std::move(total);
  }

  Words words() const override {
    return Words::of(graph_, [this](pe_t p) { return pes_[p].core; });
  }

  const Machine& machine() const { return machine_; }
  const PlacedGraph& graph() const { return graph_; }
  const KCorePe& pe(pe_t p) const { return pes_[p]; }

 private:
  /// The combined result of all PEs.
  struct Found {
    std::int64_t left = 0;
    std::int32_t least = KCorePe::kNoDegree;
    std::int32_t seeds = 0;  ///< not 0: there are some

    void add(const Found& other) {
      left += other.left;
      least = std::min(least, other.least);
      seeds |= other.seeds;
    }
  };

  static void add_seeds(std::vector<KCore::Item>& seeds, vertex_t first, vertex_t size) {
    for (vertex_t i = 0; i < size; i += KCore::kStretchSize) {
      seeds.push_back({first + i, -std::min<std::int32_t>(KCore::kStretchSize, static_cast<std::int32_t>(size - i))});
    }
  }

  const Machine& machine_;
  const PlacedGraph& graph_;
  Hands hands_;
  Worklist<KCore> worklist_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<KCorePe> pes_;
  std::vector<KCore> tasks_;
};

}  // namespace shoal
