// What breadth-first search, shortest paths and components have in common as tasks. Every vertex has a word: its level,
// its distance, or its label. An item offers a word to a vertex, and the owner of the vertex accepts the item only if
// the word is lower. The worker that runs the item offers to the neighbours what follows from it; only this part
// differs between the three tasks. The words at the end are exact in any order of the items, because a vertex runs
// again when a lower word arrives later.
//
// Source: Atos, Listing 5. Differs: the owner judges (Groute's OnReceive), so a transport needs no remote minimum. With
// `--judge remote` the pusher judges, as in Atos over NVLink. Either way the pusher remembers what it has offered to
// others, as in Atos.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

/// The part of such a task that judges items. The task derives from it and adds range() and make().
/// @tparam Word  an unsigned number type; all ones is greater than any word that is offered
template <class Word>
struct LowersWord {
  struct Item {
    vertex_t v;
    Word word;
  };

  static constexpr bool kSelfContained = true;  ///< an item carries its word, so other memory may be older
  static constexpr bool kKnowsOthers = true;
  static constexpr KernelSet kKernels = kAllKernels;

  OwnerTable owners;  ///< who owns which vertex
  /// [vertices] by placed number: the words of this PE's own vertices, and for the others the least word that was
  /// offered from here. Most arcs between PEs offer nothing new, and this array stops them here.
  Word* known;
  Symmetric<Word> words;  ///< every PE's own part of `known`, for ask_at

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Most arcs offer nothing new; a load saves them the atomic.
  SHOAL_FN Word look(bool asks, Item item) const { return load_if<Scope::system>(asks, known + item.v, Word{0}); }
  SHOAL_FN bool promising(Item item, Word look) const { return look > item.word; }
  /// The least word that was offered before; of items that are not asked for, no less than what they offer.
  using Answer = Word;
  SHOAL_FN Answer ask(bool asks, Item item) const { return lower(asks, known[item.v], item.word); }
  /// Without a load first: half of the items that get here are lower, and a remote load costs as much as the atomic.
  SHOAL_FN Answer ask_at(bool asks, pe_t pe, Item item) const {
    return lower(asks, words.part[pe][item.v - owners.begin[pe]], item.word);
  }
  SHOAL_FN bool accepts(Item item, Answer before) const { return before > item.word; }
  SHOAL_FN bool worth_sending(Item item, Answer before) const { return before > item.word; }
  /// A lower item has overtaken this one.
  SHOAL_FN bool stale(Item item) const { return load<Scope::system>(known[item.v]) < item.word; }

  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return a.word < b.word ? a : b; }

 private:
  SHOAL_FN static Word lower(bool asks, Word& word, Word offered) {
    return fetch_min_if<Scope::system>(asks, word, offered, offered);
  }
};

}  // namespace shoal
