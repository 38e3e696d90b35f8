// What a user writes: a plain struct, trivially copyable, that says what happens to one item.
//
//   Item              what travels; trivially copyable, 4 to 64 bytes, made by Item{}
//   owner(item)       the PE that judges and runs it, 0 to the run's PEs - 1 (else the run ends with a UsageError that names
//                     it); called by the pusher where there are several PEs, and always the same for the same item
//   accept(item)      called once per item, at the owner, by one lane: true if it is to be run; may change the owner's data
//   operator()(w, item, out)   called by a whole worker at the owner; pushes with out.push(w, ...) and out.push_each(w, ...)
//   range(item), make(item, element)   instead of operator(): "push make(item, e) for each e of range(item)", which lets the
//                     runtime spread the elements of many items over the lanes of a worker
//   promising(item)   optional; at the owner, just before accept: false if accept would refuse it. A look without consequences:
//                     a worker asks about several items before it has accept() judge those that are left
//   kSelfContained    optional; `static constexpr bool kSelfContained = true`: who judges or runs an item needs to see nothing that
//                     was written before it was pushed but the item. Spares GPUs memory fences for every item
//   kKnowsOthers      optional; `static constexpr bool kKnowsOthers = true`: promising() may be asked of items of other PEs, too, by
//                     the pusher, before worth_sending(). For tasks that keep what they have offered to others
//   stale(item)       optional; just before it runs: true if it need not run any more
//   worth_sending(item)   optional; at the pusher, for an item of another PE: false if it need not travel. Asked once of an
//                     item; may note in this PE's own data what it lets through
//   priority(item)    optional; a number, smaller first: with `--queue priority` items beyond a threshold wait (queue/buckets.hpp)
//   accept_at(pe, item)   optional; accept by the pusher, on the data of the owner `pe`, which it reaches by peer access: with
//                     `--judge remote` it replaces accept for items of other PEs. Atomics of system scope.
//   key(item), combine(a, b)   optional; items of one owner with equal keys may be merged into combine(a, b) before they are sent
//   idle(w, out, part, parts)  optional; a whole worker that found nothing looks through part `part` of `parts` of this PE's
//                     own data, and may push. It goes by the data alone, and finds nothing when nothing is left to be done.
//   enough()          optional; asked of every PE now and then, one lane: true ends the run on all PEs, with items left (Report::left)
//
// Every member is const; the data it changes is behind pointers. Source: design of Atos (f1, f2), Groute (OnSend, OnReceive, GetPrio).
#pragma once
#include <concepts>
#include <type_traits>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

template <class T>
concept FanOutTask = requires(const T& t, const typename T::Item& item) {
  { t.range(item).size() } -> std::convertible_to<std::int64_t>;
  { t.make(item, t.range(item)[0]) } -> std::convertible_to<typename T::Item>;
};
template <class T>
concept HasStale = requires(const T& t, const typename T::Item& item) {
  { t.stale(item) } -> std::convertible_to<bool>;
};
template <class T>
concept HasPromising = requires(const T& t, const typename T::Item& item) {
  { t.promising(item) } -> std::convertible_to<bool>;
};
template <class T>
concept NamesSelfContained = requires {
  T::kSelfContained;
};
template <class T>
inline constexpr bool kSelfContained = false;
template <NamesSelfContained T>
inline constexpr bool kSelfContained<T> = T::kSelfContained;
template <class T>
concept NamesKnowsOthers = requires {
  T::kKnowsOthers;
};
template <class T>
inline constexpr bool kKnowsOthers = false;
template <NamesKnowsOthers T>
inline constexpr bool kKnowsOthers<T> = T::kKnowsOthers;
template <class T>
concept HasWorthSending = requires(const T& t, const typename T::Item& item) {
  { t.worth_sending(item) } -> std::convertible_to<bool>;
};

/// What the library asks of every item. Beside it a task needs Item and, to run one, operator() or range and make:
/// check_task says in words what is missing.
template <class T>
concept Task = requires(const T& t, const typename T::Item& item) {
  { t.owner(item) } -> std::convertible_to<pe_t>;
  { t.accept(item) } -> std::convertible_to<bool>;
};

template <class T>
concept HasPriority = requires(const T& t, const typename T::Item& item) {
  { t.priority(item) } -> std::convertible_to<double>;
};
template <class T>
concept HasRemoteJudge = requires(const T& t, const typename T::Item& item) {
  { t.accept_at(pe_t{}, item) } -> std::convertible_to<bool>;
};
template <class T>
concept HasCombine = requires(const T& t, const typename T::Item& item) {
  { t.key(item) } -> std::convertible_to<std::uint64_t>;
  { t.combine(item, item) } -> std::convertible_to<typename T::Item>;
};
/// `template <class W, class Out> void idle(const W&, Out&, lane_t part, lane_t parts) const`.
template <class T>
concept HasIdle = requires(const T& t, const int& w, int& out, lane_t part) {
  t.template idle<int, int>(w, out, part, part);
};

template <class T>
concept HasEnough = requires(const T& t) {
  { t.enough() } -> std::convertible_to<bool>;
};

namespace detail {
/// Stands for a worker's door where a task is checked; its pushes are never run.
struct DoorOfChecks {
  template <class... Any>
  SHOAL_FN void push(const Any&...) {}
  template <class... Any>
  SHOAL_FN void push_each(const Any&...) {}
};
template <class T>
concept RunsItems = requires(const T& t, const CpuThread& w, const typename T::Item& item, DoorOfChecks& out) {
  t(w, item, out);
}
|| requires { &T::operator(); };  // not a template: for one kind of worker

// What a task names, const or not: a member that is named and cannot be used is refused, not ignored.
template <class T>
concept NamesStale = requires(T& t, const typename T::Item& i) {
  t.stale(i);
}
|| requires { &T::stale; };
template <class T>
concept NamesWorthSending = requires(T& t, const typename T::Item& i) {
  t.worth_sending(i);
}
|| requires { &T::worth_sending; };
template <class T>
concept NamesPromising = requires(T& t, const typename T::Item& i) {
  t.promising(i);
}
|| requires { &T::promising; };
template <class T>
concept NamesRange = requires(T& t, const typename T::Item& i) {
  t.range(i);
}
|| requires { &T::range; };
template <class T>
concept NamesRemoteJudge = requires(T& t, const typename T::Item& i) {
  t.accept_at(pe_t{}, i);
}
|| requires { &T::accept_at; };
template <class T>
concept NamesPriority = requires(T& t, const typename T::Item& i) {
  t.priority(i);
};
template <class T>
concept NamesIdle = requires {
  &T::idle;
}
|| requires { &T::template idle<int, int>; };
template <class T>
concept NamesEnough = requires {
  &T::enough;
};
template <class T>
concept NamesCombine = requires(T& t, const typename T::Item& i) {
  t.combine(i, i);
}
|| requires(T& t, const typename T::Item& i) { t.key(i); };
}  // namespace detail

/// Refuses at compile time, in words, a task that is incomplete or half says what it wants.
template <class T>
constexpr bool check_task() {
  static_assert(
      requires { typename T::Item; }, "a task needs a type Item: what travels, and says what is to be done");
  using Item = typename T::Item;
  static_assert(std::is_trivially_copyable_v<T>, "a task is copied into kernels: it must be trivially copyable");
  static_assert(std::is_trivially_copyable_v<Item>, "an Item is copied between PEs: it must be trivially copyable");
  static_assert(sizeof(Item) >= 4 && sizeof(Item) <= 64, "an Item has 4 to 64 bytes");
  static_assert(
      std::is_default_constructible_v<Item> && std::is_copy_assignable_v<Item>,
      "an Item is made by Item{} and assigned where it waits: it has no constructor with parameters only, and no "
      "const or reference member");
  static_assert(Task<T>, "a task needs `pe_t owner(Item) const` and `bool accept(Item) const`");
  static_assert(
      detail::RunsItems<T> || detail::NamesRange<T>,
      "a task needs `template <class W, class Out> void operator()(const W&, Item, Out&) const`, or range(item) "
      "and make(item, element) in its place");
  static_assert(!detail::NamesStale<T> || HasStale<T>, "stale is `bool stale(Item) const`");
  static_assert(!detail::NamesPromising<T> || HasPromising<T>, "promising is `bool promising(Item) const`");
  static_assert(!detail::NamesWorthSending<T> || HasWorthSending<T>,
                "worth_sending is `bool worth_sending(Item) const`");
  static_assert(
      !detail::NamesRange<T> || FanOutTask<T>,
      "a task with range needs `R range(Item) const`, where R has size() and [], and `Item make(Item, element) const`");
  static_assert(!detail::NamesRemoteJudge<T> || HasRemoteJudge<T>, "accept_at is `bool accept_at(pe_t, Item) const`");
  static_assert(!detail::NamesCombine<T> || HasCombine<T>,
                "combining needs both `std::uint64_t key(Item) const` and `Item combine(Item, Item) const`");
  static_assert(!detail::NamesPriority<T> || HasPriority<T>,
                "`priority(Item) const` returns a number; smaller runs first");
  static_assert(!detail::NamesIdle<T> || HasIdle<T>,
                "idle is `template <class W, class Out> void idle(const W&, Out&, lane_t part, lane_t parts) const`");
  static_assert(!detail::NamesEnough<T> || HasEnough<T>, "enough is `bool enough() const`");
  return true;
}

}  // namespace shoal
