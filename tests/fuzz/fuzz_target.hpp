// The body of every fuzz target: reads bytes as one format. Any result other than a valid graph or one of the library's errors
// is a bug.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "data/formats.hpp"
#include "shoal/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace shoal_fuzz {

inline constexpr std::int64_t kMemoryBytes =
    4 << 20;  ///< larger graphs are refused: an input of a few bytes may ask for 2^31 vertices

[[noreturn]] inline void broken(const char* what) {
  std::cerr << "a reader returned a broken graph: " << what << "\n";
  std::abort();
}

inline void check(const shoal::Csr& graph) {
  const std::int64_t n = graph.num_vertices();
  if (graph.offsets.size() != n + 1 || graph.offsets[0] != 0) broken("offsets");
  for (std::int64_t v = 0; v < n; ++v)
    if (graph.offsets[v] > graph.offsets[v + 1]) broken("offsets decrease");
  if (graph.targets.size() != graph.num_arcs()) broken("number of targets");
  for (const shoal::vertex_t t : graph.targets)
    if (t >= n) broken("target");
  if (graph.weight_kind == shoal::WeightKind::int32 && graph.int_weights.size() != graph.num_arcs()) broken("weights");
  if (graph.weight_kind == shoal::WeightKind::float64) {
    if (graph.real_weights.size() != graph.num_arcs()) broken("weights");
    for (const double w : graph.real_weights)
      if (!graph.weight_remarks.wide.empty() && !shoal::io::is_whole_weight(w)) broken("a wide weight is not whole");
  }
  if (!shoal::io::rows_sorted(graph)) broken("rows are not sorted");
}

inline int read(shoal::io::Format format, const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool both : {false, true}) {
    shoal::ReadOptions options;
    options.undirected = options.dedup = both;
    try {
      check(shoal::io::read_graph_bytes(format, bytes, "FILE", options, kMemoryBytes));
    } catch (const shoal::UsageError& error) {
      if (!std::string_view(error.what()).starts_with("FILE:")) broken("an error without the file's name");
    } catch (const shoal::CapacityError&) {
    }
  }
  return 0;
}

inline int expand(shoal::io::Compression compression, const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    shoal::io::expand(compression, bytes, "FILE", kMemoryBytes);
  } catch (const shoal::UsageError& error) {
    if (!std::string_view(error.what()).starts_with("FILE:")) broken("an error without the file's name");
  } catch (const shoal::CapacityError&) {
  }
  return 0;
}

}  // namespace shoal_fuzz
