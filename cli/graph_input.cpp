#include "graph_input.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>

#include "progress.hpp"

namespace shoal::cli {
namespace {

/// The largest power of two that is not above the value: "2^20"
std::string power(double value) {
  const auto whole = static_cast<std::uint64_t>(std::max(value, 1.0));
  return "2^" + std::to_string(std::bit_width(whole) - 1);
}

}  // namespace

GraphInput::GraphInput(const GraphArgument& argument, bool quiet,
                       const std::function<std::int64_t(const GraphSize&)>& needs)
    : spec_(argument.generator()) {
  read(argument, quiet, needs);
}

GraphInput::GraphInput(const GraphArgument& argument, bool quiet,
                       const std::function<std::int64_t(const GraphSize&)>& needs, const Together& together)
    : spec_(argument.generator()) {
  const auto begin = std::chrono::steady_clock::now();
  shared_ = argument.share(quiet, together);
  if (!shared_) {
    read(argument, quiet, needs);
    return;
  }
  read_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  name_ = argument.text();
  symmetric_ = shared_->size().symmetric;
}

void GraphInput::read(const GraphArgument& argument, bool quiet,
                      const std::function<std::int64_t(const GraphSize&)>& needs) {
  if (spec_) {
    name_ = spec_->text();
    symmetric_ = !spec_->directed;
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  csr_ = argument.load(quiet, needs);
  read_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  name_ = argument.text();
  symmetric_ = csr_->symmetric;
}

GraphInput::GraphInput(const GeneratorSpec& spec) : spec_(spec), name_(spec.text()), symmetric_(!spec.directed) {}

void GraphInput::generate_here(bool quiet) {
  if (csr_) return;
  const Step step("generating " + name_, quiet);
  csr_ = generate(*spec_);
}

std::unique_ptr<Placed> GraphInput::place(const Algorithm& algorithm) const {
  return shared_ ? algorithm.place(*shared_) : csr_ ? algorithm.place(*csr_) : algorithm.place(*spec_);
}

std::string GraphInput::features() const {
  std::string text;
  if (spec_) {
    const std::string whole = spec_->text();
    text = whole.substr(0, whole.find(':')) + ", " + power(static_cast<double>(spec_->num_vertices())) + " vertices";
    if (spec_->draws_edges()) {
      text += ", degree " + power(static_cast<double>(spec_->degree) * (symmetric_ ? 2 : 1));
    }
    if (spec_->kind == GraphKind::community) {  // decides how many arcs a partition cuts
      char share[32];
      std::snprintf(share, sizeof share, ", mixing %.1f", spec_->shuffled ? 1 : spec_->mixing);
      text += share;
    }
  } else {
    const Csr& graph = *csr_;
    arc_t largest = 0;
    for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
      largest = std::max(largest, graph.degree(static_cast<vertex_t>(v)));
    }
    const double n = static_cast<double>(std::max<std::int64_t>(graph.num_vertices(), 1));
    text = "file, " + power(n) + " vertices, degree " + power(static_cast<double>(graph.num_arcs()) / n) +
           ", largest " + power(static_cast<double>(largest));
  }
  return text + (symmetric_ ? ", undirected" : ", directed");
}

}  // namespace shoal::cli
