// How much memory this process may still take.
#pragma once
#include <cstdint>
#include <string>

namespace shoal {

/// Bytes that this process may still take: the least of the machine's free memory, what its control groups' limits leave, and what
/// `ulimit -v` leaves; but at least 64 MiB. A reader or a run estimates how much it will take, and refuses before it takes any.
/// @param processes  the number of processes that share the machine's memory and the control groups' limits, at least 1
std::int64_t available_memory(int processes = 1);

/// The largest amount of memory, in bytes, that this process has used at any time (its peak resident set size).
std::int64_t most_memory();

/// The message for a graph that needs more memory: "9 vertices and 8 arcs take about 7 MB of memory, 6 MB are available; " and what
/// to do about it.
std::string too_large(std::int64_t vertices, std::int64_t arcs, std::int64_t bytes, std::int64_t available_bytes);

}  // namespace shoal
