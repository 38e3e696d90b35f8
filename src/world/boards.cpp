#include "shoal/world/boards.hpp"

#include <algorithm>
#include <cstring>

namespace shoal {

void Boards::say(std::uint64_t number, std::span<const std::byte> statement) {
  Place& place = own().places[number % 2];
  place.size = std::min(statement.size(), kRoom);
  if (place.size > 0) std::memcpy(place.statement, statement.data(), place.size);
  put(&place.size, sizeof(place.size) + place.size);
  place.number.store_release(number);
  put_in_order(plain(place.number));
}

bool Boards::hear(int p, std::uint64_t number, std::vector<std::byte>& statement) const {
  const Place& place = board(p).places[number % 2];
  if (place.number.load_acquire() != number) return false;
  statement.assign(place.statement, place.statement + std::min<std::uint64_t>(place.size, kRoom));
  return true;
}

void Boards::beat(std::uint64_t number) {
  own().beat.store(number);
  put_in_order(plain(own().beat));
}

void Boards::end(const std::string& why) {
  Board& mine = own();
  if (mine.ended.load() != 0) return;
  const std::string told = why.empty() ? "no reason" : why.substr(0, sizeof(mine.why));
  std::memcpy(mine.why, told.data(), told.size());
  put(mine.why, told.size());
  mine.ended.store_release(told.size());
  put_in_order(plain(mine.ended));
}

void Boards::take_leave() {
  own().leaves.store(1);
  put_in_order(plain(own().leaves));
}

std::string Boards::ended(int p) const {
  const std::uint64_t size = board(p).ended.load_acquire();
  return {board(p).why, std::min<std::uint64_t>(size, sizeof(board(p).why))};
}

}  // namespace shoal
