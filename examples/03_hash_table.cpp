// Counting in a hash table that is spread over the PEs: how often does each key occur? This task has no graph. accept does all
// the work, at the key's owner, and drops every item, so that nothing is run.
//   example_03_hash_table --size 1000000 --pes 4
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

struct CountKeys {
  struct Item {
    std::uint64_t key;  // not 0, which marks an empty slot
  };
  std::uint64_t* keys;    // [slots] the part of the table on this PE
  std::uint64_t* counts;  // [slots] how often the key in the slot has occurred
  std::uint64_t* lost;    // number of keys that found no slot
  std::uint64_t slots;    // a power of two
  pe_t n_pes;

  SHOAL_FN static std::uint64_t hash(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ull >> 16; }
  SHOAL_FN pe_t owner(Item item) const {
    return static_cast<pe_t>((hash(item.key) >> 32) % static_cast<std::uint64_t>(n_pes));
  }
  SHOAL_FN bool accept(Item item) const {
    for (std::uint64_t probe = 0; probe < slots; ++probe) {
      const std::uint64_t at = (hash(item.key) + probe) & (slots - 1);
      std::uint64_t found = load(keys[at]);
      // If another worker has filled the slot meanwhile, `found` is now its key, perhaps the same one.
      if (found == 0 && compare_swap(keys[at], found, item.key)) found = item.key;
      if (found != item.key) continue;
      add_relaxed(counts[at], std::uint64_t{1});
      return false;
    }
    add_relaxed(*lost, std::uint64_t{1});
    return false;
  }
  template <Worker W>
  SHOAL_FN void operator()(const W&, Item, auto&) const {}  // never called
};

/// The i-th of `size` keys, of which about a quarter as many are different.
std::uint64_t key_of(std::int64_t i, std::int64_t size) {
  return 1 + CountKeys::hash(static_cast<std::uint64_t>(i) + 1) % static_cast<std::uint64_t>(size / 4 + 1);
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "How often each of N keys occurs.", 1 << 20, [](Context& ctx) {
    const std::uint64_t slots = std::bit_ceil(static_cast<std::uint64_t>(ctx.size() / ctx.n_pes() + 64));
    const auto n = static_cast<std::int64_t>(slots);
    auto keys = ctx.alloc<std::uint64_t>(n, 0), counts = ctx.alloc<std::uint64_t>(n, 0);
    auto lost = ctx.alloc<std::uint64_t>(1, 0);
    const CountKeys task{keys.data(), counts.data(), lost.data(), slots, ctx.n_pes()};
    std::vector<CountKeys::Item> seeds;
    for (std::int64_t i = ctx.my_pe(); i < ctx.size(); i += ctx.n_pes()) seeds.push_back({key_of(i, ctx.size())});

    const Report report = run(ctx, task, seeds);
    if (const std::uint64_t all = ctx.reduce_sum(ctx.read(lost)[0]); all > 0) {
      throw CapacityError(std::to_string(all) + " keys found no slot among " + std::to_string(slots) + " of a PE");
    }
    std::unordered_map<std::uint64_t, std::uint64_t> want;  // the serial reference
    for (std::int64_t i = 0; i < ctx.size(); ++i) ++want[key_of(i, ctx.size())];
    const std::vector<std::uint64_t> key = ctx.concatenate(keys), count = ctx.concatenate(counts);
    std::size_t found = 0;
    bool right = true;
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (key[i] == 0) continue;
      ++found;
      const auto it = want.find(key[i]);
      right = right && it != want.end() && it->second == count[i];
    }
    right = right && found == want.size();
    if (ctx.leader()) {
      std::printf("%.3f ms, %zu different keys among %lld on %d PEs: %s\n", report.seconds * 1e3, found,
                  static_cast<long long>(ctx.size()), ctx.n_pes(), right ? "right" : "WRONG");
    }
    return right;
  });
}
