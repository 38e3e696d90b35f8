// Atomic functions for types that they must refuse, one for each SHOAL_REFUSED_<case>. contract_tests.cmake compiles each for the
// host and, with a CUDA compiler, for GPUs, and searches the compiler's output for words. With no case defined, all types are legal.
#include <cstdint>

#include "shoal/core/atomic.hpp"

struct Pair {
  float weight;
  std::uint32_t of;
};
enum class Colour : std::uint8_t { red, green };

struct Data {
  bool* flag;
  std::uint8_t* byte;
  Colour* colour;
  std::uint16_t* two_bytes;
  std::int32_t* number;
  double* real;
  std::int32_t** pointer;
  Pair* pair;

  SHOAL_FN bool change() const {
    using namespace shoal;
#if defined(SHOAL_REFUSED_FETCH_MIN)
    return fetch_min(*byte, std::uint8_t{1}) > 1;
#elif defined(SHOAL_REFUSED_FETCH_MAX)
    return fetch_max(*byte, std::uint8_t{1}) > 1;
#elif defined(SHOAL_REFUSED_FETCH_ADD)
    return fetch_add(*byte, std::uint8_t{1}) > 1;
#elif defined(SHOAL_REFUSED_ADD_RELAXED)
    return add_relaxed(*two_bytes, std::uint16_t{1}) > 1;
#elif defined(SHOAL_REFUSED_EXCHANGE)
    return exchange(*flag, true);
#elif defined(SHOAL_REFUSED_COMPARE_SWAP)
    Colour expected = Colour::red;
    return compare_swap(*colour, expected, Colour::green);
#elif defined(SHOAL_REFUSED_FETCH_MIN_IF)
    return fetch_min_if(*flag, *byte, std::uint8_t{1}, std::uint8_t{0}) > 1;
#elif defined(SHOAL_REFUSED_FETCH_MIN_IF_OF_REALS)
    return fetch_min_if(*flag, *real, 1.0, 0.0) > 1;
#elif defined(SHOAL_REFUSED_ADD_RELAXED_IF)
    return add_relaxed_if(*flag, *byte, std::uint8_t{1}, std::uint8_t{0}) > 1;
#elif defined(SHOAL_REFUSED_EXCHANGE_IF)
    return exchange_if(*flag, *byte, std::uint8_t{1}, std::uint8_t{0}) > 1;
#elif defined(SHOAL_REFUSED_ADD_OF_POINTERS)
    return fetch_add(*pointer, number) != nullptr;
#elif defined(SHOAL_REFUSED_LOAD)
    return load(*two_bytes) > 1;
#elif defined(SHOAL_REFUSED_LOAD_IF)
    return load_if(*flag, two_bytes, std::uint16_t{0}) > 1;
#elif defined(SHOAL_REFUSED_STORE)
    store(*two_bytes, std::uint16_t{1});
    return true;
#else
    store(*flag, load(*flag) && load_if(true, colour, Colour::red) == Colour::green);
    store(*byte, load(*byte));
    store(*colour, load(*colour));
    Pair expected = load(*pair);
    return fetch_min(*number, 1) > fetch_max(*number, 1) && fetch_min(*real, 1.0) > fetch_add(*real, 1.0) &&
           exchange(*pointer, number) != nullptr && compare_swap(*pair, expected, Pair{1, 1});
#endif
  }
};

#if defined(__CUDACC__)
__global__ void change(Data data, bool* changed) { *changed = data.change(); }
#else
bool change(Data data) { return data.change(); }
#endif
