// Sweeps on GPUs that cannot access each other's memory (lockstep/apart.cuh): one kernel for each sweep. Before it, each PE sends
// the contributions of its vertices to the PEs whose rows read them.
#pragma once
#include <memory>
#include <vector>

#include "lockstep/apart.cuh"
#include "readers.cuh"
#include "sweep.cuh"

namespace shoal {

struct PageRankReached {
  std::int64_t sweeps = 0;
  double bound = 0;  ///< bound of the error
  double rho = 0;    ///< its final value
  bool settled = false;
};

/// @tparam Share  type of stored contributions: float or double
template <class Share>
class PageRankSweepsApart {
 public:
  /// All arguments must stay alive. @param readers  with lists
  PageRankSweepsApart(const PlacedGraph& graph, LockstepTeam& team, Apart& apart, const PageRankReadersGpu& readers);

  /// Called by every process. Adds the seconds of the slowest to `report`.
  /// @param views  of the PEs of this process, without readers
  /// @throws as Apart::together()
  PageRankReached rank(std::vector<pagerank_gpu::View<Share>>& views, const pagerank_gpu::Rules& rules, Report& report);

 private:
  void send(const std::vector<pagerank_gpu::View<Share>>& views, std::uint32_t which);

  const PlacedGraph& graph_;
  LockstepTeam& team_;
  Apart& apart_;
  const PageRankReadersGpu& readers_;
  PeerMemory memory_;
  std::vector<Share*> out_, in_;  ///< [PEs of this process] contributions in the order of the lists
  std::vector<int> begin_blocks_, sweep_blocks_, end_blocks_;
};

extern template class PageRankSweepsApart<float>;
extern template class PageRankSweepsApart<double>;

}  // namespace shoal
