// Sweeps on GPUs that do not reach each other's memory (lockstep/apart.cuh): a kernel for each sweep; before it, each PE sends what its
// vertices give to those whose rows read it.
#pragma once
#include <memory>
#include <vector>

#include "lockstep/apart.cuh"
#include "readers.cuh"
#include "sweep.cuh"

namespace shoal {

struct PageRankReached {
  std::int64_t sweeps = 0;
  double bound = 0;  ///< of the error
  double rho = 0;    ///< at the end
  bool settled = false;
};

/// @tparam Share  what contributions are kept in: float or double
template <class Share>
class PageRankSweepsApart {
 public:
  /// All must stay alive. @param readers  with lists
  PageRankSweepsApart(const PlacedGraph& graph, LockstepTeam& team, Apart& apart, const PageRankReadersGpu& readers);

  /// Every process. Adds to `report` the seconds of the slowest.
  /// @param views  of this process, without readers
  /// @throws as Apart::together()
  PageRankReached rank(std::vector<pagerank_gpu::View<Share>>& views, const pagerank_gpu::Rules& rules, Report& report);

 private:
  void send(const std::vector<pagerank_gpu::View<Share>>& views, std::uint32_t which);

  const PlacedGraph& graph_;
  LockstepTeam& team_;
  Apart& apart_;
  const PageRankReadersGpu& readers_;
  PeerMemory memory_;
  std::vector<Share*> out_, in_;  ///< [PEs of this process] in the order of the lists
  std::vector<int> begin_blocks_, sweep_blocks_, end_blocks_;
};

extern template class PageRankSweepsApart<float>;
extern template class PageRankSweepsApart<double>;

}  // namespace shoal
