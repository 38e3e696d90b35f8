// Arrays on GPUs of several processes of one host that kernels of all these processes use: each process allocates the arrays of its
// own PEs, and maps those of the others (CUDA IPC).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// The arrays of all PEs, as addresses that are valid for kernels of a PE of this process. Every PE contributes a list of arrays,
/// and an array is named by its index in that list.
class PeerArrays {
 public:
  using List = std::vector<void*>;

  /// For one process: an array has the same address for all PEs.
  explicit PeerArrays(const std::vector<List>& of_all) : at_(of_all.size(), of_all) {}
  /// @param at  [PEs of this process][PEs of all]
  explicit PeerArrays(std::vector<std::vector<List>> at) : at_(std::move(at)) {}

  /// @param here   a PE of this process, counted from 0 within it
  /// @param of     a PE, counted over all processes
  /// @param which  index in its list
  template <class T>
  T* get(pe_t here, pe_t of, std::size_t which) const {
    return static_cast<T*>(at_[here][of][which]);
  }

 private:
  std::vector<std::vector<List>> at_;
};

class SharedArrays {
 public:
  /// @param devices  [PEs of this process]
  SharedArrays(std::vector<int> devices, World& world) : devices_(std::move(devices)), world_(world) {}
  /// Called by every process: unmaps the arrays of others, waits until all processes have done so, and frees its own. Does not wait
  /// if the run has failed.
  ~SharedArrays();
  SharedArrays(const SharedArrays&) = delete;
  SharedArrays& operator=(const SharedArrays&) = delete;

  /// Not zeroed; null for 0 bytes. @throws CapacityError
  void* allocate(pe_t here, std::size_t bytes, const char* name);
  /// See PeerMemory::of_all().
  PeerArrays of_all(const std::vector<PeerArrays::List>& mine);
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Array {
    int device;
    void* data;
  };
  void* map(int device, const std::string& handle);

  std::vector<int> devices_;
  World& world_;
  std::vector<Array> arrays_;
  std::map<std::pair<int, std::string>, void*> mapped_;  ///< key: device of this process, and handle
  std::int64_t bytes_ = 0;
  bool told_ = false;  ///< other processes may have mapped arrays of this one
};

}  // namespace shoal
