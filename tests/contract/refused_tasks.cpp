// Tasks that must not compile, one for each SHOAL_REFUSED_<case>. contract_tests.cmake compiles each and searches the
// compiler's output for the words that it must contain. With no case defined, the task is legal and this file compiles.
#include <string>

#if defined(SHOAL_REFUSED_BY_WORKLIST) || defined(SHOAL_REFUSED_KERNELS)
#include "shoal/worklist/worklist.hpp"
#else
#include "shoal/worker/task.hpp"
#endif

#if defined(SHOAL_REFUSED_FINAL)
struct Task final {
#else
struct Task {
#endif
  struct What {
#if defined(SHOAL_REFUSED_ITEM_WITHOUT_DEFAULT)
    explicit What(unsigned of) : v(of) {}
    unsigned v;
#elif defined(SHOAL_REFUSED_ITEM_WITH_CONST)
    const unsigned v;
#elif defined(SHOAL_REFUSED_ITEM_OF_2_BYTES)
  unsigned short v;
#elif defined(SHOAL_REFUSED_ITEM_OF_72_BYTES)
  unsigned char v[72];
#elif defined(SHOAL_REFUSED_ITEM_WITH_STRING)
  std::string v;
#else
  unsigned v;
#endif
  };
#if !defined(SHOAL_REFUSED_NO_ITEM)
  using Item = What;
#endif
#if defined(SHOAL_REFUSED_TASK_WITH_STRING)
  std::string name;
#endif
#if !defined(SHOAL_REFUSED_NO_OWNER)
  shoal::pe_t owner(What) const { return 0; }
#endif
#if !defined(SHOAL_REFUSED_NO_ACCEPT)
  bool accept(What) const { return true; }
#endif
#if defined(SHOAL_REFUSED_PRIORITY) || defined(SHOAL_REFUSED_BY_WORKLIST)
  std::string priority(What) const { return "high"; }
#elif defined(SHOAL_REFUSED_PRIORITY_AS_DATA)
  const float* priority;
#elif defined(SHOAL_REFUSED_COMBINE)
What combine(What a, What) const { return a; }
#elif defined(SHOAL_REFUSED_KEY)
unsigned key(What item) const { return item.v; }
#elif defined(SHOAL_REFUSED_IDLE)
template <class W, class Out>
void idle(const W&, Out&) const {}
#elif defined(SHOAL_REFUSED_PLAIN_IDLE)
void idle() const {}
#endif
#if defined(SHOAL_REFUSED_SELF_CONTAINED_NOT_STATIC)
  bool kSelfContained = true;
#elif defined(SHOAL_REFUSED_ANY_ORDER_NOT_STATIC)
  bool kAnyOrder = true;
#elif defined(SHOAL_REFUSED_REFUSES_MOST_ALONE)
static constexpr bool kRefusesMost = true;
#elif defined(SHOAL_REFUSED_STALE_NOT_CONST)
bool stale(What) { return false; }
#elif defined(SHOAL_REFUSED_STALE_OF_NOTHING)
bool stale() const { return false; }
#elif defined(SHOAL_REFUSED_WORTH_SENDING_NOT_CONST)
bool worth_sending(What) { return true; }
#elif defined(SHOAL_REFUSED_RANGE_NOT_CONST)
struct Range {
  long size() const { return 0; }
  unsigned operator[](long) const { return 0; }
};
Range range(What) { return {}; }
What make(What, unsigned) const { return {}; }
#elif defined(SHOAL_REFUSED_PROMISING_NOT_CONST)
bool promising(What) { return true; }
#elif defined(SHOAL_REFUSED_LOOK_ALONE)
unsigned look(bool, What) const { return 0; }
#elif defined(SHOAL_REFUSED_KERNELS)
static constexpr unsigned kKernels = 1;
#elif defined(SHOAL_REFUSED_REFRESH_WITHOUT_PE)
template <class W>
void refresh(const W&, unsigned) const {}
#elif defined(SHOAL_REFUSED_ENOUGH_NOT_CONST)
bool enough() { return true; }
#elif defined(SHOAL_REFUSED_OWNS_NOT_CONST)
bool owns(shoal::pe_t, What) { return true; }
#elif defined(SHOAL_REFUSED_LOCATE_ALONE)
long locate(bool, What) const { return 0; }
#elif defined(SHOAL_REFUSED_PREFETCH_WITHOUT_ASK)
long locate(bool, What) const { return 0; }
void prefetch(bool, What, long) const {}
#elif defined(SHOAL_REFUSED_RANGE_WITHOUT_MAKE) || defined(SHOAL_REFUSED_MAKE_OF_ANOTHER)
struct Range {
  long size() const { return 0; }
  unsigned operator[](long) const { return 0; }
};
Range range(What) const { return {}; }
#if defined(SHOAL_REFUSED_MAKE_OF_ANOTHER)
std::string make(What, unsigned) const { return {}; }
#endif
#elif defined(SHOAL_REFUSED_RANGE_AND_RUNS)
struct Range {
  long size() const { return 0; }
  unsigned operator[](long) const { return 0; }
};
Range range(What) const { return {}; }
What make(What, unsigned) const { return {}; }
#elif defined(SHOAL_REFUSED_MAKE_WITHOUT_RANGE)
What make(What, unsigned) const { return {}; }
#elif defined(SHOAL_REFUSED_ACCEPT_AT_NOT_CONST)
bool accept_at(shoal::pe_t, What) { return true; }
#elif defined(SHOAL_REFUSED_ASK_ALONE)
using Answer = bool;
Answer ask(bool, What) const { return true; }
#elif defined(SHOAL_REFUSED_ASK_AND_ACCEPT)
using Answer = bool;
Answer ask(bool, What) const { return true; }
bool accepts(What, Answer answer) const { return answer; }
#elif defined(SHOAL_REFUSED_ASK_AT_OF_A_TASK_THAT_ACCEPTS)
bool ask_at(bool, shoal::pe_t, What) const { return true; }
#endif
#if defined(SHOAL_REFUSED_RUNS_NOT_CONST)
  template <class W, class Out>
  void operator()(const W&, What, Out&) {}
#elif defined(SHOAL_REFUSED_RUNS_WITHOUT_OUT)
  template <class W>
  void operator()(const W&, What) const {}
#elif !defined(SHOAL_REFUSED_NOTHING_TO_RUN) && !defined(SHOAL_REFUSED_MAKE_WITHOUT_RANGE)
template <class W, class Out>
void operator()(const W&, What, Out&) const {}
#endif
};

#if defined(SHOAL_REFUSED_BY_WORKLIST) || defined(SHOAL_REFUSED_KERNELS)
shoal::Worklist<Task>* list = sizeof(shoal::Worklist<Task>) > 0 ? nullptr : nullptr;
#else
static_assert(shoal::check_task<Task>());
#endif
