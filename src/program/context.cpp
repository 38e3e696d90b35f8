#include "shoal/program/context.hpp"

#include "shoal/program/meeting.hpp"

namespace shoal {

const std::vector<const void*>& Context::begin(const MeetingCall& call, const void* mine) {
  return meeting_.begin(me_, call, mine);
}
void Context::wait() { meeting_.wait(me_); }

}  // namespace shoal
