// What comes of a program: its exit status, and one line on stderr where something went wrong.
#pragma once
#include <functional>
#include <string>

namespace shoal {

/// Says `what` in one line. @return status
int complain(int status, const std::string& program, const std::string& what);

/// Runs `body`, which returns whether its answer is right.
/// @return 0 right, 1 wrong, 2 usage, 3 capacity, 4 transport or device, 5 an exception of the program's own
int exit_status_of(const std::string& program, const std::function<bool()>& body);

}  // namespace shoal
