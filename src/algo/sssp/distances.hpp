// What is done with the words that an engine leaves on the PEs, whichever engine it was.
#pragma once
#include <string>

#include "engines.hpp"
#include "reference.hpp"

namespace shoal {

/// Copies PE pe's distances as wide words, in placed order, to the host: [graph.out[pe].count].
void fetch_words(const Machine& machine, const PlacedGraph& graph, const SsspWords& words, pe_t pe, std::uint64_t* to);

/// True if some narrow word is kTooFar, so that the search has to be repeated in wide words. False for wide ones.
bool any_too_far(const Machine& machine, const PlacedGraph& graph, const SsspWords& words);

/// What rule 1 of sssp_reference.hpp says.
struct SsspCheck {
  std::string wrong;             ///< empty: rule 1 holds everywhere; else one line, in the input's numbers
  bool all_from_nearer = false;  ///< so does rule 2, without looking further
};

/// Checks rule 1 where the distances are.
SsspCheck check_words(const Machine& machine, const PlacedGraph& graph, const SsspWords& words, vertex_t placed_source);

/// A wrong vertex in the input's numbers; all vertices here are placed numbers.
std::string wrong_placed_vertex(const PlacedGraph& graph, vertex_t v, vertex_t source, std::uint64_t distance,
                                Arrival<std::uint64_t> best);

#if defined(SHOAL_HAVE_CUDA)
bool any_too_far_on_devices(const PlacedGraph& graph, const SsspWords& words);
SsspCheck check_words_on_devices(const PlacedGraph& graph, const SsspWords& words, vertex_t placed_source);
#endif

}  // namespace shoal
