// A report as JSON for programs and as lines for people.
#include "shoal/world/report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "shoal/core/text.hpp"

namespace shoal {
namespace {

void line(std::string& out, const std::string& label, const std::string& value) {
  out += "  " + label + std::string(label.size() < 16 ? 16 - label.size() : 1, ' ') + value + "\n";
}

}  // namespace

std::string to_json(const Report& r) {
  nlohmann::ordered_json json = {{"seconds", r.seconds},
                                 {"pushed", r.pushed},
                                 {"withheld", r.withheld},
                                 {"accepted", r.accepted},
                                 {"dropped", r.dropped},
                                 {"stale", r.stale},
                                 {"run", r.run},
                                 {"left", r.left},
                                 {"spilled", r.spilled},
                                 {"peak_ring", r.peak_ring},
                                 {"peak_spill", r.peak_spill},
                                 {"rounds", r.rounds},
                                 {"combined", r.combined},
                                 {"parked", r.parked},
                                 {"thresholds", r.thresholds},
                                 {"idle_calls", r.idle_calls},
                                 {"cut_arcs", r.cut_arcs},
                                 {"imbalance", r.imbalance}};
  json["traffic"] = nlohmann::ordered_json::array();
  for (const Traffic& t : r.traffic) {
    json["traffic"].push_back(
        {{"from", t.from}, {"to", t.to}, {"items", t.items}, {"messages", t.messages}, {"bytes", t.bytes}});
  }
  json["phase_seconds"] = nlohmann::ordered_json::object();
  for (const auto& [phase, seconds] : r.phase_seconds) json["phase_seconds"][phase] = seconds;
  json["chosen"] = nlohmann::ordered_json::object();
  for (const Decision& decision : r.chosen) json["chosen"][decision.option] = to_text(decision);
  // A file name may hold any bytes: what is not UTF-8 is replaced, not an error.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_text(const Report& r) {
  std::string out;
  char number[96];
  if (r.pushed > 0 || r.run > 0) {
    line(out, "items pushed", grouped(r.pushed));
    if (r.withheld > 0) line(out, "withheld", grouped(r.withheld));
    line(out, "accepted", grouped(r.accepted));
    line(out, "dropped", grouped(r.dropped));
    line(out, "run", grouped(r.run));
    if (r.stale > 0) line(out, "stale", grouped(r.stale));
    if (r.left > 0) line(out, "left when it was enough", grouped(r.left));
    if (r.combined > 0) line(out, "combined", grouped(r.combined));
    if (r.parked > 0)
      line(out, "parked", grouped(r.parked) + " (the threshold moved " + grouped(r.thresholds) + " times)");
    if (r.idle_calls > 0) line(out, "idle calls", grouped(r.idle_calls));
    line(out, "spilled", grouped(r.spilled));
    line(out, "peak ring", grouped(r.peak_ring));
    if (r.peak_spill > 0) line(out, "peak spill", grouped(r.peak_spill));
  }
  line(out, "rounds", grouped(r.rounds));
  for (const Traffic& t : r.traffic) {
    const double mean = t.messages > 0 ? static_cast<double>(t.bytes) / static_cast<double>(t.messages) : 0;
    std::snprintf(number, sizeof number, " bytes (%.1f a message)", mean);
    line(out, "PE " + std::to_string(t.from) + " to PE " + std::to_string(t.to),
         grouped(t.items) + " items, " + grouped(t.messages) + " messages, " + grouped(t.bytes) + number);
  }
  if (r.cut_arcs > 0) {
    std::snprintf(number, sizeof number, ", largest PE %.3f of the mean", r.imbalance);
    line(out, "cut arcs", grouped(r.cut_arcs) + number);
  }
  for (const auto& [phase, seconds] : r.phase_seconds) {
    std::snprintf(number, sizeof number, "%.3f ms", seconds * 1e3);
    line(out, phase, number);
  }
  for (const Decision& decision : r.chosen) line(out, decision.option, to_text(decision));
  return out;
}

}  // namespace shoal
