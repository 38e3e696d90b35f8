// Heat on a four-dimensional torus: an array of blocks whose ends are joined along each dimension. Each block has some values and
// passes them to its eight neighbours. The host tells all blocks how fast heat spreads, and one block that it is heated. From
// time to time the blocks give the sum of all heat and its maximum. On CPU threads and GPUs:
//   example_06_lattice --iterations 60 --odf 8 --pes 2 --mapping parts
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "shoal/blocks.hpp"
using namespace shoal;

constexpr int kValues = 150, kTile = 64, kSides = 8;  // values of a block; values of a tile

struct Rate {
  double value;
};
struct Source {
  double value;
};

SHOAL_FN double at_start(std::int64_t block, int i) { return static_cast<double>((block * 7 + i * 3) % 11); }
SHOAL_FN double next(double value, double beside, double rate, double source) {
  return value + rate * (beside / kSides - value) + source;
}

struct Site {
  using Value = double;
  static constexpr Reduction kGives[] = {Reduction::sum, Reduction::max};
  std::int64_t number, others[kSides];
  double *heat[2], *beside, *told;  // states; sum of the neighbours' values; rate and source, for each tile

  SHOAL_FN std::int64_t tiles() const { return (kValues + kTile - 1) / kTile; }
  template <class W, class F>
  SHOAL_FN void each(const W& w, std::uint64_t tile, const F& f) const {  // a value always goes to the same lane
    for (int i = static_cast<int>(tile) * kTile + w.lane(); i < kValues && i < (static_cast<int>(tile) + 1) * kTile;
         i += w.size())
      f(i);
  }
  template <class W>
  SHOAL_FN void start(const W& w, std::uint64_t tile) const {
    each(w, tile, [&](int i) {
      heat[0][i] = at_start(number, i);
      beside[i] = 0;
      for (const std::int64_t other : others) beside[i] += at_start(other, i);
    });
    if (w.lane() == 0) told[2 * tile] = told[2 * tile + 1] = 0;
  }
  template <class W>
  SHOAL_FN void unpack(const W& w, blocks::step_t, std::uint64_t tile, std::uint32_t, const double* in) const {
    each(w, tile, [&](int i) { beside[i] += in[i]; });
  }
  template <class W>
  SHOAL_FN void update(const W& w, blocks::step_t s, std::uint64_t tile) const {
    each(w, tile, [&](int i) {
      heat[(s + 1) & 1][i] = next(heat[s & 1][i], beside[i], told[2 * tile], told[2 * tile + 1]);
      beside[i] = 0;
    });
  }
  template <class W>
  SHOAL_FN void pack(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t, double* out) const {
    each(w, tile, [&](int i) { out[i] = heat[(s + 1) & 1][i]; });
  }
  template <class W>
  SHOAL_FN void give(const W& w, blocks::step_t s, std::uint64_t tile, double (&values)[2]) const {
    each(w, tile, [&](int i) {
      values[0] += heat[s & 1][i];
      values[1] = heat[s & 1][i] > values[1] ? heat[s & 1][i] : values[1];
    });
  }
  template <class W>
  SHOAL_FN void hear(const W& w, blocks::step_t, std::uint64_t tile, Rate rate) const {
    if (w.lane() == 0) told[2 * tile] = rate.value;
  }
  template <class W>
  SHOAL_FN void hear(const W& w, blocks::step_t, std::uint64_t tile, Source source) const {
    if (w.lane() == 0) told[2 * tile + 1] = source.value;
  }
};

/// One step of the serial reference, with all values in one vector. The rate is 0.5 for all blocks, the source 0.01 for block 0.
std::vector<double> reference(const SizeN& size, const std::vector<double>& now) {
  std::vector<double> then(now.size());
  for (std::int64_t b = 0; b < size.volume(); ++b) {
    for (int i = 0; i < kValues; ++i) {
      double beside = 0;
      for (int d = 0; d < size.dimensions(); ++d) {
        for (const int way : {-1, 1}) beside += now[size.neighbor(b, d, way, true) * kValues + i];
      }
      then[b * kValues + i] = next(now[b * kValues + i], beside, 0.5, b == 0 ? 0.01 : 0);
    }
  }
  return then;
}

int main(int argc, char** argv) {
  return run_block_program(argc, argv, "Heat in four dimensions.", [](const BlockContext& ctx) {
    const SizeN size = cut_cells({16, 16, 16, 16}, static_cast<std::int64_t>(ctx.where.size()));
    BlockArray<Site> array(ctx.machine, size, place_blocks(size, ctx.machine.all_pes(), ctx.mapping));
    std::vector<double> now;
    for (std::int64_t b = 0; b < array.size(); ++b) {
      Site site{b, {}, {}, {}, {}};
      for (int side = 0; side < kSides; ++side) site.others[side] = size.neighbor(b, side / 2, side % 2 * 2 - 1, true);
      for (double** to : {&site.heat[0], &site.heat[1], &site.beside}) *to = array.alloc<double>(b, kValues, "values");
      site.told = array.alloc<double>(b, 2 * site.tiles(), "what tiles are told");
      array.put(b, site);
      for (int i = 0; i < kValues; ++i) now.push_back(at_start(b, i));
    }
    array.join_neighbors([](std::int64_t, int) { return kValues; }, true);
    array.place();
    return with_launcher(ctx, array, [&](auto& launcher) {
      const auto steps = static_cast<blocks::step_t>(ctx.iterations), every = std::max<blocks::step_t>(steps / 4, 1);
      launcher.start();
      launcher.tell(0, Rate{0.5});
      launcher.tell(0, 0, Source{0.01});  // block 0
      const double seconds = launcher.run({0, steps, false, false, every});
      bool right = launcher.given().size() == steps / every;
      double sum = 0, most = 0;
      for (blocks::step_t s = 1; s <= steps && right; ++s) {
        now = reference(size, now);
        if (s % every != 0) continue;
        const auto& given = launcher.given()[s / every - 1].values;
        sum = most = 0;
        for (const double value : now) sum += value, most = std::max(most, value);
        right = std::abs(given[0] / sum - 1) < 1e-12 && std::abs(given[1] / most - 1) < 1e-12;
      }
      if (ctx.leader()) {
        std::printf("%.3f ms, %s blocks on %d PEs, heat %.9g, hottest %.9g: %s\n", seconds * 1e3, text_of(size).c_str(),
                    ctx.machine.all_pes(), sum, most, right ? "right" : "WRONG");
      }
      return right;
    });
  });
}
