#include "../../baselines/nccl/engine.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "../../baselines/common/processes.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::nccl {
namespace {

struct FakeComm {};

/// Runs the ranks one after the other, without GPUs.
class FakeThreads {
 public:
  FakeThreads(baselines::Processes&, int count, const std::string&) : count_(count) {}
  int count() const { return count_; }
  int device(int i) const { return i; }
  FakeComm comm(int) const { return {}; }
  void connect() {}
  void each(const std::function<void(int)>& work) {
    for (int i = 0; i < count_; ++i) work(i);
  }
  void in_turn(const std::function<void(int)>& work) { each(work); }
  double timed(const std::function<void(int)>& work) {
    each(work);
    return 1;
  }

 private:
  int count_;
};

/// Records the calls for each rank.
class FakeWork {
 public:
  static inline std::vector<std::string> asked;

  template <class Wanted>
  FakeWork(const Csr&, FakeComm, const Wanted&, int device) : name_(std::to_string(device)) {
    asked.push_back("make " + name_);
  }
  void tell() { asked.push_back("tell " + name_); }
  void make_room() { asked.push_back("make room " + name_); }
  void connect() { asked.push_back("connect " + name_); }
  void run(vertex_t) { asked.push_back("run " + name_); }
  void run() { asked.push_back("run " + name_); }

  std::vector<Step> steps() const { return {{1}}; }
  std::vector<std::int32_t> levels() const { return {0}; }
  std::vector<arc_t> offsets() const { return {0, 2}; }
  std::vector<double> ranks() const { return {1}; }
  double error_bound() const { return 0; }

 private:
  std::string name_;
};

const std::vector<std::string> kInOrder = {"make 0",      "make 1",    "tell 0",    "tell 1", "make room 0",
                                           "make room 1", "connect 0", "connect 1", "run 0",  "run 1"};

TEST(GpuEngine, RanksAgreeBeforeTheirFirstRun) {
  const Csr graph = generate(parse_generator("chain:2"));
  baselines::Processes processes;
  for (const bool searches : {true, false}) {
    FakeWork::asked.clear();
    Engine<FakeThreads, FakeWork, FakeWork> engine(processes, 2, "test");
    searches ? engine.place_search(graph, false) : engine.place_ranking(graph, {});
    searches ? engine.search(0) : engine.sweep();
    EXPECT_EQ(FakeWork::asked, kInOrder);
    EXPECT_EQ(engine.steps().size(), 2u);
  }
}

}  // namespace
}  // namespace shoal::nccl
