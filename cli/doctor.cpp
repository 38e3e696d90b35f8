// shoal doctor: what can run here, and what to install for the rest.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::cli {
namespace {

void print_features(const char* title, const std::vector<Feature>& list) {
  std::printf("\n%s\n", title);
  for (const Feature& f : list) {
    std::printf("  %-8s %-8s %s\n", f.found ? "found" : "missing", f.name.c_str(), f.detail.c_str());
    if (!f.found) std::printf("  %-8s %-8s -> %s\n", "", "", f.cure.c_str());
  }
}

/// Prints the GPUs, and which of them can access the memory of which.
void print_devices(const std::vector<DeviceInfo>& devices, const std::string& why_none) {
  std::printf("\nGPUs\n");
  if (devices.empty()) std::printf("  none: %s\n", why_none.c_str());
  for (const DeviceInfo& d : devices) {
    std::printf("  %3d %s, %s, %d multiprocessors, %s (%s free)\n", d.index, d.name.c_str(), d.architecture.c_str(),
                d.multiprocessors, bytes_text(d.memory_bytes).c_str(), bytes_text(d.free_bytes).c_str());
  }
  if (devices.size() < 2) return;
  std::printf(
      "\n  access of a row's GPU to the memory of a column's: A loads, stores and atomics; y loads and stores; - "
      "none\n     ");
  for (const DeviceInfo& d : devices) std::printf(" %3d", d.index);
  std::printf("\n");
  for (const DeviceInfo& d : devices) {
    std::printf("  %3d", d.index);
    for (std::size_t j = 0; j < devices.size(); ++j) {
      std::printf("   %c", d.reaches_atomics[j] ? 'A' : d.reaches[j] ? 'y' : '-');
    }
    std::printf("\n");
  }
}

int print_text() {
  const MachineInfo m = describe_machine();
  std::printf("shoal %s (%s; compiled with %s)\n\nmachine\n", kVersion, m.build.c_str(), m.compiler.c_str());
  std::printf("  system   %s\n  CPU      %s\n", m.system.c_str(), m.cpu.c_str());
  std::printf("  threads  %d usable of %d\n", m.usable_threads, m.hardware_threads);
  std::printf("  memory   %s (%s available)\n", bytes_text(m.memory_bytes).c_str(),
              bytes_text(m.available_bytes).c_str());
  if (!m.driver.empty()) std::printf("  driver   NVIDIA %s\n", m.driver.c_str());
  std::string why_none;
  const std::vector<DeviceInfo> devices = list_devices(&why_none, /*free_bytes=*/true);
  print_devices(devices, why_none);
  print_features("engines", list_engines());
  print_features("libraries", list_libraries());
  return kRight;
}

}  // namespace

Run add_doctor(CLI::App& shoal) {
  CLI::App* app =
      shoal.add_subcommand("doctor", "what this machine and this build can run, and what to install for the rest");
  auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "print JSON");
  app->footer("examples:\n  shoal doctor\n  shoal doctor --json");
  return [json] {
    if (!*json) return print_text();
    std::cout << nlohmann::ordered_json::parse(machine_to_json()).dump(1) << "\n";
    return static_cast<int>(kRight);
  };
}

}  // namespace shoal::cli
