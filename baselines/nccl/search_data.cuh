// The data of one rank for breadth-first search on its GPU, for any order of the phases.
#pragma once
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "communicator.cuh"
#include "search_kernels.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::nccl {

/// Made in steps. All ranks of a process finish a step before the next one begins, so that no rank allocates memory while another
/// rank's GPU waits within NCCL.
struct SearchData {
  Ranks ranks;
  Stream stream;  ///< for set-up
  std::int64_t own = 0, most_sent = 0;
  std::vector<arc_t> offsets;  ///< of own rows
  DeviceArray<arc_t> offsets_on_gpu, ends;
  DeviceArray<vertex_t> targets, queues[2], words[2], received;  ///< words: 0 as found, 1 sorted by owner
  DeviceArray<std::uint8_t> owners[2];
  DeviceArray<std::int32_t> levels;
  DeviceArray<std::uint32_t> was_sent;  ///< empty if words may be sent again
  DeviceArray<char> scratch;
  /// Words to each rank, words from each rank, words to all ranks; vertices of the next level: own, of all ranks.
  DeviceArray<std::int64_t> counters;
  std::shared_ptr<void> pinned;  ///< a copy of the counters on the host

  int num_counters() const { return 2 * ranks.size + 3; }
  std::int64_t* out() const { return counters_at(0); }
  std::int64_t* in() const { return counters_at(ranks.size); }
  std::int64_t* cursor() const { return counters_at(2 * ranks.size); }
  std::int64_t* sizes() const { return counters_at(2 * ranks.size + 1); }  ///< of the next level: own, all
  /// The host's copy of a counter.
  std::int64_t* host(const std::int64_t* counter) const {
    return static_cast<std::int64_t*>(pinned.get()) + (counter - counters.data());
  }
  std::int64_t sum(const std::int64_t* by_rank) const {
    return std::accumulate(host(by_rank), host(by_rank) + ranks.size, std::int64_t{0});
  }

  /// Allocates on the current device.
  /// @param send_once  a rank sends a vertex at most once in a search; this takes a bit for each vertex of the graph
  SearchData(const Csr& graph, const Ranks& ranks, bool send_once, int device) : ranks(ranks), stream(device) {
    baselines::Rows rows(graph, ranks);
    own = rows.count();
    const std::vector<std::int64_t> most = most_words(rows, ranks, graph.num_vertices(), send_once);
    most_sent = std::accumulate(most.begin(), most.end(), std::int64_t{0});
    offsets_on_gpu = room_for<arc_t>(own + 1, "offsets");
    offsets_on_gpu.upload(rows.offsets.data(), own + 1);
    targets = room_for<vertex_t>(static_cast<std::int64_t>(rows.targets.size()), "targets");
    targets.upload(rows.targets.data(), static_cast<std::int64_t>(rows.targets.size()));
    offsets = std::move(rows.offsets);
    levels = room_for<std::int32_t>(own, "levels");
    ends = room_for<arc_t>(own, "ends of rows");
    for (auto& queue : queues) queue = room_for<vertex_t>(own, "frontier");
    scratch = room_for<char>(static_cast<std::int64_t>(search_scratch_bytes(own, most_sent, ranks)), "scratch");
    if (ranks.size > 1) {
      if (send_once) was_sent = room_for<std::uint32_t>((graph.num_vertices() + 31) / 32, "what was sent");
      for (auto& w : words) w = room_for<vertex_t>(most_sent, "words to send");
      for (auto& o : owners) o = room_for<std::uint8_t>(most_sent, "owners");
    }
    counters = room_for<std::int64_t>(num_counters(), "counters");
    pinned = pinned_memory(num_counters() * sizeof(std::int64_t), "counters");
    counters.fill_bytes(0);
    counters.upload(most.data(), ranks.size);
    SHOAL_CUDA(cudaDeviceSynchronize());  // uploads are not ordered with the stream
  }

  /// Tells other ranks how many words this one may send at most.
  void tell(const Communicator& comm) {
    comm.exchange_counts(out(), in(), stream);
    read(out(), 2 * ranks.size, stream);
  }
  void make_room() { received = room_for<vertex_t>(sum(in()), "words received"); }
  /// Makes a first exchange of each kind, because NCCL makes its connections then.
  void connect(const Communicator& comm) {
    std::vector<std::int64_t> one_out(ranks.size), one_in(ranks.size);
    for (int r = 0; r < ranks.size; ++r) {
      one_out[r] = host(out())[r] > 0 ? 1 : 0;
      one_in[r] = host(in())[r] > 0 ? 1 : 0;
    }
    comm.exchange(words[1].data(), one_out.data(), received.data(), one_in.data(), stream);
    comm.sum(sizes(), sizes() + 1, 1, stream);
    SHOAL_CUDA(cudaStreamSynchronize(stream));
  }

  Slice slice() const { return {ranks, offsets_on_gpu.data(), targets.data()}; }

  /// Copies counters to the host, and waits for them.
  void read(const std::int64_t* from, int count, cudaStream_t on) const {
    SHOAL_CUDA(cudaMemcpyAsync(host(from), from, count * sizeof(std::int64_t), cudaMemcpyDeviceToHost, on));
    SHOAL_CUDA(cudaStreamSynchronize(on));
  }
  std::vector<std::int32_t> levels_on_host() const {
    std::vector<std::int32_t> all(own);
    levels.download(all.data(), own);
    return all;
  }

 private:
  std::int64_t* counters_at(int i) const { return const_cast<std::int64_t*>(counters.data()) + i; }
};

}  // namespace shoal::nccl
