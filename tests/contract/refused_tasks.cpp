// Tasks that must not compile, one for each SHOAL_REFUSED_<case>; contract_tests.cmake compiles each and looks for the
// words that the compiler must say. With no case defined the task is a good one, and this file compiles.
#include <string>

#if defined(SHOAL_REFUSED_BY_WORKLIST)
#include "shoal/runtime/worklist.hpp"
#else
#include "shoal/worker/task.hpp"
#endif

struct Task {
  struct Item {
#if defined(SHOAL_REFUSED_ITEM_OF_2_BYTES)
    unsigned short v;
#elif defined(SHOAL_REFUSED_ITEM_OF_72_BYTES)
    unsigned char v[72];
#elif defined(SHOAL_REFUSED_ITEM_WITH_STRING)
    std::string v;
#else
    unsigned v;
#endif
  };
#if defined(SHOAL_REFUSED_TASK_WITH_STRING)
  std::string name;
#endif
#if !defined(SHOAL_REFUSED_NO_OWNER)
  shoal::pe_t owner(Item) const { return 0; }
#endif
#if !defined(SHOAL_REFUSED_NO_ACCEPT)
  bool accept(Item) const { return true; }
#endif
#if defined(SHOAL_REFUSED_PRIORITY) || defined(SHOAL_REFUSED_BY_WORKLIST)
  std::string priority(Item) const { return "high"; }
#elif defined(SHOAL_REFUSED_COMBINE)
  Item combine(Item a, Item) const { return a; }
#elif defined(SHOAL_REFUSED_KEY)
  unsigned key(Item item) const { return item.v; }
#elif defined(SHOAL_REFUSED_IDLE)
  template <class W, class Out>
  void idle(const W&, Out&) const {}
#elif defined(SHOAL_REFUSED_PLAIN_IDLE)
  void idle() const {}
#endif
#if defined(SHOAL_REFUSED_STALE_NOT_CONST)
  bool stale(Item) { return false; }
#elif defined(SHOAL_REFUSED_STALE_OF_NOTHING)
  bool stale() const { return false; }
#elif defined(SHOAL_REFUSED_WORTH_SENDING_NOT_CONST)
  bool worth_sending(Item) { return true; }
#elif defined(SHOAL_REFUSED_RANGE_NOT_CONST)
  struct Range {
    long size() const { return 0; }
    unsigned operator[](long) const { return 0; }
  };
  Range range(Item) { return {}; }
  Item make(Item, unsigned) const { return {}; }
#elif defined(SHOAL_REFUSED_PROMISING_NOT_CONST)
  bool promising(Item) { return true; }
#elif defined(SHOAL_REFUSED_ENOUGH_NOT_CONST)
  bool enough() { return true; }
#elif defined(SHOAL_REFUSED_ACCEPT_AT_NOT_CONST)
  bool accept_at(shoal::pe_t, Item) { return true; }
#endif
  template <class W, class Out>
  void operator()(const W&, Item, Out&) const {}
};

#if defined(SHOAL_REFUSED_BY_WORKLIST)
shoal::Worklist<Task>* list = sizeof(shoal::Worklist<Task>) > 0 ? nullptr : nullptr;
#else
static_assert(shoal::check_task<Task>());
#endif
