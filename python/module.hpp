// What the parts of the Python module share.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "shoal/core/array.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::python {

namespace nb = nanobind;

/// A graph that Python holds; arrays and searches made from it keep it alive.
struct Graph {
  std::shared_ptr<const Csr> csr;
};

/// Moves an array of the host into a NumPy array that owns it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(HostArray<T>&& array) {
  auto* held = new HostArray<T>(std::move(array));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<HostArray<T>*>(p); });
  return {held->data(), {static_cast<std::size_t>(held->size())}, owner};
}

/// Calls f without Python's global interpreter lock. If the caller is Python's main thread, f runs on another thread. If a
/// signal handler raises an exception meanwhile (KeyboardInterrupt for Ctrl-C), f is interrupted, and the exception is thrown
/// after f has ended.
void call_unlocked(const std::function<void()>& f);

/// The same, and returns what f returns.
template <class F>
auto unlocked(F&& f) {
  using Result = std::invoke_result_t<F>;
  if constexpr (std::is_void_v<Result>) {
    call_unlocked(f);
  } else {
    std::optional<Result> result;
    call_unlocked([&] { result.emplace(f()); });
    return std::move(*result);
  }
}

/// @throws Interrupted  the call was interrupted while it waited for the mutex
std::unique_lock<std::timed_mutex> lock_unless_called_off(std::timed_mutex& mutex);

/// The name of a file, which may hold any bytes, as a text that Python's own functions for files accept.
inline nb::object file_name_to_python(const std::string& name) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

/// Rewrites a message of the library so that it names Python arguments instead of flags: "use --device cpu" becomes
/// "use device='cpu'".
std::string name_arguments(const std::string& message);

void bind_errors(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_edges(nb::class_<Graph>& graph);
void bind_runs(nb::module_& module);

}  // namespace shoal::python
