// The algorithms of the matrix: how each is run, and what its answers are compared with.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "algo/algorithm.hpp"
#include "algo/sssp/reference.hpp"
#include "algo_matrix.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal::matrix {
namespace {

constexpr const char* kNarrow = "delta, narrow buckets";
constexpr const char* kHashed = "hash255";

std::vector<std::string> one_manner(const Input&) { return {""}; }

/// Values of an algorithm's own options, by name.
using Own = std::map<std::string, std::string>;

/// Sets an algorithm's own options that are texts or numbers, and switches on all its flags, which ask for more output.
class SetOwn : public OptionVisitor {
 public:
  explicit SetOwn(const Own& own) : own_(own) {}
  void text(const char* name, std::string& value, const char*) override {
    if (const auto set = own_.find(name); set != own_.end()) value = set->second, ++used;
  }
  void file(const char*, std::string&, const char*) override {}
  void number(const char* name, double& value, const char*) override {
    if (const auto set = own_.find(name); set != own_.end()) value = std::stod(set->second), ++used;
  }
  void flag(const char*, bool& value, const char*) override { value = true; }

  std::size_t used = 0;

 private:
  const Own& own_;
};

std::unique_ptr<Algorithm> with(const AlgorithmInfo& info, const Options& shared, const Own& own) {
  std::unique_ptr<Algorithm> algorithm = info.make();
  SetOwn set(own);
  algorithm->visit(set);
  if (set.used != own.size()) throw UsageError(std::string(info.name) + " has not all options that the matrix sets");
  algorithm->read(shared);
  return algorithm;
}

/// A check that answers have the right properties, on the PEs and on the host, and agree with the serial reference.
/// @param own  options for all strategies; @param narrow  options for the strategy kNarrow only
Check check_of(const AlgorithmInfo& info, const Input& input, std::uint64_t seed, const Own& own = {},
               const Own& narrow = {}) {
  const auto n = static_cast<std::uint64_t>(input.graph.num_vertices());
  const std::unique_ptr<Algorithm> plain = with(info, {}, own);
  auto wanted = std::make_shared<std::vector<std::pair<vertex_t, Compare>>>();
  for (std::uint64_t i = 0; i < (input.large || !info.from_source ? 1 : 2); ++i) {
    const auto source = static_cast<vertex_t>(n > 0 ? mix(seed + i) % n : 0);
    wanted->emplace_back(source, plain->reference(input.graph, source));
  }
  return [&info, &input, own, narrow, wanted](const Options& options, const std::string& strategy) -> std::string {
    Own all = own;
    if (strategy == kNarrow) all.insert(narrow.begin(), narrow.end());
    all.emplace("strategy", strategy);
    const std::unique_ptr<Placed> placed = with(info, options, all)->place(input.graph);
    for (const auto& [source, compare] : *wanted) {
      placed->run({source, {}});
      std::string wrong = placed->find_wrong_in_place();
      if (!wrong.empty()) return wrong;
      placed->fetch();
      wrong = placed->find_wrong();
      if (wrong.empty()) wrong = compare(placed->take_rows());
      if (!wrong.empty()) return info.from_source ? "from " + std::to_string(source) + ": " + wrong : wrong;
    }
    return "";
  };
}

/// The subject for any algorithm of the list.
Subject subject_of(const AlgorithmInfo& info) {
  Subject subject{info.name, info.bulk_strategies, info.has_priority, info.has_combine, one_manner};
  subject.check = [&info](const Input& input, const std::string&, std::uint64_t seed) {
    return check_of(info, input, seed);
  };
  return subject;
}

/// For shortest paths: weights made from the ends of arcs, and the graph's own weights. Also buckets so narrow that many of them
/// are far away, but not so many that barriers take long.
void add_weights(Subject& subject, const AlgorithmInfo& info) {
  subject.bulk.push_back(kNarrow);
  subject.manners = [](const Input& input) {
    std::vector<std::string> manners = {kHashed};
    if (input.graph.weight_kind != WeightKind::none) manners.push_back("own weights");
    return manners;
  };
  subject.check = [&info](const Input& input, const std::string& manner, std::uint64_t seed) {
    const WeightSource weights = manner == kHashed ? WeightSource::hash255 : WeightSource::file;
    const Csr graph = with_weights(input.graph, weights);
    std::uint64_t farthest = 0;
    for (const std::uint64_t d : sssp_reference(graph, mix(seed) % graph.num_vertices())) {
      farthest = std::max(farthest, d + 1);  // unreached: 0
    }
    const bool whole = graph.weight_kind == WeightKind::int32;
    const double delta = whole ? std::max(1.0, std::floor(static_cast<double>(farthest) / 300)) : 1;
    return check_of(info, input, seed, {{"weights", name(weights)}}, {{"strategy", "delta"}, {"delta", exact(delta)}});
  };
}

}  // namespace

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

std::vector<Subject> subjects() {
  std::vector<Subject> subjects;
  for (const AlgorithmInfo* info : algorithms()) {
    Subject subject = subject_of(*info);
    if (subject.name == "sssp") add_weights(subject, *info);
    if (subject.name == "pagerank") subject.soak_vertices = 64;  // it has many items per vertex
    if (subject.name == "bfs") subject.large = true, subject.every_queue = false;
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

}  // namespace shoal::matrix
