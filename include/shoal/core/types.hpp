// Words of the field with one type each. 32-bit vertices, 64-bit arcs, 64-bit tickets: see docs/contract.md.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

using pe_t = std::int32_t;       ///< a processing element: a GPU, or a group of CPU threads
using lane_t = std::uint32_t;    ///< a lane of a worker, or a count of lanes
using vertex_t = std::uint32_t;  ///< a vertex number; graphs hold at most 2^31 - 1 vertices
using arc_t = std::int64_t;      ///< an arc offset or count; always 64 bits wide
using level_t = std::uint32_t;   ///< hops from the source; kUnreached where there is no path
using ticket_t = std::uint64_t;  ///< position in a ring since the start of the run; never wraps

inline constexpr vertex_t kNoVertex = 0xFFFFFFFFu;
inline constexpr level_t kUnreached = 0xFFFFFFFFu;  ///< as int32 this is -1, which is what files and arrays show
inline constexpr std::int64_t kMaxVertices = 0x7FFFFFFF;
/// PEs that may share a GPU: their kernels must run side by side, and a process has few queues to a GPU.
inline constexpr pe_t kMaxPesPerGpu = 4;
inline constexpr pe_t kMaxPes = 64;  ///< PEs of one process; a table of this size travels into kernels
inline constexpr std::size_t kCacheLine =
    128;  ///< two 64-byte lines: what a GPU sector pair and an x86 prefetcher share

}  // namespace shoal
