#include "tune_measure.hpp"

#include "profile.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/machine.hpp"
#include "sources.hpp"

namespace shoal::cli {
namespace {

// Short runs are compared over many turns: until they have taken this many seconds together.
constexpr double kFewSeconds = 0.3;
constexpr std::size_t kMostTurns = 300;

/// Answers the questions of TuneMeasure, in the measuring process.
class Bench {
 public:
  Bench(const AlgorithmInfo& info, const GraphInput& graph, const Way& fixed)
      : info_(info), graph_(graph), fixed_(fixed) {}

  Json start(const Json& question, const RunClock& clock) const {
    const std::unique_ptr<Placed> placed = place({});
    std::vector<vertex_t> sources = {0};
    if (info_.from_source) {
      sources = choose_sources(SourceChoice{}, question["trials"], question["seed"], placed->num_vertices(),
                               placed->num_arcs(), [&](vertex_t v) { return placed->degree(v); });
    }
    const Report report = clock.limited([&] { return placed->run({sources[0], {}}); });
    Json chosen = Json::array();
    for (const auto& [option, value, reason] : report.chosen) chosen.push_back({option, value, reason});
    return {{"sources", sources},
            {"chosen", chosen},
            {"seconds", report.seconds},
            {"wrong", placed->find_wrong_in_place()}};
  }

  Json times(const Json& question, const RunClock& clock) const {
    const std::vector<vertex_t> sources = question["sources"];
    const std::unique_ptr<Placed> placed = place(question["way"]);
    const auto run = [&](std::size_t i) {
      return clock.limited([&] { return placed->run({sources[i % sources.size()], {}}).seconds; });
    };
    std::vector<double> seconds = {run(0)};
    const std::string wrong = placed->find_wrong_in_place();
    if (wrong.empty() && (question["hopeless"].is_null() || seconds[0] <= question["hopeless"])) {
      seconds.clear();
      for (std::size_t i = 0; i < question["trials"]; ++i) seconds.push_back(run(i));
    }
    return {{"seconds", seconds}, {"wrong", wrong}};
  }

  Json side_by_side(const Json& question) const {
    const std::vector<vertex_t> sources = question["sources"];
    const std::unique_ptr<Placed> plain = place({}), other = place(question["way"]);
    std::vector<double> plain_seconds, other_seconds;
    plain->run({sources[0], {}});
    other->run({sources[0], {}});
    double used = 0;
    for (std::size_t i = 0; i < question["trials"] || (used < kFewSeconds && i < kMostTurns); ++i) {
      const vertex_t source = sources[i % sources.size()];
      for (const bool first : {i % 2 == 0, i % 2 != 0}) {
        std::vector<double>& seconds = first ? plain_seconds : other_seconds;
        seconds.push_back((first ? plain : other)->run({source, {}}).seconds);
        used += seconds.back();
      }
    }
    return {{"auto", plain_seconds}, {"way", other_seconds}};
  }

 private:
  std::unique_ptr<Placed> place(Way way) const {
    way.insert(fixed_.begin(), fixed_.end());
    return graph_.place(*configure(info_, to_flags(way)));
  }

  const AlgorithmInfo& info_;
  const GraphInput& graph_;
  const Way& fixed_;
};

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

TuneMeasure::TuneMeasure(const AlgorithmInfo& info, GraphInput& graph, Way fixed, const Options& shared)
    : info_(info), graph_(graph), fixed_(std::move(fixed)), shared_(shared), process_([this] { return begin(); }) {
  const Json here = process_.ask({{"what", "machine"}});
  machine_ = {here["on_gpu"], here["n_pes"], here["threads_per_pe"], here["described"], here["json"]};
}

MeasuringProcess::Answer TuneMeasure::begin() const {
  const Machine machine(shared_);
  if (!machine.on_gpu()) graph_.generate_here(/*quiet=*/true);
  return [bench = Bench(info_, graph_, fixed_), machine](const Json& question, const RunClock& clock) -> Json {
    const std::string what = question["what"];
    if (what == "start") return bench.start(question, clock);
    if (what == "times") return bench.times(question, clock);
    if (what == "side by side") return bench.side_by_side(question);
    return {{"on_gpu", machine.on_gpu()},
            {"n_pes", machine.n_pes()},
            {"threads_per_pe", machine.on_gpu() ? 0 : machine.threads_per_pe()},
            {"described", describe(machine)},
            {"json", Json::parse(machine_to_json())}};
  };
}

TuneStart TuneMeasure::start(int trials, std::uint64_t seed) {
  const Json got = process_.ask({{"what", "start"}, {"trials", trials}, {"seed", seed}});
  TuneStart start;
  got["sources"].get_to(start.sources);
  for (const Json& decision : got["chosen"]) start.chosen.push_back({decision[0], decision[1], decision[2]});
  got["seconds"].get_to(start.seconds), got["wrong"].get_to(start.wrong);
  sources_ = start.sources;
  return start;
}

std::vector<double> TuneMeasure::times(const Way& way, int trials, double hopeless_seconds, double limit_seconds,
                                       std::string& wrong) {
  // If hopeless_seconds is infinite, JSON has null in its place.
  const Json got = process_.ask(
      {{"what", "times"}, {"way", way}, {"trials", trials}, {"hopeless", hopeless_seconds}, {"sources", sources_}},
      limit_seconds);
  wrong = got["wrong"];
  return got["seconds"];
}

std::pair<std::vector<double>, std::vector<double>> TuneMeasure::side_by_side(const Way& way, int trials) {
  const Json got = process_.ask({{"what", "side by side"}, {"way", way}, {"trials", trials}, {"sources", sources_}});
  return {got["auto"], got["way"]};
}

}  // namespace shoal::cli
