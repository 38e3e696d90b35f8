// The arrays and the graph of a program's context.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "run_on.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal {
namespace {

/// A task that doubles the value of a vertex, once.
struct Double {
  struct Item {
    vertex_t v;
  };
  CsrView graph;
  OwnerTable owners;
  std::uint32_t* value;

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool accept(Item item) const {
    value[graph.local(item.v)] *= 2;
    return false;
  }
  template <class W, class Out>
  SHOAL_FN void operator()(const W&, Item, Out&) const {}
};

TEST(Context, WhatTheHostWritesTheTaskSees) {
  for (const int pes : {1, 3}) {
    const auto body = [](Context& ctx) {
      const vertex_t n = ctx.graph().count;
      const auto value = ctx.alloc<std::uint32_t>(n, 0);
      std::vector<std::uint32_t> mine(n);
      std::iota(mine.begin(), mine.end(), ctx.graph().first);
      ctx.write(value, mine);
      std::vector<Double::Item> seeds;
      for (vertex_t i = 0; i < n; ++i) seeds.push_back({ctx.graph().first + i});
      run(ctx, Double{ctx.graph(), ctx.owners(), value.data()}, seeds);
      for (std::uint32_t& x : mine) x *= 2;
      return ctx.read(value) == mine;
    };
    EXPECT_EQ(status_of(body, pes, {"--partition", "block"}, "chain:100"), 0);
  }
}

TEST(Context, AReportSaysHowManyArcsCross) {
  for (const int pes : {1, 4}) {
    const auto body = [pes](Context& ctx) {
      const auto value = ctx.alloc<std::uint32_t>(ctx.graph().count, 0);
      const Report report = run(ctx, Double{ctx.graph(), ctx.owners(), value.data()}, {});
      EXPECT_EQ(report.cut_arcs, 2 * (pes - 1));  // a chain in equal parts
      EXPECT_NEAR(report.imbalance, 1, 0.02);
      return true;
    };
    EXPECT_EQ(status_of(body, pes, {"--partition", "block"}, "chain:100"), 0);
  }
}

/// Writes a graph without vertices. @return its name
std::string graph_of_nothing() {
  const std::string file = ::testing::TempDir() + "context_test_nothing.mtx";
  std::ofstream(file) << "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n";
  return file;
}

TEST(Context, ATaskWithoutASourceRunsOnAGraphWithoutVertices) {
  const std::string graph = graph_of_nothing();
  for (const int pes : {1, 3}) {
    for (const char* partition : {"auto", "random"}) {
      const auto body = [](Context& ctx) {
        const auto value = ctx.alloc<std::uint32_t>(ctx.graph().count, 0);
        const Report report = run(ctx, Double{ctx.graph(), ctx.owners(), value.data()}, {});
        EXPECT_EQ(report.pushed, 0);
        EXPECT_EQ(report.run, 0);
        EXPECT_EQ(ctx.input().num_vertices(), 0u);
        return ctx.gather(value).empty();
      };
      EXPECT_EQ(status_of(body, pes, {"--partition", partition}, graph), 0) << pes << " PEs, " << partition;
    }
  }
}

TEST(Context, AGraphWithoutVerticesHasNoSource) {
  const std::string graph = graph_of_nothing();
  const auto line_of = [&](const Body& body, const std::vector<std::string>& flags) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(status_of(body, 2, flags, graph), 2);
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string line = "program: error: the graph has no vertices, so there is no source to search from\n";
  EXPECT_EQ(line_of([](Context& ctx) { return ctx.source() == 0; }, {}), line);
  EXPECT_EQ(line_of([](Context& ctx) { return ctx.leader() ? ctx.placed_source() == 0 : (ctx.barrier(), true); }, {}),
            line);
  EXPECT_EQ(line_of([](Context&) { return true; }, {"--source", "0"}),
            "program: error: --source 0: " + graph + " has 0 vertices, numbered from 0\n");
}

/// The task with an order.
struct Ordered : Double {
  SHOAL_FN double priority(Item item) const { return item.v; }
};

// A program may change how a run works; where it runs stays.
TEST(Context, ARunTakesOtherOptionsThanTheCommandLines) {
  const auto body = [](Context& ctx) {
    const auto value = ctx.alloc<std::uint32_t>(ctx.graph().count, 1);
    const Ordered task{{ctx.graph(), ctx.owners(), value.data()}};
    const auto queue_of = [](const Report& report) {
      for (const Decision& decision : report.chosen) {
        if (decision.option == "queue") return decision.value;
      }
      return std::string();
    };
    Options options = ctx.options();
    options.queue = QueueKind::priority;
    const bool first = queue_of(run(ctx, task, {}, options)) != "fifo";
    return first && queue_of(run(ctx, task, {})) == "fifo";
  };
  for (const int pes : {1, 3}) EXPECT_EQ(status_of(body, pes, {}, "chain:10"), 0);
}

TEST(Context, OptionsThatDifferBetweenPesOrDoNotFitAreRefused) {
  const auto line_of = [](const Body& body) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(status_of(body, 3, {}, "chain:10"), 2);
    return ::testing::internal::GetCapturedStderr();
  };
  const auto run_with = [](Context& ctx, auto change) {
    const auto value = ctx.alloc<std::uint32_t>(ctx.graph().count, 1);
    Options options = ctx.options();
    change(options);
    run(ctx, Ordered{{ctx.graph(), ctx.owners(), value.data()}}, {}, options);
    return true;
  };
  EXPECT_EQ(line_of([&](Context& ctx) {
              return run_with(ctx, [&](Options& options) { options.fetch = ctx.my_pe() == 1 ? 5 : 0; });
            }),
            "program: error: run: PE 1 gave other options than PE 0; give the same on every PE\n");
  const std::string line =
      line_of([&](Context& ctx) { return run_with(ctx, [](Options& options) { options.fetch = -1; }); });
  EXPECT_NE(line.find("fetch"), std::string::npos) << line;
}

TEST(Context, WeightsAndInArcsBelongToTheArcsOfThisPe) {
  const auto body = [](Context& ctx) {
    const auto is_right = [&](const CsrView& rows, const ArcWeights& weights) {
      for (vertex_t v = rows.first; v < rows.first + rows.count; ++v) {
        for (arc_t a = rows.offsets[rows.local(v)]; a < rows.offsets[rows.local(v) + 1]; ++a) {
          const auto input = [&](vertex_t placed) { return ctx.placed().partition.input(placed); };
          if (weights.reals != nullptr || weights.ints[a] != hash255(input(v), input(rows.targets[a]))) return false;
        }
      }
      return true;
    };
    const auto arcs = [](const CsrView& rows) { return rows.offsets[rows.count] - rows.offsets[0]; };
    return is_right(ctx.graph(), ctx.weights()) && is_right(ctx.in_graph(), ctx.in_weights()) &&
           ctx.reduce_sum(arcs(ctx.graph())) == ctx.input().num_arcs() &&
           ctx.reduce_sum(arcs(ctx.in_graph())) == ctx.input().num_arcs();
  };
  for (const int pes : {1, 3}) {
    for (const char* partition : {"block", "random"}) {
      for (const char* graph : {"kron:8,directed", "road:12"}) {
        EXPECT_EQ(status_of(body, pes, {"--weights", "hash255", "--partition", partition}, graph), 0) << graph;
      }
    }
  }
}

TEST(Context, AGraphWithoutWeightsSaysHowToGetSome) {
  const auto body = [](Context& ctx) { return ctx.weights().ints != nullptr; };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(status_of(body, 2, {}, "chain:4"), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "program: error: the graph has no weights; use --weights hash255 or unit, or a file with weights\n");
  EXPECT_EQ(status_of(body, 2, {"--weights", "unit"}, "chain:4"), 0);
}

TEST(Context, WeightsAreThoseOfTheFileAlsoIfNegativeOrReal) {
  const std::string file = ::testing::TempDir() + "context_test_negative.wel";
  std::ofstream(file) << "0 1 3.5\n1 2 -4\n";
  for (const int pes : {1, 3}) {
    const auto body = [](Context& ctx) {
      const CsrView rows = ctx.graph();
      double sum = 0;
      for (arc_t a = rows.offsets[0]; a < rows.offsets[rows.count]; ++a) sum += ctx.weights().reals[a];
      return ctx.weights().ints == nullptr && ctx.reduce_sum(sum) == -0.5;
    };
    EXPECT_EQ(status_of(body, pes, {}, file), 0) << pes << " PEs";
  }
}

TEST(Context, AGraphWithoutArcsHasWeightsOfATypeIfTheyWereAskedFor) {
  const auto body = [](Context& ctx) {
    ctx.weights();
    ctx.in_weights();
    return ctx.input().weight_kind == WeightKind::int32;
  };
  for (const int pes : {1, 3}) EXPECT_EQ(status_of(body, pes, {"--weights", "unit"}, "chain:1"), 0) << pes << " PEs";
}

// A task with an order that nobody has asked for runs in the order of arrival: the report says so, and how to ask.
TEST(Context, TheReportSaysThatAnOrderIsNotUsed) {
  for (const bool asked : {false, true}) {
    const auto body = [asked](Context& ctx) {
      const auto value = ctx.alloc<std::uint32_t>(ctx.graph().count, 1);
      const Report report = run(ctx, Ordered{ctx.graph(), ctx.owners(), value.data()}, {});
      std::string queue;
      for (const Decision& one : report.chosen) {
        if (one.option == "queue") queue += one.value + ": " + one.reason;
      }
      EXPECT_EQ(queue.rfind(asked ? "priority: " : "fifo: the order of arrival; with --queue priority", 0), 0u)
          << queue;
      return true;
    };
    EXPECT_EQ(status_of(body, 1, asked ? std::vector<std::string>{"--queue", "priority"} : std::vector<std::string>{},
                        "chain:10"),
              0);
  }
}

TEST(Context, AllocRefusesSizesThatNoMemoryHas) {
  const auto body = [](Context& ctx) {
    for (const std::int64_t n : {std::int64_t{-5}, std::int64_t{1} << 61}) {
      try {
        ctx.alloc<double>(n, 1);
        return false;
      } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("alloc(" + std::to_string(n) + "): an array has 0 to ", 0), 0u)
            << error.what();
      }
    }
    return ctx.alloc<double>(0, 1).size() == 0;
  };
  EXPECT_EQ(status_of(body, 2, {}, "chain:10"), 0);
}

TEST(Context, WriteRefusesAnotherNumberOfValues) {
  const auto body = [](Context& ctx) {
    const auto array = ctx.alloc<int>(3, 7);
    for (const std::size_t n : {0, 2, 4}) {
      try {
        ctx.write(array, std::vector<int>(n, 1));
        return false;
      } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "write: " + std::to_string(n) + " values for an array of 3 elements; give one value per element");
      }
    }
    ctx.write(ctx.alloc<int>(0, 0), {});
    return ctx.read(array) == std::vector<int>(3, 7);
  };
  EXPECT_EQ(status_of(body, 2), 0);
}

TEST(Context, PlacedVertexIsTheInverseOfInput) {
  const auto body = [](Context& ctx) {
    for (std::int64_t v = 0; v < 50; ++v) {
      EXPECT_EQ(ctx.placed().partition.input(ctx.placed_vertex(v)), static_cast<vertex_t>(v));
    }
    for (const std::int64_t v : {std::int64_t{-1}, std::int64_t{50}, std::int64_t{1} << 40}) {
      EXPECT_THROW(ctx.placed_vertex(v), UsageError) << v;
    }
    return true;
  };
  EXPECT_EQ(status_of(body, 3, {"--partition", "random"}, "chain:50"), 0);
}

// No PE has data for a seed that is not a vertex of the graph.
TEST(Context, ASeedThatIsNoVertexIsRefused) {
  for (const int pes : {1, 2, 3}) {
    for (const char* kernel : {"persistent", "discrete"}) {
      for (const vertex_t wrong : {vertex_t{100}, vertex_t{1000000000}, kNoVertex}) {
        for (const pe_t giver : {0, pes - 1}) {
          SCOPED_TRACE(std::to_string(pes) + " PEs, " + kernel + ", vertex " + std::to_string(wrong));
          const auto body = [&](Context& ctx) {
            const auto value = ctx.alloc<std::uint32_t>(ctx.graph().count, 1);
            std::vector<Double::Item> seeds = {{ctx.placed_vertex(3)}};
            if (ctx.my_pe() == giver) seeds.push_back({wrong});
            run(ctx, Double{ctx.graph(), ctx.owners(), value.data()}, seeds);
            return true;
          };
          ::testing::internal::CaptureStderr();
          EXPECT_EQ(status_of(body, pes, {"--kernel", kernel}, "chain:100"), 2);
          const std::string line = ::testing::internal::GetCapturedStderr();
          EXPECT_NE(line.find("owner() returned " + std::to_string(pes) + " for an item pushed on PE " +
                              std::to_string(giver) + "; with "),
                    std::string::npos)
              << line;
          EXPECT_NE(line.find("no vertex of the graph"), std::string::npos) << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal
