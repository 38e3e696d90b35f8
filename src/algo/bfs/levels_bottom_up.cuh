// The bottom-up direction of a level: every unreached vertex looks for an in-neighbour in the frontier. Also the two conversions
// between a queue and a bitmap. A warp owns a tile of 256 vertices, so only vertices that are found after their tile was written
// need atomics.
#pragma once
#include "levels_top_down.cuh"

namespace shoal::bfs_gpu {

inline constexpr u32 kSerialArcs = 64;  ///< arcs that one lane reads alone before the warp takes the rest of the row

inline __device__ bool in_frontier(const u32* front, u32 vertex) {
  return vertex != kNone && (front[vertex >> 5] >> (vertex & 31) & 1) != 0;
}

/// Writes a tile's frontier words here and at all peers. Lane j < kTileWords holds word j.
template <bool kMulti>
__device__ void publish_tile(const Slice& v, u32 which, u32 tile, u32 word) {
  if (lane_id() >= kTileWords) return;
  const u32 at = v.base[v.me] / 32 + tile * kTileWords + lane_id();
  v.front[which][at] = word;
  if constexpr (kMulti) {
    for (pe_t p = 0; p < v.team.n_pes; ++p) {
      if (p != v.team.me) v.peer_front[which][p][at] = word;
    }
  }
}

/// Sets front[0] to the vertices whose level is `depth`.
template <bool kMulti>
__device__ void frontier_to_bitmap(const Slice& v, const level_t* level, u32 depth) {
  for (u32 tile = warp_id(); tile < v.words / kTileWords; tile += num_warps()) {
    level_t l[kTileWords];
#pragma unroll
    for (u32 j = 0; j < kTileWords; ++j) {
      const u32 local = tile * kTile + j * 32 + lane_id();
      l[j] = local < v.out.count ? level[local] : kUnreached;
    }
    u32 word = 0;
#pragma unroll
    for (u32 j = 0; j < kTileWords; ++j) {
      const u32 votes = __ballot_sync(kAll, l[j] == depth);
      if (lane_id() == j) word = votes;
    }
    publish_tile<kMulti>(v, 0, tile, word);
  }
}

/// Appends the own vertices of a frontier bitmap to the queue of the sink's depth.
template <bool kMulti>
__device__ void bitmap_to_queue(Sink<kMulti>& sink, u32 which) {
  const Slice& v = sink.v;
  const u32 first_word = v.base[v.me] / 32;
  for (u32 tile = warp_id(); tile < v.words / kTileWords; tile += num_warps()) {
    const u32 word = lane_id() < kTileWords ? v.front[which][first_word + tile * kTileWords + lane_id()] : 0;
    if (!__any_sync(kAll, word != 0)) continue;
    for (u32 j = 0; j < kTileWords; ++j) {
      const u32 w = __shfl_sync(kAll, word, j);
      if (w == 0) continue;
      if (sink.fill > kBuffer - 32) sink.flush();
      sink.collect(v.base[v.me] + tile * kTile + j * 32 + lane_id(), w >> lane_id() & 1);
    }
  }
  sink.flush();
}

/// Marks a vertex that was found after its tile was published: here, and in the copies of all peers. One lane calls it.
template <bool kMulti>
__device__ void publish_late(const Slice& v, level_t* level, u32 depth, u32 which, u32 local) {
  const u32 at = v.base[v.me] / 32 + local / 32, bit = 1u << (local & 31);
  level[local] = depth;
  atomicOr(v.seen + at, bit);
  atomicOr(v.front[which] + at, bit);
  if constexpr (kMulti) {
    for (pe_t p = 0; p < v.team.n_pes; ++p) {
      if (p != v.team.me) atomicOr_system(v.peer_front[which][p] + at, bit);
    }
  }
}

/// Reads the rows of the n listed own vertices until a neighbour is in front[which]; sets the level of those that have one to
/// `depth`.
/// @return how many this lane found
template <bool kMulti>
__device__ u32 search_rows(const Slice& v, level_t* level, u32 depth, u32 which, const u32* list, u32 n) {
  const u32 lane = lane_id();
  const u32* front = v.front[which];
  u32 count = 0;
  for (u32 i = 0; i < n; i += 32) {
    u64 arc = 0, end = 0;
    u32 local = 0;
    bool hit = false;
    if (i + lane < n) {
      local = list[i + lane];
      arc = __ldg(v.in.offsets + local);
      end = __ldg(v.in.offsets + local + 1);
      const u64 stop = min(end, arc + kSerialArcs);
      for (; arc < stop && !hit; arc += 8) {
        u32 t[8];
#pragma unroll
        for (u32 j = 0; j < 8; ++j) t[j] = arc + j < stop ? __ldg(v.in.targets + arc + j) : kNone;
#pragma unroll
        for (u32 j = 0; j < 8; ++j) {
          if (t[j] != kNone) t[j] = padded<kMulti>(v, t[j]);
        }
#pragma unroll
        for (u32 j = 0; j < 8; ++j) hit |= in_frontier(front, t[j]);
      }
    }
    __syncwarp();
    for (u32 longs = __ballot_sync(kAll, !hit && arc < end); longs != 0; longs &= longs - 1) {
      const u32 from = __ffs(longs) - 1;
      const u64 stop = __shfl_sync(kAll, end, from);
      bool any = false;
      for (u64 a = __shfl_sync(kAll, arc, from); a < stop && !any; a += 128) {
        bool here = false;
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          const u64 x = a + j * 32 + lane;
          here |= x < stop && in_frontier(front, padded<kMulti>(v, __ldg(v.in.targets + (x < stop ? x : a))));
        }
        any = __any_sync(kAll, here);
      }
      if (lane == from) hit = any;
    }
    if (hit) publish_late<kMulti>(v, level, depth, which ^ 1, local);
    count += hit;
    __syncwarp();
  }
  return count;
}

/// Looks for a neighbour in front[which] for every unreached own vertex; those that have one get level `depth` and make up
/// front[which ^ 1]. Few vertices need their rows read, so the rows of several tiles are read together, one row per lane.
/// @param buffer  the warp's kWarpWords words
/// @return how many this warp found (the same in every lane)
template <bool kMulti>
__device__ u32 bottom_up(const Slice& v, level_t* level, u32 depth, u32 which, u32* buffer) {
  const u32 lane = lane_id();
  const u32* front = v.front[which];
  u32* seen = v.seen + v.base[v.me] / 32;
  auto* list = reinterpret_cast<std::uint8_t*>(buffer);  // positions in the tile of vertices that are still searching
  u32* found = buffer + kTile / 4;                       // [kTileWords] bits of those in `list` that found a neighbour
  u32* rows = found + kTileWords;                        // own vertices whose rows must be read
  static_assert(kTile == 256 && kWarpWords >= kTile / 4 + kTileWords + kTile + 32, "a place is one byte; all fit");
  u32 count = 0, num_rows = 0;
  for (u32 tile = warp_id(); tile < v.words / kTileWords; tile += num_warps()) {
    const u32 open = lane < kTileWords ? ~seen[tile * kTileWords + lane] : 0;
    u32 word = 0;
    if (__any_sync(kAll, open != 0)) {
      u32 h[kTileWords], f[kTileWords], n = 0;
#pragma unroll
      for (u32 j = 0; j < kTileWords; ++j) {
        const u32 w = __shfl_sync(kAll, open, j);
        h[j] = w >> lane & 1 ? __ldg(v.head + tile * kTile + j * 32 + lane) : kNone;
      }
#pragma unroll
      for (u32 j = 0; j < kTileWords; ++j) f[j] = h[j] != kNone ? front[h[j] >> 5] : 0;
#pragma unroll
      for (u32 j = 0; j < kTileWords; ++j) {
        const bool hit = (f[j] >> (h[j] & 31) & 1) != 0, miss = h[j] != kNone && !hit;
        const u32 hits = __ballot_sync(kAll, hit), misses = __ballot_sync(kAll, miss);
        if (hit) level[tile * kTile + j * 32 + lane] = depth;
        if (lane == j) word = hits;
        if (miss) list[n + __popc(misses & lanes_below())] = static_cast<std::uint8_t>(j * 32 + lane);
        n += __popc(misses);
      }
      if (n != 0) {
        if (lane < kTileWords) found[lane] = 0;
        __syncwarp();
        for (u32 i = 0; i < n; i += 64) {  // two list entries per lane, so that their loads overlap
          u32 place[2];
          uint4 q[2];
          bool hit[2];
#pragma unroll
          for (u32 k = 0; k < 2; ++k) {
            const u32 x = i + k * 32 + lane;
            place[k] = x < n ? list[x] : 0;
            q[k] = x < n ? __ldg(v.heads + tile * kTile + place[k]) : uint4{kNone, kNone, kNone, kNone};
          }
#pragma unroll
          for (u32 k = 0; k < 2; ++k) {
            const bool second = in_frontier(front, q[k].y), third = in_frontier(front, q[k].z);
            hit[k] = in_frontier(front, q[k].w) || second || third;
          }
#pragma unroll
          for (u32 k = 0; k < 2; ++k) {
            if (hit[k]) atomicOr(found + (place[k] >> 5), 1u << (place[k] & 31));
            const bool more = !hit[k] && q[k].w != kNone;
            const u32 votes = __ballot_sync(kAll, more);
            if (more) rows[num_rows + __popc(votes & lanes_below())] = tile * kTile + place[k];
            num_rows += __popc(votes);
          }
        }
        __syncwarp();
        const u32 late = lane < kTileWords ? found[lane] : 0;
        word |= late;
        for (u32 j = 0; j < kTileWords; ++j) {
          if (__shfl_sync(kAll, late, j) >> lane & 1) level[tile * kTile + j * 32 + lane] = depth;
        }
      }
      if (lane < kTileWords && word != 0) seen[tile * kTileWords + lane] = ~open | word;
    }
    publish_tile<kMulti>(v, which ^ 1, tile, word);
    __syncwarp();  // publish_late() must find the words written
    count += __popc(word);
    if (num_rows >= 32) {
      count += search_rows<kMulti>(v, level, depth, which, rows, num_rows);
      num_rows = 0;
    }
  }
  count += search_rows<kMulti>(v, level, depth, which, rows, num_rows);
  return __reduce_add_sync(kAll, count);
}

}  // namespace shoal::bfs_gpu
