// Which GPUs a process sees, in its order.
#pragma once
#include <string>

namespace shoal {

/// Where they are in this host: PCI bus numbers, the same in every process. Empty: there are none.
std::string device_ids();

}  // namespace shoal
