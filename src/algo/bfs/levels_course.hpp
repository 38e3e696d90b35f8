// The course of a level-synchronous search over PEs that cannot access each other's memory (lockstep/apart.cuh): chooses each step
// from what all PEs reported at the end of the previous step. Every process computes the same plan. Host code only; the kernels are
// in levels_apart.cu.
//
// The direction is chosen as in levels_search.cuh. Vertices of other PEs that a step reached are sent before the next step, whose
// kernel judges them first. Until then, the size of the frontier is known without them. If going bottom-up might be worth it, a
// step of its own judges them; otherwise no step is spent on that, so that a level of a road network takes one step.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/core/types.hpp"

namespace shoal::bfs_gpu {

/// What a PE reports at the end of a step.
struct LevelsTold {
  static constexpr int kPes = 8;  ///< most PEs
  std::uint64_t slots, arcs;      ///< in its queue of the next frontier; after a step that only receives, of this one
  std::uint64_t expanded;         ///< arcs of the frontier that it expanded, including the vertices received for it
  std::uint64_t found;            ///< vertices that a bottom-up step found
  std::uint64_t failed;           ///< not 0: its kernel was stopped
  std::uint64_t sent[kPes];       ///< vertices of each other PE that it reached, which will be sent there
};

/// What the kernels of a step do.
enum class LevelsStep : std::uint32_t {
  begin,      ///< receive the vertices sent for the frontier at depth(), then expand it
  top_down,   ///< only the first half of top_down
  receive,    ///< the first half of that
  to_bits,    ///< write the own part of the frontier at depth() as bits; the kernels report nothing, and `up` follows
  up,         ///< a bottom-up level, once the bits of all PEs have arrived
  from_bits,  ///< make a queue of the own part of the frontier at depth()
  done
};

class LevelsCourse {
 public:
  struct Rules {
    double alpha, beta;  ///< BfsLevelsGpuTuning's
    std::uint64_t vertices, arcs, longest_row;
  };

  LevelsCourse(const Rules& rules, pe_t n_pes)
      : rules_(rules), unexplored_(rules.arcs), told_(static_cast<std::size_t>(n_pes)) {}

  /// The first step is `begin`.
  LevelsStep step() const { return step_; }
  /// Chooses the next step. @param told  [n_pes] what the PEs reported after step()
  void next(std::span<const LevelsTold> told) {
    told_.assign(told.begin(), told.end());
    switch (step_) {
      case LevelsStep::top_down: {
        const std::uint64_t expanded = sum(&LevelsTold::expanded);
        top_down_ += expanded != 0;
        unexplored_ -= expanded < unexplored_ ? expanded : unexplored_;
        ++depth_;
        break;
      }
      case LevelsStep::up:
        step_ = after_up();
        return;
      default:
        break;
    }
    step_ = choose();
  }
  /// Call after to_bits, whose kernels report nothing.
  void go_up() { step_ = LevelsStep::up; }

  std::uint32_t depth() const { return depth_; }  ///< of the frontier that step() begins with
  std::uint32_t bits() const { return bits_; }    ///< 0 or 1: the bitmap that holds it, if it is in a bitmap
  /// The report of PE `pe`: its queue of depth(), without the vertices that are still to be sent to it.
  const LevelsTold& of(pe_t pe) const { return told_[static_cast<std::size_t>(pe)]; }
  /// Vertices that one PE sends another before a step that receives.
  std::uint64_t sent(pe_t from, pe_t to) const {
    return step_ == LevelsStep::top_down || step_ == LevelsStep::receive ? of(from).sent[to] : 0;
  }
  std::int64_t top_down() const { return top_down_; }    ///< levels so far
  std::int64_t bottom_up() const { return bottom_up_; }  ///< likewise

 private:
  std::uint64_t sum(std::uint64_t LevelsTold::*what) const {
    std::uint64_t all = 0;
    for (const LevelsTold& its : told_) all += its.*what;
    return all;
  }
  std::uint64_t all_sent() const {
    std::uint64_t all = 0;
    for (const LevelsTold& its : told_) {
      for (const std::uint64_t sent : its.sent) all += sent;
    }
    return all;
  }
  /// A pass over the bitmaps pays only when the frontier has enough arcs.
  bool is_worth_going_up(std::uint64_t arcs) const {
    return static_cast<double>(arcs) * rules_.alpha > static_cast<double>(unexplored_) && arcs * 128 > rules_.vertices;
  }

  LevelsStep choose() {
    const std::uint64_t arcs = sum(&LevelsTold::arcs), sent = all_sent();
    if (arcs == 0 && sent == 0) return LevelsStep::done;
    if (!is_worth_going_up(arcs + sent * rules_.longest_row)) return LevelsStep::top_down;
    if (sent != 0) return LevelsStep::receive;
    vertices_ = sum(&LevelsTold::slots);
    bits_ = 0;
    return LevelsStep::to_bits;
  }

  LevelsStep after_up() {
    const std::uint64_t before = vertices_;
    vertices_ = sum(&LevelsTold::found);
    ++bottom_up_;
    ++depth_;
    bits_ ^= 1;
    const bool small = vertices_ < before && rules_.beta != 0 &&
                       static_cast<double>(vertices_) * rules_.beta < static_cast<double>(rules_.vertices);
    return vertices_ == 0 ? LevelsStep::done : small ? LevelsStep::from_bits : LevelsStep::up;
  }

  Rules rules_;
  LevelsStep step_ = LevelsStep::begin;
  std::uint32_t depth_ = 0, bits_ = 0;
  std::uint64_t unexplored_;
  std::uint64_t vertices_ = 0;  ///< in the frontier, during bottom-up levels
  std::int64_t top_down_ = 0, bottom_up_ = 0;
  std::vector<LevelsTold> told_;
};

}  // namespace shoal::bfs_gpu
