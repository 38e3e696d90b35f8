#include "run_outputs.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {

void RunOutputs::add_to(CLI::App& app) {
  const char* const group = "Output";
  app.add_flag("--stats", stats_,
               "after each run of a task, print what it did: items, traffic, and the options that were chosen")
      ->group(group);
  app.add_option("--json", json_place_, "write options, machine and the report of each run as JSON")
      ->group(group)
      ->type_name("FILE")
      ->check(not_empty);
  trace_.add_to(app, "workers and queues on CPU threads, kernels and queues on GPUs (only of process 0)", group);
}

void RunOutputs::open(const std::vector<NamedFile>& read) {
  const NamedFile json = {"--json", json_place_};
  refuse_standard_output({json, trace_.file()});
  refuse_same_files({json, trace_.file()}, read);
  if (!is_speaker()) {
    stats_ = false;
    json_place_.clear();
    trace_.drop();
  }
  if (!json_place_.empty()) json_.emplace(json_place_);
  trace_.open();
}

void RunOutputs::note(const Report& report) {
  ++n_runs_;
  if (json_) runs_.push_back(to_json(report));
  if (!stats_) return;
  std::printf("run %lld: %.3f ms\n%s", static_cast<long long>(n_runs_), report.seconds * 1e3, to_text(report).c_str());
  std::fflush(stdout);
}

void RunOutputs::write(const About& about, const Options& options) {
  trace_.write_and_say(about.program);
  if (!json_) return;
  using Json = nlohmann::ordered_json;
  Json json = Json::parse(machine_to_json());
  json["program"] = about.program;
  json["arguments"] = about.arguments;
  json["date"] = utc_now();
  if (about.graph.empty()) {
    json["size"] = about.size;
  } else {
    json["graph"] = {{"name", about.graph}, {"num_vertices", about.num_vertices}, {"num_arcs", about.num_arcs}};
  }
  json["options"] = Json::parse(to_json(options));
  json["runs"] = Json::array();
  for (const std::string& run : runs_) json["runs"].push_back(Json::parse(run));
  json["right"] = about.right;
  json_->write(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  json_->commit();
}

}  // namespace shoal
