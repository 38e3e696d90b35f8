#include "shoal/core/trace.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace shoal {
namespace {

std::atomic<Trace*> current{nullptr};

/// Text as a JSON string. Names of spans come from shoal, but may contain names of files and options from the user.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 32) {
      out += ' ';
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

// Whether there is an invariant time-stamp counter (AMD and Intel): CPUID 8000'0007h, EDX bit 8.
const bool kEvenTicks = [] {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#else
  return false;
#endif
}();

std::int64_t trace_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Trace::Facts& Trace::Facts::add(const char* name, std::int64_t value) {
  json_ += (json_.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(value);
  return *this;
}
Trace::Facts& Trace::Facts::add(const char* name, const std::string& value) {
  json_ += (json_.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
  return *this;
}

bool Trace::fits() {
  if (events_ < most_) return ++events_ > 0;
  ++left_out_;
  return false;
}

/// Microseconds since the trace began.
std::string Trace::at(std::int64_t ns) const {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns - begun_) / 1e3);
  return text;
}

int Trace::pid_of(const std::string& group) {
  const auto found = std::find(groups_.begin(), groups_.end(), group);
  if (found != groups_.end()) return static_cast<int>(found - groups_.begin()) + 1;
  groups_.push_back(group);
  return static_cast<int>(groups_.size());
}

Trace::Track Trace::track(const std::string& group, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = names_.try_emplace({group, name}, static_cast<Track>(tracks_.size()));
  if (added) tracks_.push_back({name, pid_of(group), static_cast<int>(tracks_.size()) + 1});
  return found->second;
}

void Trace::span(Track track, const std::string& name, std::int64_t begin, std::int64_t end, const Facts& facts) {
  const std::lock_guard lock(mutex_);
  if (!fits()) return;
  const Place& place = tracks_[track];
  text_ += ",\n{\"ph\":\"X\",\"name\":" + quoted(name) + ",\"pid\":" + std::to_string(place.pid) +
           ",\"tid\":" + std::to_string(place.tid) + ",\"ts\":" + at(begin) + ",\"dur\":" + at(begun_ + end - begin) +
           ",\"args\":{" + facts.json() + "}}";
}

void Trace::flow(const char* name, Track from, std::int64_t left, Track to, std::int64_t arrived, const Facts& facts) {
  const std::lock_guard lock(mutex_);
  if (!fits()) return;
  const std::string id = std::to_string(++flows_);
  const auto end = [&](const char* kind, const Place& place, std::int64_t ns) {
    text_ += std::string(",\n{\"ph\":") + kind + ",\"cat\":\"message\",\"name\":" + quoted(name) + ",\"id\":" + id +
             ",\"pid\":" + std::to_string(place.pid) + ",\"tid\":" + std::to_string(place.tid) + ",\"ts\":" + at(ns) +
             ",\"args\":{" + facts.json() + "}}";
  };
  end("\"s\"", tracks_[from], left);
  end("\"f\",\"bp\":\"e\"", tracks_[to], arrived);
}

void Trace::count(const std::string& group, const std::string& name, std::int64_t ns, double value) {
  const std::lock_guard lock(mutex_);
  if (!fits()) return;
  char number[32];
  std::snprintf(number, sizeof number, "%.10g", value);
  text_ += ",\n{\"ph\":\"C\",\"name\":" + quoted(name) + ",\"pid\":" + std::to_string(pid_of(group)) +
           ",\"ts\":" + at(ns) + ",\"args\":{\"value\":" + number + "}}";
}

std::size_t Trace::size() const {
  const std::lock_guard lock(mutex_);
  return events_;
}
std::size_t Trace::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

std::string Trace::json() const {
  const std::lock_guard lock(mutex_);
  std::string all = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"events\":" + std::to_string(events_) +
                    ",\"left_out\":" + std::to_string(left_out_) + "},\n\"traceEvents\":[\n";
  const auto named = [&](const char* what, int pid, int tid, const std::string& name, std::size_t order) {
    const std::string at = ",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
    const std::string kind = what;
    all += (all.ends_with("[\n") ? "" : ",\n") + ("{\"ph\":\"M\",\"name\":\"" + kind + "_name\"") + at +
           ",\"args\":{\"name\":" + quoted(name) + "}},\n{\"ph\":\"M\",\"name\":\"" + kind + "_sort_index\"" + at +
           ",\"args\":{\"sort_index\":" + std::to_string(order) + "}}";
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) named("process", static_cast<int>(g) + 1, 0, groups_[g], g);
  for (std::size_t i = 0; i < tracks_.size(); ++i) named("thread", tracks_[i].pid, tracks_[i].tid, tracks_[i].name, i);
  if (groups_.empty()) return all + "]}\n";
  return all + text_ + "\n]}\n";
}

Trace* tracing() { return current.load(std::memory_order_acquire); }
Tracing::Tracing(Trace& trace) { current.store(&trace, std::memory_order_release); }
Tracing::~Tracing() { current.store(nullptr, std::memory_order_release); }

void StateLog::change(std::uint32_t state) {
  if (full()) return;
  last_ = state;
  changes_.push_back({trace_now(), state});
}

void draw_states(Trace& trace, Trace::Track track, const StateLog& log, const char* const* names, std::int64_t end) {
  const auto& changes = log.changes();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool last = i + 1 == changes.size();
    const char* const name = log.full() && last ? "not recorded: too many changes" : names[changes[i].state];
    if (name != nullptr) trace.span(track, name, changes[i].at, last ? end : changes[i + 1].at);
  }
}

}  // namespace shoal
