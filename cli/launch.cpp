#include "launch.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "shoal/core/error.hpp"

namespace shoal::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(100);
/// Open MPI's launcher takes up to two seconds to end after its processes have; 4.1.4 sometimes never does, and waits for a
/// lock of its own.
constexpr auto kPatience = std::chrono::seconds(5);

/// The processes whose parent is `parent` and which have not ended.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  DIR* const all = ::opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* const entry = ::readdir(all)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::string stat;
    std::getline(std::ifstream(std::string("/proc/") + entry->d_name + "/stat"), stat);
    const std::size_t name_ends = stat.rfind(')');  // the name may hold anything
    char state = 0;
    int its_parent = 0;
    if (name_ends == std::string::npos || std::sscanf(stat.c_str() + name_ends + 1, " %c %d", &state, &its_parent) != 2)
      continue;
    if (its_parent == parent && state != 'Z' && state != 'X') found.push_back(pid);
  }
  ::closedir(all);
  return found;
}

/// The number that Open MPI gives a process; empty: it has none yet.
std::string rank_of(pid_t pid) {
  std::ifstream environment("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string text; std::getline(environment, text, '\0');) {
    if (text.rfind("PMIX_RANK=", 0) == 0) return text.substr(std::strlen("PMIX_RANK="));
  }
  return "";
}

class Watch {
 public:
  Watch(pid_t launcher, bool all_here) : launcher_(launcher), all_here_(all_here) {}

  /// @return the launcher's exit status; none: it has not ended
  std::optional<int> reap() {
    std::optional<int> ended;
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == launcher_) ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return ended;
  }
  void pass_on(int signal) {
    ::kill(launcher_, signal);
    if (asked_ == kNever) asked_ = Clock::now();
  }
  /// Ends the launcher where it does not end.
  void look() {
    const std::vector<pid_t> children = children_of(launcher_);
    const bool has_some = !children.empty();
    look_who_goes(children);
    had_some_ = had_some_ || has_some;
    if (has_some || !had_some_ || !all_here_) {
      alone_ = kNever;
    } else if (alone_ == kNever) {
      alone_ = Clock::now();
    }
    if (alone_ != kNever && Clock::now() - alone_ > kPatience) end("has not ended though all its processes have");
    if (asked_ != kNever && Clock::now() - asked_ > 2 * kPatience) end("has not ended when it was asked to");
  }

  /// Names the process that was gone first, where a signal ended one: Open MPI's launcher does not, while processes start.
  void name_who_was_gone_first() const {
    if (gone_first_ != 0) {
      std::fprintf(stderr, "shoal: error: process %s (process id %d) was gone before the others\n",
                   ranks_.at(gone_first_).c_str(), gone_first_);
    }
  }

 private:
  void look_who_goes(const std::vector<pid_t>& children) {
    for (const pid_t pid : children) {
      if (const std::string rank = rank_of(pid); !rank.empty()) ranks_[pid] = rank;
    }
    for (const auto& [pid, rank] : ranks_) {
      const bool gone = std::find(children.begin(), children.end(), pid) == children.end();
      if (gone_first_ == 0 && gone && !children.empty()) gone_first_ = pid;
    }
  }
  void end(const char* why) {
    if (!said_) std::fprintf(stderr, "shoal: error: the launcher (process id %d) %s; killed\n", launcher_, why);
    said_ = true;
    ::kill(launcher_, SIGKILL);
  }

  const pid_t launcher_;
  const bool all_here_;
  bool had_some_ = false, said_ = false;
  std::map<pid_t, std::string> ranks_;  ///< of the processes that were seen
  pid_t gone_first_ = 0;                ///< while others were there
  static constexpr Clock::time_point kNever{};
  Clock::time_point alone_ = kNever, asked_ = kNever;
};

/// What the launcher has left: this process has become its parent.
void end_what_is_left() {
  for (int tries = 0; tries < 100; ++tries) {
    const std::vector<pid_t> left = children_of(::getpid());
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::usleep(10000);
  }
}

}  // namespace

int run_launcher(const std::vector<std::string>& words, bool all_here) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  sigset_t ends, before;
  ::sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signal);
  ::sigprocmask(SIG_BLOCK, &ends, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid(), launcher = ::fork();
  if (launcher < 0) throw UsageError(words[0] + " cannot be started: " + std::strerror(errno));
  if (launcher == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != self) ::_exit(1);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::execv(arguments[0], arguments.data());
    std::fprintf(stderr, "shoal: error: %s cannot be started: %s\n", words[0].c_str(), std::strerror(errno));
    ::_exit(2);
  }
  Watch watch(launcher, all_here);
  std::optional<int> status;
  while (!(status = watch.reap())) {
    const timespec pause = {0, std::chrono::nanoseconds(kLook).count()};
    siginfo_t from{};
    const int signal = ::sigtimedwait(&ends, &from, &pause);
    // What a terminal sends has reached the launcher as well, and a second one has it leave its processes behind.
    if (signal > 0 && from.si_code != SI_KERNEL) watch.pass_on(signal);
    watch.look();
  }
  end_what_is_left();
  if (*status > 128) watch.name_who_was_gone_first();
  return *status;
}

}  // namespace shoal::cli
