#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "../../baselines/common/part.hpp"

namespace shoal::baselines {
namespace {

std::vector<Part> parts_of(Size3 grid, int ranks) {
  std::vector<Part> parts;
  for (int r = 0; r < ranks; ++r) parts.emplace_back(grid, Ranks{r, ranks});
  return parts;
}

/// A number for each cell of the grid.
double number(Size3 cell) { return static_cast<double>((cell.x * 100 + cell.y) * 100 + cell.z); }

void fill(const Part& part, std::vector<double>& state) {
  state.assign(static_cast<std::size_t>(part.with_layer()), -1);
  for (std::int64_t x = 0; x < part.n.x; ++x) {
    for (std::int64_t y = 0; y < part.n.y; ++y) {
      for (std::int64_t z = 0; z < part.n.z; ++z) {
        state.at(part.index(x, y, z)) = number({part.first.x + x, part.first.y + y, part.first.z + z});
      }
    }
  }
}

struct Case {
  Size3 grid;
  int ranks;
};
const Case kCases[] = {{{7, 8, 9}, 1}, {{7, 8, 9}, 2}, {{7, 8, 9}, 8}, {{5, 5, 5}, 12}, {{1, 1, 4}, 4}, {{6, 1, 3}, 6}};

TEST(Part, FacesThatCameAreTheNeighboursCells) {
  for (const Case& c : kCases) {
    const std::vector<Part> parts = parts_of(c.grid, c.ranks);
    std::vector<std::vector<double>> states(parts.size()), sent(parts.size());
    for (std::size_t r = 0; r < parts.size(); ++r) {
      fill(parts[r], states[r]);
      sent[r].resize(static_cast<std::size_t>(parts[r].sent()));
      for (int f = 0; f < kFaces; ++f) {
        for (std::int64_t i = 0; i < parts[r].begin[f + 1] - parts[r].begin[f]; ++i) {
          sent[r].at(parts[r].begin[f] + i) = states[r].at(parts[r].face_cell(f, i, false));
        }
      }
    }
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const Part& part = parts[r];
      for (int f = 0; f < kFaces; ++f) {
        const Size3 out[] = {{-1, 0, 0}, {part.n.x, 0, 0}, {0, -1, 0}, {0, part.n.y, 0}, {0, 0, -1}, {0, 0, part.n.z}};
        const Size3 beside = {part.first.x + out[f].x, part.first.y + out[f].y, part.first.z + out[f].z};
        const bool in_grid = beside.x >= 0 && beside.x < c.grid.x && beside.y >= 0 && beside.y < c.grid.y &&
                             beside.z >= 0 && beside.z < c.grid.z;
        ASSERT_EQ(part.neighbor[f] >= 0, in_grid) << "rank " << r << ", face " << f;
        if (!in_grid) continue;
        const Part& other = parts.at(part.neighbor[f]);
        ASSERT_EQ(other.neighbor[f ^ 1], static_cast<int>(r));
        ASSERT_EQ(other.face_cells(f ^ 1), part.face_cells(f));
        for (std::int64_t i = 0; i < part.face_cells(f); ++i) {
          states[r].at(part.face_cell(f, i, true)) = sent[part.neighbor[f]].at(other.begin[f ^ 1] + i);
        }
        // The first and the last cell of the received face have the numbers of the grid cells beyond it.
        EXPECT_EQ(states[r].at(part.index(out[f].x, out[f].y, out[f].z)), number(beside));
        Size3 far = {part.n.x - 1, part.n.y - 1, part.n.z - 1};
        (f < 2 ? far.x : f < 4 ? far.y : far.z) = f < 2 ? out[f].x : f < 4 ? out[f].y : out[f].z;
        EXPECT_EQ(states[r].at(part.index(far.x, far.y, far.z)),
                  number({part.first.x + far.x, part.first.y + far.y, part.first.z + far.z}));
      }
    }
  }
}

TEST(Part, BoxesAreAllCellsOnce) {
  for (const Case& c : kCases) {
    std::int64_t cells = 0;
    for (const Part& part : parts_of(c.grid, c.ranks)) {
      std::map<std::int64_t, int> times;
      const auto count = [&](const Box& box, bool inside) {
        for (std::int64_t x = box.from.x; x < box.to.x; ++x) {
          for (std::int64_t y = box.from.y; y < box.to.y; ++y) {
            for (std::int64_t z = box.from.z; z < box.to.z; ++z) {
              ++times[part.index(x, y, z)];
              const bool at_neighbor =
                  (x == 0 && part.neighbor[0] >= 0) || (x == part.n.x - 1 && part.neighbor[1] >= 0) ||
                  (y == 0 && part.neighbor[2] >= 0) || (y == part.n.y - 1 && part.neighbor[3] >= 0) ||
                  (z == 0 && part.neighbor[4] >= 0) || (z == part.n.z - 1 && part.neighbor[5] >= 0);
              EXPECT_EQ(inside, !at_neighbor) << x << ", " << y << ", " << z;
            }
          }
        }
      };
      count(part.interior(), true);
      for (const Box& box : part.exterior()) count(box, false);
      EXPECT_EQ(static_cast<std::int64_t>(times.size()), part.n.volume());
      for (const auto& [cell, n] : times) EXPECT_EQ(n, 1);
      cells += part.n.volume();
    }
    EXPECT_EQ(cells, c.grid.volume());
  }
}

TEST(Part, MoreRanksThanCellsAreRefused) { EXPECT_THROW(parts_of({2, 2, 1}, 5), UsageError); }

}  // namespace
}  // namespace shoal::baselines
