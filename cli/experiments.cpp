#include "experiments.hpp"

#include "shoal/core/error.hpp"

namespace shoal::cli {
namespace {

constexpr double kNone = kNotReported;
const std::vector<int> kOneToFour = {1, 2, 3, 4};
const std::string kDaisy = "DGX Station, 4 x V100 32 GB, NVLink all to all; mean of 10 runs";
const std::string kM60 = "8 x Tesla M60 (4 boards); median of 5 runs";
const std::string kGroute =
    "Ben-Nun et al., \"Groute: Asynchronous Multi-GPU Programming Model with Applications to Large-scale Graph "
    "Processing\" (ACM TOPC 2020)";
const std::string kAtos = "Chen et al., \"Scalable Irregular Parallelism with GPUs: Getting CPUs Out of the Way\"";

// Stand-ins have the paper's numbers of vertices and arcs to within a factor of two. Kronecker graphs are more skewed than the
// real ones. A grid with 40 % of its edges deleted has as many arcs per vertex as road maps, but is deeper.
const StandIn kLiveJournal = {"soc-LiveJournal1", "4.8 M, 68 M", "kron:22,directed", "kron:12,directed"};
const StandIn kHollywood = {"hollywood_2009", "1.1 M, 113 M", "kron:20,degree=54", "kron:10,degree=54"};
const StandIn kIndochina = {"indochina_2004", "7.4 M, 191 M", "kron:23,degree=23,directed",
                            "kron:12,degree=23,directed"};
const StandIn kTwitter = {"twitter50", "51 M, 1.9 G", "kron:26,degree=28,directed", "kron:13,degree=28,directed"};
const StandIn kRoadUsa = {"road_usa", "23.9 M, 57 M", "road:4896,deleted=0.4", "road:100,deleted=0.4"};
const StandIn kOsmEur = {"osm_eur", "174 M, 348 M", "road:13191,deleted=0.4", "road:150,deleted=0.4"};
const StandIn kKron21 = {"kron21.sym", "2 M, 182 M", "kron:21,degree=44", "kron:11,degree=44"};

// Kronecker graphs have no communities. The stand-ins below have: each community is a range of consecutive vertices. The share of
// edges that leave their community (mixing) is an estimate from graphs of the same kinds: with eight parts, METIS cuts 9 % of the
// edges of cnr-2000 (web) and 8 % of those of dblp-2010 (authors), and a balanced partition of twitter by METIS cuts 12 %
// (Tsourakakis et al.: Fennel, 2014). kron21.sym is itself a Kronecker graph, so it needs no such stand-in.
const std::string kLocal = "-local";
const StandIn kLiveJournalLocal = {kLiveJournal.name + kLocal, kLiveJournal.size, "community:22,directed",
                                   "community:12,degree=4,directed"};
const StandIn kHollywoodLocal = {kHollywood.name + kLocal, kHollywood.size, "community:20,degree=54,mixing=0.1",
                                 "community:12,degree=8,mixing=0.1"};
const StandIn kIndochinaLocal = {kIndochina.name + kLocal, kIndochina.size,
                                 "community:23,degree=23,directed,mixing=0.05",
                                 "community:13,degree=4,directed,mixing=0.05"};
const StandIn kTwitterLocal = {kTwitter.name + kLocal, kTwitter.size,
                               "community:26,degree=28,directed,mixing=0.25,skew=4",
                               "community:13,degree=4,directed,mixing=0.25,skew=4"};
const std::vector<StandIn> kSkewed = {kLiveJournal, kLiveJournalLocal, kHollywood, kHollywoodLocal,
                                      kIndochina,   kIndochinaLocal,   kTwitter,   kTwitterLocal};

std::vector<StandIn> with(std::vector<StandIn> graphs, const std::vector<StandIn>& more) {
  graphs.insert(graphs.end(), more.begin(), more.end());
  return graphs;
}
const std::vector<StandIn> kAtosGraphs = with(kSkewed, {kRoadUsa, kOsmEur});

const BenchWay kPersistentFifo = {"persistent, FIFO",
                                  {"--strategy", "async", "--kernel", "persistent", "--queue", "fifo"}};
const BenchWay kDiscreteFifo = {"discrete, FIFO", {"--strategy", "async", "--kernel", "discrete", "--queue", "fifo"}};
const BenchWay kDiscretePriority = {"discrete, priority",
                                    {"--strategy", "async", "--kernel", "discrete", "--queue", "priority"}};
const BenchWay kPersistentPriority = {"persistent, priority",
                                      {"--strategy", "async", "--kernel", "persistent", "--queue", "priority"}};
const BenchWay kWorklist = {"worklist", {"--strategy", "async"}};
const BenchWay kAuto = {"auto", {}};

BenchWay follows(BenchWay way, const std::string& system) {
  way.follows = system;
  return way;
}
BenchWay with(BenchWay way, const std::string& label, const std::vector<std::string>& flags) {
  way.label += label;
  way.flags.insert(way.flags.end(), flags.begin(), flags.end());
  return way;
}

std::vector<Reported> rows(const std::string& graph, const std::vector<std::string>& systems,
                           const std::vector<std::vector<double>>& values, const std::vector<int>& pes = kOneToFour) {
  std::vector<Reported> all;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (!values[i].empty()) all.push_back({graph, systems[i], pes, values[i]});
  }
  return all;
}

std::vector<Reported> join(const std::vector<std::vector<Reported>>& parts) {
  std::vector<Reported> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Reported> bfs_times() {
  const std::vector<std::string> who = {"Gunrock", "Groute", "Atos persistent, FIFO", "Atos discrete, priority"};
  return join({
      rows("soc-LiveJournal1", who,
           {{13.4, 10.0, 8.15, 8.03}, {19.0, 10.8, 10.2, 12.6}, {12.4, 9.00, 6.87, 6.33}, {11.3, 6.45, 5.01, 4.01}}),
      rows("hollywood_2009", who,
           {{6.28, 5.38, 5.62, 5.39}, {7.17, 5.81, 5.82, 8.63}, {6.27, 7.90, 6.86, 6.77}, {5.77, 5.14, 4.69, 3.84}}),
      rows("indochina_2004", who,
           {{11.0, 12.8, 13.6, 14.9}, {7.55, 7.43, 23.2, 29.7}, {8.03, 9.44, 8.43, 7.38}, {9.68, 9.21, 7.23, 6.48}}),
      rows("twitter50", who, {{906, 477, 330, 258}, {}, {1412, 841, 587, 452}, {1052, 506, 348, 270}}),
      rows("road_usa", who,
           {{604, 917, 963, 1009}, {144, 145, 152, 163}, {46.5, 57.5, 63.6, 62.0}, {189, 181, 200, 207}}),
      rows("osm_eur", who,
           {{2094, 3163, 3282, 3442}, {570, 507, 502, 512}, {247, 218, 236, 227}, {518, 617, 623, 709}}),
  });
}

std::vector<Reported> pagerank_times() {
  const std::vector<std::string> who = {"Gunrock", "Groute", "Atos discrete", "Atos persistent"};
  return join({
      rows("soc-LiveJournal1", who,
           {{262, 188, 89.8, 75.3}, {259, 165, 132, 132}, {116, 58.8, 35.6, 26.3}, {117, 58.4, 40.0, 32.2}}),
      rows("hollywood_2009", who,
           {{87.3, 51.7, 44.8, 33.8}, {115, 109, 102, 105}, {75.1, 27.9, 21.75, 18.9}, {90.8, 33.3, 31.4, 26.2}}),
      rows("indochina_2004", who,
           {{159, 120, 105, 100}, {31933, kNone, kNone, 31360}, {50.8, 30.8, 24.1, 19.8}, {53.4, 37.0, 35.0, 30.1}}),
      rows("twitter50", who, {{25483, 15075, 8996, 6998}, {}, {11291, 6332, 4521, 3582}, {11037, 5802, 4016, 3077}}),
      rows("road_usa", who,
           {{220, 189, 143, 122}, {479, 232, 150, 114}, {111, 76.0, 51.2, 38.9}, {128, 69.5, 47.3, 36.2}}),
      rows("osm_eur", who,
           {{2784, 2253, 1650, 1373}, {2414, 1224, 829, 661}, {991, 785, 525, 408}, {923, 729, 590, 508}}),
  });
}

/// The speed-ups that Fig. 5 draws, computed from the tables' times.
std::vector<Reported> speedups(std::vector<Reported> times) {
  for (Reported& row : times) {
    const double one = row.values[0];
    for (double& value : row.values) value = one / value;
  }
  return times;
}

std::vector<Reported> sssp_times() {
  // The paper gives times for the plain version, and the speed-ups of the two others over it.
  const std::vector<int> pes = {1, 2, 4, 8};
  const auto divided = [](std::vector<double> times, const std::vector<double>& by) {
    for (std::size_t i = 0; i < times.size(); ++i) times[i] /= by[i];
    return times;
  };
  const auto three = [&](const char* graph, const std::vector<double>& plain, const std::vector<double>& soft,
                         const std::vector<double>& fused) {
    return rows(graph, {"Groute plain", "Groute soft priority", "Groute soft priority, fused worker"},
                {plain, divided(plain, soft), divided(plain, fused)}, pes);
  };
  return join({
      three("soc-LiveJournal1", {182.32, 135.71, 89.40, 79.20}, {1.03, .95, 1.29, 1.29}, {1.03, .95, 1.31, 1.09}),
      three("kron21.sym", {2939.54, 1789.01, 1607.42, 1077.81}, {1.02, 1.10, 1.58, 1.45}, {1.01, 1.09, 1.57, 1.48}),
      three("road_usa", {126510.85, 102076.20, 64461.77, 32008.69}, {71.36, 58.11, 34.59, 16.22},
            {166.27, 142.57, 89.94, 39.34}),
  });
}

std::vector<Reported> inflation() {
  const std::vector<std::string> who = {"Atos discrete, FIFO", "Atos discrete, priority"};
  return join({
      rows("soc-LiveJournal1", who, {{1.063, 1.26, 1.34, 1.42}, {1.003, 1.06, 1.10, 1.141}}),
      rows("hollywood_2009", who, {{1.168, 1.36, 1.42, 1.57}, {1.197, 1.11, 1.21, 1.248}}),
      rows("indochina_2004", who, {{1.004, 1.03, 1.03, 1.05}, {1.00, 1.03, 1.04, 1.047}}),
      rows("twitter50", who, {{1.237, 1.29, 1.31, 1.34}, {1.008, 1.16, 1.26, 1.305}}),
  });
}

std::vector<BenchWay> atos_ways() {
  return {follows(kPersistentFifo, "Atos persistent, FIFO"), follows(kDiscretePriority, "Atos discrete, priority"),
          kAuto};
}

/// The sum of all errors is at most 6.7 % of all rank, which is what Atos's epsilon of 0.01 guarantees.
std::vector<BenchWay> pagerank_ways() {
  const std::vector<std::string> loose = {"--tolerance", "0.067"};
  return {follows(with(kDiscreteFifo, "", loose), "Atos discrete"),
          follows(with(kPersistentFifo, "", loose), "Atos persistent"),
          with(kAuto, ", error below 1e-6", {"--tolerance", "1e-6"})};
}

/// Groute, Table 2: the best time over 1 to 8 GPUs, and the number of GPUs that it took.
std::vector<Experiment> groute_bests(const std::string& stand_ins) {
  struct Best {
    int gpus;
    double ms;
  };
  const std::vector<std::string> of_paper = {kRoadUsa.name, kOsmEur.name, kLiveJournal.name, kTwitter.name,
                                             kKron21.name};
  const std::vector<StandIn> graphs = {kRoadUsa, kOsmEur,       kLiveJournal, kLiveJournalLocal,
                                       kTwitter, kTwitterLocal, kKron21};
  const auto make = [&](const std::string& algorithm, const std::string& title, const std::vector<Best>& bests) {
    std::vector<Reported> reported;
    for (std::size_t i = 0; i < of_paper.size(); ++i) {
      reported.push_back({of_paper[i], "Groute, its best", {bests[i].gpus}, {bests[i].ms}});
    }
    return Experiment{
        "groute-table2-" + algorithm,
        title + " on several GPUs",
        kGroute + ", Table 2",
        kM60,
        algorithm,
        Quantity::milliseconds,
        "searches of road maps are fastest on few GPUs, PageRank of road maps on all",
        stand_ins + " `auto` may choose a bulk strategy; the row worklist is the one to compare with Groute.",
        graphs,
        {kWorklist, kAuto},
        reported};
  };
  return {make("bfs", "Breadth-first search", {{2, 129.00}, {5, 622.84}, {4, 25.87}, {8, 719.32}, {7, 42.84}}),
          make("sssp", "Shortest paths", {{3, 722.39}, {8, 3531.47}, {6, 31.89}, {8, 645.32}, {8, 245.30}}),
          make("pagerank", "PageRank", {{8, 166.45}, {8, 1034.53}, {4, 367.22}, {4, 26176.12}, {8, 1991.36}}),
          make("components", "Connected components", {{5, 14.27}, {4, 160.74}, {6, 14.77}, {8, 404.12}, {8, 13.73}})};
}

/// Groute, section 5.2: how many items run if nothing, a priority, or a partition with few cut arcs keeps stale items back.
std::vector<Experiment> groute_items(const std::string& stand_in) {
  const std::vector<std::string> random = {"--partition", "random"};
  Experiment bfs = {
      "groute-items-bfs",
      "Items run by breadth-first search on a road map",
      kGroute + ", section 5.2",
      kM60,
      "bfs",
      Quantity::items,
      "several GPUs run the vertices of a road map many times over, unless a partition cuts few arcs or items have "
      "priorities",
      stand_in +
          " The grid is divided among PEs in bands of rows (few arcs are cut), or at random (nearly all are cut).",
      {kRoadUsa},
      {kDiscreteFifo, follows(with(kDiscreteFifo, ", random partition", random), "Groute plain"), kDiscretePriority,
       follows(with(kDiscretePriority, ", random partition", random), "Groute soft priority")},
      join({rows("road_usa", {"Groute plain"}, {{23.9, 4244}}, {1, 4}),
            rows("road_usa", {"Groute plain, METIS", "Groute soft priority", "Groute soft priority, METIS"},
                 {{27.0}, {134.0}, {24.1}}, {4})})};
  Experiment sssp = {"groute-items-sssp",
                     "Items run by shortest paths on a road map",
                     kGroute + ", section 5.2",
                     kM60,
                     "sssp",
                     Quantity::items,
                     "without priorities, hundreds of times as many items are run as there are vertices",
                     stand_in + " Weights are 1 to 255, a hash of each arc's ends.",
                     {kRoadUsa},
                     {follows(kDiscreteFifo, "Groute plain"), follows(kDiscretePriority, "Groute soft priority")},
                     join({rows("road_usa", {"Groute plain"}, {{13998, 15865}}, {1, 4}),
                           rows("road_usa", {"Groute soft priority"}, {{59}}, {4})})};
  return {bfs, sssp};
}

std::vector<Experiment> make() {
  const std::string stand_ins =
      "Generated graphs of the same size and kind stand in for the paper's. Those called -local have communities, as "
      "the paper's skewed graphs do and Kronecker graphs do not.";
  const std::string roads = "A generated grid of the same size stands in for the paper's.";
  std::vector<Experiment> all;
  all.push_back(
      {"atos-table2", "Breadth-first search on 1 to 4 GPUs", kAtos + ", Table II", kDaisy, "bfs",
       Quantity::milliseconds,
       "persistent with a FIFO queue wins on road maps, discrete with priority on skewed graphs; road maps do "
       "not scale",
       stand_ins + " `auto` may search level by level, which the paper's systems do not.", kAtosGraphs, atos_ways(),
       bfs_times()});
  all.push_back({"atos-table3",
                 "Items taken by breadth-first search, without and with priority",
                 kAtos + ", Table III",
                 kDaisy,
                 "bfs",
                 Quantity::inflation,
                 "priority lowers the work most on four GPUs",
                 stand_ins + " Shown is the number of items taken from queues, run or stale, divided by that of the "
                             "vertices reached. The paper does not say which kernel its column without priority used, "
                             "so there are rows for persistent kernels, too.",
                 kSkewed,
                 {follows(kDiscreteFifo, "Atos discrete, FIFO"), follows(kDiscretePriority, "Atos discrete, priority"),
                  kPersistentFifo, kPersistentPriority},
                 inflation()});
  all.push_back({"atos-table4", "PageRank on 1 to 4 GPUs", kAtos + ", Table IV", kDaisy, "pagerank",
                 Quantity::milliseconds, "PageRank scales nearly linearly, unlike breadth-first search",
                 stand_ins + " The paper's epsilon of 0.01 bounds the sum of errors by 6.7 % of all rank; the first "
                             "two rows of shoal stop at that bound, the last at 1e-6.",
                 kAtosGraphs, pagerank_ways(), pagerank_times()});
  all.push_back({"atos-fig5-bfs", "Strong scaling of breadth-first search", kAtos + ", Fig. 5 left (from Table II)",
                 kDaisy, "bfs", Quantity::speedup,
                 "four GPUs are up to 2.8 times as fast as one on skewed graphs, and no faster on road maps", stand_ins,
                 kAtosGraphs, atos_ways(), speedups(bfs_times())});
  all.push_back({"atos-fig5-pagerank", "Strong scaling of PageRank", kAtos + ", Fig. 5 right (from Table IV)", kDaisy,
                 "pagerank", Quantity::speedup, "nearly linear", stand_ins, kAtosGraphs, pagerank_ways(),
                 speedups(pagerank_times())});
  all.push_back({"groute-table4",
                 "Shortest paths with soft priorities and a fused worker",
                 kGroute + ", Table 4",
                 kM60,
                 "sssp",
                 Quantity::milliseconds,
                 "priorities make the road map 71 times as fast on one GPU, and hardly matter on skewed graphs",
                 stand_ins + " Weights are 1 to 255, a hash of each arc's ends. The paper's second and third times are "
                             "computed from its first and its speed-ups.",
                 {kLiveJournal, kLiveJournalLocal, kKron21, kRoadUsa},
                 {follows(kDiscreteFifo, "Groute plain"), follows(kDiscretePriority, "Groute soft priority"),
                  follows(kPersistentPriority, "Groute soft priority, fused worker"), kAuto},
                 sssp_times()});
  for (const auto& more : {groute_bests(stand_ins), groute_items(roads)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = make();
  return all;
}

const std::vector<ScriptedExperiment>& scripted_experiments() {
  static const std::string bfs =
      "Ruiter, \"Asynchronous Distributed Graph Analytics on Multi-GPU Clusters using NCCL and CUDASTF\"";
  static const std::string charm = "Choi et al., \"Improving Scalability with GPU-Aware Asynchronous Tasks\"";
  static const std::vector<ScriptedExperiment> all = {
      {"bfs-fig41", "Mean time of a level of breadth-first search, compared with MPI, NCCL and CUDASTF",
       bfs + ", Fig. 4.1"},
      {"bfs-fig42", "Communication and computation of breadth-first search", bfs + ", Fig. 4.2"},
      {"bfs-fig43", "Communication and computation of each level", bfs + ", Fig. 4.3"},
      {"charm-fig6", "Jacobi3D: with and without a wait of the host in each iteration", charm + ", Fig. 6"},
      {"charm-fig7a", "Jacobi3D: weak scaling of 1536^3 cells", charm + ", Fig. 7a"},
      {"charm-fig7b", "Jacobi3D: weak scaling of 192^3 cells", charm + ", Fig. 7b"},
      {"charm-fig7c", "Jacobi3D: strong scaling of 3072^3 cells, or as many as fit", charm + ", Fig. 7c"},
      {"charm-fig8", "Jacobi3D: fusion of kernels, 768^3 cells", charm + ", Fig. 8"},
      {"charm-fig9", "Jacobi3D: CUDA graphs, 768^3 cells", charm + ", Fig. 9"},
      {"charm-odf", "Jacobi3D: 1 to 16 blocks per PE", charm + ", section IV-B"}};
  return all;
}

std::string paper_name(const std::string& stand_in) {
  return stand_in.ends_with(kLocal) ? stand_in.substr(0, stand_in.size() - kLocal.size()) : stand_in;
}

std::vector<const Experiment*> find_experiments(const std::string& name) {
  std::string legal;
  std::vector<const Experiment*> parts;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) return {&experiment};
    if (experiment.name.rfind(name + "-", 0) == 0) parts.push_back(&experiment);
    legal += (legal.empty() ? "" : ", ") + experiment.name;
  }
  if (!parts.empty()) return parts;
  for (const ScriptedExperiment& experiment : scripted_experiments()) {
    if (experiment.name == name) return {};
    legal += ", " + experiment.name;
  }
  throw UsageError("experiment '" + name + "' is not known; legal: " + kQueueExperiment + ", " + legal +
                   "; or the common beginning of several, such as atos-fig5");
}

}  // namespace shoal::cli
