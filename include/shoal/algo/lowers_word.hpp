// What breadth-first search, shortest paths and components have in common as tasks. Every vertex has a word: its level, its
// distance, its label. An item offers a word to a vertex, and the owner of the vertex keeps it only if it is lower. Whoever
// runs the item offers to the neighbours what follows from it; that is what the three tasks say for themselves. The words at
// the end are exact whatever the order of items, because a vertex runs again when a lower word arrives later.
//
// Source: Atos, Listing 5. Differs: the owner judges (Groute's OnReceive), so no transport needs a remote minimum; with
// `--judge remote` the pusher does, as in Atos over NVLink. In either case the pusher remembers, as Atos does, what it has
// offered to others.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

/// The part of such a task that judges items. The task derives from it and adds range() and make().
/// @tparam Word  an unsigned number; all ones is more than any that is offered
template <class Word>
struct LowersWord {
  struct Item {
    vertex_t v;
    Word word;
  };

  static constexpr bool kSelfContained = true;  ///< an item has its word: what it finds in memory may be older
  static constexpr bool kKnowsOthers = true;
  static constexpr KernelSet kKernels = kAllKernels;

  OwnerTable owners;  ///< who owns which vertex
  /// [vertices] by placed number: the words of this PE's own vertices, and for the others the least that was offered from
  /// here. Most arcs between PEs offer nothing new, and go no further.
  Word* known;
  Symmetric<Word> words;  ///< the own part of every PE's `known`, for accept_at

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Most arcs offer nothing new: a look spares them the atomic.
  SHOAL_FN bool promising(Item item) const { return load<Scope::system>(known[item.v]) > item.word; }
  SHOAL_FN bool accept(Item item) const { return lower(known[item.v], item.word); }
  SHOAL_FN bool worth_sending(Item item) const { return lower(known[item.v], item.word); }
  /// Without a look: half of what gets here is news, and a look far away costs as much.
  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    return lower(words.part[pe][item.v - owners.begin[pe]], item.word);
  }
  /// A lower item has overtaken this one.
  SHOAL_FN bool stale(Item item) const { return load<Scope::system>(known[item.v]) < item.word; }

  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return a.word < b.word ? a : b; }

 private:
  /// True if it was lowered.
  SHOAL_FN static bool lower(Word& word, Word offered) { return fetch_min<Scope::system>(word, offered) > offered; }
};

}  // namespace shoal
