// Sparse matrices of SciPy (scipy.sparse.save_npz): a zip archive of NumPy arrays, formats csr, csc and coo. Entry
// (i, j) is the arc i -> j; entries of bool matrices have no weight. Stored zeros are arcs, as in scipy.sparse.csgraph.
// Parallel entries are parallel arcs, each with its own weight, in all three formats; SciPy would sum them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "arc_lines.hpp"
#include "data/parallel.hpp"
#include "npy.hpp"
#include "shoal/core/error.hpp"
#include "zip.hpp"

namespace shoal::io {
namespace {

constexpr std::int64_t kGrain = 1 << 18;

/// An array, and the memory that it points to.
struct Member {
  Bytes bytes;
  NpyArray array;
  std::string label;
};

/// Reads an array's header, and checks it against the archive's directory. Does not expand its data.
Member describe(const Source& source, const ZipReader& zip, const std::string& name) {
  Member member{{}, {}, source.name + ": " + name + ".npy"};
  const std::uint64_t bytes = zip.size(name + ".npy");
  member.array = parse_npy_front(zip.front(name + ".npy", kNpyFront), bytes, member.label);
  return member;
}

Member read_member(const Source& source, const ZipReader& zip, const std::string& name) {
  Member member{zip.read(name + ".npy"), {}, source.name + ": " + name + ".npy"};
  member.array = parse_npy(member.bytes.view(), member.label);
  return member;
}

constexpr std::int64_t kAlwaysFine = std::int64_t{64} << 20;
constexpr std::int64_t kMostRatio = 400;  // deflate makes matrices of graphs 2 to 20 times smaller

/// Checks that there is memory for the entries, before any of them is expanded.
void require_room_for_entries(const Source& source, const ZipReader& zip, std::int64_t n,
                              const std::vector<std::string>& names, const std::function<std::string()>& place) {
  std::int64_t expanded = 0, largest = 0;
  for (const std::string& name : names) {
    const auto bytes = static_cast<std::int64_t>(zip.size(name + ".npy"));
    if (__builtin_add_overflow(expanded, bytes, &expanded)) source.raise("the archive's directory is damaged");
    largest = std::max(largest, bytes);
  }
  const auto packed = static_cast<std::int64_t>(source.bytes.size);
  if (expanded > kAlwaysFine && expanded / kMostRatio > packed)
    source.raise("expands from " + std::to_string(packed) + " to " + std::to_string(expanded) +
                 " bytes, which no matrix of a graph does; unpack and save it anew if you trust it");
  const std::int64_t entries = describe(source, zip, names[0]).array.count();
  const NpyArray data = describe(source, zip, "data").array;
  const WeightKind kind = data.kind == 'b'   ? WeightKind::none
                          : data.kind == 'f' ? WeightKind::float64
                                             : WeightKind::int32;
  // Each member is copied into a list while it is expanded. Then the graph is built from the list.
  const std::int64_t listed = entries * (8 + bytes_of(kind)) + largest;
  source.require_room({n, entries, kind}, std::max(listed, peak_bytes(n, entries, kind, false)), place);
}

Member read_indices(const Source& source, const ZipReader& zip, const std::string& name) {
  Member member = read_member(source, zip, name);
  if ((member.array.kind != 'i' && member.array.kind != 'u') || member.array.shape.size() != 1)
    throw UsageError(member.label + ": must be a one-dimensional array of integers; save the matrix again");
  return member;
}

std::vector<vertex_t> vertices_in(const Member& member, std::int64_t n) {
  std::vector<vertex_t> out(static_cast<std::size_t>(member.array.count()));
  parallel_ranges(member.array.count(), kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const std::int64_t v = member.array.integer(i);
      if (v < 0 || v >= n)
        throw UsageError(member.label + ": element " + std::to_string(i) + " is " + std::to_string(v) +
                         ", which is outside 0.." + std::to_string(n - 1) + "; the file is damaged");
      out[i] = static_cast<vertex_t>(v);
    }
  });
  return out;
}

/// The row (or column) of each entry, computed from the offsets of a compressed format.
std::vector<vertex_t> rows_in(const Member& indptr, std::int64_t n, std::int64_t entries) {
  auto wrong = [&](const std::string& what) {
    throw UsageError(indptr.label + ": " + what + "; call prune() and save the matrix again");
  };
  const NpyArray& offsets = indptr.array;
  if (offsets.count() != n + 1)
    wrong("holds " + std::to_string(offsets.count()) + " offsets instead of " + std::to_string(n + 1));
  if (offsets.integer(0) != 0) wrong("the first offset is " + std::to_string(offsets.integer(0)) + " instead of 0");
  if (offsets.integer(n) != entries)
    wrong("the last offset is " + std::to_string(offsets.integer(n)) + ", but there are " + std::to_string(entries) +
          " indices");
  for (std::int64_t v = 0; v < n; ++v)
    if (offsets.integer(v) > offsets.integer(v + 1)) wrong("the offsets decrease behind row " + std::to_string(v));
  std::vector<vertex_t> out(static_cast<std::size_t>(entries));
  parallel_ranges(n, kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t v = b; v < e; ++v)
      std::fill(out.begin() + offsets.integer(v), out.begin() + offsets.integer(v + 1), static_cast<vertex_t>(v));
  });
  return out;
}

void read_weights(const Member& member, ArcList& arcs) {
  const NpyArray& data = member.array;
  if (data.shape.size() != 1 || data.count() != arcs.size())
    throw UsageError(member.label + ": holds " + std::to_string(data.count()) + " values for " +
                     std::to_string(arcs.size()) + " entries; save the matrix again");
  if (data.kind == 'b') return;
  if (data.kind == 'f') {
    arcs.weight_kind = WeightKind::float64;
    arcs.real_weights.resize(static_cast<std::size_t>(arcs.size()));
    parallel_ranges(arcs.size(), kGrain, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i) {
        arcs.real_weights[i] = data.real(i);
        if (!std::isfinite(arcs.real_weights[i]))
          throw UsageError(member.label + ": value " + std::to_string(i) + " is not finite; weights must be numbers");
      }
    });
    return;
  }
  if (data.kind != 'i' && data.kind != 'u')
    throw UsageError(member.label + ": weights must be bool, integers or floats; save the matrix with such a dtype");
  arcs.weight_kind = WeightKind::int32;
  for (std::int64_t i = 0; i < arcs.size(); ++i) {
    const std::int64_t whole = data.integer(i);
    const bool beyond = data.kind == 'u' && whole < 0;  // 2^63 and more
    if (whole > kMostWholeWeight || whole < -kMostWholeWeight || beyond)
      throw UsageError(member.label + ": value " + std::to_string(i) + " is " +
                       (beyond ? std::to_string(static_cast<std::uint64_t>(whole)) : std::to_string(whole)) +
                       ", which cannot be kept exactly; the largest whole weight is " +
                       std::to_string(kMostWholeWeight) + " (2^53): scale the weights down, or save them as float64");
    WeightValue value;
    value.real = static_cast<double>(whole);
    value.is_whole = true;
    value.is_int32 = whole >= INT32_MIN && whole <= INT32_MAX;
    value.whole = value.is_int32 ? static_cast<std::int32_t>(whole) : 0;
    append_weight(arcs, value, nullptr, false);
    if (!value.is_int32 && arcs.remarks.wide.empty())
      arcs.remarks.wide =
          "the whole weight " + std::to_string(whole) + ", value " + std::to_string(i) + " of data.npy," + kBeyondInt32;
  }
}

std::string text_of(const NpyArray& array) {
  std::string out;
  for (const char c : array.data)
    if (c != '\0') out += c;
  return out;
}

}  // namespace

Csr read_npz(const Source& source) {
  const ZipReader zip(source.view(), source.name, source.memory_bytes);
  for (const char* needed : {"format", "shape"})
    if (!zip.has(std::string(needed) + ".npy"))
      source.raise(std::string("has no member ") + needed +
                   ".npy, so it is no sparse matrix; save it with scipy.sparse.save_npz");
  const std::string format = text_of(read_member(source, zip, "format").array);
  if (format != "csr" && format != "csc" && format != "coo")
    source.raise("holds a matrix in the format " + quoted(format) + "; save it as csr, csc or coo (matrix.tocsr())");
  const Member shape = read_member(source, zip, "shape");
  if ((shape.array.kind != 'i' && shape.array.kind != 'u') || shape.array.count() != 2)
    throw UsageError(shape.label + ": must hold two integers; save the matrix again");
  const std::int64_t n = shape.array.integer(0);
  if (n != shape.array.integer(1))
    source.raise("the matrix has " + std::to_string(n) + " rows but " + std::to_string(shape.array.integer(1)) +
                 " columns; the matrix of a graph is square");
  if (n < 0 || n > kMaxVertices)
    source.raise("the matrix has " + std::to_string(n) + " rows; legal are 0.." + std::to_string(kMaxVertices));
  const auto place = [&] { return shape.label + ":"; };
  source.require_room({n, 0}, peak_bytes(n, 0, WeightKind::none, false), place);
  const bool coo = format == "coo";
  require_room_for_entries(
      source, zip, n,
      coo ? std::vector<std::string>{"row", "col", "data"} : std::vector<std::string>{"indices", "indptr", "data"},
      place);
  ArcList arcs;
  if (coo) {
    arcs.sources = vertices_in(read_indices(source, zip, "row"), n);
    arcs.targets = vertices_in(read_indices(source, zip, "col"), n);
    if (arcs.sources.size() != arcs.targets.size())
      source.raise("holds " + std::to_string(arcs.sources.size()) + " rows but " + std::to_string(arcs.targets.size()) +
                   " columns of entries; save the matrix again");
  } else {
    arcs.targets = vertices_in(read_indices(source, zip, "indices"), n);
    arcs.sources = rows_in(read_indices(source, zip, "indptr"), n, arcs.targets.size());
    if (format == "csc") std::swap(arcs.sources, arcs.targets);
  }
  read_weights(read_member(source, zip, "data"), arcs);
  if (source.options.progress) source.options.progress(0.8);
  return build(source, n, std::move(arcs), false, place);
}

void write_npz(const Csr& graph, const std::string& file) {
  const std::int64_t n = graph.num_vertices(), m = graph.num_arcs();
  std::vector<ZipMember> members;
  // SciPy requires the same type for both index arrays.
  std::vector<std::int32_t> small_offsets;
  std::vector<std::int64_t> wide_targets;
  if (m <= INT32_MAX) {
    small_offsets.assign(graph.offsets.begin(), graph.offsets.end());
    members.push_back({"indices.npy", npy_header("<i4", m), graph.targets.data(), static_cast<std::size_t>(m) * 4});
    members.push_back({"indptr.npy", npy_header("<i4", n + 1), small_offsets.data(), small_offsets.size() * 4});
  } else {
    wide_targets.assign(graph.targets.begin(), graph.targets.end());
    members.push_back({"indices.npy", npy_header("<i8", m), wide_targets.data(), wide_targets.size() * 8});
    members.push_back(
        {"indptr.npy", npy_header("<i8", n + 1), graph.offsets.data(), static_cast<std::size_t>(n + 1) * 8});
  }
  members.push_back({"format.npy", npy_scalar_header("|S3"), "csr", 3});
  const std::int64_t shape[2] = {n, n};
  members.push_back({"shape.npy", npy_header("<i8", 2), shape, sizeof(shape)});
  const auto count = static_cast<std::size_t>(m);
  std::string ones;
  if (graph.weight_kind == WeightKind::int32) {
    members.push_back({"data.npy", npy_header("<i4", m), graph.int_weights.data(), count * 4});
  } else if (graph.weight_kind == WeightKind::float64) {
    members.push_back({"data.npy", npy_header("<f8", m), graph.real_weights.data(), count * 8});
  } else {
    ones.assign(count, '\1');
    members.push_back({"data.npy", npy_header("|b1", m), ones.data(), count});
  }
  write_zip(file, members);
}

}  // namespace shoal::io
