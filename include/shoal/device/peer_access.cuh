// Peer access: kernels of one GPU access the memory of another. No other code of shoal enables it, except where memory of
// another process is mapped (CUDA IPC).
#pragma once
#include <vector>

namespace shoal {

/// Lets kernels of `device` access all memory of `peer` that device_alloc() has returned or will return, for the rest of the
/// process. May be called any number of times, from any thread; peer access is enabled only once for each pair, because CUDA
/// reports a second request as an error.
/// @throws DeviceError  the two devices have no peer access to each other
void reach_peer(int device, int peer);
/// Gives each of `devices` access to every other one. Copies between the memories of two devices need it, too.
inline void reach_each_other(const std::vector<int>& devices) {
  for (const int device : devices) {
    for (const int peer : devices) reach_peer(device, peer);
  }
}

}  // namespace shoal
