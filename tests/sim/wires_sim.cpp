// The shipped wires (src/worklist/wires.cpp, unchanged) under the shipped scheduler, with PEs of two or three processes. Heaps
// are connected by puts that arrive late and in pieces, may overtake each other between two fences or if they go to different
// processes, and may fail or be lost; or by stores, as between processes of one host.
//
// When node n runs, it pushes its children. judge() knows which nodes must be judged and which must be run, each once. With
// priorities, no node runs before the threshold has reached it. A run that ends early, because enough() is true, a put fails,
// puts are lost or another process is gone, ends in all processes, and no node is run twice. Then there is another run with the
// same wires.
#include "worklist/wires.cpp"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "sim_heap.hpp"
#include "worklist_bed.hpp"

namespace {

using namespace shoal;
using sim::kHeapBytes;
using sim::kMostProcesses;
using sim::SimHeap;

constexpr std::uint32_t kSalt = 0x317E0000u;

/// What ends a run early.
enum class Harm { none, enough, put_fails, puts_are_lost, gone };
const char* const kHarms[] = {"", ", enough", ", a put fails", ", puts are lost", ", a process is gone"};

/// Arguments for the constructor of the simulated World.
struct Process {
  std::vector<pe_t> first;
  int number = 0;
  SimHeap* heap = nullptr;
};
Process being_made;

/// A barrier for the processes, outside of the simulation.
struct MeetingPlace {
  std::mutex mutex;
  std::condition_variable changed;
  int processes = 0, arrived = 0;
  std::uint64_t round = 0;

  void arrive() {
    std::unique_lock lock(mutex);
    const std::uint64_t mine = round;
    if (++arrived == processes) {
      arrived = 0, ++round;
      changed.notify_all();
    } else {
      changed.wait(lock, [&] { return round != mine; });
    }
  }
};
MeetingPlace meeting;

}  // namespace

namespace shoal {

// The World that wires.cpp uses. Its processes are threads when they meet, and workers of the simulation when they run.

class World::State {
 public:
  SimHeap* heap = nullptr;
};
World::World(pe_t, double) : process_(being_made.number), first_(being_made.first), state_(std::make_unique<State>()) {
  state_->heap = being_made.heap;
}
World::~World() = default;
int World::process_of(pe_t pe) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), pe) - first_.begin()) - 1;
}
std::vector<std::vector<std::byte>> World::exchange(const Call& call, std::span<const std::byte> mine) {
  if (std::strcmp(call.name, "reset") == 0) {
    meeting.arrive();
    return {};
  }
  std::vector<std::vector<std::byte>> all;
  for (int p = 0; p < n_processes(); ++p) {  // all give the same but for 8 bytes, the number of their PEs
    all.emplace_back(mine.begin(), mine.end());
    const auto n = static_cast<std::uint64_t>(first_[p + 1] - first_[p]);
    if (!mine.empty()) std::memcpy(all.back().data(), &n, sizeof n);
  }
  return all;
}
Heap* World::heap() const { return state_->heap; }
void World::begin_watch() { state_->heap->looks = 0; }
std::string World::watch() { return ++state_->heap->looks > state_->heap->gone_at ? "a process is gone" : ""; }
void World::end(const std::string&) {}

}  // namespace shoal

namespace {

struct Item {
  std::uint32_t node, check, more;
};

/// The data that judge() checks. Only `note` is part of the simulated memory.
struct Tree {
  struct Node {
    pe_t owner = 0;
    std::uint32_t priority = 0;
    std::vector<std::uint32_t> children;
    bool dropped = false;             ///< accept() refuses it
    bool judge = false, run = false;  ///< whether it must be judged, and run
    int judged = 0, ran = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t> note;  ///< [nodes] plain data of the owner, written by accept
  std::uint64_t ran = 0, enough = ~std::uint64_t{0};
  const PeControl* control[sim::kBedPes] = {};
  Buckets buckets;

  lane_t near(pe_t pe) const { return sim::near_on(*control[pe]); }
};

struct TreeTask {
  using Item = ::Item;
  Tree* tree = nullptr;
  pe_t me = 0;

  Tree::Node& at(const Item& item) const {
    if (item.node >= tree->nodes.size() || item.check != (item.node ^ kSalt) || item.more != ~item.node) {
      sim::fail("an item that nobody pushed: " + std::to_string(item.node));
    }
    return tree->nodes[item.node];
  }
  pe_t owner(const Item& item) const { return at(item).owner; }
  bool accept(const Item& item) const {
    Tree::Node& node = at(item);
    if (node.owner != me) sim::fail("item " + std::to_string(item.node) + " was judged by another PE");
    if (++node.judged > 1) sim::fail("item " + std::to_string(item.node) + " was judged twice");
    plain_write(tree->note[item.node], item.node + 1);
    return !node.dropped;
  }
  Span<const std::uint32_t> range(const Item& item) const {
    Tree::Node& node = at(item);
    if (node.dropped) sim::fail("item " + std::to_string(item.node) + " was run though it was refused");
    if (plain_read(tree->note[item.node]) != item.node + 1) sim::fail("what accept wrote is not there");
    if (tree->buckets.lists > 0 && tree->buckets.of(node.priority) > tree->near(me)) {
      sim::fail("item " + std::to_string(item.node) + " was run before the threshold reached it");
    }
    if (++node.ran > 1) sim::fail("item " + std::to_string(item.node) + " was run twice");
    ++tree->ran;
    return {node.children.data(), static_cast<std::int64_t>(node.children.size())};
  }
  Item make(const Item&, std::uint32_t child) const { return {child, child ^ kSalt, ~child}; }
  bool enough() const { return tree->ran >= tree->enough; }
};
struct PriorityTask : TreeTask {
  double priority(const Item& item) const { return at(item).priority; }
};

/// The memory and objects that wires need, which worklist/memory.hpp sets up for a Worklist.
struct WiredProcesses {
  struct Wire {
    std::vector<SegmentEnd> outbox;  ///< followed by the items
    std::vector<SegmentStart> homes;
  };
  std::vector<pe_t> first;
  std::unique_ptr<Wires> wires[kMostProcesses];
  Wire wire[sim::kBedPes][sim::kBedPes];
  bool laid = false;
  lane_t workers = 1;                ///< of each PE
  lane_t left[kMostProcesses] = {};  ///< number of workers that have left

  int processes() const { return static_cast<int>(first.size()) - 1; }
  int process_of(pe_t pe) const {
    int p = 0;
    while (first[p + 1] <= pe) ++p;
    return p;
  }
  template <class View>
  void lay(View& view) {
    const int process = process_of(view.me);
    Wires& its = *wires[process];
    view.first_near = first[process], view.end_near = first[process + 1];
    view.wires = &its;
    const auto is_near = [&](pe_t q) { return q >= view.first_near && q < view.end_near; };
    for (pe_t q = 0; q < view.n_pes; ++q) {
      if (is_near(q)) continue;
      Wire& to = wire[view.me][q];
      view.control[q] = nullptr;
      view.homes[q] = to.homes.data();
      view.outbox[q] = reinterpret_cast<RemoteSlot<Item>*>(to.outbox.data());
      view.inbox[q] = reinterpret_cast<RemoteSlot<Item>*>(its.inbox(view.me, q));
    }
    if (laid) return;
    its.add_pe(&view.here().state, &view.here().cause);
    for (pe_t q = 0; q < view.n_pes; ++q) {
      if (is_near(q)) continue;
      const auto queue = view.segment_sender(q);
      its.add_leaving(view.me, q, queue.ends, queue.starts, &queue.counters->tail);
      its.add_arriving(q, view.me, view.homes[q]);
    }
  }
  /// The last worker of a process to leave calls look_for_ends(), as in launch_cpu.hpp, so that the other processes are
  /// notified however the workers left.
  void worker_left(pe_t pe) {
    const int p = process_of(pe);
    if (++left[p] == workers_of(p)) wires[p]->look_for_ends();
  }
  lane_t workers_of(int p) const { return static_cast<lane_t>(first[p + 1] - first[p]) * workers; }
  bool all_left() const {
    for (int p = 0; p < processes(); ++p) {
      if (left[p] < workers_of(p)) return false;
    }
    return true;
  }
  /// The PEs of a process count as one device for the check of scopes: a process that carries has its PEs on CPU threads, and
  /// worklist/waves.hpp reads their counters of device scope.
  int device_of(pe_t pe) const { return first[process_of(pe)]; }
};

class WiresScenario final : public sim::Scenario {
 public:
  ~WiresScenario() override {
    for (auto& wires : bed_.joined.wires) wires.reset();  // before the heaps
  }

  std::string set_up(sim::Machine& machine, sim::Random& random) override {
    sim::BedShape& shape = bed_.shape;
    WiredProcesses& joined = bed_.joined;
    shape.draw(random);
    static const std::vector<pe_t> kWorlds[] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2, 3}};
    joined.first = kWorlds[random.below(4)];
    shape.n_pes = joined.first.back();
    shape.kind = 0, shape.lanes = 1, shape.discrete = false;
    shape.workers = 1 + random.below(2);
    shape.fetch = 1 + random.below(sim::SimThread::kMaxFetch);
    shape.segments.on = true, shape.log_channels = 0;
    shape.segments.log_items = random.below(3), shape.segments.log_segments = random.below(3);
    shape.segments.wait = random.below(2) * random.below(3);
    shape.channel_capacity = shape.segments.capacity();
    shape.buckets = {0, 1, 0};
    prioritised_ = random.below(3) == 0;
    if (prioritised_)
      shape.buckets = {static_cast<double>(random.below(3)), 1.0 / (1 + random.below(2)), 1 + random.below(3)};
    random_ = sim::Random(random.next());
    make_processes(machine);
    return prepare(machine);
  }

  bool again(sim::Machine& machine) override {
    if (runs_ == 2) return false;
    problem_ = judge_run();
    judged_ = true;
    // A process that knows that another is gone cannot run again.
    if (!problem_.empty() || harm_ == Harm::gone) return false;
    judged_ = false;
    machine.clear_workers();
    prepare(machine);
    return true;
  }

  std::string judge() override { return judged_ ? problem_ : judge_run(); }

  unsigned expected_steps() const override { return 3000; }
  std::uint64_t max_steps() const override { return 500000; }

 private:
  int processes() const { return bed_.joined.processes(); }

  void make_processes(sim::Machine& machine) {
    WiredProcesses& joined = bed_.joined;
    for (int p = 0; p < kMostProcesses; ++p) joined.wires[p].reset();
    meeting.processes = processes(), meeting.arrived = 0;
    const std::uint32_t kind = random_.below(4);  // how processes are connected: puts, stores, or both
    for (int p = 0; p < processes(); ++p) {
      if (!memory_[p]) memory_[p] = std::make_unique<Line[]>(kHeapBytes / sizeof(Line));
      std::memset(memory_[p].get(), 0, kHeapBytes);
      heap_[p] = std::make_unique<SimHeap>(p, processes(), memory_[p][0].bytes);
      machine.name(memory_[p].get(), 8, kHeapBytes / 8, "heap" + std::to_string(p));
    }
    for (int p = 0; p < processes(); ++p) {
      for (int q = 0; q < processes(); ++q) {
        heap_[p]->all.push_back(heap_[q].get());
        heap_[p]->near[q] = kind == 0 || (kind == 1 && p + q == 1);
      }
      heap_[p]->costly = kind == 3;
      being_made = {joined.first, p, heap_[p].get()};
      world_[p] = std::make_unique<World>(1, 1.0);
      joined.wires[p] =
          std::make_unique<Wires>(*world_[p], bed_.shape.segments, sizeof(Item), static_cast<int>(bed_.shape.workers));
    }
    const SegmentShape& shape = bed_.shape.segments;
    const auto behind = (shape.capacity() * sizeof(Item) + sizeof(SegmentEnd) - 1) / sizeof(SegmentEnd);
    for (auto& row : joined.wire) {
      for (auto& wire : row) {
        wire.outbox.assign(shape.segments() + behind, SegmentEnd{});
        wire.homes.assign(shape.segments(), SegmentStart{});
      }
    }
    joined.laid = false;
    runs_ = 0, whole_ = true;
  }

  /// Prepares the next run with the same wires.
  std::string prepare(sim::Machine& machine) {
    sim::BedShape& shape = bed_.shape;
    WiredProcesses& joined = bed_.joined;
    judged_ = false;
    const bool again = runs_++ > 0;
    harm_ = random_.below(3) == 0 && !(again && !whole_) ? static_cast<Harm>(1 + random_.below(4)) : Harm::none;
    grow_tree();
    shape.chunks =
        shape.workers * (1 + shape.buckets.slots()) + static_cast<std::uint32_t>(kMostNodes) / sim::kChunkItems;
    if (again && whole_) {
      bed_.prepare_again();
    } else {
      bed_.prepare(machine);
      if (again) reset();
    }
    for (int p = 0; p < processes(); ++p) heap_[p]->prepare(random_);
    const int victim = static_cast<int>(random_.below(static_cast<std::uint32_t>(processes())));
    victim_ = victim;
    SimHeap& hit = *heap_[victim];
    if (harm_ == Harm::put_fails) hit.fail_at = random_.below(20);
    if (harm_ == Harm::puts_are_lost) hit.lose_from = random_.below(20);
    if (harm_ == Harm::gone) hit.gone_at = random_.below(30);
    tree_.enough = harm_ == Harm::enough ? random_.below(8) : ~std::uint64_t{0};
    for (pe_t p = 0; p < shape.n_pes; ++p) tree_.control[p] = &bed_.control(p);
    tree_.buckets = shape.buckets;
    machine.name(tree_.note.data(), 4, tree_.note.size(), "note");
    for (int p = 0; p < processes(); ++p) joined.wires[p]->begin_run();
    joined.workers = shape.workers;
    std::fill(std::begin(joined.left), std::end(joined.left), 0);
    if (prioritised_) {
      add_workers<PriorityTask>(machine);
    } else {
      add_workers<TreeTask>(machine);
    }
    joined.laid = true;
    std::string text = shape.text() + ", processes from";
    for (pe_t f : joined.first) text += " " + std::to_string(f);
    return text + (prioritised_ ? ", priorities" : "") + kHarms[static_cast<int>(harm_)] + " in process " +
           std::to_string(victim) + ", " + std::to_string(tree_.nodes.size()) + " items";
  }

  /// Called after a run that ended early. Resets the wires of all processes at the same time.
  void reset() {
    WiredProcesses& joined = bed_.joined;
    for (auto& row : joined.wire) {
      for (auto& wire : row) {
        std::fill(wire.outbox.begin(), wire.outbox.end(), SegmentEnd{});
        std::fill(wire.homes.begin(), wire.homes.end(), SegmentStart{});
      }
    }
    std::vector<std::thread> threads;
    for (int p = 0; p < processes(); ++p) threads.emplace_back([&, p] { joined.wires[p]->reset(); });
    for (auto& thread : threads) thread.join();
  }

  template <class TaskT>
  void add_workers(sim::Machine& machine) {
    bed_.template add_workers<TaskT>(
        machine,
        [this](pe_t p) {
          TaskT task;
          task.tree = &tree_;
          task.me = p;
          return task;
        },
        [] {});
    for (int p = 0; p < processes(); ++p) {
      const pe_t pe = bed_.joined.first[p];
      machine.add_worker(pe, [this, p] { heap_[p]->bring([this] { return bed_.joined.all_left(); }); });
      // The put of moved() is only a hint, so its failure may go unnoticed.
      if (harm_ == Harm::put_fails || (harm_ != Harm::puts_are_lost && harm_ != Harm::gone && random_.below(4) != 0)) {
        continue;
      }
      machine.add_worker(pe, [this, p] { watch(p); });
    }
  }

  /// The watchdog of a process (worklist/watchdog.hpp): ends the run if no process makes progress.
  void watch(int p) {
    Wires& wires = *bed_.joined.wires[p];
    PeControl& control = bed_.control(bed_.joined.first[p]);
    std::uint64_t last = ~std::uint64_t{0};
    for (lane_t looks = 0; control.state.load() == 0;) {
      const std::uint64_t now = wires.moved(moved_by(p));
      looks = now == last ? looks + 1 : 0;
      last = now;
      for (int i = 0; i < 4; ++i) sim::yield();
      if (looks < 40 || harm_ != Harm::puts_are_lost) continue;
      for (pe_t pe = bed_.joined.first[p]; pe < bed_.joined.first[p + 1]; ++pe) {
        std::uint32_t running = 0;
        bed_.control(pe).state.compare_swap_acq_rel(running, static_cast<std::uint32_t>(RunState::stalled));
      }
      wires.look_for_ends();
    }
  }
  std::uint64_t moved_by(int p) const {
    std::uint64_t sum = 0;
    for (const Tree::Node& node : tree_.nodes) {
      if (bed_.joined.process_of(node.owner) == p) sum += static_cast<std::uint64_t>(node.judged + node.ran);
    }
    return sum;
  }

  /// Called after a run; ends it as launch_cpu.hpp does. Returns what is wrong, or "".
  std::string judge_run() {
    bool all_done = true, as_harmed = false;
    for (int p = 0; p < processes(); ++p) {
      Wires& wires = *bed_.joined.wires[p];
      bool lost = false;
      try {
        wires.end_run();
      } catch (const TransportError&) {
        lost = true;
      }
      const bool said = harm_ == Harm::gone && p == victim_ && heap_[p]->looks > heap_[p]->gone_at;
      // The poll that detects it must end the run.
      if (said && heap_[p]->looks > heap_[p]->gone_at + 1) return "a process was gone, and the run went on";
      if (lost != said) return "process " + std::to_string(p) + (lost ? " threw" : " did not throw");
      for (pe_t pe = bed_.joined.first[p]; pe < bed_.joined.first[p + 1]; ++pe) {
        const auto state = static_cast<RunState>(bed_.control(pe).state.load());
        const auto cause = static_cast<RunState>(bed_.control(pe).cause.load());
        if (state != RunState::done && state != ended_by_harm()) {
          return "PE " + std::to_string(pe) + " ended in state " + std::to_string(static_cast<int>(state));
        }
        all_done = all_done && state == RunState::done;
        as_harmed = as_harmed || state == ended_by_harm() || cause == ended_by_harm();
      }
    }
    if (harm_ == Harm::put_fails && heap_[victim_]->puts > heap_[victim_]->fail_at && !as_harmed) {
      return "a put failed, and nobody noticed";
    }
    if (harm_ == Harm::enough && tree_.ran >= tree_.enough && all_done && !as_harmed && !everything_ran()) {
      return "it was enough, and the run ended as done";
    }
    whole_ = all_done;
    if (!all_done) return {};
    if (std::string wrong = sim::treated_wrongly(tree_.nodes); !wrong.empty()) return wrong;
    return bed_.judge();
  }
  bool everything_ran() const {
    return std::all_of(tree_.nodes.begin(), tree_.nodes.end(), [](const auto& node) { return node.ran == node.run; });
  }
  RunState ended_by_harm() const {
    switch (harm_) {
      case Harm::enough:
        return RunState::enough;
      case Harm::puts_are_lost:
        return RunState::stalled;
      case Harm::put_fails:
      case Harm::gone:
        return RunState::transport_failed;
      case Harm::none:
        break;
    }
    return RunState::done;
  }

  void grow_tree() {
    const std::uint32_t n = 1 + random_.below(random_.below(4) == 0 ? kMostNodes : 12), shape = random_.below(4);
    tree_.nodes.assign(n, {});
    tree_.note.assign(kMostNodes, 0);
    tree_.ran = 0;
    for (auto& seeds : bed_.seeds) seeds.clear();
    const std::uint32_t n_seeds = random_.below(std::min(n + 1, 4u)), priorities = 1 + random_.below(6);
    const auto pes = static_cast<std::uint32_t>(bed_.shape.n_pes);
    for (std::uint32_t i = 0; i < n; ++i) {
      Tree::Node& node = tree_.nodes[i];
      node.owner = static_cast<pe_t>(random_.below(pes));
      node.priority = random_.below(priorities);
      node.dropped = random_.below(10) == 0;
      if (i < n_seeds) {
        bed_.seeds[random_.below(pes)].push_back({i, i ^ kSalt, ~i});
        node.judge = true;
      } else if (i > 0) {
        const std::uint32_t parent = shape == 0 ? i - 1 : shape == 1 ? 0 : random_.below(i);
        tree_.nodes[parent].children.push_back(i);
        node.judge = tree_.nodes[parent].run;
      }
      node.run = node.judge && !node.dropped;
    }
  }

  static constexpr std::uint32_t kMostNodes = 30;
  struct alignas(kCacheLine) Line {
    std::byte bytes[kCacheLine];
  };

  std::unique_ptr<Line[]> memory_[kMostProcesses];
  std::unique_ptr<SimHeap> heap_[kMostProcesses];
  std::unique_ptr<World> world_[kMostProcesses];
  sim::Random random_{1};
  Tree tree_;
  Harm harm_ = Harm::none;
  int victim_ = 0, runs_ = 0;
  bool prioritised_ = false, whole_ = true, judged_ = false;
  std::string problem_;
  sim::WorklistBed<Item, WiredProcesses> bed_;
};

}  // namespace

int main(int argc, char** argv) {
  WiresScenario scenario;
  return shoal::sim::run_scenario("wires", scenario, argc, argv);
}
