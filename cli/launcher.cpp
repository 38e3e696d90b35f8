// shoal run: finds the launcher of OpenSHMEM, runs it, and cleans up after it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "hosts.hpp"
#include "launch.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/types.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/openshmem.hpp"
#include "shoal/world/processes.hpp"

namespace shoal::cli {
namespace {

constexpr const char* kRunFooter = R"(examples:
  shoal run -n 2 -- bfs kron:20 --verify                 two processes of this host, which share its threads
  shoal run -n 2 --hosts alpha,beta -- pagerank kron:22  one on each of two hosts; ssh must reach them, and shoal have the same path
  shoal run -n 4 -- build/cpu/example_01_bfs kron:16     a program of your own

COMMAND is a command of shoal, or a program with its folder (./mine). oshrun, mpirun of Open MPI and srun start processes as well:
  oshrun -n 2 shoal bfs kron:20

If the graph is generated, a .shoal file or an uncompressed edge list, each process of a command of shoal holds only the rows of its own
PEs in memory. So a graph that does not fit one process may run on several (the README lists exceptions). --json says how much memory
each process took, and how much was expected. In a program of your own, every process holds the whole graph.

Ctrl-C ends all processes.)";

namespace fs = std::filesystem;

/// True if a process that this user may inspect has mapped or opened this file.
bool is_used(const std::string& file) {
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    std::ifstream maps(at->path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(file) != std::string::npos) return true;
    }
    std::error_code none;
    for (fs::directory_iterator open(at->path() / "fd", none), last; !none && open != last; open.increment(none)) {
      std::error_code gone;
      if (fs::read_symlink(open->path(), gone) == file) return true;
    }
  }
  return false;
}

/// Files of shared memory that OpenSHMEM's processes of this user have made and no process uses. A process that is killed while
/// OpenSHMEM starts leaves such a file behind, which the system keeps in memory. Only files last changed between these times.
std::vector<std::string> unused_memory(std::time_t first, std::time_t last) {
  std::vector<std::string> unused;
  std::error_code error;
  for (fs::directory_iterator at("/dev/shm", error), end; !error && at != end; at.increment(error)) {
    struct stat st {};
    const std::string file = at->path().string();
    if (at->path().filename().string().rfind("ucx_shm_posix_", 0) != 0 || ::stat(file.c_str(), &st) != 0) continue;
    if (st.st_uid != ::geteuid() || st.st_mtime < first || st.st_mtime > last || is_used(file)) continue;
    unused.push_back(file);
  }
  return unused;
}

void remove_what_dead_jobs_left() {
  constexpr std::time_t kOld = 60;  // seconds: a job that is starting may not have mapped its files yet
  for (const std::string& file : unused_memory(0, std::time(nullptr) - kOld)) ::unlink(file.c_str());
}

/// Called after a job that failed, and that began at `began`. A file may belong to another job that is starting, but then a process
/// uses it a second later, and it stays.
void remove_what_this_job_left(std::time_t began) {
  const std::time_t ended = std::time(nullptr);
  const std::vector<std::string> left = unused_memory(began, ended);
  if (left.empty()) return;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (const std::string& file : unused_memory(began, ended)) {
    if (std::find(left.begin(), left.end(), file) != left.end()) ::unlink(file.c_str());
  }
}

class LaunchCommand {
 public:
  void add_to(CLI::App& app) {
    app_ = &app;
    app.add_option("-n,--processes", processes_, "number of processes")
        ->required()
        ->check(whole_number<int>)
        ->type_name("N");
    app.add_option("--hosts", hosts_,
                   "hosts to run on, with equal numbers of processes: names with commas (default: this host)")
        ->type_name("A,B");
    app.add_flag("--show", show_, "print the launcher's command line, and run nothing");
    app.add_option("command", command_, "a command of shoal or a program, with its arguments")
        ->required()
        ->type_name("COMMAND");
    app.footer(kRunFooter);
  }

  int run() {
    if (processes_ < 1 || processes_ > kMaxPes) {
      throw UsageError("-n " + std::to_string(processes_) + " is out of range: 1 to " + std::to_string(kMaxPes));
    }
    if (launched().processes > 1)
      throw UsageError("shoal run was itself started by " + launched().by + "; use only one of them");
    const std::vector<std::string> words = command_line();
    if (show_) {
      std::string line;
      for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
      std::printf("%s\n", line.c_str());
      return kRight;
    }
    require_command();
    if (::geteuid() == 0) {  // Open MPI refuses to run as root unless these are set; who starts this as root wants it
      ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
      ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    remove_what_dead_jobs_left();
    if (!hosts_.empty() && !in_batch_system()) require_hosts(split(hosts_), words.front(), file_on_hosts());
    const std::time_t began = std::time(nullptr);
    const int status = run_launcher(words, processes_, starts_all_here());
    if (status != kRight) remove_what_this_job_left(began);
    return status;
  }

 private:
  /// Refuses a command that cannot be run, before any process starts.
  void require_command() const {
    const std::string& first = command_.front();
    if (first.find('/') == std::string::npos) {
      const auto named = [&](const CLI::App* command) { return command->get_name() == first; };
      if (first.starts_with('-') || !app_->get_parent()->get_subcommands(named).empty()) return;
      throw UsageError("'" + first + "' is not a command of shoal; a program is named with its folder, such as ./" +
                       first);
    }
    std::error_code none;
    const bool folder = fs::is_directory(first, none);
    if (hosts_.empty() && (folder || ::access(first.c_str(), X_OK) != 0)) {
      throw UsageError(first + ": cannot be started: " + std::strerror(folder ? EISDIR : errno) +
                       "; name an executable program");
    }
  }

  /// True inside a job of a batch system, which starts processes on other hosts in its own way.
  static bool in_batch_system() {
    for (const char* const job : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"}) {
      if (std::getenv(job) != nullptr) return true;
    }
    return false;
  }
  /// True if all processes will be the launcher's children. On other hosts, and in batch systems, others start them.
  bool starts_all_here() const { return hosts_.empty() && !in_batch_system(); }
  /// The file that must have the same path on all hosts; empty: the path is relative, so it depends on the folder there.
  std::string file_on_hosts() const {
    const std::string& first = command_.front();
    if (first.find('/') == std::string::npos) return fs::read_symlink("/proc/self/exe");
    return first.starts_with('/') ? first : "";
  }
  std::vector<std::string> command_line() const {
    const std::string why = why_no_openshmem();
    if (!why.empty()) throw UsageError("shoal run: " + why);
    std::vector<std::string> words = {find_launcher(), "-n", std::to_string(processes_), "--bind-to", "none"};
    const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
    const std::vector<std::string> hosts = split(hosts_);
    if (hosts.empty()) {
      add({"--oversubscribe"});
    } else {
      const std::size_t each = (static_cast<std::size_t>(processes_) + hosts.size() - 1) / hosts.size();
      std::string list;
      for (const std::string& host : hosts) list += (list.empty() ? "" : ",") + host + ":" + std::to_string(each);
      add({"--host", list, "--map-by", "node"});
    }
    // Open MPI itself passes only its own variables on to other hosts.
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string name = std::string(*variable).substr(0, std::strcspn(*variable, "="));
      for (const char* const ours : {"SHOAL_", "SHMEM_", "UCX_", "NCCL_"}) {
        if (name.starts_with(ours)) add({"-x", name});
      }
    }
    const std::string& first = command_.front();
    if (first.find('/') == std::string::npos) words.push_back(fs::read_symlink("/proc/self/exe"));
    words.insert(words.end(), command_.begin(), command_.end());
    return words;
  }

  std::vector<std::string> split(const std::string& text) const {
    std::vector<std::string> parts;
    if (text.empty()) return parts;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      parts.push_back(text.substr(begin, end - begin));
      if (parts.back().empty())
        throw UsageError("--hosts '" + text + "' has an empty name; put one comma between two names");
      begin = end + 1;
    }
    return parts;
  }

  CLI::App* app_ = nullptr;
  int processes_ = 0;
  std::string hosts_;
  bool show_ = false;
  std::vector<std::string> command_;
};

}  // namespace

Run add_run(CLI::App& shoal) {
  CLI::App* app = shoal.add_subcommand("run", "start a command or a program in several processes, on one host or many");
  auto command = std::make_shared<LaunchCommand>();
  command->add_to(*app);
  return [command] { return command->run(); };
}

}  // namespace shoal::cli
