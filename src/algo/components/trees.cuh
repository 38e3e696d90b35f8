// Connected components on GPUs: the data of one PE, and its trees of parents.
//
// A parent is a smaller vertex of the same component, or the vertex itself. Only roots are hooked, by compare-and-swap; a thread
// that follows parents may replace a parent that is no root by one of its ancestors. So every value that a vertex's parent ever has
// is an ancestor, reads may return arbitrarily old values, and all accesses are relaxed. No loop waits for another thread: a hook
// fails only if another hook of the same root succeeded.
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
inline constexpr int kFirstArcs = 2;      ///< of each row: used for the sample
inline constexpr int kTileArcs = 4;       ///< of each row: handled within a tile
inline constexpr int kTileThreads = 512;  ///< threads of a block that unites a tile
inline constexpr int kThreads = 256;      ///< threads of other blocks
inline constexpr int kSamples = 1024;     ///< vertices that vote for the giant tree, one per thread of a block
inline constexpr u32 kWarpWords = 8;      ///< most 32-bit words that a warp takes at once; a word is 32 vertices
inline constexpr u32 kCopySteps = 4;      ///< most steps towards the root while a forest is copied
inline constexpr arc_t kLaneArcs = 32;    ///< one lane reads rows of up to this many arcs alone

/// The words of one PE that its kernels share. Peers also write `arrived`, `error`, `giant` and `pairs`. All are zero before the
/// first run and after a failed one.
struct Control {
  vertex_t giant[kPeers];                    ///< root of each PE's giant tree at the time of sampling; kNoVertex: none
  vertex_t root[kPeers];                     ///< roots of those trees after all hooks; kNoVertex: none
  u64 pairs;                                 ///< bit kPeers * p + q: the giant trees of p and q are being united
  u32 num_hubs[2];                           ///< number of rows in `hubs`, for each stage
  u32 epoch;                                 ///< number of meetings so far
  u64 outside;                               ///< vertices that were not in the giant tree after the first arcs
  u64 open_arcs;                             ///< arcs to other PEs with neither end in a giant tree, if counted
  Word<u32, Scope::system> arrived[kPeers];  ///< the last meeting at which each PE arrived
  Word<u32, Scope::system> error;            ///< not zero: a PE's wait exceeded the deadline; every kernel leaves
};

/// Words of a forest for this many vertices. Words beyond the vertices fill the last 16 bytes, and are their own parents.
SHOAL_FN inline vertex_t forest_words(std::int64_t vertices) { return static_cast<vertex_t>((vertices + 3) / 4 * 4); }

/// The data of one PE that kernels use, passed by value.
struct View {
  CsrView out;
  CsrView in;  ///< no vertices when the graph is symmetric
  pe_t n_pes, me;
  vertex_t begin[kPeers + 1];  ///< PE p owns placed vertices [begin[p], begin[p + 1])
  vertex_t* parent[kPeers];    ///< [own count] by local number, at each PE
  u32* marks;                  ///< bit i % 32 of word i / 32: local vertex i has first arcs that its tile left open
  u32 first_word[kPeers + 1];  ///< where each PE's bits begin in `in_giant`
  u32* in_giant[kPeers];       ///< at each PE: a bit per vertex of every PE, set if it is in its PE's giant tree
  vertex_t* hubs[2];           ///< own vertices with long rows: outside the giant tree; and, with several PEs, in it
  vertex_t* forest[kPeers];    ///< [forest_words(vertices)] parents, at each PE; null unless PEs merge forests
  vertex_t* merged;            ///< [vertices of the graph] the copy in which this PE merges; null if they do not
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
/// How many of num_words words a warp takes at once: `most`, or fewer, down to `least`, so that every warp has some.
inline __device__ u32 words_at_once(u32 num_words, u32 least, u32 most) {
  u32 words = most;
  while (words > least && num_words <= num_threads() / 32 * (words / 2)) words /= 2;
  return words;
}

/// Operations on parents, wherever they are stored.
/// @tparam Where   has slot(x), which returns the word with the parent of x
/// @tparam kScope  the scope of all accesses to those words
template <class Where, Scope kScope>
struct Trees {
  using Ref = gpu::AtomicRef<vertex_t, kScope == Scope::system>;

  __device__ vertex_t load(vertex_t x) const { return Ref(where().slot(x)).load(gpu::kRelaxed); }
  __device__ void store(vertex_t x, vertex_t to) const { Ref(where().slot(x)).store(to, gpu::kRelaxed); }
  /// Hooks `root` under `low` if it is still a root; otherwise sets `root` to its current parent.
  __device__ bool hook(vertex_t& root, vertex_t low) const {
    return Ref(where().slot(root)).compare_exchange_strong(root, low, gpu::kRelaxed, gpu::kRelaxed);
  }

  /// The root of x's tree, or `stop` if that is on the way. Shortens long paths.
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

  /// The root of x's tree, without changing anything. The last step of a run needs this: a shortened path might be stored after the
  /// root.
  __device__ vertex_t root_of(vertex_t x) const {
    for (vertex_t up; (up = load(x)) != x;) x = up;
    return x;
  }

  /// Makes the trees of a and b one tree; the smaller root stays the root.
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

/// The parents of all vertices, by placed number, each stored at the vertex's owner. With one PE, vertices begin at 0.
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

/// Points x to the root of its tree, or to `giant` if that is on the way, and returns the new parent.
template <bool kMulti>
__device__ vertex_t parent_to_root(const Parents<kMulti>& parents, vertex_t x, vertex_t giant) {
  const vertex_t up = parents.load(x);
  if (up == x || up == giant || x == giant) return x == giant ? giant : up;
  const vertex_t root = parents.find(up, giant);
  if (root != up) parents.store(x, root);
  return root;
}

/// The trees of a tile in shared memory; vertices are numbered within the tile.
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
  /// Uses atomicMin because parents only become smaller, and other threads read and shorten the same path.
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

/// Where the arcs to this PE's own vertices begin in a row that is sorted; approximately there if it is not (a sample then misses
/// some arcs, with no other effect). The PE's share of all arcs gives the first guess.
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
