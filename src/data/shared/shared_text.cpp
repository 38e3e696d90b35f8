// Edge lists that processes read together, in two passes. First each process reads a part of the lines, and they exchange what they
// have found. Then each process reads all lines, and keeps the arcs of its own rows.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

#include "data/formats/edge_list_head.hpp"
#include "shared.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/graph/edge_functions.hpp"

namespace shoal::io {
namespace {

constexpr std::size_t kSteps = 1 << 16;

/// Counts arcs per step of 2^shift vertices. The shift grows so that there are never more than kSteps steps.
struct Histogram {
  std::vector<std::uint64_t> arcs = std::vector<std::uint64_t>(kSteps, 0);
  int shift = 0;

  void coarsen(int to) {
    for (; shift < to; ++shift) {
      for (std::size_t i = 0; i < kSteps; ++i) arcs[i] = i < kSteps / 2 ? arcs[2 * i] + arcs[2 * i + 1] : 0;
    }
  }
  void make_room(std::int64_t largest) {
    while ((largest >> shift) >= static_cast<std::int64_t>(kSteps)) coarsen(shift + 1);
  }
};

/// Sums of hashes over a list of arcs, and over the same arcs reversed. If both sums are equal, each arc has its reverse with the
/// same weight and equally often, except for a chance collision of hashes.
struct Sums {
  std::uint64_t there[2] = {}, back[2] = {};

  void add(const ArcList& arcs) {
    for (std::size_t i = 0; i < arcs.sources.size(); ++i) {
      double weight = 0;
      if (arcs.weight_kind == WeightKind::int32) weight = arcs.int_weights[i];
      if (arcs.weight_kind == WeightKind::float64) weight = arcs.real_weights[i] + 0.0;  // -0 is 0
      const std::uint64_t from = arcs.sources[i], to = arcs.targets[i];
      for (std::uint64_t k = 0; k < 2; ++k) {
        const std::uint64_t with = mix64(std::bit_cast<std::uint64_t>(weight) + k);
        there[k] += mix64(mix64(from << 32 | to) ^ with);
        back[k] += mix64(mix64(to << 32 | from) ^ with);
      }
    }
  }
  void add(const Sums& more) {
    for (int k = 0; k < 2; ++k) there[k] += more.there[k], back[k] += more.back[k];
  }
  bool equal() const { return there[0] == back[0] && there[1] == back[1]; }
};

/// What a process finds in its part of the lines.
struct Part {
  ArcFacts facts;
  WeightKind weight_kind = WeightKind::none;
  std::uint32_t fractions = 0;
  std::int32_t shift = 0;
  Sums arcs;
};

class SharedEdgeList : public SharedGraph {
 public:
  SharedEdgeList(const std::string& file, const ReadOptions& options, Format format, const Together& together)
      : SharedGraph(file, options, together) {
    in_all(together_, [&] {
      bytes_ = read_file(file);
      const Source source = plain_source({.bytes = bytes_, .name = file, .options = options});
      text_ = {source.view(), file};
      head_ = begin_edge_list(text_, options, format);
    });
    both_ = options.undirected || head_.undirected;
    look();
  }

  int shift() const override { return shift_; }
  arc_t arcs_before(std::int64_t step) const override { return before_[static_cast<std::size_t>(step)]; }
  std::int64_t reading_bytes() const override {
    return peak_bytes(size_.vertices / together_.processes, size_.arcs / together_.processes, size_.weight_kind, false);
  }

  Csr rows(vertex_t first, vertex_t count, RowsOf which, bool weighted) const override {
    Csr rows;
    const WeightKind kind =
        weighted && which != RowsOf::undirected && size_.arcs > 0 ? size_.weight_kind : WeightKind::none;
    in_all(together_, [&] {
      std::mutex mutex;
      std::map<std::int64_t, ArcList> kept;  // by piece, so that the rows do not depend on the timing of threads
      const OwnRows own{first, count, which, both_};
      const auto take = [&](ArcList&& piece, std::int64_t number) {
        ArcList mine = own_arcs(piece, own, kind);
        if (mine.size() == 0) return;
        const std::lock_guard lock(mutex);
        kept.emplace(number, std::move(mine));
      };
      for_arc_pieces(text_, head_.body, head_.rules, 0, 1, take, give_back());
      std::vector<ArcList> pieces;
      for (auto& [number, piece] : kept) pieces.push_back(std::move(piece));
      kept.clear();
      ArcList arcs = join(pieces);
      arcs.weight_kind = kind;  // also if there are no arcs
      rows = rows_of_arcs(count, std::move(arcs), which == RowsOf::undirected || options_.dedup);
      rows.weight_kind = kind;
    });
    rows.name = name_;
    if (kind != WeightKind::none) rows.weight_remarks = remarks_;
    if (kind == WeightKind::none) rows.weight_remarks.missing = head_.missing();
    return rows;
  }

 private:
  /// The arcs that belong to own rows; sources become row numbers. Weights get the type that the whole file has.
  static ArcList own_arcs(const ArcList& piece, const OwnRows& own, WeightKind kind) {
    ArcList mine;
    mine.weight_kind = kind;
    for (std::int64_t i = 0; i < piece.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      own.of(piece.sources[at], piece.targets[at], [&](vertex_t row, vertex_t target) {
        mine.sources.push_back(row);
        mine.targets.push_back(target);
        if (kind == WeightKind::int32) mine.int_weights.push_back(piece.int_weights[at]);
        if (kind == WeightKind::float64) {
          mine.real_weights.push_back(piece.weight_kind == WeightKind::float64 ? piece.real_weights[at]
                                                                               : piece.int_weights[at]);
        }
      });
    }
    return mine;
  }

  /// A function that gives back the pages of a mapped file. Pages that were read count as memory of this process until then.
  std::function<void(const char*, const char*)> give_back() const {
    if (!bytes_.mapped) return {};
    return [](const char* begin, const char* end) {
      const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
      const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page,
                           to = reinterpret_cast<std::uintptr_t>(end) / page * page;
      if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    };
  }

  /// The first pass.
  void look() {
    Histogram degrees;
    Part mine;
    std::string negative, wide;
    in_all(together_, [&] {
      std::mutex mutex;
      std::map<std::int64_t, ArcList> spots;  // of each piece, only what remarks_of() reads
      const auto take = [&](ArcList&& piece, std::int64_t number) {
        if (piece.size() == 0) return;
        const ArcFacts facts = facts_of(piece);
        Sums sums;
        if (!both_) sums.add(piece);
        const std::lock_guard lock(mutex);
        add(mine.facts, number, facts);
        mine.arcs.add(sums);
        mine.weight_kind = std::max(mine.weight_kind, piece.weight_kind);
        degrees.make_room(facts.largest());
        const OwnRows all{0, kNoVertex, RowsOf::out, both_};
        for (std::int64_t i = 0; i < piece.size(); ++i) {
          all.of(piece.sources[static_cast<std::size_t>(i)], piece.targets[static_cast<std::size_t>(i)],
                 [&](vertex_t from, vertex_t) { ++degrees.arcs[from >> degrees.shift]; });
        }
        spots.emplace(number, only_spots(piece));
      };
      for_arc_pieces(text_, head_.body, head_.rules, together_.process, together_.processes, take, give_back());
      std::vector<ArcList> pieces;
      for (auto& [number, piece] : spots) {
        mine.fractions |= piece.spots.fractions ? 1 : 0;
        pieces.push_back(std::move(piece));
      }
      const WeightRemarks remarks = remarks_of(text_, pieces);
      negative = remarks.negative, wide = remarks.wide;
    });
    mine.shift = degrees.shift;
    agree(mine, degrees, negative, wide);
  }

  void agree(const Part& mine, Histogram& degrees, const std::string& negative, const std::string& wide) {
    const std::vector<Part> parts = all_of(together_, mine);
    ArcFacts facts;
    bool fractions = false;
    Sums sums;
    for (const Part& part : parts) {
      sums.add(part.arcs);
      if (part.facts.count > 0) add_behind(facts, part.facts);
      size_.weight_kind = std::max(size_.weight_kind, part.weight_kind);
      fractions = fractions || part.fractions != 0;
      shift_ = std::max(shift_, part.shift);
    }
    in_all(together_, [&] {
      VertexCount vertices = count_vertices(text_, head_, facts);
      size_.vertices = vertices.count;
      vertices_remark_ = std::move(vertices.remark);
    });
    if (facts.count == 0 && head_.rules.weight != WeightRule::none) {
      size_.weight_kind = head_.rules.reals_only ? WeightKind::float64 : WeightKind::int32;
    }
    remarks_.negative = first_text(negative);
    remarks_.wide = first_text(wide);
    if (fractions) remarks_.wide.clear();
    while (((size_.vertices - 1) >> shift_) >= static_cast<std::int64_t>(kSteps)) ++shift_;
    degrees.coarsen(shift_);
    std::vector<std::uint64_t> all(kSteps, 0);
    for (const auto& its : together_.all_of(std::as_bytes(std::span(degrees.arcs)))) {
      for (std::size_t i = 0; i < kSteps; ++i) {
        std::uint64_t arcs = 0;
        std::memcpy(&arcs, its.data() + i * sizeof arcs, sizeof arcs);
        all[i] += arcs;
      }
    }
    const std::int64_t steps = size_.vertices > 0 ? ((size_.vertices - 1) >> shift_) + 1 : 0;
    before_.assign(all.begin(), all.begin() + steps);
    before_.push_back(0);
    size_.arcs = offsets_from_degrees(before_.data(), steps);
    size_.symmetric = both_ || sums.equal();
  }

  /// Every process calls it: exchanges texts, and returns the first that is not empty.
  std::string first_text(const std::string& mine) const {
    for (const auto& its : together_.all_of(std::as_bytes(std::span(mine)))) {
      if (!its.empty()) return {reinterpret_cast<const char*>(its.data()), its.size()};
    }
    return "";
  }

  /// Combines the facts of two lists, of which the second follows the first in the file.
  static void add_behind(ArcFacts& facts, const ArcFacts& behind) {
    if (facts.count == 0) {
      facts = behind;
      return;
    }
    facts.count += behind.count;
    facts.largest_behind = std::max(facts.largest_behind, behind.largest());
  }
  /// Adds the facts of a piece. Pieces come in any order.
  void add(ArcFacts& facts, std::int64_t number, ArcFacts piece) {
    if (facts.count > 0 && number < first_piece_) std::swap(facts, piece);
    first_piece_ = facts.count > 0 ? std::min(first_piece_, number) : number;
    add_behind(facts, piece);
  }

  /// The part of a piece that remarks_of() reads.
  static ArcList only_spots(const ArcList& piece) {
    ArcList out;
    out.spots = piece.spots;
    if (piece.spots.negative != nullptr) {
      out.sources.push_back(piece.sources[static_cast<std::size_t>(piece.spots.negative_arc)]);
      out.targets.push_back(piece.targets[static_cast<std::size_t>(piece.spots.negative_arc)]);
      out.spots.negative_arc = 0;
    }
    return out;
  }

  Bytes bytes_;
  Text text_;
  EdgeListHead head_;
  bool both_ = false;
  int shift_ = 0;
  std::vector<arc_t> before_;
  WeightRemarks remarks_;
  std::int64_t first_piece_ = 0;
};

}  // namespace

std::unique_ptr<SharedGraph> share_edge_list(const std::string& file, const ReadOptions& options, Format format,
                                             const Together& together) {
  return std::make_unique<SharedEdgeList>(file, options, format, together);
}

}  // namespace shoal::io
