// Kernels of one GPU on the memory of another: the one place that asks for it.
#pragma once

namespace shoal {

/// Lets kernels of `device` use the memory of `peer` that device_alloc gave or will give, for the rest of the process.
/// Asked once for each pair: asking again is an error of the runtime, which tools report. From any thread.
/// @throws DeviceError the two cannot reach each other
void reach_peer(int device, int peer);

}  // namespace shoal
