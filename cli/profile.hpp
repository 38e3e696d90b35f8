// Options that `shoal tune` found best, kept in one JSON file per user, found again by machine, algorithm and graph.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {

/// What an entry is for. All three must be equal to be found.
struct ProfileKey {
  std::string machine;    ///< this_machine()
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

/// GPUs by number and name, or else the CPU and its usable threads: "4 x NVIDIA H200".
/// @param on_gpu  where the run is
std::string this_machine(bool on_gpu);

/// $XDG_CONFIG_HOME/shoal/profile.json, or ~/.config/shoal/profile.json. @throws UsageError when neither variable is set
std::string profile_path();

/// @param may_be_missing  a file that is not there has no entries
/// @throws UsageError naming the file (cannot be read, not a profile)
std::optional<ProfileEntry> find_in_profile(const std::string& file, const ProfileKey& key, bool may_be_missing);

/// Adds the entry, or replaces the one with the same key. Makes the folder. The old file stays whole until the new one is.
/// @throws UsageError naming the file
void store_in_profile(const std::string& file, const ProfileEntry& entry);

}  // namespace shoal::cli
