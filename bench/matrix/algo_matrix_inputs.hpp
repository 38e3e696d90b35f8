// The graphs of the matrix, each made ready (references, partitions) while the ways of the one before run.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "algo_matrix.hpp"

namespace shoal::matrix {

/// A graph with all that its ways are compared with.
struct Prepared {
  struct Part {
    const Subject* subject;
    std::vector<Way> ways;
    std::vector<std::pair<std::string, Check>> checks;  ///< by manner; empty functions when only counting
    bool skipped = false;                               ///< large, and --quick was asked for
  };
  Input input;
  std::vector<Part> parts;
  PartitionFiles files;  ///< those of `parts`

  Prepared(Input made, const std::vector<Subject>& chosen, const Wanted& wanted, bool count_only);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

/// Calls f for every graph whose name has one of `texts` in it (none: for every graph), small ones first. The next one is
/// made ready by another thread meanwhile.
/// @param data  a folder with edge lists *.el.gz; when it is not there, that is printed
/// @param over  says, from that thread, that no way will be run any more: then ways are only counted
/// @throws UsageError when a file cannot be read
void for_inputs(const std::string& data, const std::vector<std::string>& texts, const std::vector<Subject>& chosen,
                const Wanted& wanted, const std::function<bool()>& over, const std::function<void(Prepared&)>& f);

}  // namespace shoal::matrix
