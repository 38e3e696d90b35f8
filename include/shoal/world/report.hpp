// The report that every run returns: what happened.
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/world/counters.hpp"
#include "shoal/world/decision.hpp"

namespace shoal {

/// What one PE sent to another.
struct Traffic {
  pe_t from = 0, to = 0;
  std::int64_t items = 0;
  std::int64_t messages = 0;  ///< what one worker sent together; with segments, what was told together
  std::int64_t bytes = 0;
};

/// The counters are fields by name, such as report.pushed; world/counters.hpp has the list.
struct Report : Counters {
  std::vector<Traffic> traffic;  ///< one entry for each pair that exchanged anything
  bool whole = true;             ///< false: enough() ended the run
  std::int64_t cut_arcs = -1;    ///< arcs whose ends have different owners; -1: not counted
  double imbalance = 0;          ///< arcs of the largest PE over the mean; 0: unknown
  double seconds = 0;            ///< from the first worker's start until quiescence was seen
  std::vector<std::pair<std::string, double>> phase_seconds;  ///< of each section: read, partition, place, ...
  Decisions chosen;                                           ///< what was decided, and why

  /// Adds what another run, or another PE, counted: counters, traffic and seconds. The rest stays this report's.
  Report& operator+=(const Report& other);
};

/// The counts of a run that left nothing add up. @throws DeviceError: they do not
void check_sums(const Report& report);

class World;
/// For one thread of every process, within a call that all have begun: the report of a run on all processes.
/// @param mine   what the PEs of this process counted
/// @param error  what the run threw in this process; null: nothing
/// @throws on all processes the error of the first that has one; as World::exchange()
Report of_all_processes(World& world, const Report& mine, std::exception_ptr error);

/// One JSON object with every field; phase_seconds and chosen become objects, chosen of "value: reason" by option.
std::string to_json(const Report& report);

/// The report as text for people: counters with thousands separated, traffic by pair, seconds of sections, what was
/// chosen and why. Each line ends with a newline; fields that are zero in every run of their kind are left out.
std::string to_text(const Report& report);

}  // namespace shoal
