// What the PEs of a program compare when they meet (program/meeting.hpp).
#pragma once
#include <cstring>
#include <typeinfo>

namespace shoal {

/// A call that all PEs make together: its name, and the type that it is about.
struct MeetingCall {
  const char* name = "";
  const std::type_info* type = &typeid(void);

  template <class T>
  static MeetingCall of(const char* name) {
    return {name, &typeid(T)};
  }
  bool same_name(const MeetingCall& other) const { return std::strcmp(name, other.name) == 0; }
  bool operator==(const MeetingCall& other) const { return same_name(other) && *type == *other.type; }
};

class Meeting;

}  // namespace shoal
