#include "hosts.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "shoal/core/error.hpp"

namespace shoal::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kAnswerWithin = std::chrono::seconds(20);  ///< ssh itself gives up sooner
constexpr int kNoDaemon = 101, kNoProgram = 102;          ///< exit statuses

/// The value of a parameter of Open MPI: from the environment, the user's file or the system's; empty: it is set nowhere.
std::string parameter(const std::string& name) {
  if (const char* const value = std::getenv(("OMPI_MCA_" + name).c_str())) return value;
  const char* const home = std::getenv("HOME");
  for (const std::string& file : {std::string(home != nullptr ? home : "") + "/.openmpi/mca-params.conf",
                                  std::string("/etc/openmpi/openmpi-mca-params.conf")}) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t equals = line.find('=');
      std::string key, value;
      if (equals == std::string::npos || !(std::istringstream(line.substr(0, equals)) >> key) || key != name) continue;
      std::getline(std::istringstream(line.substr(equals + 1)) >> std::ws, value);
      return value;
    }
  }
  return "";
}

bool is_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// The command line that starts a process on another host, up to the name of the host. The parameter may list several programs
/// with colons between them; the first that is found here is taken.
std::vector<std::string> find_agent() {
  std::string named = parameter("plm_rsh_agent");
  if (named.empty()) named = "ssh : rsh";
  std::istringstream alternatives(named);
  for (std::string one; std::getline(alternatives, one, ':');) {
    std::istringstream in(one);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty() || !is_in_path(words[0])) continue;
    // ssh must not prompt: several hosts are asked at once, and nobody could answer.
    if (std::filesystem::path(words[0]).filename() == "ssh")
      words.insert(words.end(), {"-x", "-oBatchMode=yes", "-oConnectTimeout=10"});
    return words;
  }
  throw UsageError("--hosts: " + named +
                   " is not found here, and is needed to start processes on other hosts; install ssh (Debian: "
                   "openssh-client), or name another program in OMPI_MCA_plm_rsh_agent");
}

bool is_here(const std::string& host) {
  const std::string name = host.substr(host.find('@') + 1);
  char own[256] = {};
  ::gethostname(own, sizeof own - 1);
  const std::string self = own;
  if (name == "localhost" || name == self || name == self.substr(0, self.find('.'))) return true;
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  ifaddrs* mine = nullptr;
  bool here = false;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) == 0 && ::getifaddrs(&mine) == 0) {
    for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
      for (const ifaddrs* b = mine; b != nullptr; b = b->ifa_next) {
        if (b->ifa_addr == nullptr || b->ifa_addr->sa_family != a->ai_family) continue;
        const bool v4 = a->ai_family == AF_INET;
        const auto bytes = [v4](const sockaddr* address) -> const void* {
          return v4 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
                    : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
        };
        if (v4 || a->ai_family == AF_INET6)
          here = here || std::memcmp(bytes(a->ai_addr), bytes(b->ifa_addr), v4 ? 4 : 16) == 0;
      }
    }
  }
  if (found != nullptr) ::freeaddrinfo(found);
  if (mine != nullptr) ::freeifaddrs(mine);
  return here;
}

/// A host that is asked: the child process that asks, and a pipe with its standard error.
struct Asked {
  std::string host;
  pid_t pid = -1;
  int says = -1;
};

Asked ask(std::vector<std::string> words, const std::string& host, const std::string& question) {
  words.insert(words.end(), {host, question});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw UsageError(std::string("a pipe cannot be made: ") + std::strerror(errno));
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  Asked asked{host, -1, ends[0]};
  const int refused = ::posix_spawnp(&asked.pid, arguments[0], &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (refused == 0) return asked;
  ::close(ends[0]);
  throw UsageError(words[0] + " cannot be started: " + std::strerror(refused));
}

/// Waits for an answer. @return its exit status (-1: none came in time), and the last line of its standard error
std::pair<int, std::string> answer_of(const Asked& asked, Clock::time_point until) {
  std::string said;
  bool in_time = true;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd watched = {asked.says, POLLIN, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::max<long>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      in_time = false;
      ::kill(asked.pid, SIGKILL);
      break;
    }
    char text[4096];
    const ssize_t n = ::read(asked.says, text, sizeof text);
    if (n <= 0) break;
    said.append(text, static_cast<std::size_t>(n));
  }
  ::close(asked.says);
  int status = 0;
  while (::waitpid(asked.pid, &status, 0) < 0 && errno == EINTR) {
  }
  while (!said.empty() && std::strchr("\r\n ", said.back()) != nullptr) said.pop_back();
  said.erase(0, said.find_last_of("\r\n") + 1);
  return {!in_time ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said};
}

}  // namespace

std::string quoted(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("%+,-./:=@_", c) != nullptr; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void require_hosts(const std::vector<std::string>& hosts, const std::string& launcher, const std::string& program) {
  const std::string plm = parameter("plm");
  if (!plm.empty() && plm != "rsh") return;
  std::vector<std::string> others;
  for (const std::string& host : hosts) {
    if (!is_here(host) && std::find(others.begin(), others.end(), host) == others.end()) others.push_back(host);
  }
  if (others.empty()) return;
  const std::vector<std::string> agent = find_agent();
  const std::string question =
      "sh -c 'PATH=$1:$PATH; command -v orted >/dev/null || command -v prted >/dev/null || exit " +
      std::to_string(kNoDaemon) + "; test -z \"$2\" || test -x \"$2\" || exit " + std::to_string(kNoProgram) +
      "' shoal " + quoted(std::filesystem::path(launcher).parent_path()) + " " + quoted(program);
  std::vector<Asked> all;
  for (const std::string& host : others) all.push_back(ask(agent, host, question));
  const Clock::time_point until = Clock::now() + kAnswerWithin;
  std::string line;
  int failed = 0;
  for (const Asked& one : all) {
    const auto [status, said] = answer_of(one, until);
    if (status == 0 || failed++ > 0) continue;
    if (status == kNoDaemon) {
      line = "host " + one.host + " has no orted in PATH, a part of Open MPI; install it there as it is here (" +
             launcher + ")";
    } else if (status == kNoProgram) {
      line = "host " + one.host + " has no " + program + "; a program must have the same path on all hosts";
    } else {
      const std::string why = status < 0     ? "no answer within 20 s"
                              : said.empty() ? "exit status " + std::to_string(status)
                                             : said;
      line = "host " + one.host + " cannot be reached: " + why + "; correct --hosts, or make sure that `" + agent[0] +
             " " + one.host + " true` works here without a prompt";
    }
  }
  if (failed > 1)
    line += "; " + std::to_string(failed - 1) + " more of " + std::to_string(all.size()) + " other hosts failed, too";
  if (failed > 0) throw TransportError(line);
}

}  // namespace shoal::cli
