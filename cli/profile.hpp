// Options that `shoal tune` found best, stored in one JSON file per user, by machine, algorithm and kind of graph.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "shoal/world/machine.hpp"

namespace shoal::cli {

/// The key of an entry. An entry is found only if all three members are equal.
struct ProfileKey {
  std::string machine;    ///< describe(Machine)
  std::string algorithm;  ///< the command's name
  std::string graph;      ///< GraphInput::features()
};

struct ProfileEntry {
  ProfileKey key;
  std::vector<std::string> flags;  ///< {"--strategy", "async", "--worker", "warp"}
  double seconds = 0;              ///< median of a run with these flags, as measured
  double auto_seconds = 0;         ///< of a run without any flags, measured in turns with it
  std::string version;             ///< of shoal
};

/// The processor and the PEs on it: "NVIDIA H200, 4 PEs", "AMD EPYC, 2 PEs of 1 thread".
std::string describe(const Machine& machine);

/// $XDG_CONFIG_HOME/shoal/profile.json, or ~/.config/shoal/profile.json. @throws UsageError when neither variable is set
std::string profile_path();

/// @param may_be_missing  a file that is not there has no entries
/// @throws UsageError naming the file (cannot be read, not a profile)
std::optional<ProfileEntry> find_in_profile(const std::string& file, const ProfileKey& key, bool may_be_missing);

/// Checks before long work that store_in_profile() can succeed: `file` can be written, and is a profile or does not exist.
/// @param make_folder  makes the folder if it does not exist; for profile_path(), which the user has not typed
/// @throws UsageError naming the file
void check_profile_place(const std::string& file, bool make_folder);

/// Adds the entry, or replaces the one with the same key. The new file replaces the old one only when it is complete.
/// @throws UsageError naming the file
void store_in_profile(const std::string& file, const ProfileEntry& entry);

}  // namespace shoal::cli
