// The interface of a task, which the user of a worklist writes: a plain, trivially copyable struct that says what happens to
// one item. Its members are const; the data that they change is behind pointers.
//
// Every task has
//   Item                   the type of an item: trivially copyable, 4 to 64 bytes; Item{} must compile
//   owner(item)            the PE that judges and runs the item: 0 to n_pes - 1, and always the same for an item.
//                          The pusher calls it if there are several PEs; on GPUs a few times for an item that travels, so it
//                          should be fast. Any other number ends the run with a UsageError that names it
//   accept(item)           judges: true if the item is to be run. Called once per item, at the owner, by one lane;
//                          may change the owner's data
//   ask(asks, item), accepts(item, answer)
//                          the same in two steps, in place of accept. ask changes the data if `asks` is true, and returns an
//                          Answer; accepts says whether that Answer means that the item is to be run. A lane calls ask for all
//                          of its items before it uses the first Answer. So on a GPU the atomics of these items are in flight
//                          together, if ask does not use the result of its atomic (fetch_min_if, add_relaxed_if of
//                          core/atomic.hpp). If `asks` is false, the item may be Item{}
// and, to run an item, either of
//   operator()(w, item, out)           called by a whole worker; pushes by out.push(w, ...) and out.push_each(w, ...)
//   range(item), make(item, element)   means "push make(item, e) for each e of range(item)": the library spreads the
//                                      elements of many items over the lanes of a worker. A range has fewer than 2^32
//                                      elements. A task that has neither stale nor kAnyOrder may change
//                                      the owner's data in range; for others range may be called more than once for an item
//
// It may have
//   owns(pe, item)         owner(item) == pe, if that is quicker to find out than the owner. Must be exactly that, also for an item
//                          without a valid owner: short batches of warps on several PEs ask it in place of owner, and all else
//                          asks owner. A task that derives from another and replaces owner replaces owns as well
//   promising(item)        false if accept would refuse the item. It changes nothing. A worker calls it for several items
//                          first, and then calls accept for those that are left. It may leave that out (LaunchPlan::looks)
//   look(asks, item), promising(item, look)
//                          the same in two steps, in place of promising. look loads the data that promising compares with, and
//                          must load nothing if `asks` is false. On a GPU the loads for the items of a lane are in flight
//                          together if look makes them conditional with load_if, and not with a branch, on `asks` and nothing
//                          else. For another condition ptxas was seen to wait for each load before it issues the next
//   look(asks, item, found)
//                          the same for some items of a lane, in arrays of one size, in place of look(asks, item). For tasks that
//                          choose what to load: their branch is then outside of all loads. `found` has elements of type Look
//   worth_sending(item)    false if an item for another PE need not be sent. The pusher calls it once per item; it may record
//                          in its own PE's data which items it lets through. A task with ask may have
//                          worth_sending(item, answer) instead: the pusher first calls ask, on its own PE's data
//   stale(item)            true if an accepted item need not run any more, now and later. Called just before the item would run
//   locate(asks, item), prefetch(accepted, item, place)
//                          for tasks with ask, and warps that keep items: fetch what range and make will load, so that it is in the
//                          cache when the item runs. locate loads the place of that data, such as the number of a row's first arc, and
//                          is called together with ask; it must load nothing if `asks` is false. What it returns is not computed with
//                          before the answer has arrived. prefetch then asks for the data (CsrView::locate, CsrView::prefetch)
//   accept_at(pe, item)    with `--judge remote`, in place of accept for items of other PEs: the pusher judges, on
//                          the data of the owner `pe`, which it reaches by peer access. Needs atomics of system scope.
//                          In two steps: ask_at(asks, pe, item), and accepts
//   priority(item)         a number, smaller first: with `--queue priority`, items beyond a threshold wait
//                          (queue/buckets.hpp). It is converted to double. Negative ones are legal, but are all in the first
//                          bucket, in no order; to tell them apart, add a constant
//   key(item), combine(a, b)
//                          with `--combine on`: items of one owner with equal keys may be merged into combine(a, b)
//                          before they are sent
//   idle(w, out, part, parts)
//                          called by a whole worker that found no item: looks through part `part` of `parts` of this
//                          PE's own data, and may push. Its result depends only on the data, and it pushes nothing when
//                          nothing is left to be done
//   refresh(w, me, part)   called by all lanes of a block every few batches, in persistent runs of several PEs on GPUs: may copy
//                          some of what other PEs know to PE `me`, so that it sends them fewer items. No result may depend on it:
//                          workers that are warps or single threads do not call it. The blocks of a PE together go through the
//                          parts 0, 1, 2, ... without an end; the task takes them modulo the number of parts that it has, and
//                          one should take a block a few microseconds
//   enough()               called on every PE every few steps, by one lane: true ends the run on all PEs, with items
//                          left (Report::left)
// and may promise, as `static constexpr bool NAME = true`,
//   kSelfContained         whoever judges or runs an item needs to see only the item, and not what the pusher wrote before the
//                          push. Saves GPUs a memory fence per item. make may then be called more than once for an element
//   kKnowsOthers           promising may be called by the pusher for items of other PEs as well, before worth_sending. For
//                          tasks that remember which items they have offered to other PEs. If the task also refuses most items,
//                          promising must be legal for every item that make returns: it is called before owner
//   kRefusesMost           most items are refused, or not worth sending. On GPUs the warps of a block then refuse what they can
//                          before the block meets for the items that are left (worklist/sieve.hpp). For tasks with range and make
//   kAnyOrder              the order in which items run changes neither the result nor how many items run, as where each element
//                          is accepted once; and range changes nothing. Warps may then keep some of the items that they push, and run
//                          them first (`--keep`)
// and may name the kernels that a program compiles for it, as kKernels, and those that have variants, as kVariants
// (worklist/kernel_set.hpp).
//
// Source: design of Atos (f1, f2), Groute (OnSend, OnReceive, GetPrio).
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

/// Judges in one step.
template <class T>
concept AcceptsAtOnce = requires(const T& t, const typename T::Item& item) {
  { t.accept(item) } -> std::convertible_to<bool>;
};
/// Judges in two steps.
template <class T>
concept AsksFirst = requires(const T& t, const typename T::Item& item, const typename T::Answer& answer) {
  { t.ask(true, item) } -> std::convertible_to<typename T::Answer>;
  { t.accepts(item, answer) } -> std::convertible_to<bool>;
};
/// What every task must have. check_task() rejects any other type with a message.
template <class T>
concept Task = requires(const T& t, const typename T::Item& item) {
  { t.owner(item) } -> std::convertible_to<pe_t>;
}
&&(AcceptsAtOnce<T> || AsksFirst<T>);
template <class T>
concept FanOutTask = requires(const T& t, const typename T::Item& item) {
  { t.range(item).size() } -> std::convertible_to<std::int64_t>;
  { t.make(item, t.range(item)[0]) } -> std::convertible_to<typename T::Item>;
};

// Optional members of a task. A new one must be named in detail::OptionalMembers as well, and needs a message in
// check_task().

// Judging, and ways to avoid it.
template <class T>
concept PromisesAtOnce = requires(const T& t, const typename T::Item& item) {
  { t.promising(item) } -> std::convertible_to<bool>;
};
/// The same in two steps.
template <class T>
concept LooksFirst = requires(const T& t, const typename T::Item& item) {
  { t.promising(item, t.look(true, item)) } -> std::convertible_to<bool>;
};
/// The same for some items of a lane at once.
template <class T>
concept LooksTogether = requires(const T& t, const typename T::Item (&item)[2], const bool (&asks)[2],
                                 typename T::Look (&found)[2]) {
  t.look(asks, item, found);
  { t.promising(item[0], found[0]) } -> std::convertible_to<bool>;
};
/// What look() loads for an item.
template <class T>
struct LookOf {
  using Type = decltype(std::declval<const T&>().look(true, std::declval<const typename T::Item&>()));
};
template <LooksTogether T>
struct LookOf<T> {
  using Type = typename T::Look;
};
template <class T>
concept HasPromising = PromisesAtOnce<T> || LooksFirst<T> || LooksTogether<T>;
template <class T>
concept HasWorthSending = requires(const T& t, const typename T::Item& item) {
  { t.worth_sending(item) } -> std::convertible_to<bool>;
};
/// The form of worth_sending for tasks with ask().
template <class T>
concept HasWorthOfAnswer = AsksFirst<T> &&
    requires(const T& t, const typename T::Item& item, const typename T::Answer& answer) {
  { t.worth_sending(item, answer) } -> std::convertible_to<bool>;
};
template <class T>
concept HasStale = requires(const T& t, const typename T::Item& item) {
  { t.stale(item) } -> std::convertible_to<bool>;
};
/// Fetches what a run of an item will load before the item is accepted.
template <class T>
concept FetchesAhead = AsksFirst<T> && requires(const T& t, const typename T::Item& item) {
  t.prefetch(true, item, t.locate(true, item));
};
/// What locate() loads for an item.
template <class T>
struct PlaceOf {
  using Type = char;
};
template <FetchesAhead T>
struct PlaceOf<T> {
  using Type = decltype(std::declval<const T&>().locate(true, std::declval<const typename T::Item&>()));
};
template <class T>
concept AcceptsAt = requires(const T& t, const typename T::Item& item) {
  { t.accept_at(pe_t{}, item) } -> std::convertible_to<bool>;
};
template <class T>
concept AsksAt = AsksFirst<T> && requires(const T& t, const typename T::Item& item) {
  { t.ask_at(true, pe_t{}, item) } -> std::convertible_to<typename T::Answer>;
};
template <class T>
concept HasRemoteJudge = AcceptsAt<T> || AsksAt<T>;
template <class T>
concept HasOwns = requires(const T& t, const typename T::Item& item) {
  { t.owns(pe_t{}, item) } -> std::convertible_to<bool>;
};
// Promises.
template <class T>
concept SelfContained = requires {
  requires T::kSelfContained;
};
template <class T>
concept KnowsOthers = requires {
  requires T::kKnowsOthers;
};
template <class T>
concept RefusesMost = requires {
  requires T::kRefusesMost;
};
template <class T>
concept AnyOrder = requires {
  requires T::kAnyOrder;
};
/// Whether several lanes may call range() for one item.
template <class T>
concept DealsOut = FanOutTask<T> && SelfContained<T> &&(HasStale<T> || AnyOrder<T>);
// Order of items, merging, and an early end of the run.
template <class T>
concept HasPriority = requires(const T& t, const typename T::Item& item) {
  { t.priority(item) } -> std::convertible_to<double>;
};
/// The type of an item's priority.
template <HasPriority T>
using PriorityOf =
    std::remove_cvref_t<decltype(std::declval<const T&>().priority(std::declval<const typename T::Item&>()))>;
template <class T>
concept HasCombine = requires(const T& t, const typename T::Item& item) {
  { t.key(item) } -> std::convertible_to<std::uint64_t>;
  { t.combine(item, item) } -> std::convertible_to<typename T::Item>;
};
namespace detail {
/// Takes the place of Out while a task is checked at compile time; its pushes are never executed.
struct DoorOfChecks {
  template <class... Any>
  SHOAL_FN void push(const Any&...) {}
  template <class... Any>
  SHOAL_FN void push_each(const Any&...) {}
};
}  // namespace detail
/// `template <class W, class Out> void idle(const W&, Out&, lane_t part, lane_t parts) const`.
template <class T>
concept HasIdle = requires(const T& t, const CpuThread& w, detail::DoorOfChecks& out, lane_t part) {
  t.idle(w, out, part, part);
};
/// `template <class W> void refresh(const W&, pe_t me, std::uint32_t part) const`.
template <class T>
concept HasRefresh = requires(const T& t, const CpuThread& w, pe_t me, std::uint32_t part) {
  t.refresh(w, me, part);
};
template <class T>
concept HasEnough = requires(const T& t) {
  { t.enough() } -> std::convertible_to<bool>;
};

namespace detail {
template <class T>
concept RunsItems = requires(const T& t, const CpuThread& w, const typename T::Item& item, DoorOfChecks& out) {
  t(w, item, out);
}
|| requires { &T::operator(); };  // operator() is no template: for one kind of worker

/// A struct with the names of all optional members.
struct OptionalMembers {
  int owns, range, ask, accepts, ask_at, look, promising, worth_sending, stale, locate, prefetch, accept_at, priority,
      key, combine, idle, refresh, enough;
};
/// Detects which of those names a task has, whatever their signatures: if T has a member `stale` too, `&Beside<T>::stale`
/// is ambiguous and does not compile.
template <class T>
struct Beside : T, OptionalMembers {};
}  // namespace detail

/// Rejects a task at compile time, with a message, if it is incomplete, or if it has an optional member with a signature
/// that the library cannot call and would otherwise ignore.
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
  static_assert(
      Task<T>,
      "a task needs `pe_t owner(Item) const` and `bool accept(Item) const`, or in place of accept a type Answer, "
      "`Answer ask(bool, Item) const` and `bool accepts(Item, Answer) const`");
  static_assert(!std::is_final_v<T>, "a task is not final: a struct that derives from it tells which members it has");
  using Lacks = detail::Beside<T>;  // `&Lacks::stale` compiles if the task lacks a member `stale`
  static_assert(
      detail::RunsItems<T> || !requires { &Lacks::range; },
      "a task needs `template <class W, class Out> void operator()(const W&, Item, Out&) const`, or range(item) "
      "and make(item, element) in its place");
  static_assert(
      FanOutTask<T> || requires { &Lacks::range; },
      "a task with range needs `R range(Item) const`, where R has size() and [], and `Item make(Item, element) const`");
  static_assert(!FanOutTask<T> || !detail::RunsItems<T>, "a task has either operator() or range and make, not both");
  static_assert(
      HasPromising<T> || requires { &Lacks::promising, &Lacks::look; },
      "promising is `bool promising(Item) const`, or `Look look(bool, Item) const` and `bool promising(Item, Look) "
      "const`, or the same with a type Look and `template <lane_t N> void look(const bool (&)[N], const Item (&)[N], "
      "Look (&)[N]) const`");
  static_assert(
      AsksFirst<T> || requires { &Lacks::ask, &Lacks::accepts; },
      "judging in two steps needs a type Answer, `Answer ask(bool, Item) const` and `bool accepts(Item, Answer) "
      "const`");
  static_assert(!AcceptsAtOnce<T> || !AsksFirst<T>, "a task has either accept or ask and accepts, not both");
  static_assert(
      HasWorthSending<T> || HasWorthOfAnswer<T> || requires { &Lacks::worth_sending; },
      "worth_sending is `bool worth_sending(Item) const`, or, for tasks with ask, `bool worth_sending(Item, Answer) "
      "const`");
  static_assert(
      HasStale<T> || requires { &Lacks::stale; }, "stale is `bool stale(Item) const`");
  static_assert(
      FetchesAhead<T> || requires { &Lacks::locate, &Lacks::prefetch; },
      "fetching ahead needs `Place locate(bool, Item) const` and `void prefetch(bool, Item, Place) const`, in a task "
      "with ask");
  static_assert(
      HasOwns<T> || requires { &Lacks::owns; }, "owns is `bool owns(pe_t, Item) const`");
  static_assert(
      AcceptsAt<T> || requires { &Lacks::accept_at; }, "accept_at is `bool accept_at(pe_t, Item) const`");
  static_assert(
      AsksAt<T> || requires { &Lacks::ask_at; },
      "ask_at is `Answer ask_at(bool, pe_t, Item) const`, for tasks with ask");
  static_assert(
      !requires { T::kSelfContained; } || requires { typename std::bool_constant<T::kSelfContained>; },
      "kSelfContained is `static constexpr bool`");
  static_assert(
      !requires { T::kKnowsOthers; } || requires { typename std::bool_constant<T::kKnowsOthers>; },
      "kKnowsOthers is `static constexpr bool`");
  static_assert(
      !requires { T::kRefusesMost; } || requires { typename std::bool_constant<T::kRefusesMost>; },
      "kRefusesMost is `static constexpr bool`");
  static_assert(
      !requires { T::kAnyOrder; } || requires { typename std::bool_constant<T::kAnyOrder>; },
      "kAnyOrder is `static constexpr bool`");
  static_assert(!RefusesMost<T> || FanOutTask<T>, "a task with kRefusesMost needs range and make");
  static_assert(
      HasPriority<T> || requires { &Lacks::priority; }, "`priority(Item) const` returns a number; smaller runs first");
  static_assert(
      HasCombine<T> || requires { &Lacks::key, &Lacks::combine; },
      "combining needs both `std::uint64_t key(Item) const` and `Item combine(Item, Item) const`");
  static_assert(
      HasIdle<T> || requires { &Lacks::idle; },
      "idle is `template <class W, class Out> void idle(const W&, Out&, lane_t part, lane_t parts) const`");
  static_assert(
      HasRefresh<T> || requires { &Lacks::refresh; },
      "refresh is `template <class W> void refresh(const W&, pe_t me, std::uint32_t part) const`");
  static_assert(
      HasEnough<T> || requires { &Lacks::enough; }, "enough is `bool enough() const`");
  return true;
}

}  // namespace shoal
