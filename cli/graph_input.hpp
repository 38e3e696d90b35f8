// The graph of a command, ready to be placed on PEs as often as wanted.
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
  /// Reads the file; a generator's graph is made where it is placed. @throws UsageError, CapacityError
  /// @param needs  as ReadOptions::needs
  GraphInput(const GraphArgument& argument, bool quiet,
             const std::function<std::int64_t(const GraphSize&)>& needs = {});
  explicit GraphInput(const GeneratorSpec& spec);
  /// Every process: a file of which each reads its rows where the graph is placed, if the format allows it; else as the first.
  GraphInput(const GraphArgument& argument, bool quiet, const std::function<std::int64_t(const GraphSize&)>& needs,
             const Together& together);

  /// Generates on the host now, so that placing it many times does not generate it many times.
  void generate_here(bool quiet);
  /// The input must outlive what is returned.
  std::unique_ptr<Placed> place(const Algorithm& algorithm) const;

  const std::string& name() const { return name_; }
  bool symmetric() const { return symmetric_; }
  /// A generator's is what it is at most.
  GraphSize size() const { return shared_ ? shared_->size() : csr_ ? size_of(*csr_) : size_of(*spec_); }
  bool generated() const { return spec_.has_value(); }
  /// What a process holds while it reads its rows of a file; 0 if it reads all.
  std::int64_t reading_bytes() const { return shared_ ? shared_->reading_bytes() : 0; }
  bool shared() const { return shared_ != nullptr; }  ///< each process has its rows, once the graph is placed
  /// What a reader of the file may wonder about its vertices, or nothing.
  std::string remark() const { return shared_ ? shared_->vertices_remark() : csr_ ? csr_->vertices_remark : ""; }
  double read_seconds() const { return read_seconds_; }
  /// What makes options good or bad for a graph, coarsely, and costs no pass over the arcs:
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
