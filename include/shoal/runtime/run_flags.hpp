// The flags that every run takes, whatever the algorithm: the same for the `shoal` command and for users' programs.
#pragma once
#include <string>

#include "shoal/runtime/options.hpp"

namespace CLI {
class App;
}

namespace shoal {

/// A check of CLI11 for numbers without a sign, which it would wrap. @return empty, or what is wrong
std::string refuse_negative(const std::string& text);

/// Holds the texts of the flags until they are read; must outlive the parser's callbacks.
class RunFlags {
 public:
  void add_to(CLI::App& app);
  /// Fills `options`. @throws UsageError naming the flag, its value and what is legal
  void read(Options& options) const;

 private:
  Options values_;  // the numbers go straight here
  std::string device_ = "auto", worker_ = "auto", kernel_ = "auto", partition_ = "auto", queue_ = "auto",
              judge_ = "auto", combine_ = "auto";
};

}  // namespace shoal
