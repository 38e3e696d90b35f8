// The sieve: memory in which the lanes of a block collect the items that the warps do not refuse. In a graph search a look refuses
// nearly all pushes; in PageRank few shares make a residual reach its limit. So the warps of a block refuse what they can, each warp
// at its own pace, and the block meets only for the items that are left.
#pragma once
#include "shoal/core/fn.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

/// Whether a worker sifts the items that range() and make() push: blocks do, for tasks that refuse most items.
template <class W, class TaskT>
inline constexpr bool kSifts = HasParts<W>&& RefusesMost<TaskT>;

/// Lies in shared memory of the block. Between two uses it is empty.
///
/// A part (a warp) makes turns of up to kOffers items per lane, as long as it has seen no more than w.size() items in the sieve.
/// When the sieve first holds more than that, each part adds at most one more turn.
template <class Item>
struct Sieve {
  lane_t* count = nullptr;  ///< items in the sieve
  Item* item = nullptr;     ///< [capacity]
  SHOAL_FN static constexpr lane_t capacity(lane_t lanes, lane_t offers) { return lanes + lanes * offers; }
};

}  // namespace shoal
