// An array of toy blocks in any number of dimensions, which are told values and give values for reductions, and a serial
// reference in one vector.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "shoal/blocks/launch_cpu.hpp"
#include "shoal/blocks/mapping.hpp"

namespace shoal {

struct Weight {
  std::uint64_t by;
};
struct Alone {
  std::uint64_t more;
};

/// One value for each tile. Its next value depends on every neighbour and on the side of that neighbour.
struct Toy {
  using Value = std::uint64_t;
  static constexpr Reduction kGives[] = {Reduction::sum, Reduction::min, Reduction::max};
  static constexpr std::int64_t kTiles = 3;
  std::int64_t number;
  std::uint64_t *states[2], *around, *told;  // [kTiles]; [kTiles x sides]; [2 x kTiles]
  std::uint32_t sides;

  std::int64_t tiles() const { return kTiles; }
  static std::uint64_t first(std::int64_t number, std::uint64_t tile) {
    return static_cast<std::uint64_t>(number) * 97 + tile * 13;
  }
  static double given(std::uint64_t value) { return 0.1 * static_cast<double>(value % 1000) - 20; }
  void start(const CpuThread&, std::uint64_t tile) const {
    states[0][tile] = first(number, tile);
    told[tile] = 1, told[kTiles + tile] = 0;
    for (std::uint32_t i = 0; i < sides; ++i) around[tile * sides + i] = 0;
  }
  void unpack(const CpuThread&, blocks::step_t, std::uint64_t tile, std::uint32_t side, const std::uint64_t* in) const {
    around[tile * sides + side] = in[tile];
  }
  void update(const CpuThread&, blocks::step_t s, std::uint64_t tile) const {
    std::uint64_t sum = states[s & 1][tile] * told[tile] + told[kTiles + tile];
    for (std::uint32_t i = 0; i < sides; ++i) sum = sum * 31 + around[tile * sides + i];
    states[(s + 1) & 1][tile] = sum % 100003;
  }
  void pack(const CpuThread&, blocks::step_t s, std::uint64_t tile, std::uint32_t, std::uint64_t* out) const {
    out[tile] = states[(s + 1) & 1][tile];
  }
  void give(const CpuThread&, blocks::step_t s, std::uint64_t tile, double (&values)[3]) const {
    const double value = given(states[s & 1][tile]);
    values[0] += value;
    values[1] = std::min(values[1], value);
    values[2] = std::max(values[2], value);
  }
  void hear(const CpuThread&, blocks::step_t, std::uint64_t tile, const Weight& weight) const {
    told[tile] = weight.by;
  }
  void hear(const CpuThread&, blocks::step_t, std::uint64_t tile, const Alone& alone) const {
    told[kTiles + tile] += alone.more;
  }
};

/// The serial reference in one vector: [blocks][tiles].
struct Plain {
  SizeN size;
  bool wraps;
  std::vector<std::uint64_t> now, around, by, more;

  explicit Plain(const SizeN& n, bool w) : size(n), wraps(w) {
    for (std::int64_t b = 0; b < n.volume(); ++b) {
      for (int t = 0; t < Toy::kTiles; ++t) now.push_back(Toy::first(b, static_cast<std::uint64_t>(t)));
    }
    by.assign(now.size(), 1);
    more.assign(now.size(), 0);
  }
  void step(bool first) {
    std::vector<std::uint64_t> then(now.size());
    for (std::int64_t b = 0; b < size.volume(); ++b) {
      for (int t = 0; t < Toy::kTiles; ++t) {
        const std::int64_t at = b * Toy::kTiles + t;
        std::uint64_t sum = now[at] * by[at] + more[at];
        for (int d = 0; d < size.dimensions(); ++d) {
          for (const int way : {-1, 1}) {
            const std::int64_t other = size.neighbor(b, d, way, wraps);
            sum = sum * 31 + (first || other < 0 ? 0 : now[other * Toy::kTiles + t]);
          }
        }
        then[at] = sum % 100003;
      }
    }
    now = then;
  }
  /// Adds block after block, the order that the library promises.
  std::vector<double> given() const {
    double sum = 0, least = 1e300, most = -1e300;
    for (std::int64_t b = 0; b < size.volume(); ++b) {
      double of_block = 0;
      for (int t = 0; t < Toy::kTiles; ++t) {
        const double value = Toy::given(now[b * Toy::kTiles + t]);
        of_block += value;
        least = std::min(least, value);
        most = std::max(most, value);
      }
      sum += of_block;
    }
    return {sum, least, most};
  }
};

class Toys {
 public:
  Toys(const Machine& machine, const SizeN& size, const Mapping& mapping, bool wraps)
      : array(machine, size, place_blocks(size, machine.all_pes(), mapping)) {
    for (std::int64_t b = 0; b < array.size(); ++b) {
      Toy toy{b, {}, {}, {}, static_cast<std::uint32_t>(2 * size.dimensions())};
      for (std::uint64_t*& state : toy.states) state = array.alloc<std::uint64_t>(b, Toy::kTiles, "a state");
      toy.around = array.alloc<std::uint64_t>(b, Toy::kTiles * toy.sides, "what is around");
      toy.told = array.alloc<std::uint64_t>(b, 2 * Toy::kTiles, "what it was told");
      array.put(b, toy);
    }
    array.join_neighbors([](std::int64_t, int) { return Toy::kTiles; }, wraps);
    array.place();
  }
  std::vector<std::uint64_t> states(blocks::step_t s) {
    std::vector<std::uint64_t> all;
    for (std::int64_t b = 0; b < array.size(); ++b) {
      for (int t = 0; t < Toy::kTiles; ++t) all.push_back(array[b].states[s & 1][t]);
    }
    return all;
  }
  BlockArray<Toy> array;
};

}  // namespace shoal
