// Connected components as a task: an item says "v lies in the component of vertex `label`"; the owner of v keeps it only
// when that is smaller than what it knows; whoever runs it tells every neighbour. When no item is left on any PE, every
// label is the smallest placed number of its component, because that vertex's own number has been everywhere.
//
// Labels begin as the vertices' own numbers, so only vertices that are smaller than all their neighbours need to speak
// first, and the smallest vertex of every component is one of them. Those are the seeds (starts_component): item {v, v},
// and label kNoVertex until it has been judged.
//
// Source: label propagation, the asynchronous form of Groute's OnReceive. Differs: the owner judges; few seeds.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

/// Two rows, one after the other: the out-arcs and in-arcs of a vertex.
class JoinedRows {
 public:
  /// @param out, in  of the graph; `in` has no vertices when the graph is symmetric
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

struct Components {
  struct Item {
    vertex_t v;
    vertex_t label;
  };

  static constexpr bool kSelfContained = true;  ///< an item has its label: what it finds in memory may be older
  static constexpr bool kKnowsOthers = true;
  static constexpr KernelSet kKernels = kAllKernels;

  CsrView out;        ///< this PE's rows
  CsrView in;         ///< directed graphs: its in-arcs; symmetric ones: no vertices, `out` has every arc both ways
  OwnerTable owners;  ///< who owns which vertex
  /// [vertices] by placed number: labels of this PE's own vertices, and for the others the least that was offered from here. At
  /// the start each vertex's own number, which its owner knows anyhow; kNoVertex for this PE's seeds.
  vertex_t* known;
  Symmetric<vertex_t> labels;  ///< the own part of every PE's, for accept_at

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Most arcs lead back, and a look spares them the atomic.
  SHOAL_FN bool promising(Item item) const { return looks_better(known[item.v], item); }
  /// Lowers the label; true if it was lowered.
  SHOAL_FN bool accept(Item item) const { return lower(known[item.v], item); }
  SHOAL_FN bool worth_sending(Item item) const { return lower(known[item.v], item); }
  /// Without a look: half of what gets here is news, and a look far away costs as much.
  SHOAL_FN bool accept_at(pe_t pe, Item item) const { return lower(labels.part[pe][item.v - owners.begin[pe]], item); }
  /// A smaller label has overtaken this one.
  SHOAL_FN bool stale(Item item) const { return load<Scope::system>(known[item.v]) < item.label; }

  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return a.label < b.label ? a : b; }

  SHOAL_FN JoinedRows range(Item item) const { return JoinedRows::of(out, in, item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.label}; }

 private:
  SHOAL_FN static bool looks_better(const vertex_t& label, Item item) {
    return load<Scope::system>(label) > item.label;
  }
  SHOAL_FN static bool lower(vertex_t& label, Item item) {
    return fetch_min<Scope::system>(label, item.label) > item.label;
  }
};

/// True if v is to be a seed: it has neighbours, and is smaller than all of them.
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
