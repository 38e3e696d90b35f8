// Storing, restoring and moving the blocks of an array: members of BlockArray, which blocks/array.hpp declares. That file includes
// this one at its end; include that one.
#pragma once

namespace shoal {

template <class B>
void BlockArray<B>::save(blocks::step_t s, const BytesOut& out) const {
  std::vector<char> some;
  for (std::int64_t b = 0; b < size(); ++b) {
    const auto give = [&](const BytesOut& to) {
      each_array(b, blocks_[b], s, [&](void* data, std::size_t bytes) {
        const std::uint64_t size = bytes;
        to(&size, sizeof(size));
        for_pieces(data, bytes, some, [&](char* at, std::size_t n) {
          machine_.copy_out(home(b), some.data(), at, n);
          to(some.data(), n);
        });
      });
    };
    if (wires_ != nullptr) {
      wires_->pass(wires_->process_of(b), give, out);
    } else {
      give(out);
    }
  }
}

template <class B>
void BlockArray<B>::load(blocks::step_t s, const BytesIn& in) {
  std::vector<char> some;
  const std::vector<std::uint64_t> arrays = arrays_of_all(s);
  for (std::int64_t b = 0; b < size(); ++b) {
    if (!here(b)) {
      for (std::uint64_t i = 0; i < arrays[b]; ++i) skip(in, some);
      continue;
    }
    each_array(b, blocks_[b], s, [&](void* data, std::size_t bytes) {
      std::uint64_t size = 0;
      in(&size, sizeof(size));
      if (size != bytes) throw UsageError("it holds blocks of another shape");
      for_pieces(data, bytes, some, [&](char* at, std::size_t n) {
        in(some.data(), n);
        machine_.copy_in(home(b), at, some.data(), n);
      });
    });
  }
  rewind(s);
}

template <class B>
template <class T>
void BlockArray<B>::fetch(std::int64_t b, const T* from, std::int64_t n, T* to) const {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (here(b)) machine_.copy_out(home(b), to, from, bytes);
  if (wires_ == nullptr) return;
  auto* at = reinterpret_cast<char*>(to);
  wires_->pass(
      wires_->process_of(b), [&](const BytesOut& out) { out(to, bytes); },
      [&](const void* data, std::size_t some) {
        if (!here(b)) std::memcpy(at, data, some);
        at += some;
      });
}

template <class B>
template <class Make>
std::int64_t BlockArray<B>::move(const std::vector<pe_t>& where, blocks::step_t s, const Make& make) {
  require_one_process();
  std::int64_t moved = 0;
  std::vector<char> some;
  for (std::int64_t b = 0; b < size(); ++b) {
    if (where[b] == where_[b]) continue;
    ++moved;
    const pe_t before = std::exchange(where_[b], where[b]);
    std::vector<std::pair<void*, std::size_t>> from;
    const auto both = [&](const auto& f) {  // the other state, too, for what no step writes
      each_array(b, blocks_[b], s + 1, f);
      each_array(b, blocks_[b], s, f);
    };
    both([&](void* data, std::size_t bytes) { from.push_back({data, bytes}); });
    const auto old_memory = std::exchange(memory_[b], {});
    blocks_[b] = make(b);
    for (End& end : ends_[b]) {
      if (end.other >= 0) alloc_buffers(b, end);
    }
    auto next = from.begin();
    both([&](void* data, std::size_t bytes) {
      char* to = static_cast<char*>(data);
      for_pieces(next->first, bytes, some, [&](char* at, std::size_t n) {
        machine_.copy_out(before, some.data(), at, n);
        machine_.copy_in(where_[b], to, some.data(), n);
        to += n;
      });
      ++next;
    });
  }
  machine_.wait_for_memory();
  if (moved > 0) {
    place();
    rewind(s);
  }
  return moved;
}

template <class B>
std::vector<std::uint64_t> BlockArray<B>::arrays_of_all(blocks::step_t s) const {
  std::vector<std::uint64_t> all(where_.size(), 0), mine;
  if (wires_ == nullptr) return all;
  for (std::int64_t b = 0; b < size(); ++b) {
    if (!here(b)) continue;
    mine.push_back(0);
    each_array(b, blocks_[b], s, [&](void*, std::size_t) { ++mine.back(); });
  }
  const auto given = wires_->exchange(std::as_bytes(std::span(mine)));
  std::vector<std::size_t> at(given.size(), 0);
  for (std::int64_t b = 0; b < size(); ++b) {
    const auto p = static_cast<std::size_t>(wires_->process_of(b));
    std::memcpy(&all[b], given[p].data() + std::exchange(at[p], at[p] + sizeof(all[b])), sizeof(all[b]));
  }
  return all;
}

template <class B>
void BlockArray<B>::skip(const BytesIn& in, std::vector<char>& some) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  std::uint64_t size = 0;
  in(&size, sizeof(size));
  some.resize(static_cast<std::size_t>(std::min(size, kPiece)));
  for (; size > 0; size -= std::min(size, kPiece)) in(some.data(), static_cast<std::size_t>(std::min(size, kPiece)));
}

template <class B>
template <class F>
void BlockArray<B>::each_array(std::int64_t b, const B& block, blocks::step_t s, const F& f) const {
  block.state(s, [&](auto* data, std::int64_t n) { f(data, static_cast<std::size_t>(n) * sizeof(*data)); });
  for (const End& end : ends_[b]) {
    if (end.other >= 0) f(end.in[s & 1], static_cast<std::size_t>(end.n) * sizeof(Value));
  }
}

template <class B>
template <class F>
void BlockArray<B>::for_pieces(void* data, std::size_t bytes, std::vector<char>& some, const F& f) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  some.resize(std::min(bytes, kPiece));
  for (std::size_t at = 0; at < bytes; at += kPiece) f(static_cast<char*>(data) + at, std::min(kPiece, bytes - at));
}

}  // namespace shoal
