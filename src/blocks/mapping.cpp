#include "shoal/blocks/mapping.hpp"

#include <algorithm>
#include <istream>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"

namespace shoal {

namespace {

/// Tries all ways to write `left` as a product of factors for dimensions 0 to d. For dimension d, the smallest factor comes
/// first.
struct LeastCut {
  const SizeN &cells, &dear;
  SizeN now, best;
  std::int64_t least = -1;  ///< cost of the cells at the cuts of `best`; -1: no cut fits yet

  void try_all(int d, std::int64_t left, std::int64_t cut) {
    const std::int64_t face = cells.volume() / cells[d];
    const auto try_factor = [&](std::int64_t n) {
      if (n > cells[d]) return;
      now[d] = n;
      const std::int64_t with = cut + dear[d] * (n - 1) * face;
      if (d > 0) {
        try_all(d - 1, left / n, with);
      } else if (least < 0 || with < least) {
        best = now;
        least = with;
      }
    };
    if (d == 0) return try_factor(left);
    for (std::int64_t n = 1; n <= left && n <= cells[d]; ++n) {
      if (left % n == 0) try_factor(n);
    }
  }
};

}  // namespace

SizeN cut_cells(const SizeN& cells, std::int64_t blocks, const SizeN& dear) {
  for (blocks = std::min(blocks, cells.volume());; --blocks) {  // one block always fits
    LeastCut cut{cells, dear, cells, cells};
    cut.try_all(cells.dimensions() - 1, blocks, 0);
    if (cut.least >= 0) return cut.best;
  }
}
SizeN cut_cells(const SizeN& cells, std::int64_t blocks) {
  SizeN dear = cells;
  for (int d = 0; d < cells.dimensions(); ++d) dear[d] = 1;
  return cut_cells(cells, blocks, dear);
}
Size3 cut_grid(Size3 grid, std::int64_t blocks, Size3 dear) {
  const SizeN cut = cut_cells(grid.n(), blocks, dear.n());
  return {cut[0], cut[1], cut[2]};
}

Size3 cut_grid_for_gpus(Size3 grid, pe_t n_pes, std::int64_t odf) {
  const Size3 parts = cut_grid(grid, n_pes);
  if (parts.volume() < n_pes) return cut_grid(grid, n_pes * odf);
  const Size3 in_part = cut_grid({grid.x / parts.x, grid.y / parts.y, grid.z / parts.z}, odf, kDearOnOneGpu);
  return {parts.x * in_part.x, parts.y * in_part.y, parts.z * in_part.z};
}

Mapping parse_mapping(const std::string& text) {
  if (text == "block") return {MappingKind::block, ""};
  if (text == "round-robin") return {MappingKind::round_robin, ""};
  if (text == "parts") return {MappingKind::parts, ""};
  if (text.rfind("file:", 0) == 0 && text.size() > 5) return {MappingKind::file, text.substr(5)};
  throw UsageError("mapping '" + text + "' is not known; legal: block, round-robin, parts, file:PATH");
}

std::string name(const Mapping& mapping) {
  if (mapping.kind == MappingKind::file) return "file:" + mapping.file;
  return mapping.kind == MappingKind::block ? "block" : mapping.kind == MappingKind::parts ? "parts" : "round-robin";
}

void check_odf(std::int64_t odf) {
  if (odf >= 1 && odf <= 4096) return;
  throw UsageError("--odf " + std::to_string(odf) + " is out of range: 1 to 4096 blocks per PE, or 0, which chooses");
}

std::vector<pe_t> place_blocks(const SizeN& array, pe_t n_pes, const Mapping& mapping, const std::string& options) {
  if (mapping.kind == MappingKind::parts) return place_parts(array, array, n_pes);
  const std::int64_t blocks = array.volume();
  std::vector<pe_t> where(static_cast<std::size_t>(blocks));
  if (mapping.kind != MappingKind::file) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      where[b] = static_cast<pe_t>(mapping.kind == MappingKind::block ? b * n_pes / blocks : b % n_pes);
    }
    return where;
  }
  const std::string has = "mapping file " + mapping.file + ": ";
  const auto lines = open_text_file(mapping.file, "a mapping: one PE number per line, one line per block");
  std::istream& file = *lines;
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::int64_t pe = -1;
    if (!(file >> pe) || pe < 0 || pe >= n_pes) {
      throw UsageError(has + "line " + std::to_string(b + 1) + " is not a PE from 0 to " + std::to_string(n_pes - 1) +
                       "; give one for each of " + std::to_string(blocks) + " blocks");
    }
    where[b] = static_cast<pe_t>(pe);
  }
  std::string more;
  if (file >> more) {
    throw UsageError(has + "has a PE for more than the " + counted(blocks, "block", "blocks") +
                     " of this run, beginning with '" + more + "'; leave out the others" +
                     (options.empty() ? "" : ", or change " + options));
  }
  return where;
}

std::vector<pe_t> place_parts(const SizeN& cells, const SizeN& blocks, pe_t n_pes) {
  const SizeN parts = cut_cells(cells, n_pes);
  bool whole = parts.volume() == n_pes;
  for (int d = 0; d < blocks.dimensions(); ++d) whole = whole && blocks[d] % parts[d] == 0;
  if (!whole) return place_blocks(blocks, n_pes, {});
  std::vector<pe_t> where;
  for (std::int64_t b = 0; b < blocks.volume(); ++b) {
    SizeN part = blocks.place_of(b);
    for (int d = 0; d < blocks.dimensions(); ++d) part[d] /= blocks[d] / parts[d];
    where.push_back(static_cast<pe_t>(parts.number_of(part)));
  }
  return where;
}

std::vector<pe_t> balance_blocks(const std::vector<double>& busy, pe_t n_pes, std::vector<pe_t> where) {
  std::vector<double> takes(static_cast<std::size_t>(n_pes), 0.0);
  double all = 0;
  for (std::size_t b = 0; b < busy.size(); ++b) {
    takes[where[b]] += busy[b];
    all += busy[b];
  }
  const double little = all / n_pes / 100;
  for (std::size_t moves = 0; moves < busy.size(); ++moves) {
    const auto most = std::max_element(takes.begin(), takes.end()),
               least = std::min_element(takes.begin(), takes.end());
    std::size_t best = busy.size();
    double after = *most - little;  // the larger time of the two PEs after the best move so far
    for (std::size_t b = 0; b < busy.size(); ++b) {
      if (where[b] != most - takes.begin()) continue;
      const double then = std::max(*most - busy[b], *least + busy[b]);
      if (then < after) {
        after = then;
        best = b;
      }
    }
    if (best == busy.size()) break;
    where[best] = static_cast<pe_t>(least - takes.begin());
    *most -= busy[best];
    *least += busy[best];
  }
  return where;
}

}  // namespace shoal
