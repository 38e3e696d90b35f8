// Jacobi iteration on a grid, with one thread and one part of the grid per rank. Each rank sends the cells of its faces to its
// neighbours, receives theirs, and updates its part. With overlap, it updates the inner cells during the exchange.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "../common/grid_engine.hpp"
#include "../common/processes.hpp"
#include "ranks.hpp"

namespace shoal::mpi {

class Jacobi : public baselines::GridEngine {
 public:
  Jacobi(baselines::Processes& processes, const baselines::GridWanted& wanted)
      : processes_(processes),
        wanted_(wanted),
        part_(wanted.program.size, {processes.rank, processes.size}),
        interior_(part_.interior()),
        exterior_(part_.exterior()),
        out_(part_.sent()),
        in_(part_.sent()) {
    for (int f = 0; f < baselines::kFaces; ++f) {
      if (part_.neighbor[f] < 0) continue;
      const int count = static_cast<int>(part_.face_cells(f));
      send_.push_back({part_.neighbor[f], out_.data() + part_.begin[f], count});
      receive_.push_back({part_.neighbor[f], in_.data() + part_.begin[f], count});
    }
  }

  void start() override { then_ = now_ = part_.at_start(wanted_.program); }

  double iterate(std::int64_t n) override {
    Clock whole;
    step_ = {n * part_.n.volume(), n * part_.sent()};
    for (std::int64_t i = 0; i < n; ++i) {
      step();
      now_.swap(then_);
    }
    return step_.seconds = whole.lap();
  }

  std::vector<Step> steps() const override { return {step_}; }
  std::vector<double> cells() const override { return part_.own(now_); }

 private:
  void step() {
    Clock clock;
    copy_faces(out_, [&](double& word, int f, std::int64_t i) { word = now_[part_.face_cell(f, i, false)]; });
    step_.compute_seconds += clock.lap();
    processes_.begin_exchange(send_, receive_);
    step_.communicate_seconds += clock.lap();
    if (wanted_.overlap) update(interior_);
    step_.compute_seconds += clock.lap();
    processes_.end_exchange();
    step_.communicate_seconds += clock.lap();
    copy_faces(in_, [&](double& word, int f, std::int64_t i) { now_[part_.face_cell(f, i, true)] = word; });
    if (!wanted_.overlap) update(part_.all());
    for (const baselines::Box& box : exterior_) {
      if (wanted_.overlap) update(box);
    }
    step_.compute_seconds += clock.lap();
  }

  template <class F>
  void copy_faces(std::vector<double>& words, F&& copy) {
    for (int f = 0; f < baselines::kFaces; ++f) {
      for (std::int64_t i = 0; i < part_.begin[f + 1] - part_.begin[f]; ++i) copy(words[part_.begin[f] + i], f, i);
    }
  }

  void update(const baselines::Box& box) {
    const std::int64_t plane = part_.plane, row = part_.row;
    for (std::int64_t x = box.from.x; x < box.to.x; ++x) {
      for (std::int64_t y = box.from.y; y < box.to.y; ++y) {
        const double* const from = &now_[part_.index(x, y, 0)];
        double* const to = &then_[part_.index(x, y, 0)];
        for (std::int64_t z = box.from.z; z < box.to.z; ++z) {
          to[z] = wanted_.program.next([&](int dx, int dy, int dz) { return from[z + dx * plane + dy * row + dz]; });
        }
      }
    }
  }

  baselines::Processes& processes_;
  baselines::GridWanted wanted_;
  baselines::Part part_;
  baselines::Box interior_;
  std::vector<baselines::Box> exterior_;
  std::vector<double> now_, then_, out_, in_;
  std::vector<baselines::Message> send_, receive_;
  Step step_;
};

}  // namespace shoal::mpi
