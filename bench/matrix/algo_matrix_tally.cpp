#include "algo_matrix_tally.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shoal/core/error.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::matrix {
namespace {
#if defined(SHOAL_DELAYS)
constexpr bool kDelays = true;
#else
constexpr bool kDelays = false;
#endif
}  // namespace

Watch::~Watch() {
  begin("", true);
  thread_.join();
}

void Watch::begin(std::string way, bool leave) {
  const std::lock_guard lock(mutex_);
  way_ = std::move(way);
  since_ = Clock::now();
  leave_ = leave;
  if (leave) woken_.notify_all();
}

void Watch::look() {
  std::unique_lock lock(mutex_);
  while (!leave_) {
    woken_.wait_for(lock, std::chrono::milliseconds(500), [this] { return leave_; });
    if (leave_ || way_.empty() || std::chrono::duration<double>(Clock::now() - since_).count() < most_) continue;
    stuck_(way_);
    std::_Exit(3);
  }
}

Tally::Tally(double seconds_per_way, double seconds, std::string path, DeviceKind device)
    : seconds_per_way_(seconds_per_way),
      end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
      path_(std::move(path)),
      device_(device),
      watch_(seconds_per_way, [this](const std::string& way) { stuck(way); }) {}

void Tally::stuck(const std::string& way) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_[at_hand_].wrong;
    char line[64];
    std::snprintf(line, sizeof line, ": not through after %.0f s", seconds_per_way_);
    failures_.push_back("STUCK " + way + line);
    std::printf("%s\n", failures_.back().c_str());
    std::fflush(stdout);
  }
  try {
    write();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  std::fflush(stdout);
}

void Tally::run(const Column& column, const std::string& where, const Check& check, const Way& way) {
  const auto begin = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (begin > end_ || !check) {
      ++counts_[column].not_run;
      return;
    }
    at_hand_ = column;
  }
  std::string wrong;
  watch_.begin(where + ", " + way.text);
  try {
    wrong = check(way.options, way.strategy);
  } catch (const std::exception& error) {
    wrong = error.what();
    if (wrong.empty()) wrong = "an error without a message";
  }
  watch_.begin("");
  const std::lock_guard lock(mutex_);
  Counts& counts = counts_[column];
  counts.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  (wrong.empty() ? counts.right : counts.wrong)++;
  if (wrong.empty()) return;
  failures_.push_back(where + ", " + way.text + ": " + wrong);
  std::printf("FAILED %s\n", failures_.back().c_str());
}

Counts Tally::all() const {
  Counts all;
  for (const auto& [column, counts] : counts_) {
    all.right += counts.right;
    all.wrong += counts.wrong;
    all.not_run += counts.not_run;
    all.seconds += counts.seconds;
  }
  return all;
}

void Tally::print() const {
  for (const auto& [column, counts] : counts_) {
    std::printf("%-11s %s, %d PEs: %lld right, %lld wrong, %lld not run, %.1f s\n", column.algorithm.c_str(),
                column.what.c_str(), column.pes, counts.right, counts.wrong, counts.not_run, counts.seconds);
  }
  const Counts sum = all();
  std::printf("%lld passed, %lld failed", sum.right, sum.wrong);
  if (sum.not_run > 0) std::printf(", %lld not run: the time was over", sum.not_run);
  std::printf("\n");
}

void Tally::write() const {
  if (path_.empty()) return;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  const bool on_gpu = device_ == DeviceKind::gpu;
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json result = {
      {"bench", "algo_matrix"},
      {"device", on_gpu ? "gpu" : "cpu"},
      {on_gpu ? "gpu" : "cpu", on_gpu ? list_devices().front().name : describe_machine().cpu},
      {"date", date},
      {"delays", kDelays},
      {"counts", nlohmann::ordered_json::array()},
      {"failures", failures_}};
  for (const auto& [column, counts] : counts_) {
    result["counts"].push_back({{"algorithm", column.algorithm},
                                {"what", column.what},
                                {"pes", column.pes},
                                {"right", counts.right},
                                {"wrong", counts.wrong},
                                {"not_run", counts.not_run},
                                {"seconds", counts.seconds}});
  }
  std::ofstream file(path_);
  file << result.dump(1) << "\n";
  if (!file) throw UsageError(path_ + " could not be written");
}

}  // namespace shoal::matrix
