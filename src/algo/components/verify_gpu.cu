#include "verify_gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algo/words_gpu.cuh"
#include "reference.hpp"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

constexpr unsigned kWholeWarp = 0xFFFFFFFFu;
constexpr unsigned kCheckBlocks = 1024, kCheckThreads = 256;

__device__ std::uint32_t lane() { return threadIdx.x % 32; }
__device__ std::int64_t warp() { return (blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x) / 32; }
__device__ std::int64_t warps() { return std::int64_t{gridDim.x} * blockDim.x / 32; }

/// Checks rules 1 and 2, one warp per vertex; *first_wrong becomes the smallest wrong vertex.
__global__ void check_labels(CsrView rows, const vertex_t* label, vertex_t n, vertex_t* first_wrong) {
  for (std::int64_t i = warp(); i < rows.count; i += warps()) {
    const vertex_t v = rows.first + static_cast<vertex_t>(i);
    bool wrong = label[v] >= n || !label_is_rooted(label, v);
    if (!wrong) wrong = other_label_neighbor(rows, label, v, lane(), 32) != kNoVertex;
    if (__any_sync(kWholeWarp, wrong) && lane() == 0) atomicMin(first_wrong, v);
  }
}

/// What the host needs to describe a violation.
struct WrongLabel {
  vertex_t vertex, label, neighbor, neighbor_label, label_of_label;
};
__global__ void describe_wrong(CsrView rows, const vertex_t* label, vertex_t n, const vertex_t* first_wrong,
                               WrongLabel* wrong) {
  const vertex_t v = wrong->vertex = *first_wrong;
  if (v == kNoVertex) return;
  wrong->label = label[v];
  wrong->neighbor = other_label_neighbor(rows, label, v);
  wrong->neighbor_label = wrong->neighbor == kNoVertex ? 0 : label[wrong->neighbor];
  wrong->label_of_label = label[v] < n ? label[label[v]] : kNoVertex;
}

/// One PE's part of the flood. Bits of `reached` are numbered by own vertices, bits of `outbox` by all vertices.
struct Flood {
  CsrView rows, more_rows;  ///< out-arcs; in-arcs of a directed graph
  std::uint32_t* reached;
  std::uint32_t* outbox;      ///< vertices of other PEs that were reached
  vertex_t* queue;            ///< own vertices to expand in this step, by local number
  vertex_t* next;             ///< those for the next step
  std::uint32_t* next_count;  ///< length of `next`; zero before a step

  /// Marks local vertices as reached, one per lane with `has`, and queues those that are new.
  __device__ void reach(bool has, vertex_t x) const {
    const bool is_new = has && (atomicOr(reached + x / 32, 1u << x % 32) >> x % 32 & 1) == 0;
    if (is_new) next[atomicAdd(next_count, 1)] = x;
  }
};

__global__ void begin_flood(Flood f, const vertex_t* label) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < f.rows.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    f.reach(label[f.rows.first + i] == f.rows.first + i, static_cast<vertex_t>(i));
  }
}
__global__ void flood_step(Flood f, std::uint32_t count) {
  for (std::int64_t i = warp(); i < count; i += warps()) {
    const vertex_t v = f.rows.first + f.queue[i];
    for (int side = 0; side < (f.more_rows.count != 0 ? 2 : 1); ++side) {
      const Span<const vertex_t> row = (side == 0 ? f.rows : f.more_rows).neighbors(v);
      for (std::int64_t k = lane(); k < row.size(); k += 32) {
        const vertex_t u = row[k];
        if (!f.rows.owns(u)) atomicOr(f.outbox + u / 32, 1u << u % 32);
        f.reach(f.rows.owns(u), f.rows.local(u));
      }
    }
  }
}
/// Takes the bits of this PE's vertices from another PE's outbox; `mail` begins at the word of the first of these vertices.
__global__ void take_mail(Flood f, const std::uint32_t* mail) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < f.rows.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const vertex_t bit = f.rows.first % 32 + static_cast<vertex_t>(i);
    f.reach((mail[bit / 32] >> bit % 32 & 1) != 0, static_cast<vertex_t>(i));
  }
}
__global__ void find_dry(Flood f, vertex_t* first_wrong) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < f.rows.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    if ((f.reached[i / 32] >> i % 32 & 1) == 0) atomicMin(first_wrong, f.rows.first + static_cast<vertex_t>(i));
  }
}

/// The memory of one PE.
struct Part {
  int device;
  DeviceArray<vertex_t> label, queue, next, first_wrong;
  DeviceArray<std::uint32_t> reached, outbox, mail, count;
  DeviceArray<WrongLabel> wrong;
  Flood flood{};

  Part(const PlacedGraph& graph, pe_t p, const vertex_t* const* label_slices) : device(graph.devices[p]) {
    DeviceGuard guard(device);
    const CsrView& rows = graph.out[p];
    const std::int64_t own_words = std::int64_t{rows.count} / 32 + 2, all_words = graph.num_vertices / 32 + 2;
    label = collect_words(graph, label_slices, "labels of all vertices, to verify");
    queue = DeviceArray<vertex_t>(rows.count, "flood queue");
    next = DeviceArray<vertex_t>(rows.count, "flood queue");
    reached = DeviceArray<std::uint32_t>(own_words, "flood bitmap");
    outbox = DeviceArray<std::uint32_t>(graph.n_pes() > 1 ? all_words : 1, "flood outbox");
    mail = DeviceArray<std::uint32_t>(graph.n_pes() > 1 ? own_words : 1, "flood mail");
    first_wrong = DeviceArray<vertex_t>(1, "first wrong vertex");
    count = DeviceArray<std::uint32_t>(1, "flood count");
    wrong = DeviceArray<WrongLabel>(1, "wrong label");
    reached.fill_bytes(0), outbox.fill_bytes(0), count.fill_bytes(0), first_wrong.fill_bytes(0xFF);
    flood = {rows,           graph.symmetric ? CsrView{} : graph.in[p],
             reached.data(), outbox.data(),
             queue.data(),   next.data(),
             count.data()};
  }

  /// Makes the vertices that the last step found the frontier. @return their number
  std::uint32_t turn() {
    std::uint32_t n = 0;
    count.download(&n, 1);
    count.fill_bytes(0);
    std::swap(flood.queue, flood.next);
    return n;
  }
  /// Floods own vertices until no new vertex is reached. @return whether any was
  bool settle() {
    DeviceGuard guard(device);
    bool moved = false;
    for (std::uint32_t n; (n = turn()) != 0; moved = true) {
      flood_step<<<std::min<std::uint32_t>(kCheckBlocks, n / 8 + 1), kCheckThreads>>>(flood, n);
      SHOAL_CUDA(cudaGetLastError());
    }
    return moved;
  }
  vertex_t first() {
    vertex_t v = kNoVertex;
    first_wrong.download(&v, 1);
    return v;
  }
};

}  // namespace

std::string verify_components_on_devices(const PlacedGraph& graph, const vertex_t* const* label_slices) {
  const pe_t n_pes = graph.n_pes();
  if (static_cast<pe_t>(graph.devices.size()) != n_pes) {
    throw UsageError("verify_components_on_devices: the graph is not placed on devices; use verify_components");
  }
  const auto name = [&](vertex_t v) { return v < graph.num_vertices ? graph.partition.input(v) : v; };
  wait_for_devices(graph);
  std::vector<Part> parts;
  for (pe_t p = 0; p < n_pes; ++p) {
    parts.emplace_back(graph, p, label_slices);
    Part& part = parts.back();
    DeviceGuard guard(part.device);
    if (graph.out[p].count == 0) continue;
    const auto n = static_cast<vertex_t>(graph.num_vertices);
    check_labels<<<kCheckBlocks, kCheckThreads>>>(graph.out[p], part.label.data(), n, part.first_wrong.data());
    SHOAL_CUDA(cudaGetLastError());
    describe_wrong<<<1, 1>>>(graph.out[p], part.label.data(), n, part.first_wrong.data(), part.wrong.data());
    SHOAL_CUDA(cudaGetLastError());
    WrongLabel wrong{};
    part.wrong.download(&wrong, 1);
    if (wrong.vertex == kNoVertex) continue;
    return describe_wrong_label(name(wrong.vertex), name(wrong.label),
                                wrong.neighbor == kNoVertex ? kNoVertex : name(wrong.neighbor),
                                name(wrong.neighbor_label), name(wrong.label_of_label));
  }
  for (Part& part : parts) {
    DeviceGuard guard(part.device);
    begin_flood<<<kCheckBlocks, kCheckThreads>>>(part.flood, part.label.data());
    SHOAL_CUDA(cudaGetLastError());
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (Part& part : parts) moved |= part.settle();
    if (n_pes == 1) break;
    for (Part& part : parts) {
      const CsrView& rows = part.flood.rows;
      if (rows.count == 0) continue;
      const std::int64_t first_word = rows.first / 32;
      const std::int64_t words = (std::int64_t{rows.first} + rows.count - 1) / 32 - first_word + 1;
      DeviceGuard guard(part.device);
      for (Part& other : parts) {
        if (&other == &part) continue;
        SHOAL_CUDA(cudaMemcpyPeer(part.mail.data(), part.device, other.outbox.data() + first_word, other.device,
                                  static_cast<std::size_t>(words) * sizeof(std::uint32_t)));
        SHOAL_CUDA(cudaStreamSynchronize(0));
        take_mail<<<kCheckBlocks, kCheckThreads>>>(part.flood, part.mail.data());
        SHOAL_CUDA(cudaGetLastError());
        SHOAL_CUDA(cudaStreamSynchronize(0));
      }
    }
  }
  for (Part& part : parts) {
    DeviceGuard guard(part.device);
    find_dry<<<kCheckBlocks, kCheckThreads>>>(part.flood, part.first_wrong.data());
    SHOAL_CUDA(cudaGetLastError());
    const vertex_t v = part.first();
    if (v == kNoVertex) continue;
    vertex_t label = 0;
    part.label.download(&label, 1, v);
    return describe_wrong_label(name(v), name(label), kNoVertex, 0, name(label));
  }
  return "";
}

}  // namespace shoal
