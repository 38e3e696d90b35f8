// The .shoal file and its use as a cache: every flipped byte is detected, and a stale or damaged cache is never used.
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using namespace shoal::io;

std::string stored(const Csr& graph) {
  const Folder folder;
  shoal::write_graph(graph, folder / "g.shoal");
  return slurp(folder / "g.shoal");
}

TEST(Shoal, EveryByteThatMattersIsChecked) {
  const Csr graph = shoal::csr_from_arcs(4, {0, 1, 2, 3}, {1, 2, 3, 1}, {5, 6, 7, 8});
  std::string bytes = stored(graph);
  // Sections begin at multiples of 4096. The zeros between them have no meaning and are not checked.
  const std::size_t table = 128 + 3 * 32;
  const std::pair<std::size_t, std::size_t> checked[] = {
      {0, table}, {4096, 4096 + 5 * 8}, {8192, 8192 + 4 * 4}, {12288, 12288 + 4 * 4}};
  ASSERT_EQ(bytes.size(), 12288u + 16u);
  for (const auto& [begin, end] : checked) {
    for (std::size_t i = begin; i < end; ++i) {
      for (const int bit : {0, 7}) {
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
        const std::string got = usage_error_of([&] { read_graph_bytes(Format::shoal, bytes, "FILE"); });
        EXPECT_TRUE(got.starts_with("FILE: ") && got.ends_with("; the file is damaged, write it again"))
            << "byte " << i << " bit " << bit << ": " << got;
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      }
    }
  }
  EXPECT_EQ(text_of(read_graph_bytes(Format::shoal, bytes, "FILE")), text_of(graph));
}

TEST(Shoal, MessagesSayWhatIsWrong) {
  const Csr graph = shoal::csr_from_arcs(4, {0, 1, 2, 3}, {1, 2, 3, 1});
  const std::string good = stored(graph);
  auto message = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    return usage_error_of([&] { read_graph_bytes(Format::shoal, bytes, "FILE"); });
  };
  const std::string cure = "; the file is damaged, write it again";
  EXPECT_EQ(message(0, 'x'), "FILE: does not begin as a .shoal file" + cure);
  EXPECT_EQ(message(8, 1), "FILE: was written on a machine of the other byte order" + cure);
  EXPECT_EQ(message(12, 9), "FILE: has format version 9, this is 1" + cure);
  EXPECT_EQ(message(24, 5), "FILE: the checksum of its header is wrong" + cure);
  EXPECT_EQ(message(48, 99), "FILE: has 99 sections" + cure);
  EXPECT_EQ(message(4096, 1), "FILE: the checksum of section offsets is wrong" + cure);
  EXPECT_EQ(message(8192, 7), "FILE: the checksum of section targets is wrong" + cure);
}

TEST(Shoal, ContentBehindFittingChecksumsIsChecked) {
  const Csr graph = shoal::csr_from_arcs(4, {0, 1, 2, 2}, {1, 2, 3, 1}, {5, 6, 7, 8});
  const std::string good = stored(graph);
  EXPECT_EQ(reseal_shoal(good), good);
  auto message = [&](std::size_t at, std::int64_t value, std::size_t bytes) {
    std::string changed = good;
    std::memcpy(&changed[at], &value, bytes);
    return usage_error_of([&] { read_graph_bytes(Format::shoal, reseal_shoal(changed), "FILE"); });
  };
  const std::string cure = "; the file is damaged, write it again";
  const std::size_t table = 128;  // entries of 32 bytes: kind, checksum, offset, bytes
  EXPECT_EQ(message(24, std::int64_t{1} << 31, 8), "FILE: has 2147483648 vertices" + cure);
  EXPECT_EQ(message(32, std::int64_t{1} << 40, 8), "FILE: has 1099511627776 arcs" + cure);
  EXPECT_EQ(message(24, 5, 8), "FILE: section offsets has the wrong size" + cure);
  EXPECT_EQ(message(32, 3, 8), "FILE: section targets has the wrong size" + cure);
  EXPECT_EQ(message(40, 3, 4), "FILE: has weights of kind 3" + cure);
  EXPECT_EQ(message(40, 0, 4), "FILE: lacks sections or has too many" + cure);
  EXPECT_EQ(message(40, 2, 4), "FILE: lacks sections or has too many" + cure);
  EXPECT_EQ(message(48, 2, 4), "FILE: lacks sections or has too many" + cure);
  EXPECT_EQ(message(table, 9, 4), "FILE: section 9 is unknown or occurs twice" + cure);
  EXPECT_EQ(message(table, 2, 4), "FILE: section targets has the wrong size" + cure);
  EXPECT_EQ(message(table + 32, 1, 4), "FILE: section 1 is unknown or occurs twice" + cure);
  for (const std::int64_t offset :
       {std::int64_t{0}, std::int64_t{4097}, std::int64_t{4096}, std::int64_t{1} << 40, std::int64_t{-4096}})
    EXPECT_EQ(message(table + 32 + 8, offset, 8),
              "FILE: section targets lies outside the file or overlaps another" + cure)
        << offset;
  EXPECT_EQ(message(table + 16, -8, 8), "FILE: section offsets lies outside the file or overlaps another" + cure);
  EXPECT_EQ(message(4096, 1, 8), "FILE: the offsets do not span the arcs" + cure);
  EXPECT_EQ(message(4096 + 4 * 8, 3, 8), "FILE: the offsets do not span the arcs" + cure);
  EXPECT_EQ(message(4096 + 8, 3, 8), "FILE: the offsets decrease behind vertex 1" + cure);
  EXPECT_EQ(message(4096 + 8, -1, 8), "FILE: the offsets decrease behind vertex 0" + cure);
  EXPECT_EQ(message(8192 + 4, 4, 4), "FILE: arc 1 ends at vertex 4, which is outside 0..3" + cure);
  EXPECT_EQ(message(8192 + 4, -1, 4), "FILE: arc 1 ends at vertex 4294967295, which is outside 0..3" + cure);
  EXPECT_EQ(message(8192 + 8, 3, 4) + message(8192 + 12, 0, 4),
            "FILE: a row is not sorted" + cure + "FILE: a row is not sorted" + cure);
}

shoal::ReadOptions with_cache() {
  shoal::ReadOptions options;
  options.use_cache = true;
  return options;
}

TEST(Cache, IsUsedOnlyWhileItFits) {
  const Folder folder;
  const std::string file = folder / "g.wel", cache = folder / "g.wel.shoal";
  spill(file, "0 1 5\n1 0 3\n0 1 4\n");
  const shoal::ReadOptions cached = with_cache();
  const std::string plain = text_of(shoal::read_graph(file));
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), plain);
  ASSERT_TRUE(std::filesystem::exists(cache));

  // A cache with another graph but the same key shows whether the cache or the file is read.
  const Csr marked = shoal::csr_from_arcs(9, {8}, {7});
  FileFacts facts;
  read_file(file, false, &facts);
  const CacheKey key{facts, 0};
  write_shoal(marked, cache, key);
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), text_of(marked));
  EXPECT_EQ(shoal::read_graph(file, cached).name, file);
  EXPECT_EQ(text_of(shoal::read_graph(file)), plain) << "the cache is used only when asked for";

  // With other options this cache is not used.
  shoal::ReadOptions dedup = cached;
  dedup.dedup = true;
  EXPECT_EQ(text_of(shoal::read_graph(file, dedup)), "2 vertices, 2 arcs, weights 1\n0: 1/4\n1: 0/3\n");
  EXPECT_EQ(text_of(shoal::read_graph(file, dedup)), "2 vertices, 2 arcs, weights 1\n0: 1/4\n1: 0/3\n");
  shoal::ReadOptions undirected = cached;
  undirected.undirected = true;
  EXPECT_EQ(shoal::read_graph(file, undirected).num_arcs(), 6);

  // A damaged cache is written again.
  write_shoal(marked, cache, key);
  std::string bytes = slurp(cache);
  bytes[4096] = static_cast<char>(bytes[4096] ^ 1);
  spill(cache, bytes);
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), plain);
  spill(cache, "");
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), plain);
  EXPECT_EQ(text_of(shoal::read_graph(cache)), plain);

  // A changed file: first only its time, then its content.
  write_shoal(marked, cache, key);
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(2));
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), plain);
  spill(file, "0 1 5\n");
  EXPECT_EQ(shoal::read_graph(file, cached).num_arcs(), 1);
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(Cache, SaysWhatTheFileLacks) {
  const Folder folder;
  const std::string file = folder / "g.el", cache = folder / "g.el.shoal";
  spill(file, "0 1\n1 2\n");
  const shoal::ReadOptions cached = with_cache();
  const std::string missing = shoal::read_graph(file).weight_remarks.missing;
  ASSERT_EQ(missing, "as column 3 is missing");
  EXPECT_EQ(shoal::read_graph(file, cached).weight_remarks.missing, missing);
  EXPECT_EQ(shoal::read_graph(file, cached).weight_remarks.missing, missing);

  // A cache of an earlier version, which did not keep this, is made anew.
  const std::size_t flags = 44, reading = 76;
  std::string bytes = slurp(cache);
  const std::string now = bytes;
  bytes[flags] = 0, bytes[reading] = 1;
  spill(cache, reseal_shoal(bytes));
  EXPECT_EQ(shoal::read_graph(file, cached).weight_remarks.missing, missing);
  EXPECT_EQ(slurp(cache), now);

  // Other .shoal files have no columns.
  shoal::write_graph(shoal::read_graph(file), folder / "own.shoal");
  EXPECT_EQ(shoal::read_graph(folder / "own.shoal").weight_remarks.missing, "");
}

TEST(Cache, IsNotTakenForAnotherFileOfTheSameSizeAndTime) {
  const Folder folder;
  const std::string file = folder / "g.el", other = folder / "other.el";
  spill(file, "0 1\n1 2\n");
  spill(other, "0 2\n1 2\n");
  const auto time = std::filesystem::last_write_time(file);
  std::filesystem::last_write_time(other, time);
  const shoal::ReadOptions cached = with_cache();
  shoal::read_graph(file, cached);
  std::filesystem::rename(other, file);
  ASSERT_EQ(std::filesystem::last_write_time(file), time);
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), text_of(shoal::read_graph(file)));
  // The same file, written anew in place and with its old time. File systems may tell times apart only by some milliseconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  spill(file, "0 1\n1 2\n");
  std::filesystem::last_write_time(file, time);
  EXPECT_EQ(text_of(shoal::read_graph(file, cached)), text_of(shoal::read_graph(file)));
  // The same name, as a link to one file and then to another.
  spill(folder / "a.el", "0 1\n1 2\n");
  spill(folder / "b.el", "0 2\n1 2\n");
  const std::string link = folder / "latest.el";
  for (const char* name : {"a.el", "b.el"}) {
    std::filesystem::last_write_time(folder / name, time);
    std::filesystem::remove(link);
    std::filesystem::create_symlink(folder / name, link);
    EXPECT_EQ(text_of(shoal::read_graph(link, cached)), text_of(shoal::read_graph(folder / name))) << name;
  }
}

TEST(Cache, ReplacesNothingElse) {
  const Folder folder;
  const std::string file = folder / "g.el", place = folder / "g.el.shoal";
  spill(file, "0 1\n1 2\n");
  const shoal::ReadOptions cached = with_cache();
  const std::string cure =
      place + ": is there and is no cache, so --cache does not replace it; move it away, or leave --cache out";
  spill(place, "important notes\n");
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(file, cached); }), cure);
  EXPECT_EQ(slurp(place), "important notes\n");
  const std::string graph = stored(shoal::csr_from_arcs(9, {8}, {7}));  // a user's own graph
  spill(place, graph);
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(file, cached); }), cure);
  EXPECT_EQ(slurp(place), graph);
  std::filesystem::rename(place, folder / "kept");
  std::filesystem::create_symlink(folder / "kept", place);
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(file, cached); }), cure);
  EXPECT_EQ(slurp(folder / "kept"), graph);
  std::filesystem::remove(place);
  ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(file, cached); }), cure);
}

TEST(Cache, IsNotKeptOfAPipe) {
  const Folder folder;
  const std::string pipe = folder / "g.el";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(pipe, with_cache()); }),
            pipe + ": a cache is kept beside a regular file, which this is not; leave --cache out");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Cache, UnwritablePlaceIsNoFailure) {
  const Folder folder;
  spill(folder / "g.el", "0 1\n");
  std::filesystem::create_directory(folder / "g.el.shoal");  // the place of the cache file
  const shoal::ReadOptions cached = with_cache();
  EXPECT_EQ(shoal::read_graph(folder / "g.el", cached).num_arcs(), 1);
}

}  // namespace
}  // namespace shoal_test
