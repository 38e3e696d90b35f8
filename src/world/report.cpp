// Writes a report as JSON for programs, and as lines for people.
#include "shoal/world/report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

void line(std::string& out, const std::string& label, const std::string& value) {
  out += "  " + label + std::string(label.size() < 16 ? 16 - label.size() : 1, ' ') + value + "\n";
}

void add(std::vector<Traffic>& all, const Traffic& more) {
  const auto same_pair = [&](const Traffic& t) { return t.from == more.from && t.to == more.to; };
  const auto old = std::find_if(all.begin(), all.end(), same_pair);
  if (old == all.end()) {
    all.push_back(more);
  } else {
    old->items += more.items, old->messages += more.messages, old->bytes += more.bytes;
  }
}

/// The sum over all pairs of PEs.
Traffic total(const Report& r) {
  Traffic sum;
  for (const Traffic& t : r.traffic) sum.items += t.items, sum.messages += t.messages, sum.bytes += t.bytes;
  return sum;
}
double mean_bytes(const Traffic& t) {
  return t.messages > 0 ? static_cast<double>(t.bytes) / static_cast<double>(t.messages) : 0;
}

}  // namespace

Report& Report::operator+=(const Report& other) {
  for (const Counter& c : kCounters) {
    std::int64_t& mine = this->*c.field;
    mine = c.merge == Merge::sum ? mine + other.*c.field : std::max(mine, other.*c.field);
  }
  for (const Traffic& pair : other.traffic) add(traffic, pair);
  seconds += other.seconds;
  return *this;
}

std::string to_json(const Report& r) {
  nlohmann::ordered_json json = {{"seconds", r.seconds}};
  for (const Counter& c : kCounters) json[c.name] = r.*c.field;
  json["cut_arcs"] = r.cut_arcs;
  json["imbalance"] = r.imbalance;
  const Traffic sent = total(r);
  json["messages"] = sent.messages;
  json["message_bytes"] = sent.bytes;
  json["mean_message_bytes"] = mean_bytes(sent);
  json["traffic"] = nlohmann::ordered_json::array();
  for (const Traffic& t : r.traffic) {
    json["traffic"].push_back(
        {{"from", t.from}, {"to", t.to}, {"items", t.items}, {"messages", t.messages}, {"bytes", t.bytes}});
  }
  json["phase_seconds"] = nlohmann::ordered_json::object();
  for (const auto& [phase, seconds] : r.phase_seconds) json["phase_seconds"][phase] = seconds;
  json["chosen"] = nlohmann::ordered_json::object();
  for (const Decision& decision : r.chosen) json["chosen"][decision.option] = to_text(decision);
  // A file name may contain any bytes. Bytes that are not UTF-8 are replaced.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_text(const Report& r) {
  std::string out;
  char number[96];
  const bool with_items = r.pushed > 0 || r.run > 0;
  for (const Counter& c : kCounters) {
    if (r.*c.field != 0 || (c.shown == Shown::with_items && with_items)) line(out, c.label, grouped(r.*c.field));
  }
  for (const Traffic& t : r.traffic) {
    std::snprintf(number, sizeof number, " bytes (%.1f a message)", mean_bytes(t));
    line(out, "PE " + std::to_string(t.from) + " to PE " + std::to_string(t.to),
         grouped(t.items) + " items, " + grouped(t.messages) + " messages, " + grouped(t.bytes) + number);
  }
  if (r.traffic.size() > 1) {
    const Traffic sent = total(r);
    std::snprintf(number, sizeof number, " bytes (%.1f a message)", mean_bytes(sent));
    line(out, "sent in all",
         grouped(sent.items) + " items, " + grouped(sent.messages) + " messages, " + grouped(sent.bytes) + number);
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

void check_sums(const Report& report) {
  if (report.pushed != report.withheld + report.combined + report.accepted + report.dropped) {
    throw DeviceError("of " + std::to_string(report.pushed) + " pushed items " + std::to_string(report.withheld) +
                      " were withheld, " + std::to_string(report.combined) + " combined, " +
                      std::to_string(report.accepted) + " accepted and " + std::to_string(report.dropped) +
                      " dropped when the run ended; the sum must be the same");
  }
  if (report.accepted != report.run + report.stale) {  // counters of queues do not include parked items
    throw DeviceError("of " + std::to_string(report.accepted) + " accepted items " + std::to_string(report.run) +
                      " were run and " + std::to_string(report.stale) + " stale when the run ended");
  }
}

}  // namespace shoal
