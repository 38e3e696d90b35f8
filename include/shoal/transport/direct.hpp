// The transport for PEs that reach each other's memory by loads and stores: groups of CPU threads (engine `threads`) and GPUs
// with peer access (engine `peer`). In a run of a single PE (engine `self`) no item goes through it; the search for the end and
// phases use it for the PE's own words.
#pragma once
#include "shoal/transport/transport.hpp"

namespace shoal {

/// An address in another PE's memory can be used here as it is. Stateless.
struct DirectTransport {
  template <class T>
  SHOAL_FN bool put_signal(pe_t, RemoteSlot<T>* slot, const T& value, ticket_t signal) const {
    plain_write(slot->value, value);
    slot->signal.store_release(signal);
    return true;
  }
  /// Uses at most one fence, for all slots together.
  template <bool kOrders, lane_t kSome, class T>
  SHOAL_FN bool put_signals(pe_t, RemoteSlot<T>* const (&slot)[kSome], const T (&value)[kSome],
                            const ticket_t (&signal)[kSome]) const {
    if constexpr (kWholeSlot<T>) {
      if constexpr (kOrders) release_several<Scope::system>();
      for (lane_t k = 0; k < kSome; ++k) {
        if (slot[k] != nullptr) store_whole<kOrders && kOrdersEach, Scope::system>(slot[k], signal[k], value[k]);
      }
    } else {
      for (lane_t k = 0; k < kSome; ++k) {
        if (slot[k] != nullptr) plain_write(slot[k]->value, value[k]);
      }
      release_several<Scope::system>();
      for (lane_t k = 0; k < kSome; ++k) {
        if (slot[k] != nullptr) slot[k]->signal.store_one_of_several(signal[k]);
      }
    }
    return true;
  }
  SHOAL_FN bool add(pe_t, SharedWord<std::int64_t>* word, std::int64_t n) const {
    word->fetch_add_release(n);
    return true;
  }
  SHOAL_FN bool raise(pe_t, SharedWord<ticket_t>* word, ticket_t least) const {
    word->fetch_max_release(least);
    return true;
  }
  template <class T>
  SHOAL_FN T get(pe_t, const SharedWord<T>* word) const {
    return word->load_acquire();
  }
  template <class T>
  SHOAL_FN bool set(pe_t, SharedWord<T>* word, T value) const {
    word->store_release(value);
    return true;
  }
  SHOAL_FN void progress() const {}
};
static_assert(Transport<DirectTransport>);

}  // namespace shoal
