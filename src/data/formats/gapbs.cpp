// The serialized graphs of the GAP benchmark suite (.sg, .wsg), in the machine's byte order (little-endian):
//   bool directed | int64 arcs | int64 vertices | int64 offsets[vertices + 1] | entries[arcs]
// and, if directed, offsets and entries of the reversed graph. An entry is an int32 target, in .wsg followed by an
// int32 weight. Arcs count both directions of an undirected edge. Nothing is aligned: the first field is one byte.
#include <algorithm>
#include <cstring>
#include <vector>

#include "data/formats.hpp"
#include "data/output.hpp"
#include "data/parallel.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

constexpr std::int64_t kHeaderBytes = 17;
constexpr std::int64_t kGrain = 1 << 18;

/// Offsets and entries, one after the other in the file.
struct Half {
  const char* offsets;
  const char* entries;
};

/// Checks a half, and reads it into the arrays of `graph` unless `graph` is null.
void read_half(const Source& source, const Half& half, const char* which, std::int64_t n, std::int64_t m, bool weighted,
               Csr* graph) {
  const std::int64_t entry_bytes = weighted ? 8 : 4;
  auto offset = [&](std::int64_t i) { return load<std::int64_t>(half.offsets + i * 8); };
  if (offset(0) != 0)
    source.raise(std::string(which) + " offsets begin with " + std::to_string(offset(0)) +
                 " instead of 0; the file is damaged");
  if (offset(n) != m)
    source.raise(std::string(which) + " offsets end with " + std::to_string(offset(n)) + ", but the header says " +
                 std::to_string(m) + " arcs; the file is damaged");
  parallel_ranges(n, kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i)
      if (offset(i) > offset(i + 1))
        source.raise(std::string(which) + " offsets decrease behind vertex " + std::to_string(i) +
                     "; the file is damaged");
  });
  parallel_ranges(m, kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t a = b; a < e; ++a) {
      const auto target = load<std::int32_t>(half.entries + a * entry_bytes);
      if (target < 0 || target >= n)
        source.raise(std::string(which) + " arc " + std::to_string(a) + " ends at vertex " + std::to_string(target) +
                     ", which is outside 0.." + std::to_string(n - 1) + "; the file is damaged");
      if (graph == nullptr) continue;
      graph->targets[a] = static_cast<vertex_t>(target);
      if (weighted) graph->int_weights[a] = load<std::int32_t>(half.entries + a * entry_bytes + 4);
    }
  });
  if (graph != nullptr) std::memcpy(graph->offsets.data(), half.offsets, static_cast<std::size_t>(n + 1) * 8);
}

}  // namespace

Csr read_gapbs(const Source& source, bool weighted) {
  const std::string_view bytes = source.view();
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size < kHeaderBytes)
    source.raise("holds " + std::to_string(size) + " bytes, fewer than a header of 17; is it complete?");
  const auto flag = static_cast<unsigned char>(bytes[0]);
  const auto m = load<std::int64_t>(bytes.data() + 1);
  const auto n = load<std::int64_t>(bytes.data() + 9);
  if (flag > 1) source.raise("the first byte is " + std::to_string(flag) + " instead of 0 or 1; is this a GAP graph?");
  const bool directed = flag == 1;
  if (n < 0 || n > kMaxVertices)
    source.raise("the header says " + std::to_string(n) + " vertices; legal are 0.." + std::to_string(kMaxVertices) +
                 "; the file is damaged");
  if (m < 0 || m > size / 4)
    source.raise("the header says " + std::to_string(m) + " arcs, but the file holds " + std::to_string(size) +
                 " bytes; is it complete?");
  const std::int64_t entry_bytes = weighted ? 8 : 4;
  const std::int64_t half_bytes = (n + 1) * 8 + m * entry_bytes;
  const std::int64_t wanted = kHeaderBytes + half_bytes * (directed ? 2 : 1);
  if (size != wanted)
    source.raise("holds " + std::to_string(size) + " bytes, but " + std::to_string(n) + " vertices and " +
                 std::to_string(m) + " arcs take " + std::to_string(wanted) + "; is it complete, and is it a " +
                 (weighted ? ".wsg" : ".sg") + " file?");
  const WeightKind kind = weighted ? WeightKind::int32 : WeightKind::none;
  source.require_room({n, m, kind}, (n + 1) * 16 + m * entry_bytes);  // a second array of offsets for find_lonely_arc()
  Csr graph;
  graph.offsets = HostArray<arc_t>(n + 1);
  graph.targets = HostArray<vertex_t>(m);
  if (weighted) {
    graph.weight_kind = WeightKind::int32;
    graph.int_weights = HostArray<std::int32_t>(m);
  }
  const char* at = bytes.data() + kHeaderBytes;
  read_half(source, {at, at + (n + 1) * 8}, "the", n, m, weighted, &graph);
  if (directed) {
    at += half_bytes;
    read_half(source, {at, at + (n + 1) * 8}, "the reversed", n, m, weighted, nullptr);
  }
  sort_rows(graph);
  const Lonely lonely = find_lonely_arc(graph);
  if (!directed && lonely.found)
    source.raise("says that it is undirected, but arc " + std::to_string(lonely.source) + " -> " +
                 std::to_string(lonely.target) + " has no reverse" + (weighted ? " of the same weight" : "") +
                 "; the file is damaged");
  graph.symmetric = !lonely.found;
  if (source.options.dedup) merge_parallel_arcs(graph);
  return graph;
}

namespace {

void write_half(PendingFile& out, const Csr& graph, bool weighted) {
  out.write(graph.offsets.data(), static_cast<std::size_t>(graph.offsets.size()) * 8);
  const arc_t m = graph.num_arcs();
  if (!weighted) return out.write(graph.targets.data(), static_cast<std::size_t>(m) * 4);
  std::vector<std::int32_t> entries;
  for (arc_t a = 0; a < m;) {
    const arc_t stop = std::min<arc_t>(m, a + kGrain);
    entries.clear();
    for (; a < stop; ++a) {
      entries.push_back(static_cast<std::int32_t>(graph.targets[a]));
      entries.push_back(graph.int_weights[a]);
    }
    out.write(entries.data(), entries.size() * 4);
  }
}

}  // namespace

void write_gapbs(const Csr& graph, const std::string& file, bool weighted) {
  if (weighted && graph.weight_kind != WeightKind::int32)
    throw UsageError(file + ": a .wsg file needs integer weights, the graph has " +
                     (graph.weight_kind == WeightKind::none
                          ? "none; write .sg, or make some with --weights hash255 or unit"
                          : "real ones; write .wel or .npz"));
  if (!weighted && graph.weight_kind != WeightKind::none)
    throw UsageError(file + ": a .sg file cannot hold weights; write .wsg (integers) or .npz");
  const std::int64_t n = graph.num_vertices(), m = graph.num_arcs();
  const bool directed = !is_symmetric(graph);
  PendingFile out(file);
  const char flag = directed ? 1 : 0;
  out.write(&flag, 1);
  out.write(&m, 8);
  out.write(&n, 8);
  write_half(out, graph, weighted);
  if (directed) write_half(out, transpose(graph), weighted);
  out.commit();
}

}  // namespace shoal::io
