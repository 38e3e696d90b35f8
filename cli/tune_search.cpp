#include "tune_search.hpp"

#include <algorithm>
#include <limits>

#include "shoal/core/error.hpp"
#include "statistics.hpp"

namespace shoal::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kHopeless = 8;        // a way whose first run is slower than the best by this factor gets no more runs
constexpr double kLeastLimit = 1;      // seconds that a first run may take, however fast others are: it loads kernels
constexpr double kGridShare = 0.6;     // of the budget: for the grid
constexpr double kWorthNaming = 1.02;  // a way counts as faster only by this factor: less is noise

/// Options beside strategy, worker and kernel that are tried one at a time.
struct Knob {
  enum Of { worklist, bulk, both };
  const char* flag;
  std::vector<std::string> values;
  bool gpu_only;
  bool several_pes_only;
  Of of;  ///< the strategies that use it
};
const std::vector<Knob>& knobs() {
  static const std::vector<Knob> all = {
      {"--fetch", {"1", "4", "16", "64"}, false, false, Knob::worklist},
      {"--workers", {"64", "256", "1024", "4096"}, true, false, Knob::worklist},
      {"--queue", {"fifo", "priority"}, false, false, Knob::worklist},
      {"--buckets", {"1", "4", "16"}, false, false, Knob::worklist},
      {"--keep", {"0", "4", "8", "16"}, true, false, Knob::worklist},
      {"--overlap", {"0", "512", "2048", "8192"}, false, false, Knob::worklist},
      {"--threshold-delta", {"1", "4", "16", "64", "256", "1024"}, false, false, Knob::worklist},
      {"--judge", {"owner", "remote"}, false, true, Knob::worklist},
      {"--combine", {"off", "on"}, false, true, Knob::worklist},
      {"--batch-bytes", {"0", "1024", "4096", "16384"}, false, true, Knob::worklist},
      {"--partition", {"block", "edges", "random"}, false, true, Knob::both},
  };
  return all;
}

/// False for options of the priority queue if the way does not have one.
bool fits(const Way& way, const std::string& flag) {
  if (flag != "--buckets" && flag != "--threshold-delta" && flag != "--keep" && flag != "--overlap") return true;
  const auto queue = way.find("--queue");
  return queue != way.end() && queue->second == "priority";
}

}  // namespace

TuneSearch::TuneSearch(const AlgorithmInfo& info, TuneMeasure& measure, Way fixed, const TuneLimits& limits,
                       std::function<void(double, const Measured&)> say)
    : info_(info),
      measure_(measure),
      fixed_(std::move(fixed)),
      on_gpu_(measure.machine().on_gpu),
      several_pes_(measure.machine().n_pes > 1),
      limits_(limits),
      say_(std::move(say)) {}

double TuneSearch::used() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() / limits_.budget_seconds;
}

/// True if a way runs by the worklist: by its own strategy, or else by the one that auto chose.
bool TuneSearch::is_worklist(const Way& way) const {
  if (const auto own = way.find("--strategy"); own != way.end()) return own->second == "async";
  return value_of(auto_chose_, "strategy") == "async";
}

/// True if a way has only options that auto chooses anyway.
bool TuneSearch::is_auto(const Way& way) const {
  return std::all_of(way.begin(), way.end(), [&](const auto& option) {
    const auto same = [&](const Decision& chosen) {
      return "--" + chosen.option == option.first && chosen.value == option.second;
    };
    return std::any_of(auto_chose_.begin(), auto_chose_.end(), same);
  });
}

/// Auto; every bulk strategy; the worklist with each kind of queue, worker and kernel, the likely ones first.
std::vector<Way> TuneSearch::grid() const {
  std::vector<Way> ways = {{}};
  const auto add = [&](Way way) {
    for (const auto& [flag, value] : way) {
      const auto given = fixed_.find(flag);
      if (given != fixed_.end() && given->second != value) return;
    }
    for (const auto& [flag, value] : fixed_) way.erase(flag);
    if (!is_auto(way) && std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(std::move(way));
  };
  for (const std::string& bulk : info_.bulk_strategies) add({{"--strategy", bulk}});
  const std::vector<std::string> queues =
      info_.has_priority ? std::vector<std::string>{"fifo", "priority"} : std::vector<std::string>{"fifo"};
  for (const std::string& queue : queues) {
    for (const char* worker : {"warp", "block:256", "block:128", "block:384", "thread"}) {
      if (!on_gpu_ && std::string(worker) != "thread") continue;
      for (const char* kernel : {"persistent", "discrete"}) {
        add({{"--strategy", "async"}, {"--worker", worker}, {"--kernel", kernel}, {"--queue", queue}});
      }
    }
  }
  return ways;
}

/// Stops early when the first run is slower than hopeless_seconds.
Measured TuneSearch::measure(const Way& way, int trials, double hopeless_seconds) {
  Measured m{way, kNever, 0, "", false};
  try {
    const double limit = std::max(kLeastLimit, 2 * kHopeless * fastest_);
    const std::vector<double> seconds = measure_.times(way, trials, hopeless_seconds, limit, m.failed);
    m.wrong = !m.failed.empty();
    m.trials = static_cast<int>(seconds.size());
    if (!m.wrong) fastest_ = std::min(fastest_, m.seconds = median(seconds));
  } catch (const Error& error) {
    m.failed = error.what();
  } catch (const std::bad_alloc&) {
    m.failed = "not enough memory";
  }
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

/// Varies one option at a time, and keeps a value that is faster.
void TuneSearch::refine() {
  std::vector<Knob> todo = knobs();
  for (const auto& [flag, values] : info_.tuned) todo.insert(todo.begin(), {flag, values, false, false, Knob::bulk});
  // Fewer threads meet sooner, which helps on small graphs. Auto uses fewer on some of them, perhaps on too many.
  todo.push_back({"--threads", {"1"}, false, false, Knob::both});
  const int all = measure_.machine().threads_per_pe, half = all / 2;
  if (half > 1) todo.back().values.push_back(std::to_string(half));
  if (all > 1) todo.back().values.push_back(std::to_string(all));
  for (const Knob& knob : todo) {
    if (!may_try(knob.flag) || (knob.gpu_only && !on_gpu_) || (knob.several_pes_only && !several_pes_)) continue;
    if (knob.of != Knob::both && (knob.of == Knob::worklist) != is_worklist(best_)) continue;
    if (std::string(knob.flag) == "--queue" && !info_.has_priority) continue;
    if (std::string(knob.flag) == "--threads" && on_gpu_) continue;
    for (const std::string& value : knob.values) {
      if (used() > 1) return;
      Way way = best_;
      if (!fits(way, knob.flag) || way[knob.flag] == value) continue;
      way[knob.flag] = value;
      if (is_auto(way)) continue;
      const Measured m = measure(way, 3, best_seconds_ * kHopeless);
      if (m.seconds * kWorthNaming > best_seconds_) continue;
      best_ = m.way;
      best_seconds_ = m.seconds;
    }
  }
}

/// The best of many noisy measurements looks better than it is; so it is measured again, in turns with auto.
void TuneSearch::compare() {
  const auto [plain, best] = measure_.side_by_side(best_, limits_.trials);
  auto_seconds_ = median(plain);
  best_seconds_ = median(best);
  turns_ = static_cast<int>(plain.size());
  if (best_.empty()) {
    best_seconds_ = auto_seconds_;
    return;
  }
  // Ratios are taken turn by turn: both runs of a turn had the same source, and the same other programs on the machine.
  std::vector<double> ratios;
  for (std::size_t i = 0; i < plain.size(); ++i) ratios.push_back(plain[i] / best[i]);
  gap_ = median(ratios) - 1;
  if (gap_ > kWorthNaming - 1) return;
  best_.clear();
  best_seconds_ = auto_seconds_;
  gap_ = 0;
}

void TuneSearch::run() {
  const TuneStart start = measure_.start(limits_.trials, limits_.seed);
  auto_chose_ = start.chosen;
  fastest_ = start.seconds;
  if (!start.wrong.empty()) {
    all_.push_back({{}, start.seconds, 1, start.wrong, true});
    auto_seconds_ = best_seconds_ = start.seconds;
    return;
  }
  halve(grid());
  if (best_seconds_ < kNever && best_seconds_ > 0) refine();
  if (best_seconds_ == kNever) best_.clear();
  compare();
}

}  // namespace shoal::cli
