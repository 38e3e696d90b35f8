// .shoal files that processes read together. Each process reads the header, computes the checksums of a part of the file, and
// reads its own rows. No part of the file is mapped.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/formats/shoal_file.hpp"
#include "data/parallel.hpp"
#include "shared.hpp"
#include "shoal/core/parallel.hpp"

namespace shoal::io {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{4} << 20;
constexpr std::int64_t kChunkArcs = 1 << 18;

class File {
 public:
  explicit File(std::string name) : name_(std::move(name)) {
    fd_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st {};
    if (fd_ < 0 || ::fstat(fd_, &st) != 0) fail();
    if (!S_ISREG(st.st_mode)) throw UsageError(name_ + ": several processes read a regular file only");
    bytes_ = static_cast<std::uint64_t>(st.st_size);
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t bytes() const { return bytes_; }
  void read(void* to, std::uint64_t at, std::uint64_t bytes) const {
    for (auto* next = static_cast<char*>(to); bytes > 0;) {
      const ssize_t got = ::pread(fd_, next, std::min<std::uint64_t>(bytes, 1 << 30), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) throw UsageError(name_ + ": has become shorter while it was read");
      next += got, at += static_cast<std::uint64_t>(got), bytes -= static_cast<std::uint64_t>(got);
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw FileError(errno, name_,
                    name_ + ": cannot be read: " + std::strerror(errno) + "; check the path and its permissions");
  }
  std::string name_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

class SharedShoal : public SharedGraph {
 public:
  SharedShoal(const std::string& file, const ReadOptions& options, const Together& together)
      : SharedGraph(file, options, together) {
    in_all(together_, [&] {
      file_ = std::make_unique<File>(file);
      std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file_->bytes(), kMostHeadBytes)), '\0');
      file_->read(head.data(), 0, head.size());
      const std::string wrong = parse_contents(head, file_->bytes(), contents_);
      if (!wrong.empty()) raise(wrong + kDamaged);
      const auto& n = options.num_vertices;
      if (n && *n != static_cast<std::int64_t>(contents_.header.vertices)) {
        raise("declares " + std::to_string(contents_.header.vertices) + " vertices, but --vertices is " +
              std::to_string(*n) + "; leave --vertices out");
      }
      if (options.undirected && (contents_.header.flags & kSymmetricFlag) == 0) raise(kNotAList);
    });
    const ShoalHeader& h = contents_.header;
    size_ = {static_cast<std::int64_t>(h.vertices), static_cast<std::int64_t>(h.arcs),
             static_cast<WeightKind>(h.weight_kind), (h.flags & kSymmetricFlag) != 0};
    check_sums();
  }

  arc_t arcs_before(std::int64_t step) const override { return offset(step); }
  std::int64_t reading_bytes() const override {
    GraphSize mine = size_;
    mine.vertices /= together_.processes, mine.arcs /= together_.processes;
    return size_.symmetric ? csr_bytes(mine) : 3 * csr_bytes(mine);
  }

  Csr rows(vertex_t first, vertex_t count, RowsOf which, bool weighted) const override {
    Csr rows;
    in_all(together_, [&] {
      const bool with_weights = weighted && which != RowsOf::undirected;
      rows = which == RowsOf::out ? own_rows(first, count, with_weights)
                                  : rows_of_arcs(count, arcs_of({first, count, which, false}, with_weights),
                                                 which == RowsOf::undirected);
      if (options_.dedup && which != RowsOf::undirected) merge_parallel_arcs(rows);
    });
    rows.name = name_;
    return rows;
  }

 private:
  [[noreturn]] void raise(const std::string& what) const { throw UsageError(name_ + ": " + what); }
  arc_t offset(std::int64_t v) const {
    arc_t value = 0;
    file_->read(&value, contents_.find(kOffsets)->offset + static_cast<std::uint64_t>(v) * sizeof value, sizeof value);
    return value;
  }
  template <class T>
  void read_part(ShoalSection section, arc_t begin, arc_t count, T* to) const {
    file_->read(to, contents_.find(section)->offset + static_cast<std::uint64_t>(begin) * sizeof(T),
                static_cast<std::uint64_t>(count) * sizeof(T));
  }

  /// Verifies the checksum of each section, of which every process computes a part.
  void check_sums() {
    for (const ShoalEntry& section : contents_.entries) {
      const auto cut = [&](int process) {
        return section.bytes / static_cast<std::uint64_t>(together_.processes) * static_cast<std::uint64_t>(process) +
               (process == together_.processes ? section.bytes % static_cast<std::uint64_t>(process) : 0);
      };
      struct Sum {
        std::uint64_t bytes;
        std::uint32_t sum, unused;
      } mine{cut(together_.process + 1) - cut(together_.process), shoal_checksum(nullptr, 0), 0};
      in_all(together_, [&] {
        std::vector<char> block(static_cast<std::size_t>(std::min(kBlock, mine.bytes)));
        for (std::uint64_t done = 0; done < mine.bytes;) {
          const std::uint64_t now = std::min(kBlock, mine.bytes - done);
          file_->read(block.data(), section.offset + cut(together_.process) + done, now);
          mine.sum = join_checksums(mine.sum, shoal_checksum(block.data(), now), now);
          done += now;
        }
      });
      std::uint32_t sum = shoal_checksum(nullptr, 0);
      for (const Sum& its : all_of(together_, mine)) sum = join_checksums(sum, its.sum, its.bytes);
      if (sum != section.checksum) {
        raise(std::string("the checksum of section ") + section_name(section.kind) + " is wrong" + kDamaged);
      }
    }
  }

  /// Reads and checks a range of rows. @param weighted  include weights, if there are any
  Csr own_rows(vertex_t first, vertex_t count, bool weighted) const {
    Csr rows;
    rows.offsets = HostArray<arc_t>(std::int64_t{count} + 1);
    read_part(kOffsets, first, std::int64_t{count} + 1, rows.offsets.data());
    const arc_t begin = rows.offsets[0], end = rows.offsets[count];
    if (begin < 0 || end > size_.arcs || (first == 0 && begin != 0))
      raise(std::string("the offsets do not span the arcs") + kDamaged);
    for (std::int64_t v = 0; v < count; ++v) {
      if (rows.offsets[v] > rows.offsets[v + 1])
        raise("the offsets decrease behind vertex " + std::to_string(first + v) + kDamaged);
    }
    for (arc_t& at : rows.offsets) at -= begin;
    rows.targets = HostArray<vertex_t>(end - begin);
    read_part(kTargets, begin, end - begin, rows.targets.data());
    if (weighted && size_.weight_kind != WeightKind::none) {
      rows.weight_kind = size_.weight_kind;
      if (size_.weight_kind == WeightKind::int32) {
        rows.int_weights = HostArray<std::int32_t>(end - begin);
        read_part(kIntWeights, begin, end - begin, rows.int_weights.data());
      } else {
        rows.real_weights = HostArray<double>(end - begin);
        read_part(kRealWeights, begin, end - begin, rows.real_weights.data());
      }
      remark(rows, first);
    }
    for (arc_t a = 0; a < rows.num_arcs(); ++a) {
      if (rows.targets[a] < size_.vertices) continue;
      raise("arc " + std::to_string(begin + a) + " ends at vertex " + std::to_string(rows.targets[a]) +
            ", which is outside 0.." + std::to_string(size_.vertices - 1) + kDamaged);
    }
    if (!rows_sorted(rows)) raise(std::string("a row is not sorted") + kDamaged);
    return rows;
  }

  /// Sets the remarks on the weights.
  void remark(Csr& rows, vertex_t first) const {
    const auto of = [&](auto weight_of) {
      for (std::int64_t v = 0; v < rows.num_vertices(); ++v) {
        for (arc_t a = rows.offsets[v]; a < rows.offsets[v + 1]; ++a) {
          if (weight_of(a) >= 0) continue;
          char weight[40];
          std::snprintf(weight, sizeof weight, "%g", static_cast<double>(weight_of(a)));
          rows.weight_remarks.negative = name_ + ": the edge from vertex " + std::to_string(first + v) + " to vertex " +
                                         std::to_string(rows.targets[a]) + " (numbered from 0) has weight " + weight;
          return;
        }
      }
    };
    if (rows.weight_kind == WeightKind::int32) of([&](arc_t a) { return rows.int_weights[a]; });
    if (rows.weight_kind == WeightKind::float64) of([&](arc_t a) { return rows.real_weights[a]; });
    if ((contents_.header.flags & kWideFlag) != 0) rows.weight_remarks.wide = kWideRemark;
  }

  /// The arcs of the whole file that belong to own rows. The file is read a chunk of rows at a time.
  ArcList arcs_of(const OwnRows& own, bool weighted) const {
    std::vector<std::int64_t> cuts{0};  // row numbers
    const std::int64_t n = size_.vertices;
    for (std::int64_t step = 1 << 16; cuts.back() < n;) cuts.push_back(std::min(n, cuts.back() + step));
    std::vector<ArcList> kept(cuts.size() - 1);
    parallel_tasks(static_cast<std::int64_t>(kept.size()), [&](std::int64_t i) {
      kept[static_cast<std::size_t>(i)] =
          arcs_of_chunk(own, cuts[static_cast<std::size_t>(i)], cuts[static_cast<std::size_t>(i) + 1], weighted);
    });
    return join(kept);
  }

  ArcList arcs_of_chunk(const OwnRows& own, std::int64_t begin, std::int64_t end, bool weighted) const {
    ArcList mine;
    mine.weight_kind = weighted ? size_.weight_kind : WeightKind::none;
    std::vector<arc_t> offsets(static_cast<std::size_t>(end - begin) + 1);
    read_part(kOffsets, begin, end - begin + 1, offsets.data());
    std::vector<vertex_t> targets;
    std::vector<std::int32_t> ints;
    std::vector<double> reals;
    std::int64_t row = 0;
    for (arc_t at = offsets.front(); at < offsets.back();) {
      const arc_t count = std::min<arc_t>(kChunkArcs, offsets.back() - at);
      targets.resize(static_cast<std::size_t>(count));
      read_part(kTargets, at, count, targets.data());
      if (mine.weight_kind == WeightKind::int32) {
        ints.resize(targets.size());
        read_part(kIntWeights, at, count, ints.data());
      } else if (mine.weight_kind == WeightKind::float64) {
        reals.resize(targets.size());
        read_part(kRealWeights, at, count, reals.data());
      }
      for (std::size_t k = 0; k < targets.size(); ++k) {
        while (offsets[static_cast<std::size_t>(row) + 1] <= at + static_cast<arc_t>(k)) ++row;
        own.of(static_cast<vertex_t>(begin + row), targets[k], [&](vertex_t to, vertex_t from) {
          mine.sources.push_back(to);
          mine.targets.push_back(from);
          if (!ints.empty()) mine.int_weights.push_back(ints[k]);
          if (!reals.empty()) mine.real_weights.push_back(reals[k]);
        });
      }
      at += count;
    }
    return mine;
  }

  std::unique_ptr<File> file_;
  ShoalContents contents_;
};

}  // namespace

std::unique_ptr<SharedGraph> share_shoal(const std::string& file, const ReadOptions& options,
                                         const Together& together) {
  return std::make_unique<SharedShoal>(file, options, together);
}

}  // namespace shoal::io
