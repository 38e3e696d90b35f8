// How much memory this process may still take.
#pragma once
#include <cstdint>
#include <string>

namespace shoal {

/// Bytes that this process may still take: the machine's free memory, its control group's, `ulimit -v`, whichever is least;
/// at least 64 MiB. A reader or a run estimates what it will take and refuses before it takes it.
/// @param processes  among which the machine's and the control group's are shared
std::int64_t available_memory(int processes = 1);

/// The most bytes of memory that this process has had at any time.
std::int64_t most_memory();

/// What is said where a graph takes more: "9 vertices and 8 arcs take about 7 MB of memory, 6 MB are available; " and the cure.
std::string too_large(std::int64_t vertices, std::int64_t arcs, std::int64_t bytes, std::int64_t available_bytes);

}  // namespace shoal
