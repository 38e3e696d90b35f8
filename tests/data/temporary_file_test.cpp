// Files that have no final name yet, in both forms: without any name, and with a temporary name, as on file systems without
// O_TMPFILE.
#include "data/temporary_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "io_graphs.hpp"
#include "shoal/data/pending_file.hpp"

namespace shoal_test {
namespace {

using shoal::io::TemporaryFile;
using Naming = TemporaryFile::Naming;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

mode_t mode_of(const std::string& file) {
  struct stat st {};
  EXPECT_EQ(::stat(file.c_str(), &st), 0);
  return st.st_mode & 07777;
}

class BothWays : public ::testing::TestWithParam<Naming> {
 protected:
  int write(const std::string& target, const std::string& text) {
    TemporaryFile file(target);
    if (const int error = file.open(GetParam()); error != 0) return error;
    EXPECT_EQ(::write(file.descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return file.commit();
  }
  Folder folder_;
};

TEST_P(BothWays, TheContentAppearsWholeAndReplaces) {
  const std::string target = folder_ / "a";
  EXPECT_EQ(write(target, "first"), 0);
  EXPECT_EQ(slurp(target), "first");
  EXPECT_EQ(write(target, "second"), 0);
  EXPECT_EQ(slurp(target), "second");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"a"});
}

TEST_P(BothWays, WithoutCommitNothingIsLeft) {
  spill(folder_ / "a", "old");
  for (const char* name : {"a", "b"}) {
    TemporaryFile file(folder_ / name);
    ASSERT_EQ(file.open(GetParam()), 0);
    EXPECT_EQ(file.has_name(), GetParam() == Naming::named);
  }
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"a"});
  EXPECT_EQ(slurp(folder_ / "a"), "old");
}

TEST_P(BothWays, HandlersOfSignalsFindWhatHasAName) {
  TemporaryFile file(folder_ / "a");
  ASSERT_EQ(file.open(GetParam()), 0);
  EXPECT_EQ(names_in(folder_.path()).size(), GetParam() == Naming::named ? 1u : 0u);
  shoal::io::remove_pending_files();
  EXPECT_EQ(names_in(folder_.path()).size(), 0u);
}

TEST_P(BothWays, ModesAreKeptAndNewFilesObeyTheUmask) {
  const mode_t before = ::umask(027);
  for (const mode_t mode : {0600, 0444, 0666, 02755}) {
    const std::string target = folder_ / "old";
    std::filesystem::remove(target);
    spill(target, "old");
    ASSERT_EQ(::chmod(target.c_str(), mode), 0);
    EXPECT_EQ(write(target, "new"), 0);
    EXPECT_EQ(mode_of(target), mode);
  }
  EXPECT_EQ(write(folder_ / "new", "new"), 0);
  EXPECT_EQ(mode_of(folder_ / "new"), 0640u);
  ::umask(before);
}

TEST_P(BothWays, WhatReplacesAPrivateFileIsPrivateFromTheBeginning) {
  spill(folder_ / "a", "old");
  ASSERT_EQ(::chmod((folder_ / "a").c_str(), 0600), 0);
  TemporaryFile file(folder_ / "a");
  ASSERT_EQ(file.open(GetParam()), 0);
  struct stat st {};
  ASSERT_EQ(::fstat(file.descriptor(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
}

TEST_P(BothWays, TheLongestNames) {
  const std::string target = folder_ / std::string(255, 'n');
  EXPECT_EQ(write(target, "first"), 0);
  EXPECT_EQ(write(target, "second"), 0);
  EXPECT_EQ(slurp(target), "second");
  EXPECT_EQ(write(folder_ / std::string(256, 'n'), "first"), ENAMETOOLONG);
}

TEST_P(BothWays, PlacesThatCannotBeWritten) {
  EXPECT_EQ(write(folder_ / "none/a", "x"), ENOENT);
  spill(folder_ / "file", "old");
  EXPECT_EQ(write(folder_ / "file/a", "x"), ENOTDIR);
}

INSTANTIATE_TEST_SUITE_P(Naming, BothWays, ::testing::Values(Naming::unnamed_where_possible, Naming::named),
                         [](const auto& info) {
                           return std::string(info.param == Naming::named ? "named" : "unnamed");
                         });

// On a file system without O_TMPFILE, no test would check that SIGKILL leaves no file.
TEST(Unnamed, TestsRunWhereFilesNeedNoName) {
  const Folder folder;
  TemporaryFile file(folder / "a");
  ASSERT_EQ(file.open(), 0);
  EXPECT_FALSE(file.has_name()) << "this file system has no O_TMPFILE; set TMPDIR to one that has";
}

}  // namespace
}  // namespace shoal_test
