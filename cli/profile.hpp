// Options that `shoal tune` found best, kept in one JSON file per user, found again by machine, algorithm and graph.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "shoal/world/machine.hpp"

namespace shoal::cli {

/// What an entry is for. All three must be equal to be found.
struct ProfileKey {
  std::string machine;    ///< describe(Machine)
  std::string algorithm;  ///< the command's name
  std::string graph;      ///< GraphInput::features()
};

struct ProfileEntry {
  ProfileKey key;
  std::vector<std::string> flags;  ///< {"--strategy", "async", "--worker", "warp"}
  double seconds = 0;              ///< median of a run with these flags, as measured
  double auto_seconds = 0;         ///< of a run without any, measured beside it
  std::string version;             ///< of shoal
};

/// What runs, and in how many parts: "NVIDIA H200, 4 PEs", "AMD EPYC, 2 PEs of 1 thread".
std::string describe(const Machine& machine);

/// $XDG_CONFIG_HOME/shoal/profile.json, or ~/.config/shoal/profile.json. @throws UsageError when neither variable is set
std::string profile_path();

/// @param may_be_missing  a file that is not there has no entries
/// @throws UsageError naming the file (cannot be read, not a profile)
std::optional<ProfileEntry> find_in_profile(const std::string& file, const ProfileKey& key, bool may_be_missing);

/// Before long work: that store_in_profile() will find a profile, or none, at a place that can be written.
/// @param make_folder  makes the folder where it is not: of profile_path(), which nobody typed
/// @throws UsageError naming the file
void check_profile_place(const std::string& file, bool make_folder);

/// Adds the entry, or replaces the one with the same key. The old file stays whole until the new one is.
/// @throws UsageError naming the file
void store_in_profile(const std::string& file, const ProfileEntry& entry);

}  // namespace shoal::cli
