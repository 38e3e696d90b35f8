// Heat on a lattice of four dimensions whose ends are joined. Each block has some sites and a channel to the one beside it in each
// direction. All blocks are told how fast heat spreads, one of them that it is heated, and from time to time it is asked how much
// heat there is and how hot the hottest site. On CPU threads and GPUs:
//   example_06_lattice --iterations 60 --odf 8 --pes 2 --mapping parts
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "shoal/blocks.hpp"
using namespace shoal;

constexpr int kDims = 4, kTile = 64;  // sites of a tile
const SizeN kLattice{8, 6, 10, 7};

SHOAL_FN double at_start(const std::int64_t (&place)[kDims]) {
  return static_cast<double>((place[0] * 7 + place[1] * 5 + place[2] * 3 + place[3]) % 11);
}
SHOAL_FN double next(double site, double beside, double rate, double source) {
  return site + rate * (beside / (2 * kDims) - site) + source;
}

struct Rate {
  double value;
};
struct Source {
  double value;
};

struct Sites {
  using Value = double;
  static constexpr Reduction kGives[] = {Reduction::sum, Reduction::max};
  std::int64_t origin[kDims], size[kDims], whole[kDims];  // of the block, and of the lattice
  std::int64_t stride[kDims], sites;                      // there is a layer around
  double *states[2], *told;                               // told: rate and source, for each tile

  SHOAL_FN std::int64_t tiles() const { return (sites + kTile - 1) / kTile; }
  template <class W, class F>
  SHOAL_FN void each(const W& w, std::uint64_t tile, const F& f) const {  // f(place, where it lies)
    for (std::int64_t i = tile * kTile + w.lane(), end = (tile + 1) * kTile; i < end && i < sites; i += w.size()) {
      std::int64_t place[kDims], left = i, at = 0;
      for (int d = kDims - 1; d >= 0; --d) {
        place[d] = left % size[d], left /= size[d];
        at += (place[d] + 1) * stride[d];
      }
      f(place, at);
    }
  }
  template <class W, class F>  // f(which value of the side, where the site lies, where the one beyond does)
  SHOAL_FN void each_at(const W& w, std::uint64_t tile, std::uint32_t side, const F& f) const {
    const int across = side / 2, way = side % 2 == 0 ? -1 : 1;
    each(w, tile, [&](const std::int64_t(&place)[kDims], std::int64_t at) {
      if (place[across] != (way < 0 ? 0 : size[across] - 1)) return;
      std::int64_t i = 0;
      for (int d = 0; d < kDims; ++d) i = d == across ? i : i * size[d] + place[d];
      f(i, at, at + way * stride[across]);
    });
  }

  template <class W>
  SHOAL_FN void start(const W& w, std::uint64_t tile) const {
    each(w, tile, [&](const std::int64_t(&place)[kDims], std::int64_t at) {
      for (int d = -1; d < kDims; ++d) {  // the site, and what is beside it
        for (const int way : {-1, 1}) {
          std::int64_t there[kDims];
          for (int k = 0; k < kDims; ++k) there[k] = origin[k] + place[k];
          if (d >= 0) there[d] = (there[d] + way + whole[d]) % whole[d];
          if (d < 0 || place[d] == (way < 0 ? 0 : size[d] - 1))
            states[0][d < 0 ? at : at + way * stride[d]] = at_start(there);
        }
      }
    });
    if (w.lane() == 0) told[2 * tile] = told[2 * tile + 1] = 0;
  }
  template <class W>
  SHOAL_FN void unpack(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t side, const double* in) const {
    each_at(w, tile, side, [&](std::int64_t i, std::int64_t, std::int64_t beyond) { states[s & 1][beyond] = in[i]; });
  }
  template <class W>
  SHOAL_FN void update(const W& w, blocks::step_t s, std::uint64_t tile) const {
    each(w, tile, [&](const std::int64_t(&)[kDims], std::int64_t at) {
      const double* const now = states[s & 1] + at;
      double beside = 0;
      for (int d = 0; d < kDims; ++d) beside += now[-stride[d]] + now[stride[d]];
      states[(s + 1) & 1][at] = next(now[0], beside, told[2 * tile], told[2 * tile + 1]);
    });
  }
  template <class W>
  SHOAL_FN void pack(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t side, double* out) const {
    each_at(w, tile, side, [&](std::int64_t i, std::int64_t at, std::int64_t) { out[i] = states[(s + 1) & 1][at]; });
  }
  template <class W>
  SHOAL_FN void give(const W& w, blocks::step_t s, std::uint64_t tile, double (&values)[2]) const {
    each(w, tile, [&](const std::int64_t(&)[kDims], std::int64_t at) {
      const double heat = states[s & 1][at];
      values[0] += heat;
      values[1] = heat > values[1] ? heat : values[1];
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

/// One step of the whole lattice. @param source  of each site
std::vector<double> step(const std::vector<double>& now, double rate, const std::vector<double>& source) {
  std::vector<double> then(now.size());
  for (std::int64_t i = 0; i < kLattice.volume(); ++i) {
    double beside = 0;
    for (int d = 0; d < kDims; ++d)
      beside += now[kLattice.neighbor(i, d, -1, true)] + now[kLattice.neighbor(i, d, 1, true)];
    then[i] = next(now[i], beside, rate, source[i]);
  }
  return then;
}

int main(int argc, char** argv) {
  return run_block_program(argc, argv, "Heat on a lattice of four dimensions.", [](const BlockContext& ctx) {
    const SizeN cut = cut_cells(kLattice, static_cast<std::int64_t>(ctx.where.size()));
    BlockArray<Sites> array(ctx.machine, cut, place_blocks(cut, ctx.machine.all_pes(), ctx.mapping));
    std::vector<double> now(kLattice.volume()), source(now.size(), 0.0);
    for (std::int64_t b = 0; b < array.size(); ++b) {
      const SizeN at = cut.place_of(b);
      Sites block{};
      block.sites = 1;
      std::int64_t cells = 1;
      for (int d = kDims - 1; d >= 0; --d) {
        block.origin[d] = part_begin(kLattice[d], cut[d], at[d]);
        block.size[d] = part_begin(kLattice[d], cut[d], at[d] + 1) - block.origin[d];
        block.whole[d] = kLattice[d];
        block.stride[d] = cells;
        block.sites *= block.size[d];
        cells *= block.size[d] + 2;
      }
      for (double*& state : block.states) state = array.alloc<double>(b, cells, "a state");
      block.told = array.alloc<double>(b, 2 * block.tiles(), "what tiles are told");
      array.put(b, block);
    }
    array.join_neighbors([&](std::int64_t b, int d) { return array[b].sites / array[b].size[d]; }, true);
    array.place();
    for (std::int64_t i = 0; i < kLattice.volume(); ++i) {
      const SizeN place = kLattice.place_of(i);
      now[i] = at_start({place[0], place[1], place[2], place[3]});
      const auto heated = [&](int d) { return place[d] < array[0].size[d]; };
      if (heated(0) && heated(1) && heated(2) && heated(3)) source[i] = 0.01;  // block 0
    }
    const auto every = std::max<std::int64_t>(ctx.iterations / 4, 1);
    return with_launcher(ctx, array, [&](auto& launcher) {
      launcher.start();
      launcher.tell(0, Rate{0.5});
      launcher.tell(0, 0, Source{0.01});
      const double seconds = launcher.run(
          {0, static_cast<blocks::step_t>(ctx.iterations), false, false, static_cast<blocks::step_t>(every)});
      bool right = true;
      double heat = 0, hottest = 0;
      std::size_t given = 0;
      for (std::int64_t s = 1; s <= ctx.iterations; ++s) {
        now = step(now, 0.5, source);
        if (s % every != 0) continue;
        heat = launcher.given()[given].values[0];
        hottest = launcher.given()[given++].values[1];
        double want = 0;
        for (const double site : now) want += site;
        right = right && std::abs(heat / want - 1) < 1e-12 &&
                std::abs(hottest / *std::max_element(now.begin(), now.end()) - 1) < 1e-12;
      }
      if (ctx.leader()) {
        std::printf("%.3f ms, %s blocks on %d PEs, heat %.9g, hottest %.9g: %s\n", seconds * 1e3, text_of(cut).c_str(),
                    ctx.machine.all_pes(), heat, hottest, right ? "right" : "WRONG");
      }
      return right && given == launcher.given().size();
    });
  });
}
