// A sweep of PageRank on CPU threads: the sums of rows, and when their contributions are stored.
#include <cmath>

#include "pull_cpu_state.hpp"

namespace shoal {

using namespace pagerank_pull;

namespace {

// Prefetch distance in entries: a processor looks some 50 entries ahead by itself, but not beyond a mispredicted branch.
constexpr std::ptrdiff_t kAhead = 48;

/// Sum of the contributions of a row's entries. Always inlined. The four sums have names: as an
/// array they would be in memory, since the loads are atomic.
/// @tparam kLooksAhead  prefetches the contributions of entries kAhead places further on: there must be kAhead + 4 entries after
///                      `end`
template <bool kLooksAhead = false, class Share>
[[gnu::always_inline]] inline double sum_row(const Share* share, const vertex_t* begin, const vertex_t* end) {
  const auto gives = [share](vertex_t v) { return static_cast<double>(load(share[v])); };
  double a = 0, b = 0, c = 0, d = 0;
  for (; end - begin >= 4; begin += 4) {
    for (int k = 0; kLooksAhead && k < 4; ++k) __builtin_prefetch(share + begin[kAhead + k]);
    a += gives(begin[0]);
    b += gives(begin[1]);
    c += gives(begin[2]);
    d += gives(begin[3]);
  }
  for (; begin != end; ++begin) a += gives(*begin);
  return (a + b) + (c + d);
}

}  // namespace

/// Sweeps rows [first, last), of which those before `tied` are in the largest component.
template <class Share>
void PageRankPullCpu::State::sweep(pe_t pe, vertex_t first, vertex_t last, Share* share, Part& part) {
  const vertex_t between = std::clamp(rows.of(pe).tied, first, last);
  const auto sweep_group = [&](vertex_t begin, vertex_t end, int group) {
    switch (stores) {
      case Stores::at_once:
        return sweep_alike<Stores::at_once>(pe, begin, end, group, share, part);
      case Stores::by_line:
        return sweep_alike<Stores::by_line>(pe, begin, end, group, share, part);
    }
  };
  sweep_group(first, between, 0);
  sweep_group(between, last, 1);
}

template <Stores kStores, class Share>
void PageRankPullCpu::State::sweep_alike(pe_t pe, vertex_t first, vertex_t last, int group, Share* share, Part& part) {
  const PageRankCpuRows& its = rows.of(pe);
  const CsrView in = its.in;
  const std::uint32_t* const out = its.degree;
  const double keep = 1 - omega, pull = omega * rules.alpha, jump = omega * c[group];
  const double everywhere = jump * uniform();
  double* const values = y.data();  // in registers: the compiler must assume that the stores change members
  const bool copies = exchange && exchange->common() == nullptr;  // copies to which this process stores
  std::byte* const* const near = copies ? exchange->near().data() : nullptr;
  const std::size_t n_near = copies ? exchange->near().size() : 0;
  const bool ahead = looks_ahead && in.offsets[in.count] - in.offsets[0] > kAhead + 4;
  const vertex_t* const ahead_until = ahead ? in.targets + in.offsets[in.count] - (kAhead + 4) : nullptr;
  double change = 0, sum_y = 0, dangling = 0;
  const auto one = [&](vertex_t i) {
    const vertex_t v = in.first + i;
    const std::uint32_t degree = out[i];
    const double inverse = degree > 0 ? 1.0 / static_cast<double>(degree) : 0;
    const double old = values[v];
    const double rest = keep * old + (personal != nullptr ? jump * personal[its.placed(i)] : everywhere);
    const vertex_t *const begin = in.targets + in.offsets[i], *const end = in.targets + in.offsets[i + 1];
    const double given = end <= ahead_until ? sum_row<true>(share, begin, end) : sum_row(share, begin, end);
    const double now = rest + pull * given;
    values[v] = now;
    change += std::abs(now - old);
    sum_y += now;
    dangling += degree == 0 ? now : 0;
    return static_cast<Share>(now * inverse);
  };
  const auto put = [&](vertex_t v, Share gives) {
    store(share[v], gives);
    for (std::size_t p = 0; p < n_near; ++p) store(reinterpret_cast<Share*>(near[p])[v], gives);
  };
  if constexpr (kStores == Stores::at_once) {
    for (vertex_t i = first; i < last; ++i) put(in.first + i, one(i));
  } else {
    constexpr vertex_t kOfLine = kCacheLine / sizeof(Share);
    Share gives[kOfLine];
    for (vertex_t i = first; i < last;) {
      const vertex_t n = std::min(last - i, kOfLine - (in.first + i) % kOfLine);
      for (vertex_t k = 0; k < n; ++k) gives[k] = one(i + k);
      for (vertex_t k = 0; k < n; ++k) put(in.first + i + k, gives[k]);
      i += n;
    }
  }
  part.change[group] += change;
  part.sum[group] += sum_y;
  part.dangling += dangling;
}

template void PageRankPullCpu::State::sweep(pe_t, vertex_t, vertex_t, float*, Part&);
template void PageRankPullCpu::State::sweep(pe_t, vertex_t, vertex_t, double*, Part&);

}  // namespace shoal
