// Connected components on GPUs: what one PE holds, and its trees of parents.
//
// A parent is a smaller vertex of the same component, or the vertex itself; only roots are hooked, by compare-and-swap, and
// whoever follows parents may replace one that is no root by one of its ancestors. So every value that a vertex's parent
// ever has is an ancestor, reads may be as old as they like, and all accesses are relaxed. No loop waits for anybody: a hook
// that fails has been overtaken by one that did not.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/edge_functions.hpp"

namespace shoal::hook_gpu {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int kPeers = 8;          ///< most PEs
inline constexpr u32 kAll = 0xFFFFFFFFu;  ///< every lane of a warp
inline constexpr int kFirstArcs = 2;      ///< of each row: sampled
inline constexpr int kTileArcs = 4;       ///< of each row: looked at within a tile
inline constexpr int kTileThreads = 512;  ///< of a block that unites a tile
inline constexpr int kThreads = 256;      ///< of a block elsewhere
inline constexpr int kSamples = 1024;     ///< vertices that vote for the giant tree, one per thread of a block
inline constexpr u32 kWarpWords = 8;      ///< words of 32 vertices that a warp takes at once, at most
inline constexpr u32 kCopySteps = 4;      ///< towards the root, while a forest is copied
inline constexpr arc_t kLaneArcs = 32;    ///< rows up to this are left to one lane

/// Words of one PE. `arrived`, `error`, `giant` and `pairs` are written by peers. All zero before the first run and after a
/// failed one.
struct Control {
  vertex_t giant[kPeers];                    ///< root of each PE's giant tree when it was sampled; kNoVertex: none
  vertex_t root[kPeers];                     ///< the roots of those trees when all is hooked; kNoVertex: none
  u64 pairs;                                 ///< bit kPeers * p + q: somebody unites the giant trees of PEs p and q
  u32 num_hubs[2];                           ///< rows in `hubs`, of each stage
  u32 epoch;                                 ///< meetings so far
  u64 outside;                               ///< vertices that were not in the giant tree after the first arcs
  u64 open_arcs;                             ///< arcs to other PEs of which neither end was, if they were counted
  Word<u32, Scope::system> arrived[kPeers];  ///< the last meeting that each PE came to
  Word<u32, Scope::system> error;            ///< not zero: a PE waited in vain, and every kernel leaves at once
};

/// Words of a forest: what lies beyond the vertices makes the last 16 bytes whole, and is its own parent.
SHOAL_FN inline vertex_t forest_words(std::int64_t vertices) { return static_cast<vertex_t>((vertices + 3) / 4 * 4); }

/// One PE's view, passed by value.
struct View {
  CsrView out;
  CsrView in;  ///< no vertices when the graph is symmetric
  pe_t n_pes, me;
  vertex_t begin[kPeers + 1];  ///< PE p owns placed vertices [begin[p], begin[p + 1])
  vertex_t* parent[kPeers];    ///< [own count] by local number, at each PE
  u32* marks;                  ///< bit i % 32 of word i / 32: local vertex i has first arcs that its tile left open
  u32 first_word[kPeers + 1];  ///< where a PE's bits begin in `in_giant`
  u32* in_giant[kPeers];       ///< at each PE: bit per vertex of every PE, set if it is in its PE's giant tree
  vertex_t* hubs[2];           ///< own vertices with long rows: outside of the giant tree; several PEs: in it
  vertex_t* forest[kPeers];    ///< [forest_words(vertices)] parents, at each PE; null unless PEs merge forests
  vertex_t* merged;            ///< [vertices of the graph] this PE's copy, in which it merges; null unless ...
  Control* control[kPeers];    ///< at each PE
  u32 tile;
  bool giant;  ///< whether to look for a giant tree at all
  arc_t hub_arcs;
  u64 deadline_ns;

  __device__ Control& here() const { return *control[me]; }
  __device__ bool symmetric() const { return in.count == 0; }
};
static_assert(std::is_trivially_copyable_v<View> && sizeof(View) < 4000, "a View travels as a kernel argument");

inline __device__ u32 lane_id() { return threadIdx.x & 31; }
inline __device__ u32 thread_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
inline __device__ u32 num_threads() { return gridDim.x * blockDim.x; }
/// How many of num_words words a warp takes at once: `most`, or less, down to `least`, as long as every warp has some.
inline __device__ u32 words_at_once(u32 num_words, u32 least, u32 most) {
  u32 words = most;
  while (words > least && num_words <= num_threads() / 32 * (words / 2)) words /= 2;
  return words;
}

/// What is done with parents, wherever they are kept.
/// @tparam Where   has slot(x), the word with the parent of x
/// @tparam kScope  of those words, for life
template <class Where, Scope kScope>
struct Trees {
  using Ref = gpu::AtomicRef<vertex_t, kScope == Scope::system>;

  __device__ vertex_t load(vertex_t x) const { return Ref(where().slot(x)).load(gpu::kRelaxed); }
  __device__ void store(vertex_t x, vertex_t to) const { Ref(where().slot(x)).store(to, gpu::kRelaxed); }
  /// Hooks `root` under `low`, if it is still a root; else `root` becomes what its parent is now.
  __device__ bool hook(vertex_t& root, vertex_t low) const {
    return Ref(where().slot(root)).compare_exchange_strong(root, low, gpu::kRelaxed, gpu::kRelaxed);
  }

  /// The root of x's tree, or `stop` if that lies on the way. Shortens long paths.
  __device__ vertex_t find(vertex_t x, vertex_t stop = kNoVertex) const {
    if (x == stop) return x;
    vertex_t up = load(x);
    while (up != x && up != stop) {
      const vertex_t next = load(up);
      if (next == up) break;
      store(x, next);
      x = up;
      up = next;
    }
    return up;
  }

  /// The root of x's tree, changing nothing. The last step of a run needs it: a shortened path might come after the root.
  __device__ vertex_t root_of(vertex_t x) const {
    for (vertex_t up; (up = load(x)) != x;) x = up;
    return x;
  }

  /// Makes one tree of those of a and b; the smaller root stays one.
  __device__ void unite(vertex_t a, vertex_t b) const {
    vertex_t p = load(a), q = load(b);
    while (p != q) {
      const vertex_t high = p > q ? p : q, low = p > q ? q : p;
      vertex_t up = load(high);
      if (up == low) return;
      if (up == high && hook(up, low)) return;
      p = load(up), q = load(low);
      if (p != up) store(high, p);
    }
  }

 private:
  __device__ const Where& where() const { return static_cast<const Where&>(*this); }
};

/// The parents of all vertices, by placed number, each at its owner. With one PE its vertices begin at 0.
template <bool kMulti>
struct Parents : Trees<Parents<kMulti>, kMulti ? Scope::system : Scope::device> {
  const View& v;

  __device__ Parents(const View& view) : v(view) {}
  __device__ vertex_t& slot(vertex_t x) const {
    if constexpr (!kMulti) return v.parent[0][x];
    const vertex_t mine = x - v.out.first;
    if (mine < v.out.count) return v.parent[v.me][mine];
    pe_t p = 0;
    while (x >= v.begin[p + 1]) ++p;
    return v.parent[p][x - v.begin[p]];
  }
};

/// Points x to the root of its tree, or to `giant` if that lies on the way, and returns where it points now.
template <bool kMulti>
__device__ vertex_t parent_to_root(const Parents<kMulti>& parents, vertex_t x, vertex_t giant) {
  const vertex_t up = parents.load(x);
  if (up == x || up == giant || x == giant) return x == giant ? giant : up;
  const vertex_t root = parents.find(up, giant);
  if (root != up) parents.store(x, root);
  return root;
}

/// The trees of a tile in shared memory, by number within the tile.
struct TileTrees {
  volatile u32* tree;

  __device__ u32 find(u32 x) const {
    u32 up = tree[x];
    while (up != x) {
      const u32 next = tree[up];
      if (next != up) shorten(x, next);
      x = up;
      up = next;
    }
    return x;
  }
  /// Parents only become smaller; an atomic, because other threads read and shorten the same path.
  __device__ void shorten(u32 x, u32 to) const { atomicMin(const_cast<u32*>(tree) + x, to); }
  __device__ void unite(u32 a, u32 b) const {
    a = find(a), b = find(b);
    while (a != b) {
      const u32 high = a > b ? a : b, low = a > b ? b : a;
      const u32 old = atomicCAS(const_cast<u32*>(tree) + high, high, low);
      if (old == high) return;
      a = find(old), b = find(low);
    }
  }
};

struct Row {
  const vertex_t* at;
  arc_t size;
};
inline __device__ Row row_of(const CsrView& rows, u32 local) {
  const arc_t begin = __ldg(rows.offsets + local);
  return {rows.targets + begin, __ldg(rows.offsets + local + 1) - begin};
}

/// Where the arcs to this PE's own vertices begin in a row, which is sorted; about there if it is not (a sample then misses
/// some, no more). A PE's share of all arcs says where to look first.
inline __device__ arc_t first_own_arc(const View& v, Row row) {
  arc_t low = 0, high = row.size;
  if (row.size > 8) {
    const arc_t guess = row.size * v.me / v.n_pes;
    arc_t step = 2;
    if (__ldg(row.at + guess) < v.out.first) {
      low = guess + 1;
      while (low + step < row.size && __ldg(row.at + low + step) < v.out.first) low += step + 1, step *= 2;
      high = low + step < row.size ? low + step : row.size;
    } else {
      high = guess;
      while (high > step && __ldg(row.at + high - step) >= v.out.first) high -= step, step *= 2;
      low = high > step ? high - step : 0;
    }
  }
  while (low < high) {
    const arc_t middle = (low + high) / 2;
    if (__ldg(row.at + middle) < v.out.first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace shoal::hook_gpu
