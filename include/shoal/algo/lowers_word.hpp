// The common part of the tasks for breadth-first search, shortest paths and components. Every vertex has a word: its level, its
// distance, or its label. An item offers a word to a vertex, and the owner of the vertex accepts the item only if that word is
// lower than the vertex's own. The worker that runs the item computes from it the words that it offers to the neighbours; only
// this differs between the three tasks. The final words are exact for any order of the items, because a vertex runs again
// whenever a lower word arrives.
//
// Source: Atos, Listing 5. Differs: the owner judges (Groute's OnReceive), so a transport needs no remote minimum. With
// `--judge remote` the pusher judges, as in Atos over NVLink. In both cases the pusher remembers the words that it has offered
// to vertices of other PEs, as in Atos.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

/// The part of such a task that judges items. The task derives from it and adds range() and make().
/// @tparam Word  an unsigned number type; the value with all bits set must be greater than any word that is offered
template <class Word>
struct LowersWord {
  struct Item {
    vertex_t v;
    Word word;
  };

  static constexpr bool kSelfContained = true;  ///< an item carries its word, so nothing else need be visible with it
  static constexpr bool kKnowsOthers = true;
  static constexpr KernelSet kKernels = kAllKernels;

  OwnerTable owners;  ///< who owns which vertex
  /// [vertices] by placed number: the words of this PE's own vertices; for vertices of other PEs, the lowest word that this PE
  /// has offered to them. Most arcs between PEs offer nothing new, and this array stops their items before they are sent.
  Word* known;
  Symmetric<Word> words;  ///< every PE's own part of `known`, for ask_at

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool owns(pe_t pe, Item item) const { return owners.owns(pe, item.v); }

  /// For promising(): most arcs offer nothing new, and this load then saves the atomic.
  SHOAL_FN Word look(bool asks, Item item) const { return load_if<Scope::system>(asks, known + item.v, Word{0}); }
  SHOAL_FN bool promising(Item item, Word look) const { return look > item.word; }
  /// The lowest word that was offered before this item. If `asks` is false, the item's own word, so that it is refused.
  using Answer = Word;
  SHOAL_FN Answer ask(bool asks, Item item) const { return lower(asks, known[item.v], item.word); }
  /// Does not load first: half of the items that get here are lower, and a remote load costs as much as the atomic.
  SHOAL_FN Answer ask_at(bool asks, pe_t pe, Item item) const {
    return lower(asks, words.part[pe][item.v - owners.begin[pe]], item.word);
  }
  SHOAL_FN bool accepts(Item item, Answer before) const { return before > item.word; }
  SHOAL_FN bool worth_sending(Item item, Answer before) const { return before > item.word; }
  /// True if the vertex has received a lower word since the item was accepted.
  SHOAL_FN bool stale(Item item) const { return load<Scope::system>(known[item.v]) < item.word; }

  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return a.word < b.word ? a : b; }

 private:
  SHOAL_FN static Word lower(bool asks, Word& word, Word offered) {
    return fetch_min_if<Scope::system>(asks, word, offered, offered);
  }
};

}  // namespace shoal
