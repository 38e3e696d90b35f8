// Kernels of one GPU on the memory of another: the one place that asks for it.
#pragma once
#include <vector>

namespace shoal {

/// Lets kernels of `device` use the memory of `peer` that device_alloc gave or will give, for the rest of the process.
/// Asked once for each pair: asking again is an error of the runtime, which tools report. From any thread.
/// @throws DeviceError the two cannot reach each other
void reach_peer(int device, int peer);
/// Each of `devices` reaches every other. Also copies between memory of two devices need that.
inline void reach_each_other(const std::vector<int>& devices) {
  for (const int device : devices) {
    for (const int peer : devices) reach_peer(device, peer);
  }
}

}  // namespace shoal
