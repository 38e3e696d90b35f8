// Connected components as a task. An item says "v lies in the component of vertex `label`". The owner of v accepts it only if
// this label is smaller than the one before. The worker that runs the item offers the label to every neighbour. When no item
// is left on any PE, every label is the smallest placed number of its component, because that vertex's number has reached the
// whole component.
//
// A vertex begins with its own number as label. So only vertices that are smaller than all of their neighbours need to offer
// their label at the start. The smallest vertex of each component is one of these. They are the seeds (starts_component): the
// item {v, v}, while the label of v is kNoVertex until that item has been judged.
//
// Source: label propagation, the asynchronous form of Groute's OnReceive. Differs: only some vertices are seeds.
#pragma once
#include "shoal/algo/lowers_word.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// Two rows joined into one: the out-arcs of a vertex, followed by its in-arcs.
class JoinedRows {
 public:
  /// @param out, in  rows of the graph; `in` has no vertices if the graph is symmetric
  SHOAL_FN static JoinedRows of(const CsrView& out, const CsrView& in, vertex_t v) {
    const Span<const vertex_t> row = out.neighbors(v);
    JoinedRows joined(row.data(), row.data(), row.size(), row.size());
    if (in.count != 0) {
      const Span<const vertex_t> more = in.neighbors(v);
      joined.second_ = more.data();
      joined.size_ += more.size();
    }
    return joined;
  }
  JoinedRows() = default;

  SHOAL_FN std::int64_t size() const { return size_; }
  SHOAL_FN vertex_t operator[](std::int64_t i) const {
    return *(i < first_size_ ? first_ + i : second_ + (i - first_size_));
  }

 private:
  SHOAL_FN JoinedRows(const vertex_t* first, const vertex_t* second, std::int64_t first_size, std::int64_t size)
      : first_(first), second_(second), first_size_(first_size), size_(size) {}

  const vertex_t* first_;
  const vertex_t* second_;
  std::int64_t first_size_, size_;
};

/// The word of a vertex is its label. At the start it is the vertex's own number, or kNoVertex if the vertex is a seed
/// of this PE.
struct Components : LowersWord<vertex_t> {
  CsrView out;  ///< this PE's rows
  CsrView in;   ///< directed graphs: its in-arcs; symmetric graphs: no vertices, because `out` has both directions

  SHOAL_FN JoinedRows range(Item item) const { return JoinedRows::of(out, in, item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.word}; }
};

/// True if v is a seed: it has neighbours, and is smaller than all of them.
/// @param in  the in-arcs of a directed graph, or a view without vertices
SHOAL_FN inline bool starts_component(const CsrView& out, const CsrView& in, vertex_t v) {
  const JoinedRows row = JoinedRows::of(out, in, v);
  bool other = false;
  for (std::int64_t i = 0; i < row.size(); ++i) {
    if (row[i] < v) return false;
    other |= row[i] != v;
  }
  return other;
}

}  // namespace shoal
