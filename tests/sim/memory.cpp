#include "memory.hpp"

#include <algorithm>
#include <cstring>

namespace shoal::sim {
namespace {

constexpr std::uint32_t kOldestServed = 12;  // a load returns an entry at most this far back
constexpr unsigned kMostStaleInARow = 24;    // then a worker reads the newest entry, so that every wait ends

std::uint64_t bits_in_memory(const Access& access) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, access.at, access.bytes < 8 ? access.bytes : 8);
  return bits;
}
std::uint64_t second_in_memory(const Access& access) {
  std::uint64_t bits = 0;
  if (access.bytes == 16) std::memcpy(&bits, static_cast<const char*>(access.at) + 8, 8);
  return bits;
}

}  // namespace

void AddressMap::clear() {
  ++generation_;
  used_ = 0;
}

std::uint32_t AddressMap::find_or_add(std::uintptr_t address, std::uint32_t fresh) {
  if (used_ * 2 >= cells_.size()) grow();
  const std::size_t mask = cells_.size() - 1;
  std::size_t i = (address * 0x9E3779B97F4A7C15ull >> 20) & mask;
  for (; cells_[i].generation == generation_; i = (i + 1) & mask) {
    if (cells_[i].address == address) return cells_[i].number;
  }
  cells_[i] = {address, fresh, generation_};
  ++used_;
  return fresh;
}

void AddressMap::grow() {
  std::vector<Cell> old(cells_.size() * 2);
  old.swap(cells_);
  used_ = 0;
  for (const Cell& cell : old) {
    if (cell.generation == generation_) find_or_add(cell.address, cell.number);
  }
}

void Memory::reset(int workers, unsigned stale_of_256) {
  workers_ = workers;
  stale_of_256_ = stale_of_256;
  word_at_.clear();
  shadow_at_.clear();
  shadows_.clear();
  pool_.clear();
  stale_run_.fill(0);
  stale_reads_ = 0;
  scope_error_.clear();
  for (int w = 0; w < workers; ++w) {
    views_[w].assign(kMaxWorkers, 0);
    views_[w][w] = 1;
  }
}

std::uint32_t Memory::word_of(int pe, const Access& access) {
  const std::uint32_t fresh = word_at_.size();
  const std::uint32_t word = word_at_.find_or_add(reinterpret_cast<std::uintptr_t>(access.at), fresh);
  if (word == fresh && word_at_.size() == fresh + 1) {
    if (words_.size() <= word) words_.emplace_back();
    words_[word].pe = pe;
    words_[word].system = access.system;
    words_[word].entries.clear();
    words_[word].entries.push_back(
        {bits_in_memory(access), second_in_memory(access), 0, 0});  // the value from the set-up, visible to all workers
  }
  WordHistory& history = words_[word];
  if (history.system != access.system) {
    scope_error_ = "one word is used with device scope and with system scope";
  } else if (!history.system && history.pe != pe) {
    scope_error_ =
        "a word of device scope is used by PE " + std::to_string(history.pe) + " and by PE " + std::to_string(pe);
  }
  return word;
}

std::uint32_t Memory::floor(int worker, std::uint32_t word) const {
  const View& view = views_[worker];
  return kMaxWorkers + word < view.size() ? view[kMaxWorkers + word] : 0;
}

void Memory::raise(int worker, std::uint32_t word, std::uint32_t index) {
  View& view = views_[worker];
  if (view.size() <= kMaxWorkers + word) view.resize(kMaxWorkers + word + 1, 0);
  view[kMaxWorkers + word] = std::max(view[kMaxWorkers + word], index);
}

void Memory::join(View& view, const Entry& entry) const {
  if (view.size() < entry.view_length) view.resize(entry.view_length, 0);
  const std::uint32_t* other = pool_.data() + entry.view;
  for (std::uint32_t i = 0; i < entry.view_length; ++i) view[i] = std::max(view[i], other[i]);
}

Memory::Outcome Memory::read(int worker, std::uint32_t word, std::uint32_t index, bool acquire) {
  const std::vector<Entry>& entries = words_[word].entries;
  raise(worker, word, index);
  if (acquire) join(views_[worker], entries[index]);
  const auto behind = static_cast<std::uint32_t>(entries.size() - 1 - index);
  if (behind > 0) {
    ++stale_run_[worker];
    ++stale_reads_;
  } else {
    stale_run_[worker] = 0;
  }
  return {entries[index].bits, entries[index].second, word, behind};
}

Memory::Outcome Memory::load(int worker, int pe, const Access& access, bool acquire, Random& random) {
  const std::uint32_t word = word_of(pe, access);
  const auto newest = static_cast<std::uint32_t>(words_[word].entries.size() - 1);
  std::uint32_t oldest = floor(worker, word);
  if (newest - oldest > kOldestServed) oldest = newest - kOldestServed;
  std::uint32_t index = newest;
  if (oldest < newest && stale_run_[worker] < kMostStaleInARow && random.below(256) < stale_of_256_) {
    index = random.below(2) == 0 ? oldest : oldest + random.below(newest - oldest);
  }
  return read(worker, word, index, acquire);
}

bool Memory::read_other(int worker, int pe, const Access& access, std::uint64_t expected, bool acquire, Random& random,
                        Outcome& out) {
  const std::uint32_t word = word_of(pe, access);
  const std::vector<Entry>& entries = words_[word].entries;
  const auto newest = static_cast<std::uint32_t>(entries.size() - 1);
  std::uint32_t index = newest;
  if (entries[newest].bits == expected ||
      (stale_run_[worker] < kMostStaleInARow && random.below(256) < stale_of_256_)) {
    for (std::uint32_t i = newest, looked = 0; i > floor(worker, word) && looked < kOldestServed; ++looked) {
      if (entries[--i].bits == expected) continue;
      index = i;
      if (random.below(2) == 0) break;
    }
  }
  if (entries[index].bits == expected) return false;
  out = read(worker, word, index, acquire);
  return true;
}

void Memory::append(int worker, std::uint32_t word, std::uint64_t bits, std::uint64_t second, bool release,
                    const Entry* continued) {
  std::vector<Entry>& entries = words_[word].entries;
  raise(worker, word, static_cast<std::uint32_t>(entries.size()));
  Entry entry{bits, second, 0, 0};
  if (release) {
    const View& view = views_[worker];
    entry.view = static_cast<std::uint32_t>(pool_.size());
    entry.view_length = static_cast<std::uint32_t>(view.size());
    if (continued != nullptr) entry.view_length = std::max(entry.view_length, continued->view_length);
    pool_.resize(pool_.size() + entry.view_length, 0);
    std::copy(view.begin(), view.end(), pool_.begin() + entry.view);
    for (std::uint32_t i = 0; continued != nullptr && i < continued->view_length; ++i) {
      pool_[entry.view + i] = std::max(pool_[entry.view + i], pool_[continued->view + i]);
    }
    ++views_[worker][worker];
  } else if (continued != nullptr) {  // a read-modify-write passes on the view of the entry it read
    entry.view = continued->view;
    entry.view_length = continued->view_length;
  }
  entries.push_back(entry);
}

Memory::Outcome Memory::store(int worker, int pe, const Access& access, std::uint64_t bits, bool release,
                              std::uint64_t second) {
  const std::uint32_t word = word_of(pe, access);
  append(worker, word, bits, second, release, nullptr);
  std::memcpy(access.at, &bits, access.bytes < 8 ? access.bytes : 8);
  if (access.bytes == 16) std::memcpy(static_cast<char*>(access.at) + 8, &second, 8);
  return {bits, second, word, 0};
}

Memory::Outcome Memory::rmw_begin(int worker, int pe, const Access& access, bool acquire) {
  const std::uint32_t word = word_of(pe, access);
  return read(worker, word, static_cast<std::uint32_t>(words_[word].entries.size() - 1), acquire);
}

Memory::Outcome Memory::rmw_commit(int worker, int pe, const Access& access, std::uint64_t bits, bool release,
                                   std::uint32_t) {
  const std::uint32_t word = word_of(pe, access);
  const Entry continued = words_[word].entries.back();
  append(worker, word, bits, 0, release, &continued);
  std::memcpy(access.at, &bits, access.bytes);
  return {bits, 0, word, 0};
}

std::string Memory::plain(int worker, const void* at, std::size_t bytes, bool write, std::uint32_t step) {
  const View& view = views_[worker];
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(at) / 4;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(at) + bytes - 1) / 4;
  for (std::uintptr_t granule = first; granule <= last; ++granule) {
    const auto fresh = static_cast<std::uint32_t>(shadows_.size());
    const std::uint32_t number = shadow_at_.find_or_add(granule, fresh);
    if (number == fresh) shadows_.emplace_back();
    Shadow& shadow = shadows_[number];
    if (shadow.writer >= 0 && shadow.write_clock > view[shadow.writer]) {
      return "the write by worker " + std::to_string(shadow.writer) + " at step " + std::to_string(shadow.write_step) +
             " is not ordered before it";
    }
    if (!write) {
      shadow.read_clock[worker] = view[worker];
      shadow.read_step[worker] = step;
      continue;
    }
    for (int w = 0; w < workers_; ++w) {
      if (shadow.read_clock[w] > view[w]) {
        return "the read by worker " + std::to_string(w) + " at step " + std::to_string(shadow.read_step[w]) +
               " is not ordered before it";
      }
    }
    shadow.writer = worker;
    shadow.write_clock = view[worker];
    shadow.write_step = step;
  }
  return {};
}

}  // namespace shoal::sim
