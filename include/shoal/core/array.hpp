// Host memory with one owner: uninitialised, mapped from a file, or borrowed. Move-only.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "shoal/core/large_pages.hpp"
#include "shoal/core/span.hpp"

namespace shoal {

/// `size()` elements of T. A new array is *not* zeroed, so that the thread that fills a part touches it first.
template <class T>
class HostArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  HostArray() = default;
  /// @throws std::bad_alloc if there is not enough memory
  explicit HostArray(std::int64_t n) : size_(n) {
    if (n == 0) return;
    const std::size_t bytes = (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64;
    void* p = std::aligned_alloc(64, bytes);
    if (p == nullptr) throw std::bad_alloc();
    if (bytes >= kWorthLargePages) want_large_pages(p, bytes);
    keep_ = std::shared_ptr<void>(p, std::free);
    data_ = static_cast<T*>(p);
  }
  HostArray(std::int64_t n, T value) : HostArray(n) {
    for (std::int64_t i = 0; i < n; ++i) data_[i] = value;
  }
  /// Wraps memory that `keep` owns, for instance a mapped file.
  HostArray(T* data, std::int64_t n, std::shared_ptr<void> keep) : data_(data), size_(n), keep_(std::move(keep)) {}

  HostArray(HostArray&& other) noexcept { swap(other); }
  HostArray& operator=(HostArray&& other) noexcept {
    HostArray(std::move(other)).swap(*this);
    return *this;
  }
  void swap(HostArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    keep_.swap(other.keep_);
  }

  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  Span<T> span() { return {data_, size_}; }
  Span<const T> span() const { return {data_, size_}; }
  /// Makes the array shorter; keeps the memory.
  /// @param n  the new size, at most size()
  void shrink(std::int64_t n) { size_ = n; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  std::shared_ptr<void> keep_;
};

}  // namespace shoal
