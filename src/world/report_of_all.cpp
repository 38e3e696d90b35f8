// Combines the reports of all processes into one.
#include <algorithm>

#include "bytes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"

namespace shoal {
namespace {

enum class Kind : std::uint64_t { none, usage, capacity, transport, device, other };

/// The kind of an error, and its text.
std::pair<Kind, std::string> look_at(const std::exception_ptr& error) {
  if (!error) return {Kind::none, ""};
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& thrown) {
    return {Kind::usage, thrown.what()};
  } catch (const CapacityError& thrown) {
    return {Kind::capacity, thrown.what()};
  } catch (const TransportError& thrown) {
    return {Kind::transport, thrown.what()};
  } catch (const DeviceError& thrown) {
    return {Kind::device, thrown.what()};
  } catch (const std::exception& thrown) {
    return {Kind::other, thrown.what()};
  } catch (...) {
    return {Kind::other, "an exception that has no text"};
  }
}

[[noreturn]] void throw_as(Kind kind, const std::string& line) {
  switch (kind) {
    case Kind::usage:
      throw UsageError(line);
    case Kind::capacity:
      throw CapacityError(line);
    case Kind::transport:
      throw TransportError(line);
    case Kind::device:
      throw DeviceError(line);
    default:
      throw std::runtime_error(line);
  }
}

}  // namespace

Report of_all_processes(World& world, const Report& mine, std::exception_ptr error) {
  if (world.n_processes() == 1) {
    if (error) std::rethrow_exception(error);
    return mine;
  }
  static_assert(std::is_trivially_copyable_v<Traffic>);
  const auto [kind, line] = look_at(error);
  std::vector<std::byte> bytes;
  append(bytes, static_cast<std::uint64_t>(kind));
  append(bytes, line);
  for (const Counter& counter : kCounters) append(bytes, static_cast<std::uint64_t>(mine.*counter.field));
  append(bytes, std::as_bytes(std::span(&mine.seconds, std::size_t{1})));
  append(bytes, static_cast<std::uint64_t>(mine.whole));
  append(bytes, std::as_bytes(std::span(mine.traffic)));
  const std::vector<std::vector<std::byte>> all = world.exchange({"report"}, bytes);
  Report report = mine;
  for (std::size_t p = 0; p < all.size(); ++p) {
    Reader reader{all[p]};
    const Kind its_kind = static_cast<Kind>(reader.number());
    const std::string its_line = reader.text();
    const bool here = static_cast<int>(p) == world.process();
    if (its_kind != Kind::none) {
      if (here) std::rethrow_exception(error);
      throw_as(its_kind, its_line);
    }
    if (here) continue;
    Report its;
    for (const Counter& counter : kCounters) its.*counter.field = static_cast<std::int64_t>(reader.number());
    const auto seconds = reader.bytes(sizeof its.seconds);
    std::memcpy(&its.seconds, seconds.data(), seconds.size());
    report.whole = reader.number() != 0 && report.whole;
    its.traffic.resize(reader.rest.size() / sizeof(Traffic));
    if (!its.traffic.empty()) std::memcpy(its.traffic.data(), reader.rest.data(), its.traffic.size() * sizeof(Traffic));
    its.thresholds = its.rounds = 0;  // every process counts all phases and rounds
    const double longest = std::max(report.seconds, its.seconds);
    report += its;
    report.seconds = longest;
  }
  if (report.whole) check_sums(report);
  return report;
}

}  // namespace shoal
