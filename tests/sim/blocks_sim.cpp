// The shipped steps of blocks (blocks/steps.hpp): arrays of a few blocks on a few PEs, with random channels; a block may have a
// channel to itself, and two blocks may have several. Workers must compute every state that a plain serial computation gives.
// Either they take one step after another, or they carry out the tiles of kernels of one step each, which wait for other PEs
// themselves (do_part).
#include <string>
#include <vector>

#include "harness.hpp"
#include "lanes.hpp"
#include "shoal/blocks/steps.hpp"

namespace {

using namespace shoal;

constexpr std::uint32_t kMostTiles = 5, kMostSides = 4;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  return x ^ x >> 27;
}

/// Which tiles a tile reads: all (the toy declares nothing), or itself and its two neighbours in a ring of tiles.
struct OfAll {
  static std::uint32_t reads(std::uint32_t, std::uint32_t n_tiles) { return n_tiles; }
  static std::uint32_t read(std::uint32_t, std::uint32_t, std::uint32_t i) { return i; }
};
struct OfThree {
  static constexpr std::uint32_t kNear = 3;
  static std::uint32_t reads(std::uint32_t, std::uint32_t) { return kNear; }
  static std::uint32_t read(std::uint32_t tile, std::uint32_t n_tiles, std::uint32_t i) {
    return (tile + n_tiles + i - 1) % n_tiles;
  }
};
template <class Made>
struct NearOf {};
template <>
struct NearOf<OfThree> {
  static constexpr std::uint32_t kNear = OfThree::kNear;
  static bool touches(std::uint64_t, std::uint32_t) { return true; }
  static std::uint64_t beyond(std::uint64_t tile, std::uint32_t) { return tile; }
};

/// One value for each tile. The next value depends on values of the block and on what arrived for the tile at each side.
template <class Made>
struct Toy : NearOf<Made> {
  using Value = std::uint64_t;
  std::uint64_t (*state)[kMostTiles];               ///< [2] state s is state[s & 1]
  std::uint64_t (*around)[kMostTiles][kMostSides];  ///< [2]
  std::uint32_t n_tiles, n_sides;
  std::uint32_t theirs[kMostSides];  ///< the side of the other block to which each side is connected
  const std::uint64_t (*beside[kMostSides])[kMostTiles];  ///< the other block's states, if they are read directly

  std::int64_t tiles() const { return n_tiles; }
  std::uint64_t near(std::uint64_t tile, std::uint32_t i) const {
    return Made::read(static_cast<std::uint32_t>(tile), n_tiles, i);
  }
  template <class W>
  void unpack(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t side, const Value* in) const {
    if (w.lane() == side % w.size()) plain_write(around[s & 1][tile][side], plain_read(in[tile]));
  }
  template <class W>
  void update(const W& w, blocks::step_t s, std::uint64_t tile) const {
    if (w.lane() + 1 == w.size()) {
      std::uint64_t sum = tile + 1;
      const auto mine = static_cast<std::uint32_t>(tile);
      for (std::uint32_t i = 0; i < Made::reads(mine, n_tiles); ++i) {
        sum = mix(sum + plain_read(state[s & 1][Made::read(mine, n_tiles, i)]));
      }
      for (std::uint32_t i = 0; i < n_sides; ++i) {
        sum = mix(sum + (beside[i] == nullptr ? plain_read(around[s & 1][tile][i])
                                              : mix(plain_read(beside[i][s & 1][tile]) + theirs[i])));
      }
      plain_write(state[(s + 1) & 1][tile], sum);
    }
  }
  template <class W>
  double change(const W& w, blocks::step_t, std::uint64_t tile) const {
    return w.lane() + 1 == w.size() ? static_cast<double>(tile + 1) : 0;
  }
  template <class W>
  void pack(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t side, Value* out) const {
    if (w.lane() == (side + 1) % w.size()) plain_write(out[tile], mix(plain_read(state[(s + 1) & 1][tile]) + side));
  }
  template <class W>
  void hand_over(const W& w, blocks::step_t s, std::uint64_t tile, std::uint32_t side, const Toy& other) const {
    if (w.lane() != (side + 1) % w.size()) return;
    plain_write(other.around[(s + 1) & 1][tile][theirs[side]], mix(plain_read(state[(s + 1) & 1][tile]) + side));
  }
};

template <class Made>
class BlocksScenario final : public sim::Scenario {
 public:
  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    const int n_pes = 1 + random.below(3), n = 1 + random.below(5);
    blocks_.assign(n, Block{});
    for (auto& b : blocks_) {
      b.pe = random.below(n_pes);
      b.tiles = tiles_ = blocks_[0].tiles > 0 ? blocks_[0].tiles : 1 + random.below(kMostTiles);
      for (std::uint32_t t = 0; t < tiles_; ++t) b.state[0][t] = random.below(1000);
    }
    std::string joined;
    for (int k = random.below(2 * n + 1); k > 0; --k) {
      const int a = random.below(n), b = random.below(n);
      if (blocks_[a].sides.size() + 2 > kMostSides || blocks_[b].sides.size() + 2 > kMostSides) continue;
      const auto i = static_cast<std::uint32_t>(blocks_[a].sides.size());
      blocks_[a].ends.push_back({b, 0});
      blocks_[a].sides.emplace_back();
      const auto j = static_cast<std::uint32_t>(blocks_[b].sides.size());
      blocks_[b].ends.push_back({a, i});
      blocks_[b].sides.emplace_back();
      blocks_[a].ends[i].side = j;
      joined += " " + std::to_string(a) + "-" + std::to_string(b);
    }
    choose_parts(random);
    for (auto& b : blocks_) {
      for (std::size_t i = 0; i < b.sides.size(); ++i) {
        Block& other = blocks_[b.ends[i].block];
        b.sides[i].other = &other.words;
        if (!parts_.empty() && other.pe != b.pe) {
          b.sides[i].wire = &b.wires[i];
          b.sides[i].others_wire = &other.wires[b.ends[i].side];
          b.sides[i].touching = tiles_;
          blocks::rewind(b.wires[i], tiles_, 0);
        }
        for (int k = 0; k < 2; ++k) {
          b.sides[i].in[k] = b.in[i][k];
          b.sides[i].out[k] = other.in[b.ends[i].side][k];
        }
      }
      for (std::uint32_t t = 0; t < tiles_; ++t) {  // the values around state 0 are already there
        for (std::size_t i = 0; i < b.sides.size(); ++i) {
          const Block& other = blocks_[b.ends[i].block];
          b.around[0][t][i] = mix(other.state[0][t] + b.ends[i].side);
        }
      }
    }
    slots_.assign(n_pes, {});
    words_.assign(n_pes, blocks::PeWords{});
    for (auto& b : blocks_) {
      auto& slots = slots_[b.pe];
      Toy<Made> toy{{}, b.state, b.around, tiles_, static_cast<std::uint32_t>(b.sides.size()), {}, {}};
      for (std::size_t i = 0; i < b.ends.size(); ++i) {
        toy.theirs[i] = b.ends[i].side;
        Block& other = blocks_[b.ends[i].block];
        if (other.pe != b.pe || random.below(4) != 0) continue;
        toy.beside[i] = other.state;
        b.sides[i].reads = other.sides[b.ends[i].side].is_read = true;
      }
      b.slot = slots.size();
      slots.push_back({toy, &b.words, b.sides.data(), static_cast<std::uint32_t>(b.sides.size()),
                       static_cast<std::uint32_t>(b.sides.size()), slots.size() * tiles_, tiles_, b.done, 0, 0, false,
                       false});
      const std::string number = std::to_string(&b - blocks_.data());
      machine.name(b.words.arrived, sizeof b.words.arrived[0], 2, "arrived " + number);
      machine.name(b.words.finished, sizeof b.words.finished[0], 2, "finished " + number);
      machine.name(b.done, 8, tiles_, "done " + number);
      machine.name(b.wires, sizeof b.wires[0].came, 2 * kMostSides, "came, packed of " + number);
      machine.name(&b.ended, sizeof b.ended, 1, "tiles of kernels of " + number);
    }
    const bool hand_over = random.below(3) != 0;
    lanes_ = random.below(2) != 0;
    for (auto& b : blocks_) {
      for (std::size_t i = 0; i < b.sides.size() && hand_over; ++i) {
        const Block& other = blocks_[b.ends[i].block];
        if (other.pe == b.pe) b.sides[i].near = &slots_[b.pe][other.slot].block;
      }
      for (std::size_t i = 0; i < b.sides.size(); ++i) {
        blocks::Side<std::uint64_t>& side = b.sides[i];
        if (std::is_same_v<Made, OfThree> && side.reads && side.is_read) side.tiles = blocks_[b.ends[i].block].done;
      }
      auto& slot = slots_[b.pe][b.slot];
      blocks::count_sides(slot, b.sides.data(), lanes_);
      blocks::rewind(b.words, slot);
    }
    first_ = 0;
    end_ = 1 + random.below(4);
    more_ = random.below(2) * (1 + random.below(3));
    n_workers_ = 1 + random.below(lanes_ ? 2 : 3);
    std::size_t most = 0;
    for (const auto& slots : slots_) most = std::max(most, slots.size() * tiles_);
    keep_ = parts_.empty() && most * n_pes * (lanes_ ? 2 : 1) <= 12 && random.below(2) != 0;
    if (keep_) n_workers_ = static_cast<std::uint32_t>(most);
    want_ = expected();
    add_workers(machine);
    return std::to_string(n_pes) + " PEs, " + std::to_string(n) + " blocks of " + std::to_string(tiles_) +
           " tiles that read " + (std::is_same_v<Made, OfAll> ? "all" : "three") + ", joined" + joined + ", " +
           std::to_string(n_workers_) + " workers of " + (lanes_ ? "2 lanes" : "1 lane") +
           (keep_ ? " that keep their tile, " : ", ") +
           (parts_.empty() ? "" : std::to_string(parts_.size()) + " kernels a step, ") + std::to_string(end_) +
           " steps, then " + std::to_string(more_);
  }

  bool again(sim::Machine& machine) override {
    if (more_ == 0) return false;
    first_ = end_;
    end_ += more_;
    more_ = 0;
    want_ = expected();
    machine.clear_workers();
    add_workers(machine);
    return true;
  }

  std::string judge() override {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::uint32_t t = 0; t < tiles_; ++t) {
        if (blocks_[b].state[end_ & 1][t] != want_[b][t]) {
          return "tile " + std::to_string(t) + " of block " + std::to_string(b) + " is wrong";
        }
      }
    }
    std::uint64_t most = 0;
    for (auto& words : words_) most = std::max(most, words.changed.load());
    return blocks::change_of(most) == tiles_ ? "" : "the change was not measured";
  }
  unsigned expected_steps() const override { return 300; }
  std::uint64_t max_steps() const override { return 40000; }

 private:
  struct End {
    int block;
    std::uint32_t side;
  };
  struct Block {
    int pe = 0;
    std::size_t slot = 0;
    std::uint32_t tiles = 0;
    std::uint64_t state[2][kMostTiles] = {}, around[2][kMostTiles][kMostSides] = {};
    std::uint64_t in[kMostSides][2][kMostTiles] = {};
    std::vector<blocks::Side<std::uint64_t>> sides;
    std::vector<End> ends;
    blocks::StepWords words{};
    blocks::TileWord done[kMostTiles] = {};
    blocks::WireEnd wires[kMostSides] = {};
    Word<std::uint64_t, Scope::device> ended{};  ///< number of tiles of kernels that have ended, from step first_ on
  };

  /// Chooses the kernels of a step, as in one of the fusions. None: workers take steps without kernels.
  void choose_parts(sim::Random& random) {
    constexpr std::uint32_t all = ~0u;
    parts_.clear();
    const int way = random.below(6);
    if (way == 0) parts_.push_back({0, all, true, false, 0, all, false, false});
    if (way != 1 && way != 2) return;
    for (std::uint32_t i = 0; i < (way == 1 ? kMostSides : 1); ++i) {
      parts_.push_back({i, way == 1 ? i + 1 : all, false, false, 0, 0, false, false});
    }
    parts_.push_back({0, 0, true, false, 0, 0, false, false});
    parts_.push_back({0, 0, false, false, 0, all, false, false});
  }
  /// Carries out one worker's tiles of all kernels of its PE, in the order in which the host launches the kernels. Called by
  /// every lane.
  template <class W>
  void do_kernels(const W& w, int pe, std::uint32_t number) {
    for (blocks::step_t s = first_; s < end_; ++s) {
      for (Block& b : blocks_) {
        for (std::size_t k = 0; k < parts_.size() && b.pe == pe; ++k) {
          blocks::Part part = parts_[k];
          part.measure = part.update && s + 1 == end_;
          part.handed = parts_.size() == 1 && s > first_;
          part.hands = parts_.size() == 1 && s + 1 < end_;
          for (std::uint32_t tile = number; tile < tiles_; tile += n_workers_) {
            await_kernels(b, s, k);
            // A kernel in a graph knows only the parity of its step, and that the step is not the first.
            const blocks::step_t told = s == 0 ? 0 : 2 + (s & 1);
            blocks::do_part(w, words_[pe], slots_[pe][b.slot], told, tile, part, [] { return false; });
            w.sync();
            if (w.lane() == 0) b.ended.fetch_add_release(1);
          }
        }
      }
    }
  }
  /// Waits as streams and events of a GPU do. A kernel comes after the previous kernel of its block. The first kernel of a step
  /// also comes after the previous step of all blocks of the same PE to which its block has channels, or that wait for other
  /// PEs if its block does.
  void await_kernels(const Block& b, blocks::step_t s, std::size_t k) {
    const auto ended = [&](const Block& block, std::uint64_t kernels) {
      spin_wait(words_[b.pe].state, [&] { return block.ended.load_acquire() >= kernels * tiles_; });
    };
    const std::uint64_t before = (s - first_) * parts_.size();
    ended(b, before + k);
    for (const End& end : b.ends) {
      if (k == 0 && blocks_[end.block].pe == b.pe) ended(blocks_[end.block], before);
    }
    const auto wired = [&](const Block& block) { return slots_[block.pe][block.slot].wired; };
    for (const Block& other : blocks_) {
      if (k == 0 && other.pe == b.pe && wired(b) && wired(other)) ended(other, before);
    }
  }

  void add_workers(sim::Machine& machine) {
    meetings_.assign(words_.size() * n_workers_, {});
    for (std::size_t p = 0; p < words_.size(); ++p) {
      words_[p].next.store(0);
      words_[p].changed.store(0);
      for (Block& b : blocks_) b.ended.store(0);
      for (std::uint32_t w = 0; w < n_workers_; ++w) {
        for (lane_t lane = 0; lane < (lanes_ ? 2u : 1u); ++lane) {
          machine.add_worker(static_cast<int>(p), [this, p, w, lane] {
            const blocks::PeView<Toy<Made>> pe{slots_[p].data(), static_cast<std::uint32_t>(slots_[p].size()),
                                               slots_[p].size() * tiles_, &words_[p]};
            const blocks::StepRange range{first_, end_, true};
            const auto take_part = [&](const auto& worker) {
              if (!parts_.empty()) return do_kernels(worker, static_cast<int>(p), w);
              if (!keep_) return blocks::take_steps(worker, pe, range);
              if (w >= pe.tiles) return;
              const auto& slot = pe.slots[blocks::slot_of(pe, w)];
              blocks::keep_tile(worker, pe, slot, w - slot.first_tile, w == 0, range);
            };
            if (lanes_) {
              take_part(sim::SimLane<2>(meetings_[p * n_workers_ + w], lane));
            } else {
              take_part(sim::SimThread{});
            }
          });
        }
      }
    }
  }

  /// The states of all blocks at step end_, computed serially from those at step first_.
  std::vector<std::vector<std::uint64_t>> expected() const {
    std::vector<std::vector<std::uint64_t>> now;
    for (const Block& b : blocks_) now.emplace_back(b.state[first_ & 1], b.state[first_ & 1] + tiles_);
    for (blocks::step_t s = first_; s < end_; ++s) {
      auto then = now;
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        for (std::uint32_t t = 0; t < tiles_; ++t) {
          std::uint64_t sum = t + 1;
          for (std::uint32_t i = 0; i < Made::reads(t, tiles_); ++i) sum = mix(sum + now[b][Made::read(t, tiles_, i)]);
          for (const End& end : blocks_[b].ends) sum = mix(sum + mix(now[end.block][t] + end.side));
          then[b][t] = sum;
        }
      }
      now = then;
    }
    return now;
  }

  std::vector<Block> blocks_;
  std::vector<std::vector<blocks::Slot<Toy<Made>>>> slots_;
  std::vector<blocks::PeWords> words_;
  std::vector<sim::Meeting<2>> meetings_;
  std::vector<std::vector<std::uint64_t>> want_;
  std::uint32_t tiles_ = 1, n_workers_ = 1;
  blocks::step_t first_ = 0, end_ = 0, more_ = 0;
  bool lanes_ = false, keep_ = false;
  std::vector<blocks::Part> parts_;  ///< the kernels of one step
};

}  // namespace

int main(int argc, char** argv) {
  shoal::sim::OneOf<BlocksScenario<OfAll>, BlocksScenario<OfThree>> scenario;
  return shoal::sim::run_scenario("blocks", scenario, argc, argv);
}
