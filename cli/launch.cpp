#include "launch.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "shoal/core/error.hpp"

namespace shoal::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(100);      ///< between two polls
constexpr auto kFirstLooks = std::chrono::milliseconds(2);  ///< the same, until all processes have been seen
/// Open MPI's launcher ends up to two seconds after its processes have. That of 4.1.4 sometimes never ends, because it waits for
/// a lock of its own.
constexpr auto kPatience = std::chrono::seconds(5);

/// The state and the parent of a process, from /proc; none: there is no such process.
std::optional<std::pair<char, pid_t>> state_of(const std::string& pid) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + pid + "/stat"), stat);
  const std::size_t name_ends = stat.rfind(')');  // the name may contain anything, also parentheses
  char state = 0;
  int parent = 0;
  if (name_ends == std::string::npos || std::sscanf(stat.c_str() + name_ends + 1, " %c %d", &state, &parent) != 2)
    return std::nullopt;
  return std::pair{state, pid_t{parent}};
}
bool has_ended(char state) { return state == 'Z' || state == 'X'; }

bool lives(pid_t pid) {
  const auto its = state_of(std::to_string(pid));
  return its && !has_ended(its->first);
}

/// The processes whose parent is `parent` and which have not ended.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  DIR* const all = ::opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* const entry = ::readdir(all)) {
    if (std::atoi(entry->d_name) <= 0) continue;
    const auto its = state_of(entry->d_name);
    if (its && its->second == parent && !has_ended(its->first)) found.push_back(std::atoi(entry->d_name));
  }
  ::closedir(all);
  return found;
}

/// The rank that Open MPI gave a process; empty: it has none yet.
std::string rank_of(pid_t pid) {
  std::ifstream environment("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string text; std::getline(environment, text, '\0');) {
    if (text.rfind("PMIX_RANK=", 0) == 0) return text.substr(std::strlen("PMIX_RANK="));
  }
  return "";
}

/// The children of `parent`, whichever of its threads started them, oldest first. Children that have ended are included until
/// `parent` has waited for them. Faster than reading /proc for all processes.
std::vector<pid_t> started_by(pid_t parent) {
  std::vector<pid_t> found;
  const std::string threads = "/proc/" + std::to_string(parent) + "/task";
  DIR* const all = ::opendir(threads.c_str());
  if (all == nullptr) return found;
  bool tells = true;  // not every kernel has these files
  while (const dirent* const entry = ::readdir(all)) {
    if (std::atoi(entry->d_name) <= 0) continue;
    std::ifstream children(threads + "/" + entry->d_name + "/children");
    tells = tells && (children.is_open() || !lives(std::atoi(entry->d_name)));
    for (pid_t pid; children >> pid;) found.push_back(pid);
  }
  ::closedir(all);
  return tells ? found : children_of(parent);
}

int open_process(pid_t pid) {
#if defined(SYS_pidfd_open)
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  return (void)pid, -1;
#endif
}

/// Watches the processes that a launcher has started, notes the order in which they end, and passes on signals. The system reports
/// ends in the order in which they happened, so the first is known even if all processes have ended by the next poll.
class Watch {
 public:
  Watch(pid_t launcher, int processes, bool all_here, const sigset_t& signals)
      : launcher_(launcher),
        processes_(processes),
        all_here_(all_here),
        signals_(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC)),
        events_(::epoll_create1(EPOLL_CLOEXEC)) {
    wait_for(signals_, kSignal);
  }
  ~Watch() {
    for (const Child& child : children_) {
      if (child.file >= 0) ::close(child.file);
    }
    if (events_ >= 0) ::close(events_);
    if (signals_ >= 0) ::close(signals_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// The signal that has asked this process to end; 0: none has.
  int interrupted() const { return interrupted_; }

  /// Waits for all children that have ended. @return the launcher's exit status; none: it has not ended
  std::optional<int> reap() {
    std::optional<int> ended;
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == launcher_) ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return ended;
  }

  /// Waits until a process ends, a signal arrives, or it is time to poll again.
  void wait() {
    epoll_event come[16];
    const auto pause = seen_all() || Clock::now() - began_ > kPatience ? kLook : kFirstLooks;
    const int n = ::epoll_wait(events_, come, 16, static_cast<int>(pause.count()));
    if (n < 0) std::this_thread::sleep_for(pause);  // epoll fails, which no known system does
    for (int i = 0; i < n; ++i) {
      if (come[i].data.u64 == kSignal) {
        signalfd_siginfo from{};
        // A signal from the terminal has reached the launcher as well, and a second signal makes it leave its processes behind.
        if (::read(signals_, &from, sizeof from) != sizeof from) continue;
        interrupted_ = static_cast<int>(from.ssi_signo);
        if (from.ssi_code != SI_KERNEL) pass_on(interrupted_);
      } else {
        note_end(children_[come[i].data.u64]);
      }
    }
  }

  /// Notes which processes have started and which have ended. Kills the launcher if it does not end by itself.
  void look() {
    for (const pid_t pid : started_by(launcher_)) {
      const auto is = [&](const Child& child) { return child.pid == pid; };
      if (std::none_of(children_.begin(), children_.end(), is)) add(pid);
    }
    for (Child& child : children_) {
      if (child.end != 0) continue;
      if (child.rank.empty()) child.rank = rank_of(child.pid);
      if (child.file < 0 && !lives(child.pid)) note_end(child);
    }
    const bool has_some = std::any_of(children_.begin(), children_.end(), [](const Child& c) { return c.end == 0; });
    const Clock::time_point now = Clock::now();
    had_some_ = had_some_ || has_some;
    if (has_some || !had_some_ || !all_here_) {
      alone_ = kNever;
    } else if (alone_ == kNever) {
      alone_ = now;
    }
    if (alone_ != kNever && now - alone_ > kPatience) end("has not ended although all its processes have");
    if (asked_ != kNever && now - asked_ > 2 * kPatience) end("did not end when it was asked to");
  }

  /// Names the process that ended first. Open MPI's launcher does not name it if it fails while processes start.
  void name_who_was_gone_first() const {
    if (!all_here_) return;  // the first may have been a process of another host
    const std::vector<int> missing = never_seen();
    if (missing.size() == 1 && !children_.empty()) {  // it ended before it could be seen
      std::fprintf(stderr, "shoal: error: process %d ended before it began to run\n", missing.front());
      return;
    }
    const Child* first = nullptr;
    for (const Child& child : children_) {  // a launcher may also start processes without a rank
      if (child.end != 0 && (first == nullptr || child.end < first->end) && !number_of(child).empty()) first = &child;
    }
    if (first == nullptr) return;
    std::fprintf(stderr, "shoal: error: process %s (process id %d) ended before the others\n",
                 number_of(*first).c_str(), first->pid);
  }

 private:
  struct Child {
    pid_t pid;
    int file;           ///< a pidfd, which becomes readable at its end; -1: closed, or the system has none
    std::string rank;   ///< empty: not known yet
    std::uint64_t end;  ///< its place in the order of ends, from 1 on; 0: it has not ended
  };
  static constexpr std::uint64_t kSignal = ~std::uint64_t{0};

  void wait_for(int file, std::uint64_t what) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    if (file >= 0) ::epoll_ctl(events_, EPOLL_CTL_ADD, file, &event);
  }
  void add(pid_t pid) {
    children_.push_back({pid, open_process(pid), "", 0});
    wait_for(children_.back().file, children_.size() - 1);
  }
  void note_end(Child& child) {
    if (child.end == 0) child.end = ++ends_;
    if (child.file >= 0) ::close(child.file);
    child.file = -1;
  }
  bool seen_all() const {
    const auto numbered = [](const Child& child) { return !child.rank.empty() || child.end != 0; };
    return std::count_if(children_.begin(), children_.end(), numbered) >= processes_;
  }
  /// A process has its rank only once it has become the program to run. Until then, the order in which processes were started tells
  /// the rank. Empty: it is not known.
  std::string number_of(const Child& child) const {
    const bool tells = children_.size() == static_cast<std::size_t>(processes_);
    if (!child.rank.empty() || !tells) return child.rank;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (!children_[i].rank.empty() && children_[i].rank != std::to_string(i)) return "";
    }
    return std::to_string(&child - children_.data());
  }
  /// The ranks of the processes that ended before they were seen.
  std::vector<int> never_seen() const {
    std::vector<int> missing;
    if (children_.size() >= static_cast<std::size_t>(processes_)) return missing;
    for (int rank = 0; rank < processes_; ++rank) {
      const auto is = [&](const Child& child) { return child.rank == std::to_string(rank); };
      if (std::none_of(children_.begin(), children_.end(), is)) missing.push_back(rank);
    }
    return missing;
  }
  void pass_on(int signal) {
    ::kill(launcher_, signal);
    if (asked_ == kNever) asked_ = Clock::now();
  }
  void end(const char* why) {
    if (!said_) std::fprintf(stderr, "shoal: error: the launcher (process id %d) %s; killed\n", launcher_, why);
    said_ = true;
    ::kill(launcher_, SIGKILL);
  }

  const pid_t launcher_;
  const int processes_;
  const bool all_here_;
  const int signals_, events_;
  bool had_some_ = false, said_ = false;
  int interrupted_ = 0;
  std::vector<Child> children_;
  std::uint64_t ends_ = 0;
  static constexpr Clock::time_point kNever{};
  const Clock::time_point began_ = Clock::now();
  Clock::time_point alone_ = kNever, asked_ = kNever;
};

/// Kills the processes that the launcher has left behind. This process has become their parent (PR_SET_CHILD_SUBREAPER).
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

int run_launcher(const std::vector<std::string>& words, int processes, bool all_here) {
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
  Watch watch(launcher, processes, all_here, ends);
  std::optional<int> status;
  while (!(status = watch.reap())) {
    watch.wait();
    watch.look();
  }
  end_what_is_left();
  // Launchers end with 1 then, which would read as a wrong result.
  if (watch.interrupted() != 0 && *status != 0) return 128 + watch.interrupted();
  if (*status > 128) watch.name_who_was_gone_first();
  return *status;
}

}  // namespace shoal::cli
