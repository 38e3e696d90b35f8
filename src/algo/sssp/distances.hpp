// Operations on the words that an engine leaves on the PEs, the same for all engines.
#pragma once
#include <string>

#include "engines.hpp"
#include "reference.hpp"

namespace shoal {

/// Converts a 32-bit word into a 64-bit one; a 64-bit word stays.
SHOAL_FN inline std::uint64_t widened(std::uint32_t word) {
  return word == kUnreachedDistance<std::uint32_t> ? kUnreachedDistance<std::uint64_t> : word;
}
SHOAL_FN inline std::uint64_t widened(std::uint64_t word) { return word; }

/// Whether the words have 64 bits.
inline bool is_wide(const Words& words) { return words.bytes == sizeof(std::uint64_t); }

/// True if some narrow word is kTooFar, so that the search must be repeated with wide words. False for wide words.
bool any_too_far(const Machine& machine, const PlacedGraph& graph, const Words& words);

/// The result of checking rule 1 of reference.hpp.
struct SsspCheck {
  std::string wrong;             ///< empty: rule 1 holds everywhere; otherwise one line, in the input's numbers
  bool all_from_nearer = false;  ///< rule 2 then holds, too, without a further check
};

/// Checks rule 1 on the PEs that hold the distances.
SsspCheck check_words(const Machine& machine, const PlacedGraph& graph, const Words& words, vertex_t placed_source);

/// Describes a wrong vertex in the input's numbers; the arguments are placed numbers.
std::string wrong_placed_vertex(const PlacedGraph& graph, vertex_t v, vertex_t source, std::uint64_t distance,
                                Arrival<std::uint64_t> best);

bool any_too_far_on_devices(const PlacedGraph& graph, const Words& words);
/// Checks the vertices of this process's PEs. @param on_host  with several processes: the words of all vertices, by placed number
SsspCheck check_words_on_devices(const PlacedGraph& graph, const Words& words, vertex_t placed_source,
                                 const void* on_host = nullptr);

}  // namespace shoal
