// One type for each of the basic quantities: PEs, lanes, vertices, arcs, levels, tickets.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

using pe_t = std::int32_t;       ///< a processing element: a GPU, or a group of CPU threads
using lane_t = std::uint32_t;    ///< a lane (thread) of a worker, or a number of lanes
using vertex_t = std::uint32_t;  ///< a vertex number; graphs hold at most 2^31 - 1 vertices
using arc_t = std::int64_t;      ///< an arc's position or a number of arcs; always 64 bits wide
using level_t = std::uint32_t;   ///< hops from the source; kUnreached if there is no path
using ticket_t = std::uint64_t;  ///< a position in a ring, counted from its first use; never wraps

inline constexpr vertex_t kNoVertex = 0xFFFFFFFFu;
inline constexpr level_t kUnreached = 0xFFFFFFFFu;  ///< as int32 this is -1, which files and arrays show
inline constexpr std::int64_t kMaxVertices = 0x7FFFFFFF;
/// The most PEs that may share a GPU. Their kernels must run at the same time, and a process has few hardware queues to a
/// GPU.
inline constexpr pe_t kMaxPesPerGpu = 4;
inline constexpr pe_t kMaxPes = 64;  ///< the most PEs of a run; kernels get tables of this size by value
inline constexpr std::size_t kCacheLine =
    128;  ///< two 64-byte lines: what a GPU sector pair and an x86 prefetcher share

}  // namespace shoal
