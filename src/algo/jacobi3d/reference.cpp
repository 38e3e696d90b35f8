#include <cstring>
#include <utility>

#include "core/memory.hpp"
#include "jacobi3d.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

template <class T>
Jacobi3dReference<T>::Jacobi3dReference(const Jacobi3d<T>& program)
    : n_(program.size), row_(n_.z + 2), plane_((n_.y + 2) * row_) {
  const std::int64_t cells = (n_.x + 2) * plane_, bytes = 2 * cells * static_cast<std::int64_t>(sizeof(T));
  if (bytes > available_memory()) {
    throw CapacityError("--verify keeps two more states: " + bytes_text(bytes) + " of memory, " +
                        bytes_text(available_memory()) + " are available; use a smaller grid");
  }
  now_.resize(static_cast<std::size_t>(cells));
  for (std::int64_t x = -1; x <= n_.x; ++x) {
    for (std::int64_t y = -1; y <= n_.y; ++y) {
      for (std::int64_t z = -1; z <= n_.z; ++z) {
        now_[(x + 1) * plane_ + (y + 1) * row_ + z + 1] = program.at_start(x, y, z);
      }
    }
  }
  then_ = now_;
}

template <class T>
void Jacobi3dReference<T>::iterate(std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i, std::swap(now_, then_)) {
    throw_if_interrupted();
    for (std::int64_t x = 1; x <= n_.x; ++x) {
      for (std::int64_t y = 1; y <= n_.y; ++y) {
        const T* const from = &now_[x * plane_ + y * row_];
        T* const to = &then_[x * plane_ + y * row_];
        for (std::int64_t z = 1; z <= n_.z; ++z) {
          const T* const c = from + z;
          to[z] = (c[0] + c[-plane_] + c[plane_] + c[-row_] + c[row_] + c[-1] + c[1]) * (T{1} / 7);
        }
      }
    }
  }
}

template <class T>
std::string Jacobi3dReference<T>::find_wrong(std::int64_t x, const T* got) const {
  for (std::int64_t y = 0; y < n_.y; ++y) {
    const T* const want = &now_[(x + 1) * plane_ + (y + 1) * row_ + 1];
    if (std::memcmp(want, got + y * n_.z, static_cast<std::size_t>(n_.z) * sizeof(T)) == 0) continue;
    for (std::int64_t z = 0; z < n_.z; ++z) {
      if (std::memcmp(want + z, got + y * n_.z + z, sizeof(T)) == 0) continue;
      return "cell " + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + " is " +
             exact(got[y * n_.z + z]) + ", and " + exact(want[z]) + " by the serial reference";
    }
  }
  return "";
}

template class Jacobi3dReference<float>;
template class Jacobi3dReference<double>;

}  // namespace shoal
