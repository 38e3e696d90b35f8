// How bytes reach another PE: four verbs. docs/transport.md is the porting guide.
//
// Addresses are those of the target PE. A verb returns false when the operation failed for good; the run then ends in a
// TransportError on every PE. No verb waits for the target's workers.
#pragma once
#include <concepts>
#include <cstdint>

#include "shoal/core/atomic.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/transport/whole_slot.hpp"

namespace shoal {

/// A word that several PEs touch.
template <class T>
using SharedWord = Word<T, Scope::system>;

/// What a slot in another PE's memory looks like: the value is valid when the signal is its ticket + 1. The signal names
/// the message, it does not count.
template <class T>
struct alignas(kSlotAlignment<T>) RemoteSlot {
  SharedWord<ticket_t> signal;
  T value;
};

template <class Tr>
concept Transport = requires(const Tr& t, pe_t pe, RemoteSlot<std::uint64_t>* slot, SharedWord<std::int64_t>* word,
                             SharedWord<std::uint32_t>* flag, std::int64_t n, std::uint64_t value) {
  { t.put_signal(pe, slot, value, ticket_t{}) } -> std::same_as<bool>;  // value, then signal, visible in this order
  { t.add(pe, word, n) } -> std::same_as<bool>;       // after everything this thread read or wrote before (release)
  { t.get(pe, word) } -> std::same_as<std::int64_t>;  // acquire
  { t.set(pe, flag, 1u) } -> std::same_as<bool>;      // release
  t.progress();                                       // called by idle workers: move what is held back
};

/// Optional, for transports whose puts are stores: put_signal for several slots at once, `slot[k]` null for none. A value of up
/// to 8 bytes and its signal are one store where there is one (kWholeSlot), which the receiver may then read as one.
/// @tparam kOrders  false: whoever sees a signal sees the value, but need not see what this thread did before
template <class Tr, class T>
concept PutsSeveral = requires(const Tr& t, pe_t pe, RemoteSlot<T>* const (&slot)[1], const T (&value)[1],
                               const ticket_t (&signal)[1]) {
  { t.template put_signals<true>(pe, slot, value, signal) } -> std::same_as<bool>;
};

}  // namespace shoal
