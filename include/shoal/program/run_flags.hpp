// The command-line flags that every run has, whatever the algorithm. The `shoal` command and users' programs have the same
// flags.
#pragma once
#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>

#include "shoal/world/options.hpp"

namespace CLI {
class App;
}

namespace shoal {

/// A check for CLI11, which otherwise uses the nearest T if a number does not fit T. @return empty, or what is wrong
template <class T>
std::string whole_number(const std::string& text) {
  T value;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return text + " is out of range: " + std::to_string(std::numeric_limits<T>::min()) + " to " +
           std::to_string(std::numeric_limits<T>::max());
  }
  if (std::is_unsigned_v<T> && text.rfind('-', 0) == 0) return text + " is negative; use 0 or more";
  if (error != std::errc()) return "'" + text + "' is not a number";
  return rest == end ? "" : "'" + text + "' is not a whole number";
}

/// Holds the values of the flags until they are read; must outlive the parser's callbacks.
class RunFlags {
 public:
  /// @param all_gpus  which GPUs a run takes if `--pes` does not say: an algorithm knows which graphs are too small for several
  void add_to(CLI::App& app, const std::string& all_gpus = "all GPUs, but one for a small graph");
  /// Fills `options`. @throws UsageError naming the flag, its value and what is legal
  void read(Options& options) const;

 private:
  Options values_;  // the parser writes numbers directly into this
  std::string device_ = "auto", worker_ = "auto", kernel_ = "auto", partition_ = "auto", queue_ = "auto",
              judge_ = "auto", combine_ = "auto", batch_wait_ = "0";
};

}  // namespace shoal
