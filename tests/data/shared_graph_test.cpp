// Processes that each read the rows of their own vertices have together the graph that one process reads. Threads stand for
// processes.
#include "shoal/data/shared_graph.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "io_graphs.hpp"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

using shoal_test::Folder;
using shoal_test::slurp;
using shoal_test::spill;

/// Calls body(together) on a thread for each of `processes` processes. body must not throw.
void in_processes(int processes, const std::function<void(const Together&)>& body) {
  std::vector<std::vector<std::byte>> given(static_cast<std::size_t>(processes));
  std::barrier all(processes);
  std::vector<std::thread> threads;
  for (int process = 0; process < processes; ++process) {
    threads.emplace_back([&, process] {
      body({process, processes, [&, process](std::span<const std::byte> mine) {
              given[static_cast<std::size_t>(process)].assign(mine.begin(), mine.end());
              all.arrive_and_wait();
              const auto copy = given;
              all.arrive_and_wait();
              return copy;
            }});
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The text of the error that all processes threw, which must be the same; "" if none threw.
std::string thrown_by_all(int processes, const std::function<void(const Together&)>& body) {
  std::vector<std::string> thrown(static_cast<std::size_t>(processes));
  in_processes(processes, [&](const Together& together) {
    try {
      body(together);
    } catch (const Error& error) {
      thrown[static_cast<std::size_t>(together.process)] = error.what();
    }
  });
  for (const std::string& what : thrown) EXPECT_EQ(what, thrown[0]);
  return thrown[0];
}

using Row = std::vector<std::pair<vertex_t, double>>;
Row row_of(const Csr& graph, std::int64_t v) {
  Row row;
  for (arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a) {
    const bool real = graph.weight_kind == WeightKind::float64, whole = graph.weight_kind == WeightKind::int32;
    row.emplace_back(graph.targets[a], real ? graph.real_weights[a] : whole ? graph.int_weights[a] : 0);
  }
  return row;
}

/// Compares the rows of every kind that 1 to 4 processes read with those of the whole graph.
void expect_the_same(const std::string& file, const ReadOptions& options) {
  const Csr whole = read_graph(file, options);
  const Csr reverse = transpose(whole), simple = simple_undirected(whole);
  ASSERT_TRUE(can_share(file, options));
  const auto n = static_cast<vertex_t>(whole.num_vertices());
  for (const int processes : {1, 2, 3, 4}) {
    SCOPED_TRACE(file + ", " + std::to_string(processes) + " processes");
    in_processes(processes, [&](const Together& together) {
      const auto graph = open_shared(file, options, together);
      ASSERT_EQ(graph->size().vertices, n);
      EXPECT_EQ(graph->vertices_remark(), whole.vertices_remark);
      if (!options.dedup) {
        EXPECT_EQ(graph->size().arcs, whole.num_arcs());
        EXPECT_EQ(graph->size().symmetric, whole.symmetric);
      }
      const std::int64_t steps = n > 0 ? ((n - 1) >> graph->shift()) + 1 : 0;
      EXPECT_EQ(graph->arcs_before(0), 0);
      EXPECT_EQ(graph->arcs_before(steps), graph->size().arcs);
      const vertex_t first = n / processes * static_cast<vertex_t>(together.process);
      const vertex_t end = together.process + 1 == processes ? n : first + n / processes;
      for (const RowsOf which : {RowsOf::out, RowsOf::in, RowsOf::undirected}) {
        const Csr rows = graph->rows(first, end - first, which, true);
        const Csr& want = which == RowsOf::out ? whole : which == RowsOf::in ? reverse : simple;
        ASSERT_EQ(rows.num_vertices(), end - first);
        if (want.num_arcs() > 0) EXPECT_EQ(rows.weight_kind, want.weight_kind);
        EXPECT_EQ(rows.weight_remarks.wide.empty(), want.weight_remarks.wide.empty() || which == RowsOf::undirected);
        for (vertex_t v = first; v < end; ++v) ASSERT_EQ(row_of(rows, v - first), row_of(want, v)) << v;
      }
    });
  }
}

TEST(SharedGraph, EdgeListsOfAllKinds) {
  const Folder folder;
  std::mt19937 random(7);
  const auto lines = [&](int n, int m, const std::function<std::string()>& weight) {
    std::string text;
    for (int i = 0; i < m; ++i) {
      text += std::to_string(random() % n) + " " + std::to_string(random() % n);
      text += weight ? " " + weight() + "\n" : "\n";
    }
    return text;
  };
  const auto whole = [&] { return std::to_string(random() % 100); };
  const auto mixed = [&] { return random() % 500 == 0 ? std::string("2.5") : std::to_string(random() % 9); };
  const auto wide = [&] { return random() % 500 == 0 ? std::string("5000000000") : std::to_string(random() % 9); };
  spill(folder / "plain.el", "# a comment\n" + lines(1000, 5000, nullptr));
  spill(folder / "whole.wel", lines(300, 4000, whole));
  spill(folder / "mixed.wel", lines(300, 4000, mixed));
  spill(folder / "wide.wel", lines(300, 4000, wide));
  spill(folder / "stated.txt", "# Nodes: 2000 Edges: 3\n5 6\n6 5\n7 7\n");
  spill(folder / "header.el", "4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n");
  spill(folder / "columns.csv", "source,target,weight\n0,1,3\n1,0,3\n2,2,1\n");
  // Large enough for more than one piece of text per process.
  spill(folder / "long.el", lines(70000, 700000, nullptr));
  for (const char* const name :
       {"plain.el", "whole.wel", "mixed.wel", "wide.wel", "stated.txt", "header.el", "columns.csv", "long.el"}) {
    for (const bool undirected : {false, true}) {
      for (const bool dedup : {false, true}) {
        if (std::string(name) == "long.el" && undirected == dedup) continue;
        ReadOptions options;
        options.undirected = undirected;
        options.dedup = dedup;
        expect_the_same(folder / name, options);
      }
    }
  }
  ReadOptions more;
  more.num_vertices = 150000;
  expect_the_same(folder / "long.el", more);
  spill(folder / "none.el", "# shoal vertices=70\n");
  expect_the_same(folder / "none.el", {});
}

TEST(SharedGraph, ShoalFiles) {
  const Folder folder;
  std::mt19937 random(8);
  std::vector<vertex_t> from, to;
  std::vector<std::int32_t> ints;
  std::vector<double> reals;
  for (int i = 0; i < 20000; ++i) {
    from.push_back(random() % 1500), to.push_back(random() % 1500);
    ints.push_back(static_cast<std::int32_t>(random() % 50)), reals.push_back((random() % 50) / 4.0);
  }
  write_graph(csr_from_arcs(1500, from, to), folder / "plain.shoal");
  write_graph(csr_from_arcs(1500, from, to, ints), folder / "ints.shoal");
  write_graph(csr_from_arcs(1500, from, to, {}, reals), folder / "reals.shoal");
  write_graph(csr_from_arcs(1500, from, to, ints, {}, true), folder / "both.shoal");
  write_graph(csr_from_arcs(0, {}, {}), folder / "none.shoal");
  for (const char* const name : {"plain.shoal", "ints.shoal", "reals.shoal", "both.shoal", "none.shoal"}) {
    expect_the_same(folder / name, {});
    ReadOptions dedup;
    dedup.dedup = true;
    expect_the_same(folder / name, dedup);
  }
}

TEST(SharedGraph, AllSayWhatIsWrongAndWhere) {
  const Folder folder;
  std::string text;
  for (int line = 0; line < 300000; ++line) text += "1 2\n";
  text += "1 x\n1 2\n1 y\n";  // in the part of the last process
  spill(folder / "wrong.el", text);
  const auto open = [&](const std::string& name) {
    return [file = folder / name](const Together& together) { open_shared(file, {}, together); };
  };
  for (const int processes : {1, 2, 4}) {
    std::string whole;
    try {
      read_graph(folder / "wrong.el");
    } catch (const UsageError& error) {
      whole = error.what();
    }
    EXPECT_NE(whole.find("wrong.el:300001: "), std::string::npos) << whole;
    EXPECT_EQ(thrown_by_all(processes, open("wrong.el")), whole);
    EXPECT_NE(thrown_by_all(processes, open("nowhere.el")).find("nowhere.el: cannot be read"), std::string::npos);
  }
  spill(folder / "few.el", "# shoal vertices=2\n0 1\n1 2\n");
  EXPECT_NE(thrown_by_all(2, open("few.el")).find("few.el:"), std::string::npos);
  spill(folder / "empty.el", "");
  EXPECT_NE(thrown_by_all(2, open("empty.el")).find("the file is empty"), std::string::npos);

  write_graph(csr_from_arcs(3, {0, 1, 2}, {1, 2, 0}, {4, -5, 6}), folder / "good.shoal");
  const std::string good = slurp(folder / "good.shoal");
  std::string bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  spill(folder / "bad.shoal", bad);
  EXPECT_NE(thrown_by_all(3, open("bad.shoal")).find("bad.shoal: the checksum of section"), std::string::npos);
  spill(folder / "short.shoal", good.substr(0, 60));
  EXPECT_NE(thrown_by_all(2, open("short.shoal")).find("fewer than a header"), std::string::npos);
  // Sections with right checksums and wrong contents.
  std::string outside = good;
  const std::size_t targets = outside.find(std::string("\1\0\0\0\2\0\0\0\0\0\0\0", 12));
  ASSERT_NE(targets, std::string::npos);
  outside[targets + 4] = 9;
  spill(folder / "outside.shoal", io::reseal_shoal(outside));
  const auto rows = [&](const std::string& name) {
    return [file = folder / name](const Together& together) {
      const auto graph = open_shared(file, {}, together);
      graph->rows(static_cast<vertex_t>(together.process), 1, RowsOf::out, true);
    };
  };
  EXPECT_NE(thrown_by_all(3, rows("outside.shoal")).find("arc 1 ends at vertex 9"), std::string::npos);
  EXPECT_EQ(thrown_by_all(3, rows("good.shoal")), "");
}

TEST(SharedGraph, WhatEachProcessReadsByItself) {
  ReadOptions cached;
  cached.use_cache = true;
  EXPECT_FALSE(can_share("a.el", cached));
  EXPECT_FALSE(can_share("-", {}));
  for (const char* const name : {"a.el.gz", "a.mtx", "a.gr", "a.sg", "a.npz"})
    EXPECT_FALSE(can_share(name, {})) << name;
  for (const char* const name : {"a.el", "a.txt", "a.wel", "a.tsv", "a.csv", "a.shoal"})
    EXPECT_TRUE(can_share(name, {}));
}

}  // namespace
}  // namespace shoal
