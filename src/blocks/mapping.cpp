#include "shoal/blocks/mapping.hpp"

#include <algorithm>
#include <fstream>

#include "shoal/core/error.hpp"

namespace shoal {

Size3 cut_grid(Size3 grid, std::int64_t blocks, Size3 dear) {
  blocks = std::min(blocks, grid.volume());
  for (;; --blocks) {  // one block always fits
    Size3 best{0, 0, 0};
    std::int64_t least = 0;
    for (std::int64_t z = 1; z <= blocks; ++z) {
      if (blocks % z != 0 || z > grid.z) continue;
      for (std::int64_t y = 1; y <= blocks / z; ++y) {
        const std::int64_t x = blocks / z / y;
        if (blocks / z % y != 0 || y > grid.y || x > grid.x) continue;
        const std::int64_t cut = dear.x * (x - 1) * grid.y * grid.z + dear.y * (y - 1) * grid.x * grid.z +
                                 dear.z * (z - 1) * grid.x * grid.y;
        if (best.x == 0 || cut < least) {
          best = {x, y, z};
          least = cut;
        }
      }
    }
    if (best.x > 0) return best;
  }
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
  if (text.rfind("file:", 0) == 0 && text.size() > 5) return {MappingKind::file, text.substr(5)};
  throw UsageError("mapping '" + text + "' is not known; legal: block, round-robin, file:PATH");
}

std::string name(const Mapping& mapping) {
  if (mapping.kind == MappingKind::file) return "file:" + mapping.file;
  return mapping.kind == MappingKind::block ? "block" : "round-robin";
}

void check_odf(std::int64_t odf) {
  if (odf >= 1 && odf <= 4096) return;
  throw UsageError("odf " + std::to_string(odf) + " is out of range: 1 to 4096 blocks per PE");
}

std::vector<pe_t> place_blocks(std::int64_t blocks, pe_t n_pes, const Mapping& mapping) {
  std::vector<pe_t> where(static_cast<std::size_t>(blocks));
  if (mapping.kind != MappingKind::file) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      where[b] = static_cast<pe_t>(mapping.kind == MappingKind::block ? b * n_pes / blocks : b % n_pes);
    }
    return where;
  }
  const std::string has = "mapping file " + mapping.file + ": ";
  std::ifstream file(mapping.file);
  if (!file) throw UsageError(has + "cannot be opened");
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::int64_t pe = -1;
    if (!(file >> pe) || pe < 0 || pe >= n_pes) {
      throw UsageError(has + "line " + std::to_string(b + 1) + " is not a PE from 0 to " + std::to_string(n_pes - 1) +
                       "; one for each of " + std::to_string(blocks) + " blocks is wanted");
    }
    where[b] = static_cast<pe_t>(pe);
  }
  std::string more;
  if (file >> more) throw UsageError(has + "has more than " + std::to_string(blocks) + " lines, one for each block");
  return where;
}

std::vector<pe_t> place_parts(Size3 grid, Size3 blocks, pe_t n_pes) {
  const Size3 parts = cut_grid(grid, n_pes);
  const Size3 each{blocks.x / parts.x, blocks.y / parts.y, blocks.z / parts.z};
  const bool whole = Size3{each.x * parts.x, each.y * parts.y, each.z * parts.z} == blocks;
  if (!whole || parts.volume() < n_pes) return place_blocks(blocks.volume(), n_pes, {});
  std::vector<pe_t> where;
  for (std::int64_t x = 0; x < blocks.x; ++x) {
    for (std::int64_t y = 0; y < blocks.y; ++y) {
      for (std::int64_t z = 0; z < blocks.z; ++z) {
        where.push_back(static_cast<pe_t>((x / each.x * parts.y + y / each.y) * parts.z + z / each.z));
      }
    }
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
    double after = *most - little;  // what the slower of the two takes then
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
