// What is done with the words that an engine leaves on the PEs, whichever engine it was.
#pragma once
#include <string>

#include "engines.hpp"
#include "reference.hpp"

namespace shoal {

/// A word of 32 bits as one of 64.
SHOAL_FN inline std::uint64_t widened(std::uint32_t word) {
  return word == kUnreachedDistance<std::uint32_t> ? kUnreachedDistance<std::uint64_t> : word;
}
SHOAL_FN inline std::uint64_t widened(std::uint64_t word) { return word; }

/// Whether they have 64 bits.
inline bool is_wide(const Words& words) { return words.bytes == sizeof(std::uint64_t); }

/// True if some narrow word is kTooFar, so that the search has to be repeated in wide words. False for wide ones.
bool any_too_far(const Machine& machine, const PlacedGraph& graph, const Words& words);

/// What rule 1 of sssp_reference.hpp says.
struct SsspCheck {
  std::string wrong;             ///< empty: rule 1 holds everywhere; else one line, in the input's numbers
  bool all_from_nearer = false;  ///< so does rule 2, without looking further
};

/// Checks rule 1 where the distances are.
SsspCheck check_words(const Machine& machine, const PlacedGraph& graph, const Words& words, vertex_t placed_source);

/// A wrong vertex in the input's numbers; all vertices here are placed numbers.
std::string wrong_placed_vertex(const PlacedGraph& graph, vertex_t v, vertex_t source, std::uint64_t distance,
                                Arrival<std::uint64_t> best);

bool any_too_far_on_devices(const PlacedGraph& graph, const Words& words);
/// Of the vertices of the PEs of this process. @param on_host  of several processes: the words of all vertices, by placed number
SsspCheck check_words_on_devices(const PlacedGraph& graph, const Words& words, vertex_t placed_source,
                                 const void* on_host = nullptr);

}  // namespace shoal
