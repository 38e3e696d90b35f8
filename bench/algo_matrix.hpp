// Every way to run an algorithm, on every graph, against its reference: what a subject is, and which ways there are. To add an
// algorithm: a function that returns its Subject (algo_matrix_subjects.cpp), and a line in the list there.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "shoal/data/csr.hpp"
#include "shoal/runtime/options.hpp"

namespace shoal::matrix {

struct Input {
  std::string name;
  Csr graph;
  bool large = false;  ///< takes seconds to look at in every way
};

/// Runs one way on the graph that it was made for, once or several times. Empty when all is right, else what is wrong;
/// exceptions count as wrong. `strategy` is one of the subject's.
using Check = std::function<std::string(const Options& options, const std::string& strategy)>;

struct Subject {
  std::string name;
  std::vector<std::string> bulk;  ///< strategies to which the worklist's options say nothing
  bool ordered = false;           ///< `async` has priorities
  bool combines = false;          ///< `async` has key and combine, and accept_at
  /// Computes the reference of one graph, from sources that `seed` chooses, once for all ways. More than one check when
  /// the graph can be looked at in several manners (own weights, hashed weights); each has a name.
  std::function<std::vector<std::pair<std::string, Check>>(const Input& input, std::uint64_t seed)> checks;
  bool soaks = true;   ///< also with tiny capacities
  bool large = false;  ///< also on large graphs when only a part of the ways is wanted
};

/// All algorithms; a name selects one.
std::vector<Subject> subjects();

struct Way {
  Options options;
  std::string strategy;
  std::string text;
};

/// A bijection of 64-bit words that looks random: the matrix and the subjects draw with it.
std::uint64_t mix(std::uint64_t x);

}  // namespace shoal::matrix
