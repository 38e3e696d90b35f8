// The graphs of the matrix. Each is prepared (references, partitions) while the ways of the previous one run.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "algo_matrix.hpp"

namespace shoal::matrix {

/// A graph with all that the answers of its ways are compared with.
struct Prepared {
  struct Part {
    const Subject* subject;
    std::vector<Way> ways;
    std::vector<std::pair<std::string, Check>> checks;  ///< by manner; empty functions if ways are only counted
    bool skipped = false;                               ///< the graph is large, and --quick was given
  };
  Input input;
  std::vector<Part> parts;
  PartitionFiles files;  ///< those of `parts`

  Prepared(Input made, const std::vector<Subject>& chosen, const Wanted& wanted, bool count_only);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

/// Calls f for every graph whose name contains one of `texts` (or for every graph if there are none), small ones first. Another
/// thread prepares the next graph meanwhile.
/// @param data  a folder with edge lists *.el.gz; if it does not exist, that is printed
/// @param over  called on that thread; returns whether no more ways will be run, so that they are only counted
/// @throws UsageError  a file cannot be read
void for_inputs(const std::string& data, const std::vector<std::string>& texts, const std::vector<Subject>& chosen,
                const Wanted& wanted, const std::function<bool()>& over, const std::function<void(Prepared&)>& f);

}  // namespace shoal::matrix
