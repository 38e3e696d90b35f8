// Runs the trees of tasks.hpp on any machine and compares the results with serial code.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include "ledger.hpp"
#include "shoal/worklist/worklist.hpp"
#include "tasks.hpp"

namespace shoal::contract {

/// Grows trees from `roots` roots on `list` and compares the ledger and the report with serial code.
template <class Task, class List>
void grow_and_compare(const Machine& machine, List& list, Shape shape, std::uint64_t roots, pe_t owners) {
  const pe_t n = machine.n_pes();
  Ledger ledger(machine);
  std::vector<Task> tasks(n);
  std::vector<std::vector<TreeItem>> seeds(n);
  for (pe_t p = 0; p < n; ++p) {
    static_cast<Grower&>(tasks[p]) = {ledger.view(p), shape, p, n, owners};
    for (std::uint64_t i = p; i < roots; i += n) seeds[p].push_back(tasks[p].root(i, p));
  }
  const Expected expected = grow(tasks[0], roots);
  const Report report = list.run(tasks, seeds);
  const Page page = ledger.read();
  for (pe_t owner = 0; owner < n; ++owner) {
    for (pe_t producer = 0; producer < n; ++producer) {
      EXPECT_EQ(page[owner][producer][kJudged], expected.page[owner][producer][kJudged])
          << "judged by PE " << owner << ", made by PE " << producer;
      EXPECT_EQ(page[owner][producer][kRun], expected.page[owner][producer][kRun])
          << "run by PE " << owner << ", made by PE " << producer;
    }
  }
  EXPECT_EQ(report.pushed, expected.pushed);
  EXPECT_EQ(report.withheld, expected.withheld);
  EXPECT_EQ(report.accepted, expected.accepted);
  EXPECT_EQ(report.dropped, expected.dropped);
  EXPECT_EQ(report.stale, expected.stale);
  EXPECT_EQ(report.run, expected.run);
}

}  // namespace shoal::contract
