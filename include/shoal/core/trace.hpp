// What happened when in a run, as a timeline that Perfetto (ui.perfetto.dev) opens: `--trace FILE` of the commands.
//
// Workers write into logs of their own; after a run its launcher draws what they hold. Where tracing() is null nothing is
// recorded, and kernels of GPUs have no code for it.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/state_log.hpp"

namespace shoal {

/// A timeline: groups of tracks, on which there are spans (something that took a time), flows (from one span to another) and
/// counts (numbers over time). Any thread.
class Trace {
 public:
  using Track = std::uint32_t;
  /// What a span or flow says of itself, as members of a JSON object. A value is a number or a text.
  class Facts {
   public:
    Facts& add(const char* name, std::int64_t value);
    Facts& add(const char* name, const std::string& value);
    const std::string& json() const { return json_; }

   private:
    std::string json_;
  };

  /// @param most  of spans, flows and counts together; what comes later is counted and left out
  explicit Trace(std::size_t most = 2'000'000) : most_(most), begun_(trace_now()) {}

  /// The track of this name, which is made where it is not there yet.
  Track track(const std::string& group, const std::string& name);
  /// Spans of a track follow each other, or lie within each other; the outer one is added first.
  void span(Track track, const std::string& name, std::int64_t begin, std::int64_t end, const Facts& facts = {});
  /// An arrow from the span of a track that lasts at `left` to that at `arrived`.
  void flow(const char* name, Track from, std::int64_t left, Track to, std::int64_t arrived, const Facts& facts = {});
  /// A number that changes over time.
  void count(const std::string& group, const std::string& name, std::int64_t at, double value);

  std::size_t size() const;
  std::size_t left_out() const;
  /// Chrome's trace format, one event a line. Source: "Trace Event Format", which Perfetto reads as well.
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

/// The trace of this process's runs; null: there is none.
Trace* tracing();
/// As long as this object exists, runs are drawn into its trace. One at a time.
class Tracing {
 public:
  explicit Tracing(Trace& trace);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  ~Tracing();
};

/// Draws what a worker did. @param names  [states] null: not drawn. @param end  of the last state
void draw_states(Trace& trace, Trace::Track track, const StateLog& log, const char* const* names, std::int64_t end);

}  // namespace shoal
