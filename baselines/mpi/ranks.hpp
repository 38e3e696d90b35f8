// What both baselines need of MPI: which vertices are whose, words that go from every rank to every other, clocks.
// An error within MPI ends all ranks (MPI_ERRORS_ARE_FATAL, the default).
#pragma once
#include <mpi.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::mpi {

/// Vertex v belongs to rank v mod size, where its number is v div size.
struct Ranks {
  int rank = 0, size = 1;
  int on_host = 1;  ///< ranks that share this rank's memory

  int owner(vertex_t v) const { return static_cast<int>(v % static_cast<vertex_t>(size)); }
  vertex_t local(vertex_t v) const { return v / static_cast<vertex_t>(size); }
  std::int64_t count(std::int64_t num_vertices, int of) const { return (num_vertices + size - 1 - of) / size; }
  std::int64_t count(std::int64_t num_vertices) const { return count(num_vertices, rank); }
};

/// The rows of a rank's own vertices. Targets are those of the input.
struct Rows {
  std::vector<arc_t> offsets{0};
  std::vector<vertex_t> targets;

  Rows() = default;
  Rows(const Csr& graph, const Ranks& ranks) {
    for (std::int64_t v = ranks.rank; v < graph.num_vertices(); v += ranks.size) {
      const auto row = graph.neighbors(static_cast<vertex_t>(v));
      targets.insert(targets.end(), row.begin(), row.end());
      offsets.push_back(static_cast<arc_t>(targets.size()));
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  arc_t degree(std::int64_t v) const { return offsets[v + 1] - offsets[v]; }
  Span<const vertex_t> operator[](std::int64_t v) const { return {targets.data() + offsets[v], degree(v)}; }
};

/// One level or sweep, as one rank saw it.
struct Step {
  std::int64_t vertices = 0;  ///< of the rank, that were expanded
  std::int64_t sent = 0;      ///< words to other ranks
  double compute_seconds = 0;
  double communicate_seconds = 0;  ///< within MPI, which includes waiting for slower ranks
};

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

/// Where the words for, or from, each rank lie in an array: MPI counts in int.
struct Layout {
  std::vector<int> counts, begins;

  explicit Layout(int ranks) : counts(ranks), begins(ranks) {}
  void count(int rank, std::size_t words) {
    require(static_cast<std::int64_t>(words));
    counts[rank] = static_cast<int>(words);
  }
  /// After the counts. @return all words
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

/// Tells every rank how many words it gets from every other.
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

/// On rank 0: the words of all vertices in the input's order. Elsewhere nothing.
template <class T>
HostArray<T> gather(const std::vector<T>& own, std::int64_t num_vertices, const Ranks& ranks) {
  Layout in(ranks.size);
  for (int r = 0; r < ranks.size; ++r) in.count(r, static_cast<std::size_t>(ranks.count(num_vertices, r)));
  in.place();
  const bool here = ranks.rank == 0;
  HostArray<T> by_rank(here ? num_vertices : 0), all(here ? num_vertices : 0);
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), datatype<T>(), by_rank.data(), in.counts.data(),
              in.begins.data(), datatype<T>(), 0, MPI_COMM_WORLD);
  for (std::int64_t v = 0; v < all.size(); ++v) {
    const auto vertex = static_cast<vertex_t>(v);
    all[v] = by_rank[in.begins[ranks.owner(vertex)] + ranks.local(vertex)];
  }
  return all;
}

}  // namespace shoal::mpi
