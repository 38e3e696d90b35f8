// How a process ends if a thread or a kernel does not return: nothing but the end of the process stops either.
#pragma once
#include <string>

namespace shoal {

/// Exit status of a process whose task did not return after the run was ended.
inline constexpr int kStuckExitCode = 75;
/// Ends the process with kStuckExitCode and a line on stderr. Output files that are incomplete are removed.
/// @param program  the name with which the line begins
[[noreturn]] void end_stuck_process(const std::string& program, const std::string& what) noexcept;

}  // namespace shoal
