// The data of one rank for PageRank on its GPU, for any order of the phases.
#pragma once
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "communicator.cuh"
#include "ranking_kernels.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::nccl {

/// Made in steps, like SearchData. The ranks agree on the order of the words that each sends to each other.
struct RankingData {
  Ranks ranks;
  Stream stream;  ///< for set-up
  std::int64_t own = 0, num_vertices = 0;
  std::vector<std::int64_t> out, in;  ///< [ranks] number of words to and from each rank
  std::int64_t num_out = 0, num_in = 0;
  std::unique_ptr<SortedArcs> arcs;
  DeviceArray<arc_t> offsets;
  DeviceArray<vertex_t> asked, targets_in;           ///< for each word sent, and received: its vertex
  DeviceArray<double> rank, shares, sums, received;  ///< sums: own vertices, then words for other ranks
  DeviceArray<Sums> all;
  DeviceArray<std::int64_t> counts;

  RankingData(const Csr& graph, const Ranks& ranks, int device)
      : ranks(ranks), stream(device), num_vertices(graph.num_vertices()), in(ranks.size) {
    baselines::Rows rows(graph, ranks);
    own = rows.count();
    const baselines::TargetWords words(rows, ranks, num_vertices);
    out = words.counts;
    num_out = static_cast<std::int64_t>(words.asked.size());
    arcs = std::make_unique<SortedArcs>(rows, stream);
    offsets = room_for<arc_t>(own + 1, "offsets");
    offsets.upload(rows.offsets.data(), own + 1);
    asked = room_for<vertex_t>(num_out, "targets of words");
    asked.upload(words.asked.data(), num_out);
    counts = room_for<std::int64_t>(2 * ranks.size, "counts");
    counts.fill_bytes(0);
    counts.upload(out.data(), ranks.size);
    rank = room_for<double>(own, "ranks");
    shares = room_for<double>(own, "shares");
    sums = room_for<double>(own + num_out, "sums");
    all = room_for<Sums>(1, "sums over all ranks");
    all.fill_bytes(0);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }

  void tell(const Communicator& comm) {
    comm.exchange_counts(counts.data(), counts.data() + ranks.size, stream);
    SHOAL_CUDA(cudaStreamSynchronize(stream));
    counts.download(in.data(), ranks.size, ranks.size);
  }
  void make_room() {
    num_in = std::accumulate(in.begin(), in.end(), std::int64_t{0});
    targets_in = room_for<vertex_t>(num_in, "targets of words");
    received = room_for<double>(num_in, "words received");
  }
  void connect(const Communicator& comm) {
    comm.exchange(asked.data(), out.data(), targets_in.data(), in.data(), stream);
    sum_over_ranks(comm);
    SHOAL_CUDA(cudaStreamSynchronize(stream));
  }
  double* words_of_all() { return reinterpret_cast<double*>(all.data()); }  ///< [3]
  void sum_over_ranks(const Communicator& comm) { comm.sum(words_of_all(), words_of_all(), 3, stream); }
  std::vector<double> ranks_on_host() const {
    std::vector<double> words(own);
    rank.download(words.data(), own);
    return words;
  }
};

}  // namespace shoal::nccl
