// The MPI functions that search and PageRank need: exchange of words between all ranks, sums over all ranks, and a clock.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "../common/ranks.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal::mpi {

using baselines::Ranks;
using baselines::Rows;
using baselines::Step;

class Clock {
 public:
  double lap() {
    const double begin = last_;
    last_ = MPI_Wtime();
    return last_ - begin;
  }

 private:
  double last_ = MPI_Wtime();
};

template <class T>
MPI_Datatype datatype() {
  if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  static_assert(std::is_same_v<T, double> || (sizeof(T) == 4 && std::is_integral_v<T>));
  return MPI_UINT32_T;
}

/// Where the words for, or from, each rank are in an array. MPI counts them in int.
struct Layout {
  std::vector<int> counts, begins;

  explicit Layout(int ranks) : counts(ranks), begins(ranks) {}
  void count(int rank, std::int64_t words) {
    require(words);
    counts[rank] = static_cast<int>(words);
  }
  /// Sets `begins`. To be called after all counts are set. @return the number of all words
  std::size_t place() {
    const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    require(all);
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
    return static_cast<std::size_t>(all);
  }
  /// @throws CapacityError
  static void require(std::int64_t words) {
    if (words <= std::numeric_limits<int>::max()) return;
    throw CapacityError(grouped(words) + " words in one exchange are more than MPI counts; use more ranks");
  }
};

/// Tells every rank how many words each other rank sends to it.
inline void exchange_counts(const Layout& out, Layout& in) {
  MPI_Alltoall(out.counts.data(), 1, MPI_INT, in.counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

template <class T>
void exchange(const T* words, const Layout& out, T* received, const Layout& in) {
  MPI_Alltoallv(words, out.counts.data(), out.begins.data(), datatype<T>(), received, in.counts.data(),
                in.begins.data(), datatype<T>(), MPI_COMM_WORLD);
}

template <class T>
T over_all(T value, MPI_Op operation, MPI_Datatype type) {
  T all{};
  MPI_Allreduce(&value, &all, 1, type, operation, MPI_COMM_WORLD);
  return all;
}

}  // namespace shoal::mpi
