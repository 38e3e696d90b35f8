// The transport, which moves bytes to another PE: six operations. docs/transport.md explains how to write a transport.
//
// All addresses are addresses of the target PE. An operation returns false when it has failed for good; the run then ends with
// a TransportError on every PE. No operation waits for the target's workers.
#pragma once
#include <concepts>
#include <cstdint>

#include "shoal/core/atomic.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/transport/whole_slot.hpp"

namespace shoal {

/// A word that several PEs access.
template <class T>
using SharedWord = Word<T, Scope::system>;

/// A slot in another PE's memory. The value is valid when the signal is the ticket of the value + 1. So the signal identifies
/// the message; it is not a counter.
template <class T>
struct alignas(kSlotAlignment<T>) RemoteSlot {
  SharedWord<ticket_t> signal;
  T value;
};

template <class Tr>
concept Transport = requires(const Tr& t, pe_t pe, RemoteSlot<std::uint64_t>* slot, SharedWord<std::int64_t>* word,
                             SharedWord<ticket_t>* count, SharedWord<std::uint32_t>* flag, std::int64_t n,
                             std::uint64_t value) {
  { t.put_signal(pe, slot, value, ticket_t{}) } -> std::same_as<bool>;  // the value becomes visible before the signal
  { t.add(pe, word, n) } -> std::same_as<bool>;  // release: after everything this thread read or wrote before
  { t.raise(pe, count, ticket_t{}) } -> std::same_as<bool>;  // release, as add; the word becomes at least this value
  { t.get(pe, word) } -> std::same_as<std::int64_t>;         // acquire
  { t.set(pe, flag, 1u) } -> std::same_as<bool>;             // release
  t.progress();                                              // called by idle workers: issues what is held back
};

/// Optional, for transports whose puts are plain stores: put_signal for several slots at once; entries with a null `slot[k]` are
/// skipped. If kWholeSlot is true, a value of up to 8 bytes and its signal are stored in one 16-byte access, and the receiver
/// may read them in one access.
/// @tparam kOrders  true: a thread that acquires a signal also sees what this thread did before; false: it sees only the
///   value
template <class Tr, class T>
concept PutsSeveral = requires(const Tr& t, pe_t pe, RemoteSlot<T>* const (&slot)[1], const T (&value)[1],
                               const ticket_t (&signal)[1]) {
  { t.template put_signals<true>(pe, slot, value, signal) } -> std::same_as<bool>;
};

}  // namespace shoal
