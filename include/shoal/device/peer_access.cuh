// Peer access: kernels of one GPU use the memory of another. Nothing else in shoal asks CUDA for it.
#pragma once
#include <vector>

namespace shoal {

/// Lets kernels of `device` use all memory of `peer` that device_alloc has returned or will return, for the rest of the
/// process. May be called any number of times, from any thread; CUDA is asked only once for each pair, because it
/// reports a second request as an error.
/// @throws DeviceError  the two devices have no peer access to each other
void reach_peer(int device, int peer);
/// Gives each of `devices` access to every other. Copies between the memories of two devices need it, too.
inline void reach_each_other(const std::vector<int>& devices) {
  for (const int device : devices) {
    for (const int peer : devices) reach_peer(device, peer);
  }
}

}  // namespace shoal
