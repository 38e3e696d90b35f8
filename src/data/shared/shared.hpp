// The common part of the readers of shared files: agreement on errors, and rows from arcs.
#pragma once
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/formats/arc_lines.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/shared_graph.hpp"

namespace shoal::io {

/// Every process calls it, and does `work`. If `work` throws in some process, all processes throw the error of the first of these.
template <class F>
void in_all(const Together& together, F&& work) {
  std::string wrong;  // a letter for the kind of the error, then its text
  try {
    work();
  } catch (const UsageError& error) {
    wrong = std::string("u") + error.what();
  } catch (const CapacityError& error) {
    wrong = std::string("c") + error.what();
  } catch (const std::bad_alloc&) {
    wrong = "cits rows do not fit the memory of a process; use more processes";
  }
  for (const auto& its : together.all_of(std::as_bytes(std::span(wrong)))) {
    if (its.empty()) continue;
    const std::string what(reinterpret_cast<const char*>(its.data()) + 1, its.size() - 1);
    if (static_cast<char>(its[0]) == 'c') throw CapacityError(what);
    throw UsageError(what);
  }
}

/// Every process calls it: exchanges `mine`. Returns [processes] the values of all.
template <class T>
std::vector<T> all_of(const Together& together, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  for (const auto& its : together.all_of(std::as_bytes(std::span(&mine, std::size_t{1})))) {
    std::memcpy(&all.emplace_back(), its.data(), sizeof(T));
  }
  return all;
}

/// Selects the arcs of the rows of vertices [first, first + count) from any arcs.
struct OwnRows {
  vertex_t first, count;
  RowsOf which;
  bool both;  ///< each arc stands for both directions

  bool owns(vertex_t v) const { return v - first < count; }
  /// Calls keep(row, target) for each of these rows that the arc from -> to belongs to.
  template <class Keep>
  void of(vertex_t from, vertex_t to, Keep&& keep) const {
    if (which == RowsOf::undirected && from == to) return;
    const bool forward = which != RowsOf::in, backward = which != RowsOf::out || both;
    if ((forward || both) && owns(from)) keep(from - first, to);
    if (backward && owns(to) && (!(forward || both) || from != to)) keep(to - first, from);
  }
};

/// Builds sorted rows from arcs whose sources are row numbers.
Csr rows_of_arcs(std::int64_t rows, ArcList&& arcs, bool dedup);

std::unique_ptr<SharedGraph> share_shoal(const std::string& file, const ReadOptions& options, const Together& together);
std::unique_ptr<SharedGraph> share_edge_list(const std::string& file, const ReadOptions& options, Format format,
                                             const Together& together);

}  // namespace shoal::io
