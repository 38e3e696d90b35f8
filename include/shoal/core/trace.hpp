// A timeline of a run, which Perfetto (ui.perfetto.dev) opens: the commands' option `--trace FILE`.
//
// Each worker writes into its own log; after a run its launcher adds the contents of the logs to the trace. If tracing() is null,
// nothing is recorded. GPU kernels have no code for traces.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/state_log.hpp"

namespace shoal {

/// A timeline: groups of tracks. Tracks have spans (something with a begin and an end) and flows (arrows from one span to another);
/// groups also have counts (numbers over time). Any thread may call the members.
class Trace {
 public:
  using Track = std::uint32_t;
  /// Details of a span or flow, as members of a JSON object. A value is a number or a text.
  class Facts {
   public:
    Facts& add(const char* name, std::int64_t value);
    Facts& add(const char* name, const std::string& value);
    const std::string& json() const { return json_; }

   private:
    std::string json_;
  };

  /// @param most  the largest number of spans, flows and counts together; later ones are only counted, by left_out()
  explicit Trace(std::size_t most = 2'000'000) : most_(most), begun_(trace_now()) {}

  /// The track with this name in this group, which is created if it does not exist.
  Track track(const std::string& group, const std::string& name);
  /// Adds a span; times are those of trace_now(). Spans of a track must follow each other, or nest; the outer one is added first.
  void span(Track track, const std::string& name, std::int64_t begin, std::int64_t end, const Facts& facts = {});
  /// Adds an arrow from the span of track `from` that contains the time `left` to the span of track `to` that contains `arrived`.
  void flow(const char* name, Track from, std::int64_t left, Track to, std::int64_t arrived, const Facts& facts = {});
  /// Adds the value at time `at` of a number that changes over time.
  void count(const std::string& group, const std::string& name, std::int64_t at, double value);

  std::size_t size() const;
  std::size_t left_out() const;
  /// The trace in Chrome's trace format, one event per line. Source: "Trace Event Format", which Perfetto reads as well.
  std::string json() const;

 private:
  struct Place {
    std::string name;
    int pid, tid;
  };
  bool fits();
  std::string at(std::int64_t ns) const;
  int pid_of(const std::string& group);

  std::map<std::pair<std::string, std::string>, Track> names_;
  const std::size_t most_;
  const std::int64_t begun_;
  mutable std::mutex mutex_;
  std::vector<std::string> groups_;
  std::vector<Place> tracks_;
  std::size_t events_ = 0, left_out_ = 0, flows_ = 0;
  std::string text_;
};

/// As long as this object exists, runs are drawn into its trace. Only one such object at a time.
class Tracing {
 public:
  explicit Tracing(Trace& trace);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  ~Tracing();
};

/// Draws the states of a worker as spans of `track`.
/// @param names  [states] the name of each state; null: the state is not drawn
/// @param end    when the last state ended
void draw_states(Trace& trace, Trace::Track track, const StateLog& log, const char* const* names, std::int64_t end);

}  // namespace shoal
