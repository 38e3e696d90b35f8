// The largest eigenvalue of a sparse matrix of dense blocks, by power iteration: x becomes A x, again and again. A block has some
// rows of A and of x. It has a channel to each block whose part of x it needs; some of these blocks are chosen at random. On CPU
// threads and GPUs:
//   example_05_power_iteration --iterations 60 --odf 8 --pes 2
#include <cmath>
#include <cstdio>
#include <vector>

#include "shoal/blocks.hpp"
using namespace shoal;

constexpr int kRows = 150, kTile = 64, kMost = 6;  // rows of a block; rows of a tile; most neighbours of a block

SHOAL_FN double entry(std::int64_t row, std::int64_t column) {  // symmetric, positive
  const std::uint64_t low = row < column ? row : column, high = row < column ? column : row;
  return static_cast<double>((low * 31 + high * 17 + low * high) % 101 + 1) / (101.0 * kRows);
}

struct Rows {
  using Value = double;                   // parts of x cross channels
  std::int64_t number, n, others[kMost];  // this block; its n neighbours
  double* matrix;      // [1 + kMost][kRows columns][kRows rows]: the columns of this block, then of each neighbour
  double *x[2], *sum;  // [kRows] two states; the neighbours' part of the next state

  SHOAL_FN std::int64_t tiles() const { return (kRows + kTile - 1) / kTile; }
  template <class W, class F>
  SHOAL_FN void each_row(const W& w, std::uint64_t tile, const F& f) const {  // a row always goes to the same lane
    for (int i = static_cast<int>(tile) * kTile + w.lane(); i < kRows && i < (static_cast<int>(tile) + 1) * kTile;
         i += w.size())
      f(i);
  }
  SHOAL_FN double times(int i, int part, const double* in) const {
    double result = 0;
    for (int j = 0; j < kRows; ++j) result += matrix[(part * kRows + j) * kRows + i] * in[j];
    return result;
  }

  template <class W>
  SHOAL_FN void start(const W& w, std::uint64_t tile) const {
    each_row(w, tile, [&](int i) {
      x[0][i] = 1;
      sum[i] = 0;
      for (int part = 0; part <= n; ++part) {
        const std::int64_t from = part == 0 ? number : others[part - 1];
        for (int j = 0; j < kRows; ++j) {
          const double value = entry(number * kRows + i, from * kRows + j);
          matrix[(part * kRows + j) * kRows + i] = value;
          if (part > 0) sum[i] += value;  // since state 0 is 1 everywhere
        }
      }
    });
  }
  template <class W>
  SHOAL_FN void unpack(const W& w, blocks::step_t, std::uint64_t tile, std::uint32_t side, const double* in) const {
    each_row(w, tile, [&](int i) { sum[i] += times(i, static_cast<int>(side) + 1, in); });
  }
  template <class W>
  SHOAL_FN void update(const W& w, blocks::step_t s, std::uint64_t tile) const {
    each_row(w, tile, [&](int i) {
      x[(s + 1) & 1][i] = sum[i] + times(i, 0, x[s & 1]);
      sum[i] = 0;
    });
  }
  template <class W>
  SHOAL_FN void pack(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t, double* out) const {
    each_row(w, tile, [&](int i) { out[i] = x[(s + 1) & 1][i]; });
  }
};

/// The serial reference, with x in one vector. @return x after `iterations` steps
std::vector<double> reference(const std::vector<std::vector<std::int64_t>>& others, std::int64_t iterations) {
  std::vector<double> x(others.size() * kRows, 1.0), y;
  for (; iterations > 0; --iterations, x = y) {
    y.assign(x.size(), 0.0);
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(x.size()); ++row) {
      for (const std::int64_t from : others[row / kRows]) {
        for (std::int64_t c = from * kRows; c < (from + 1) * kRows; ++c) y[row] += entry(row, c) * x[c];
      }
    }
  }
  return x;
}

int main(int argc, char** argv) {
  return run_block_program(argc, argv, "The largest eigenvalue of a block-sparse matrix.", [](const BlockContext& ctx) {
    BlockArray<Rows> array(ctx.machine, ctx.where);
    std::vector<std::vector<std::int64_t>> others(array.size());  // [blocks] neighbours of each, then itself
    for (std::int64_t b = 0, seed = 1; b < array.size(); ++b) {
      for (int k = 0; k < 2; ++k) {
        seed = (seed * 1103515245 + 12345) % (std::int64_t{1} << 31);
        const std::int64_t c = k == 0 ? (b + 1) % array.size() : seed / 65536 % array.size();
        if (c == b || others[b].size() == kMost || others[c].size() == kMost) continue;
        array.join(b, others[b].size(), c, others[c].size(), kRows);
        others[b].push_back(c), others[c].push_back(b);
      }
    }
    for (std::int64_t b = 0; b < array.size(); ++b) {
      double* const matrix = array.alloc<double>(b, (1 + kMost) * kRows * kRows, "the matrix");
      Rows block{b, static_cast<std::int64_t>(others[b].size()), {}, matrix, {}, {}};
      std::copy(others[b].begin(), others[b].end(), block.others);
      for (double** to : {&block.x[0], &block.x[1], &block.sum}) *to = array.alloc<double>(b, kRows, "a vector");
      array.put(b, block);
      others[b].push_back(b);
    }
    array.place();
    const double seconds = run_blocks(ctx, array);
    const std::vector<double> want = reference(others, ctx.iterations);
    std::vector<double> got(want.size());
    for (std::int64_t b = 0; b < array.size(); ++b) {
      array.fetch(b, array[b].x[ctx.iterations & 1], kRows, &got[b * kRows]);
    }
    bool right = true;
    for (std::size_t i = 0; i < got.size(); ++i) right = right && std::abs(got[i] / want[i] - 1) < 1e-12;
    double before = got[0];  // x[0] of the step before
    if (ctx.iterations > 0) array.fetch(0, array[0].x[(ctx.iterations - 1) & 1], 1, &before);
    if (ctx.leader()) {
      std::printf("%.3f ms, %lld blocks on %d PEs, eigenvalue %.9g: %s\n", seconds * 1e3,
                  static_cast<long long>(array.size()), ctx.machine.all_pes(), got[0] / before,
                  right ? "right" : "WRONG");
    }
    return right;
  });
}
