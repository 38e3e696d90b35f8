// Identifies the GPUs that a process sees, in their order.
#pragma once
#include <string>

namespace shoal {

/// Their PCI bus numbers, which are the same in every process of the host. Empty: there are no GPUs.
std::string device_ids();

}  // namespace shoal
