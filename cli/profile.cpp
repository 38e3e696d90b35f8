#include "profile.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "output.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kFormat = "shoal profile 1";

[[noreturn]] void bad(const std::string& file, const std::string& why) {
  throw UsageError("profile " + file + ": " + why + "; `shoal tune` writes profiles, and --profile none uses none");
}

/// The entries of a file; an empty list if it is not there and may be missing.
Json read(const std::string& file, bool may_be_missing) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (may_be_missing && status.type() == std::filesystem::file_type::not_found) return Json::array();
  if (std::filesystem::is_directory(status)) bad(file, "is a directory, not a file");
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::getline(in, text, '\0');  // the whole file; an error sets the state of `in`, and is not an exception
  if (!in.is_open() || in.bad()) bad(file, std::string("cannot be read: ") + std::strerror(errno));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != kFormat || !json.contains("entries") ||
      !json["entries"].is_array()) {
    bad(file, std::string("is not a file of format '") + kFormat + "'");
  }
  return json["entries"];
}

bool has_key(const Json& entry, const ProfileKey& key) {
  return entry.at("machine") == key.machine && entry.at("algorithm") == key.algorithm && entry.at("graph") == key.graph;
}

}  // namespace

std::string describe(const Machine& machine) {
  std::string pes = counted(machine.n_pes(), "PE", "PEs");
  if (machine.pes_per_gpu() > 1) pes += ", " + std::to_string(machine.pes_per_gpu()) + " on a GPU";
  if (!machine.on_gpu()) {
    return describe_machine().cpu + ", " + pes + " of " + counted(machine.threads_per_pe(), "thread", "threads");
  }
  for (const DeviceInfo& device : list_devices()) {
    if (device.index == machine.devices()[0]) return device.name + ", " + pes;
  }
  return "GPU, " + pes;
}

std::string profile_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config != 0) return std::string(config) + "/shoal/profile.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == 0) {
    throw UsageError("no place for a profile: neither HOME nor XDG_CONFIG_HOME is set; give --profile FILE");
  }
  return std::string(home) + "/.config/shoal/profile.json";
}

std::optional<ProfileEntry> find_in_profile(const std::string& file, const ProfileKey& key, bool may_be_missing) {
  try {
    for (const Json& entry : read(file, may_be_missing)) {
      if (!has_key(entry, key)) continue;
      ProfileEntry found{key, {}, entry.at("seconds"), entry.at("auto_seconds"), entry.at("version")};
      for (const Json& flag : entry.at("flags")) found.flags.push_back(flag);
      return found;
    }
  } catch (const Json::exception& error) {
    bad(file, std::string("an entry is damaged: ") + error.what());
  }
  return std::nullopt;
}

void check_profile_place(const std::string& file, bool make_folder) {
  std::error_code error;
  if (make_folder) std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  if (error) bad(file, "its folder cannot be made: " + error.message());
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) bad(file, "is not a file");
  read(file, true);
  OutputFile can_be_written(file);
}

void store_in_profile(const std::string& file, const ProfileEntry& entry) {
  Json kept = Json::array();
  try {
    for (const Json& old : read(file, true)) {
      if (!has_key(old, entry.key)) kept.push_back(old);
    }
  } catch (const Json::exception& damaged) {
    bad(file, std::string("an entry is damaged: ") + damaged.what());
  }
  kept.push_back({{"machine", entry.key.machine},
                  {"algorithm", entry.key.algorithm},
                  {"graph", entry.key.graph},
                  {"flags", entry.flags},
                  {"seconds", entry.seconds},
                  {"auto_seconds", entry.auto_seconds},
                  {"version", kVersion}});
  OutputFile out(file);
  out.write(Json{{"format", kFormat}, {"entries", kept}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  out.commit();
}

}  // namespace shoal::cli
