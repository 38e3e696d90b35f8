// Quiescence detection of several processes by two waves: it finds the end never too early, in all processes, and with the
// nearest bucket of parked items. The processes are threads here; data from one to another is in flight for a while.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "shoal/transport/walled.hpp"
#include "shoal/worklist/wires.hpp"
#include "shoal/world/world.hpp"

namespace shoal {
namespace {

/// Calls `body` with the wires of each of `n` processes with one PE each.
template <class Body>
void on_worlds(int n, unsigned seed, const Body& body) {
  WalledMemory memory(n, 1 << 20);
  std::vector<std::thread> threads;
  for (int p = 0; p < n; ++p) {
    threads.emplace_back([&, p] {
      const WalledPlan walls{.seed = seed, .late_percent = 50, .reorder = true};
      World world(1, 20, std::make_unique<WalledBoards>(memory, p, walls), "");
      {
        Wires wires(world, {.on = true}, sizeof(int), 1);
        body(world, wires);
      }
      world.leave(p);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Makes two waves and waits for the answers of all processes. @return whether both sums are equal; `all` gets the answer of
/// the second wave
template <class Completed, class Answer>
bool two_waves(Wires& wires, const Completed& completed, const Answer& answer, WaveAnswer& all) {
  for (;; std::this_thread::yield()) {
    switch (wires.turn()) {
      case Wires::Turn::to_say_completed:
        wires.say({completed(), kNoBucket});
        break;
      case Wires::Turn::to_say_created:
        wires.say(answer());
        break;
      case Wires::Turn::to_compare:
        return wires.compare(all);
      case Wires::Turn::wait:
        break;
    }
  }
}

// Two waves are right because no process reads its created count before all processes have read their completed counts.
TEST(Waves, CreatedIsReadWhenAllHaveSaidWhatIsCompleted) {
  constexpr int kProcesses = 3, kRounds = 200;
  std::atomic<int> completed_reads{0}, created_reads{0}, wrong{0};
  on_worlds(kProcesses, 7, [&](const World& world, Wires& wires) {
    std::mt19937 random(static_cast<unsigned>(world.process()));
    const auto dawdle = [&] {
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    };
    for (int round = 0; round < kRounds; ++round) {
      WaveAnswer all;
      const bool quiet = two_waves(
          wires,
          [&] {
            wrong += created_reads < round * kProcesses;
            ++completed_reads;
            dawdle();
            return std::uint64_t{5};
          },
          [&] {
            wrong += completed_reads < (round + 1) * kProcesses;
            ++created_reads;
            dawdle();
            const auto process = static_cast<std::uint32_t>(world.process());
            return WaveAnswer{round % 3 == 0 ? 5u : 4u + process, round % 2 == 0 ? kNoBucket : 7 + process};
          },
          all);
      const bool equal = round % 3 == 0 || kProcesses * 4 + 3 == kProcesses * 5;
      wrong += quiet != equal || all.nearest != (round % 2 == 0 ? kNoBucket : 7);
    }
  });
  EXPECT_EQ(wrong, 0);
}

/// The state of a process. Its worker runs items, each of which pushes up to three more until the depth is used up, and its
/// carrier delivers the items for other processes later.
struct Node {
  std::mutex mutex;
  std::deque<int> queue, leaving;  ///< `queue` has the remaining depth of each item, `leaving` has target * 100 + depth
  std::atomic<std::uint64_t> completed{0}, created{0}, run{0};
};

class Tree {
 public:
  explicit Tree(int n, unsigned seed) : nodes_(static_cast<std::size_t>(n)), seed_(seed) { push(0, 0, 9); }

  void go() {
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    const int n = static_cast<int>(nodes_.size());
    for (int p = 0; p < n; ++p) {
      threads.emplace_back([&, p] { work(p, over); });
      threads.emplace_back([&, p] { carry(p, over); });
    }
    on_worlds(n, seed_, [&](const World& world, Wires& wires) {
      Node& node = nodes_[static_cast<std::size_t>(world.process())];
      WaveAnswer all;
      std::mt19937 random(seed_ * 100 + 80 + static_cast<unsigned>(world.process()));
      const auto dawdle = [&] { std::this_thread::sleep_for(std::chrono::microseconds(random() % 300)); };
      const auto completed = [&] {
        dawdle();
        return node.completed.load();
      };
      const auto answer = [&] {
        const WaveAnswer mine{node.created.load(), kNoBucket};
        dawdle();
        return mine;
      };
      while (!two_waves(wires, completed, answer, all)) {
      }
      early_ += left_ != 0;
      created_ = all.count;
    });
    over = true;
    for (std::thread& thread : threads) thread.join();
  }
  bool right() const {
    std::uint64_t run = 0;
    for (const Node& node : nodes_) run += node.run;
    return early_ == 0 && left_ == 0 && run == created_;
  }

 private:
  Node& at(int p) { return nodes_[static_cast<std::size_t>(p)]; }
  void push(int from, int to, int depth) {
    ++left_;
    ++at(from).created;
    const std::lock_guard lock(at(from).mutex);
    if (from == to)
      at(to).queue.push_back(depth);
    else
      at(from).leaving.push_back(to * 100 + depth);
  }
  void work(int me, const std::atomic<bool>& over) {
    std::mt19937 random(seed_ * 100 + static_cast<unsigned>(me));
    Node& node = at(me);
    while (!over) {
      int depth = -1;
      {
        const std::lock_guard lock(node.mutex);
        if (!node.queue.empty()) {
          depth = node.queue.front();
          node.queue.pop_front();
        }
      }
      if (depth < 0) {
        std::this_thread::yield();
        continue;
      }
      for (unsigned i = depth > 0 ? random() % 4 : 0; i > 0; --i) {
        push(me, static_cast<int>(random() % nodes_.size()), depth - 1);
      }
      ++node.run;
      --left_;
      ++node.completed;
    }
  }
  void carry(int me, const std::atomic<bool>& over) {
    std::mt19937 random(seed_ * 100 + 50 + static_cast<unsigned>(me));
    while (!over) {
      std::deque<int> taken;
      {
        const std::lock_guard lock(at(me).mutex);
        taken.swap(at(me).leaving);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
      for (const int item : taken) {
        const std::lock_guard lock(at(item / 100).mutex);
        at(item / 100).queue.push_back(item % 100);
      }
    }
  }

  std::vector<Node> nodes_;
  const unsigned seed_;
  std::atomic<std::int64_t> left_{0};
  std::atomic<int> early_{0};
  std::atomic<std::uint64_t> created_{0};
};

TEST(Waves, ARunEndsWhenNothingIsLeftAnywhere) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Tree tree(2 + static_cast<int>(seed % 3), seed);
    tree.go();
    ASSERT_TRUE(tree.right()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace shoal
