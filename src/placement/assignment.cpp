#include "assignment.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "data/text_lines.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/csr_build.hpp"

#if defined(SHOAL_HAVE_METIS)
#include <metis.h>
#endif

namespace shoal {

#if defined(SHOAL_HAVE_METIS)
namespace {

/// The graph with both directions of every arc, without loops and duplicates, as METIS requires.
Csr symmetric_view(const Csr& graph) {
  HostArray<vertex_t> sources(graph.num_arcs());
  parallel_ranges(graph.num_vertices(), kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::fill(sources.data() + graph.offsets[v], sources.data() + graph.offsets[v + 1], static_cast<vertex_t>(v));
    }
  });
  struct Arc {
    vertex_t u, v;
  };
  return csr_from_edges(graph.num_vertices(), graph.num_arcs(), !graph.symmetric, [&](arc_t a) {
    return Arc{sources[a], graph.targets[a]};
  });
}

template <class T>
HostArray<idx_t> to_idx(const HostArray<T>& from) {
  HostArray<idx_t> to(from.size());
  for (std::int64_t i = 0; i < from.size(); ++i) to[i] = static_cast<idx_t>(from[i]);
  return to;
}

}  // namespace

HostArray<pe_t> assign_by_metis(const Csr& graph, pe_t n_pes, std::uint64_t seed) {
  const std::int64_t n = graph.num_vertices();
  HostArray<pe_t> pe_of(n);
  if (n <= n_pes || n_pes == 1) {  // METIS requires more vertices than parts, and more than one part
    for (std::int64_t v = 0; v < n; ++v) pe_of[v] = n_pes == 1 ? 0 : static_cast<pe_t>(v);
    return pe_of;
  }
  const Csr view = symmetric_view(graph);
  const std::int64_t most = std::numeric_limits<idx_t>::max();
  if (view.num_arcs() + n > most) {
    throw UsageError("partition metis: '" + graph.name + "' has " + std::to_string(view.num_arcs()) + " arcs and " +
                     std::to_string(n) + " vertices, but this METIS counts both together with " +
                     std::to_string(IDXTYPEWIDTH) + "-bit numbers, up to " + std::to_string(most) +
                     "; use --partition edges or random");
  }
  HostArray<idx_t> offsets = to_idx(view.offsets), targets = to_idx(view.targets), weights(n), part(n);
  for (std::int64_t v = 0; v < n; ++v) weights[v] = offsets[v + 1] - offsets[v] + 1;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7FFFFFFF);
  idx_t vertices = static_cast<idx_t>(n), constraints = 1, parts = n_pes, cut = 0;
  const int status = METIS_PartGraphKway(&vertices, &constraints, offsets.data(), targets.data(), weights.data(),
                                         nullptr, nullptr, &parts, nullptr, nullptr, options, &cut, part.data());
  if (status == METIS_ERROR_MEMORY) {
    throw CapacityError("partition metis: METIS found no memory for '" + graph.name + "' (" +
                        std::to_string(view.num_arcs()) + " arcs); use --partition edges or random");
  }
  if (status != METIS_OK) {
    throw UsageError("partition metis: METIS gave up on '" + graph.name + "' with status " + std::to_string(status) +
                     "; use --partition edges or random");
  }
  for (std::int64_t v = 0; v < n; ++v) pe_of[v] = static_cast<pe_t>(part[v]);
  return pe_of;
}
#else
HostArray<pe_t> assign_by_metis(const Csr&, pe_t, std::uint64_t) {
  throw UsageError(
      "partition metis: shoal was built without METIS; install libmetis-dev and build again, or use --partition edges "
      "or random");
}
#endif

HostArray<pe_t> read_assignment(const std::string& file, std::int64_t n, pe_t n_pes) {
  if (file.empty()) throw UsageError("partition file: no file was named; write --partition file:NAME");
  io::TextLines lines(file, "a partition: one PE number per line, one line per vertex");
  HostArray<pe_t> pe_of(n);
  std::int64_t v = 0;
  while (lines.next()) {
    const std::string& line = lines.line();
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#' || line[first] == '%') continue;
    const std::string word = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    std::int64_t pe = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pe);
    if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
      lines.fail("the line '" + word.substr(0, 40) +
                 "' is not a PE number; write one whole number per line, one line per vertex");
    }
    if (error != std::errc() || pe < 0 || pe >= n_pes) {
      lines.fail("PE " + word.substr(0, 40) + " does not exist; the run has PEs 0 to " + std::to_string(n_pes - 1) +
                 " (raise --pes or change the file)");
    }
    if (v == n) lines.fail("more than " + std::to_string(n) + " PE numbers; the graph has only as many vertices");
    pe_of[v++] = static_cast<pe_t>(pe);
  }
  if (v < n) {
    lines.fail("the file ends after " + std::to_string(v) + " PE numbers; the graph has " + std::to_string(n) +
               " vertices, each needs one");
  }
  return pe_of;
}

Partition partition_of_assignment(const HostArray<pe_t>& pe_of, pe_t n_pes) {
  const std::int64_t n = pe_of.size();
  Partition partition;
  partition.owner.n_pes = n_pes;
  vertex_t* const begin = partition.owner.begin;
  for (std::int64_t v = 0; v < n; ++v) ++begin[pe_of[v] + 1];
  for (pe_t p = 0; p < n_pes; ++p) begin[p + 1] += begin[p];
  if (std::is_sorted(pe_of.begin(), pe_of.end())) return partition;
  partition.placed_of_input = HostArray<vertex_t>(n);
  partition.input_of_placed = HostArray<vertex_t>(n);
  vertex_t next[kMaxPes];
  std::copy(begin, begin + n_pes, next);
  for (std::int64_t v = 0; v < n; ++v) {
    const vertex_t placed = next[pe_of[v]]++;
    partition.placed_of_input[v] = placed;
    partition.input_of_placed[placed] = static_cast<vertex_t>(v);
  }
  return partition;
}

}  // namespace shoal
