// How many items a GPU worker takes at a time, by how many wait (docs/decisions/0029-short-batches.md).
#pragma once
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// The fewest items of a batch; also of the first one.
/// @param fetch  the most
/// @param sifts  the worker sifts (kSifts), so `fetch` may be several times what it judges at once. While few items wait, they are
///               often the longest rows of a graph, and one worker would have several of them
SHOAL_FN constexpr lane_t least_share(lane_t fetch, bool sifts) {
  const lane_t eighth = fetch / 8, most = sifts ? 8 : ~lane_t{0};
  return eighth > most ? most : eighth > 4 ? eighth : fetch < 4 ? fetch : 4;
}

/// The items of the next batch: from least_share(fetch, sifts) to fetch.
/// @param waiting    items of the ring beyond the tickets that all workers hold
/// @param n_workers  of the PE, at least 1
/// @param grows      a batch takes longer the more items it has, as for blocks: the worker takes its share of what waits. A warp's
///                   full batch takes hardly longer than a small one, so warps take full batches as soon as a quarter of an item
///                   waits for each.
SHOAL_FN constexpr lane_t next_share(ticket_t waiting, lane_t n_workers, lane_t fetch, bool grows, bool sifts) {
  const lane_t least = least_share(fetch, sifts);
  if (!grows) return 4 * waiting >= n_workers ? fetch : least;
  const lane_t fair = static_cast<lane_t>(waiting < 1u << 31 ? waiting : 1u << 31) / n_workers;
  return fair < least ? least : fair < fetch ? fair : fetch;
}

/// The share of each worker in a round of `items` (Round::share). Warps run a round with a few more items per worker in one batch: a
/// second one would be alone at the end of the round.
/// @param most  of a warp's batch, its lanes; `fetch` for other workers
SHOAL_FN constexpr lane_t share_in_round(ticket_t items, lane_t n_workers, lane_t fetch, lane_t most) {
  if (items <= ticket_t{n_workers} * fetch) return fetch;
  const ticket_t fair = (items + n_workers - 1) / n_workers;
  return fair < most ? static_cast<lane_t>(fair) : most;
}

}  // namespace shoal
