// The graph of a command, which can be placed on PEs any number of times.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algo/algorithm.hpp"
#include "graph_argument.hpp"

namespace shoal::cli {

class GraphInput {
 public:
  /// Reads a file now; a generated graph is generated where it is placed. @throws UsageError, CapacityError
  /// @param needs  as ReadOptions::needs
  GraphInput(const GraphArgument& argument, bool quiet,
             const std::function<std::int64_t(const GraphSize&)>& needs = {});
  explicit GraphInput(const GeneratorSpec& spec);
  /// For several processes, which all call it. If the format allows it, each reads only its own rows of the file, when the graph
  /// is placed. Otherwise as the first constructor.
  GraphInput(const GraphArgument& argument, bool quiet, const std::function<std::int64_t(const GraphSize&)>& needs,
             const Together& together);

  /// Generates on the host now, so that placing it many times does not generate it many times.
  void generate_here(bool quiet);
  /// This object must outlive the result.
  std::unique_ptr<Placed> place(const Algorithm& algorithm) const;

  const std::string& name() const { return name_; }
  bool symmetric() const { return symmetric_; }
  /// For a generator, an upper bound.
  GraphSize size() const { return shared_ ? shared_->size() : csr_ ? size_of(*csr_) : size_of(*spec_); }
  bool generated() const { return spec_.has_value(); }
  /// Bytes that a process holds while it reads its rows of a file; 0 if it reads the whole file.
  std::int64_t reading_bytes() const { return shared_ ? shared_->reading_bytes() : 0; }
  bool shared() const { return shared_ != nullptr; }  ///< each process reads only its rows, when the graph is placed
  /// A remark for the user about the number of vertices, or empty.
  std::string remark() const { return shared_ ? shared_->vertices_remark() : csr_ ? csr_->vertices_remark : ""; }
  double read_seconds() const { return read_seconds_; }
  /// A coarse description of the graph by what decides which options are fast. It takes no pass over the arcs:
  /// "kron, 2^20 vertices, degree 2^5, undirected" or "file, 2^17 vertices, degree 2^3, largest 2^9, directed".
  std::string features() const;

 private:
  void read(const GraphArgument& argument, bool quiet, const std::function<std::int64_t(const GraphSize&)>& needs);

  std::optional<GeneratorSpec> spec_;
  std::optional<Csr> csr_;
  std::unique_ptr<SharedGraph> shared_;
  std::string name_;
  bool symmetric_ = false;
  double read_seconds_ = 0;
};

}  // namespace shoal::cli
