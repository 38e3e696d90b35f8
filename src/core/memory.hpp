// How much memory this process may still take.
#pragma once
#include <cstdint>

namespace shoal {

/// Bytes that this process may still take: the machine's free memory, its control group's, `ulimit -v`, whichever is least;
/// at least 64 MiB. A reader or a run estimates what it will take and refuses before it takes it.
std::int64_t available_memory();

}  // namespace shoal
