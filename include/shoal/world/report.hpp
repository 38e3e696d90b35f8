// The report that every run returns: what was counted, timed and decided.
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
  std::int64_t messages = 0;  ///< groups of items sent together by one worker; segments: notifications of the receiver
  std::int64_t bytes = 0;
};

/// Each counter is a field, such as report.pushed; world/counters.hpp has the list.
struct Report : Counters {
  std::vector<Traffic> traffic;  ///< one entry for each ordered pair of PEs that exchanged anything
  bool whole = true;             ///< false: enough() ended the run
  std::int64_t cut_arcs = -1;    ///< arcs whose ends have different owners; -1: not counted
  double imbalance = 0;          ///< arcs of the PE that has the most, over the mean of all PEs; 0: unknown
  double seconds = 0;            ///< from the first worker's start until quiescence was detected
  std::vector<std::pair<std::string, double>> phase_seconds;  ///< of each section: read, partition, place, ...
  Decisions chosen;                                           ///< what was decided, and why

  /// Adds the counters, the traffic and the seconds of another run or another PE. All other fields keep their values.
  Report& operator+=(const Report& other);
};

/// Checks that the item counts of a run add up; for a run that left no items. @throws DeviceError: they do not
void check_sums(const Report& report);

class World;
/// Combines the reports of all processes into one. One thread of every process calls it, within a collective call that all
/// PEs have begun.
/// @param mine   the report of this process's PEs
/// @param error  what the run threw in this process; null: nothing
/// @throws on all processes, the error of the first process that has one; also as World::exchange()
Report of_all_processes(World& world, const Report& mine, std::exception_ptr error);

/// One JSON object with every field. phase_seconds and chosen become objects; chosen maps an option to "value: reason".
std::string to_json(const Report& report);

/// The report as text for people: counters with thousands separated, traffic by pair of PEs, the seconds of sections, what
/// was chosen and why. Each line ends with a newline. Fields that are zero in every run of their kind are left out.
std::string to_text(const Report& report);

}  // namespace shoal
