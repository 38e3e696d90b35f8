// The NCCL functions that the baselines need: exchange of counts and words between all ranks, and sums over all ranks.
#pragma once
#include <nccl.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../common/processes.hpp"
#include "../common/ranks.hpp"
#include "shoal/core/error.hpp"

namespace shoal::nccl {

using baselines::Ranks;

/// @throws TransportError  naming the call and the reason
inline void nccl_check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  const char* more = ncclGetLastError(nullptr);
  throw TransportError(std::string(what) + ": " + ncclGetErrorString(status) +
                       (more != nullptr && *more != '\0' ? std::string(", ") + more : std::string()) +
                       "; NCCL_DEBUG=WARN says more");
}
#define SHOAL_NCCL(call) ::shoal::nccl::nccl_check((call), #call)

/// One rank of a communicator, on the current device. Calls enqueue work on a stream; all ranks must make the same calls.
class Communicator {
 public:
  static ncclUniqueId new_id() {
    ncclUniqueId id;
    SHOAL_NCCL(ncclGetUniqueId(&id));
    return id;
  }
  static std::string version() {
    int number = 0;
    SHOAL_NCCL(ncclGetVersion(&number));
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
  }

  Communicator(const ncclUniqueId& id, const Ranks& ranks) : ranks_(ranks) {
    SHOAL_NCCL(ncclCommInitRank(&comm_, ranks.size, id, ranks.rank));
  }
  ~Communicator() { ncclCommDestroy(comm_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Tells every other rank how many words it will get. @param out, in  [ranks] in device memory
  void exchange_counts(const std::int64_t* out, std::int64_t* in, cudaStream_t stream) const {
    SHOAL_NCCL(ncclGroupStart());
    for (int r = 0; r < ranks_.size; ++r) {
      if (r == ranks_.rank) continue;
      SHOAL_NCCL(ncclSend(out + r, 1, ncclInt64, r, comm_, stream));
      SHOAL_NCCL(ncclRecv(in + r, 1, ncclInt64, r, comm_, stream));
    }
    SHOAL_NCCL(ncclGroupEnd());
  }

  /// @param words, received      device memory, ordered by rank; there are no words of a rank for itself
  /// @param out_words, in_words  [ranks] host memory
  template <class T>
  void exchange(const T* words, const std::int64_t* out_words, T* received, const std::int64_t* in_words,
                cudaStream_t stream) const {
    SHOAL_NCCL(ncclGroupStart());
    for (int r = 0; r < ranks_.size; ++r) {
      if (r == ranks_.rank) continue;
      if (out_words[r] > 0) SHOAL_NCCL(ncclSend(words, out_words[r], type<T>(), r, comm_, stream));
      if (in_words[r] > 0) SHOAL_NCCL(ncclRecv(received, in_words[r], type<T>(), r, comm_, stream));
      words += out_words[r];
      received += in_words[r];
    }
    SHOAL_NCCL(ncclGroupEnd());
  }

  /// Sends to and receives from some ranks, in device memory. @param out, in  at most one message per rank each
  void exchange(const std::vector<baselines::Message>& out, const std::vector<baselines::Message>& in,
                cudaStream_t stream) const {
    SHOAL_NCCL(ncclGroupStart());
    for (const auto& m : out) SHOAL_NCCL(ncclSend(m.words, m.count, ncclFloat64, m.rank, comm_, stream));
    for (const auto& m : in) SHOAL_NCCL(ncclRecv(m.words, m.count, ncclFloat64, m.rank, comm_, stream));
    SHOAL_NCCL(ncclGroupEnd());
  }

  /// @param from, to  [count] in device memory; may be the same
  template <class T>
  void sum(const T* from, T* to, int count, cudaStream_t stream) const {
    SHOAL_NCCL(ncclAllReduce(from, to, count, type<T>(), ncclSum, comm_, stream));
  }

  const Ranks& ranks() const { return ranks_; }

 private:
  template <class T>
  static ncclDataType_t type() {
    if constexpr (std::is_same_v<T, double>) return ncclFloat64;
    if constexpr (std::is_same_v<T, std::int64_t>) return ncclInt64;
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint32_t>);
    return ncclUint32;
  }

  Ranks ranks_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace shoal::nccl
