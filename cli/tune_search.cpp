#include "tune_search.hpp"

#include <algorithm>
#include <limits>

#include "shoal/core/error.hpp"
#include "sources.hpp"
#include "statistics.hpp"

namespace shoal::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kHopeless = 8;        // a first run slower than the best by this factor is not repeated
constexpr double kGridShare = 0.6;     // of the budget: for the grid
constexpr double kWorthNaming = 1.02;  // auto stays when the best is not faster by this factor: less is noise

/// Options beside strategy, worker and kernel that are tried one at a time.
struct Knob {
  enum Of { worklist, bulk, both };
  const char* flag;
  std::vector<std::string> values;
  bool gpu_only;
  bool several_pes_only;
  Of of;  ///< which strategies look at it
};
const std::vector<Knob>& knobs() {
  static const std::vector<Knob> all = {
      {"--fetch", {"1", "4", "16", "64"}, false, false, Knob::worklist},
      {"--workers", {"64", "256", "1024", "4096"}, true, false, Knob::worklist},
      {"--queue", {"fifo", "priority"}, false, false, Knob::worklist},
      {"--buckets", {"1", "4", "16"}, false, false, Knob::worklist},
      {"--threshold-delta", {"1", "4", "16", "64", "256", "1024"}, false, false, Knob::worklist},
      {"--judge", {"owner", "remote"}, false, true, Knob::worklist},
      {"--combine", {"off", "on"}, false, true, Knob::worklist},
      {"--partition", {"block", "edges", "random"}, false, true, Knob::both},
  };
  return all;
}

bool is_worklist(const Way& way) {
  const auto strategy = way.find("--strategy");
  return strategy != way.end() && strategy->second == "async";
}

/// Thresholds and buckets are of the priority queue.
bool fits(const Way& way, const std::string& flag) {
  if (flag != "--buckets" && flag != "--threshold-delta") return true;
  const auto queue = way.find("--queue");
  return queue != way.end() && queue->second == "priority";
}

}  // namespace

std::vector<std::string> to_flags(const Way& way) {
  std::vector<std::string> flags;
  for (const auto& [flag, value] : way) flags.insert(flags.end(), {flag, value});
  return flags;
}

std::string to_text(const Way& way) {
  std::string text;
  for (const auto& [flag, value] : way) text += (text.empty() ? "" : " ") + flag + " " + value;
  return text.empty() ? "auto" : text;
}

TuneSearch::TuneSearch(const AlgorithmInfo& info, const GraphInput& graph, Way fixed, const Machine& machine,
                       const TuneLimits& limits, std::function<void(double, const Measured&)> say)
    : info_(info),
      graph_(graph),
      fixed_(std::move(fixed)),
      on_gpu_(machine.on_gpu()),
      several_pes_(machine.n_pes() > 1),
      limits_(limits),
      say_(std::move(say)) {}

double TuneSearch::used() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() / limits_.budget_seconds;
}

std::unique_ptr<Placed> TuneSearch::place(const Way& way) const {
  Way whole = fixed_;
  whole.insert(way.begin(), way.end());
  return graph_.place(*configure(info_, to_flags(whole)));
}

/// Every strategy; the worklist with each kind of worker and kernel, the likely ones first.
std::vector<Way> TuneSearch::grid() const {
  std::vector<Way> ways;
  const auto add = [&](Way way) {
    for (const auto& [flag, value] : way) {
      const auto given = fixed_.find(flag);
      if (given != fixed_.end() && given->second != value) return;
    }
    for (const auto& [flag, value] : fixed_) way.erase(flag);
    if (!way.empty() && std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(std::move(way));
  };
  for (const std::string& bulk : info_.bulk_strategies) add({{"--strategy", bulk}});
  const std::vector<std::string> queues =
      info_.has_priority ? std::vector<std::string>{"fifo", "priority"} : std::vector<std::string>{"fifo"};
  for (const std::string& queue : queues) {
    for (const char* worker : {"warp", "block:256", "block:128", "block:512", "thread"}) {
      if (!on_gpu_ && std::string(worker) != "thread") continue;
      for (const char* kernel : {"persistent", "discrete"}) {
        add({{"--strategy", "async"}, {"--worker", worker}, {"--kernel", kernel}, {"--queue", queue}});
      }
    }
  }
  return ways;
}

/// One run to warm up, then `trials`, source after source. Stops early when the first is slower than limit_seconds.
Measured TuneSearch::measure(const Way& way, int trials, double limit_seconds) {
  Measured m{way, kNever, 0, "", false};
  try {
    const std::unique_ptr<Placed> placed = place(way);
    std::vector<double> seconds = {placed->run(sources_[0]).seconds};
    m.failed = placed->find_wrong_in_place();
    m.wrong = !m.failed.empty();
    if (!m.wrong && seconds[0] <= limit_seconds) {
      seconds.clear();
      for (int i = 0; i < trials; ++i) {
        seconds.push_back(placed->run(sources_[static_cast<std::size_t>(i) % sources_.size()]).seconds);
      }
    }
    m.seconds = median(seconds);
    m.trials = static_cast<int>(seconds.size());
  } catch (const Error& error) {
    m.failed = error.what();
  } catch (const std::bad_alloc&) {
    m.failed = "not enough memory";
  }
  if (m.wrong) m.seconds = kNever;
  all_.push_back(m);
  say_(used(), m);
  return m;
}

/// Successive halving (Jamieson and Talwalkar 2016): all ways with one trial, the better half with two, and so on.
void TuneSearch::halve(std::vector<Way> ways) {
  double best = kNever;
  for (int trials = 1; !ways.empty(); trials *= 2) {
    std::vector<Measured> measured;
    for (const Way& way : ways) {
      if (used() > kGridShare && !measured.empty()) {
        left_out_ += trials == 1;
        continue;
      }
      measured.push_back(measure(way, trials, best * kHopeless));
      best = std::min(best, measured.back().seconds);
    }
    std::stable_sort(measured.begin(), measured.end(),
                     [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
    best_ = measured[0].way;
    best_seconds_ = best = measured[0].seconds;
    if (ways.size() <= 2 || used() > kGridShare) return;
    ways.clear();
    for (std::size_t i = 0; i < (measured.size() + 1) / 2; ++i) {
      if (measured[i].seconds < std::min(kNever, best * kHopeless)) ways.push_back(measured[i].way);
    }
    if (ways.size() < 2) return;
  }
}

/// One option at a time: a value that is faster stays.
void TuneSearch::refine() {
  std::vector<Knob> todo = knobs();
  for (const auto& [flag, values] : info_.tuned) todo.insert(todo.begin(), {flag, values, false, false, Knob::bulk});
  for (const Knob& knob : todo) {
    if (!may_try(knob.flag) || (knob.gpu_only && !on_gpu_) || (knob.several_pes_only && !several_pes_)) continue;
    if (knob.of != Knob::both && (knob.of == Knob::worklist) != is_worklist(best_)) continue;
    if (std::string(knob.flag) == "--queue" && !info_.has_priority) continue;
    for (const std::string& value : knob.values) {
      if (used() > 1) return;
      Way way = best_;
      if (!fits(way, knob.flag) || way[knob.flag] == value) continue;
      way[knob.flag] = value;
      const Measured m = measure(way, 3, best_seconds_ * kHopeless);
      if (m.seconds * kWorthNaming > best_seconds_) continue;
      best_ = m.way;
      best_seconds_ = m.seconds;
    }
  }
}

/// The winner of many noisy measurements looks better than it is; so it is measured anew, in turns with auto.
void TuneSearch::compare() {
  const std::unique_ptr<Placed> plain = place({});
  const std::unique_ptr<Placed> best = best_.empty() ? nullptr : place(best_);
  std::vector<double> auto_seconds, best_seconds;
  plain->run(sources_[0]);
  if (best) best->run(sources_[0]);
  for (int i = 0; i < limits_.trials; ++i) {
    const vertex_t source = sources_[static_cast<std::size_t>(i) % sources_.size()];
    for (const bool first : {i % 2 == 0, i % 2 != 0}) {
      if (first) auto_seconds.push_back(plain->run(source).seconds);
      if (!first && best) best_seconds.push_back(best->run(source).seconds);
    }
  }
  auto_seconds_ = median(auto_seconds);
  best_seconds_ = best ? median(best_seconds) : auto_seconds_;
  if (best_seconds_ * kWorthNaming < auto_seconds_) return;
  best_.clear();
  best_seconds_ = std::min(best_seconds_, auto_seconds_);
}

void TuneSearch::run() {
  const std::unique_ptr<Placed> plain = place({});
  SourceChoice random;
  if (info_.from_source) {
    sources_ = choose_sources(random, limits_.trials, limits_.seed, plain->num_vertices(), plain->num_arcs(),
                              [&](vertex_t v) { return plain->degree(v); });
  } else {
    sources_ = {0};
  }
  const Report report = plain->run(sources_[0]);
  const std::string wrong = plain->find_wrong_in_place();
  if (!wrong.empty()) {
    all_.push_back({{}, report.seconds, 1, wrong, true});
    auto_seconds_ = best_seconds_ = report.seconds;
    return;
  }
  auto_chose_ = report.chosen;
  halve(grid());
  if (best_seconds_ < kNever && best_seconds_ > 0) refine();
  if (best_seconds_ == kNever) best_.clear();
  compare();
}

}  // namespace shoal::cli
