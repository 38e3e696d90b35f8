#include "shoal/world/processes.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/pending_file.hpp"
#include "shoal/world/boards.hpp"
#include "shoal/world/openshmem.hpp"

namespace shoal {
namespace {

struct Variables {
  const char *process, *processes, *by;
};
// A batch script is one process, but has SLURM_NTASKS, too. Only srun sets SLURM_STEP_NUM_TASKS.
constexpr Variables kVariables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"},
                                    {"PMI_RANK", "PMI_SIZE", "mpirun"},
                                    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun"}};

int number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  const char* const end = text + std::strlen(text);
  int value = 0;
  if (const auto [rest, error] = std::from_chars(text, end, value); error != std::errc() || rest != end || value < 0) {
    throw UsageError(std::string(variable) + "=" + text +
                     " in the environment is not a number; use 0 or more, or unset it");
  }
  return value;
}

/// The host and the processor affinity of this process, as a text. Processes with the same text share their processors.
std::vector<std::byte> processors() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::string name = std::string(host) + ":";
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  for (int i = 0; i < CPU_SETSIZE; ++i) name += CPU_ISSET(i, &set) ? '1' : '0';
  const auto bytes = std::as_bytes(std::span(name));
  return {bytes.begin(), bytes.end()};
}

/// A thread that calls a function repeatedly, while this object exists.
class Every {
 public:
  Every(std::chrono::duration<double> pause, std::function<void()> call)
      : thread_([pause, call = std::move(call)](const std::stop_token& over) {
          std::mutex mutex;
          std::condition_variable_any nobody;  // never notified; only a request to stop ends the wait early
          std::unique_lock lock(mutex);
          while (!nobody.wait_for(lock, over, pause, [&over] { return over.stop_requested(); })) call();
        }) {}

 private:
  std::jthread thread_;
};

/// The value of an environment variable of another process of this host. @param folder  its folder in /proc
std::string environment_of(const std::string& folder, const std::string& variable) {
  std::ifstream file(folder + "/environ", std::ios::binary);
  for (std::string text; std::getline(file, text, '\0');) {
    if (text.starts_with(variable + "=")) return text.substr(variable.size() + 1);
  }
  return "";
}

/// Looks for a stopped process among those of this job on this host: "process 1 of 3 (process id 123) is stopped"; empty if
/// there is none. It reads /proc, because processes cannot communicate while OpenSHMEM starts. Open MPI names the job in
/// PMIX_NAMESPACE, which child processes inherit. So of those with the same rank, the one with the lowest process id is taken.
std::string who_is_stopped(const Launched& by) {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  if (job == nullptr) return "";
  std::vector<bool> seen(static_cast<std::size_t>(by.processes), false);
  std::vector<int> pids;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const int pid = std::atoi(at->path().filename().c_str());
    if (pid > 0) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  for (const int pid : pids) {
    const std::string folder = "/proc/" + std::to_string(pid);
    if (environment_of(folder, "PMIX_NAMESPACE") != job) continue;
    const std::string number = environment_of(folder, "PMIX_RANK");
    const int rank = std::atoi(number.c_str());
    if (number.empty() || rank < 0 || rank >= by.processes || seen[static_cast<std::size_t>(rank)]) continue;
    seen[static_cast<std::size_t>(rank)] = true;
    std::string stat;
    std::getline(std::ifstream(folder + "/stat"), stat);
    const std::size_t name_ends = stat.rfind(')');
    if (name_ends == std::string::npos || name_ends + 2 >= stat.size()) continue;
    if (const char state = stat[name_ends + 2]; state != 'T' && state != 't') continue;
    return "process " + number + " of " + std::to_string(by.processes) + " (process id " + std::to_string(pid) +
           ") is stopped";
  }
  return "";
}

[[noreturn]] void end_process(const std::string& what) {
  std::fprintf(stderr, "shoal: error: %s\n", what.c_str());
  std::fflush(stderr);
  io::remove_pending_files();
  ::_exit(4);
}

struct Joined {
  std::shared_ptr<World> world;
  int sharing = 1, on_host = 1, before_on_host = 0;
  bool together = false;
  std::unique_ptr<Every> sign_of_life, guard;  // end before the world is destroyed
};

Joined& joined() {
  // Never destroyed, because a process that fails must exit without waiting for the others.
  static Joined* const state = new Joined;
  return *state;
}

}  // namespace

Launched launched() {
  for (const Variables& v : kVariables) {
    if (std::getenv(v.process) == nullptr || std::getenv(v.processes) == nullptr) continue;
    const Launched found = {number_of(v.process), number_of(v.processes), v.by};
    if (found.process < found.processes) return found;
    throw UsageError(std::string(v.process) + "=" + std::to_string(found.process) +
                     " in the environment must be below " + v.processes + "=" + std::to_string(found.processes) +
                     "; correct both, or unset them");
  }
  return {};
}

std::string find_launcher() {
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "";
  for (const char* const name : {"oshrun", "mpirun.openmpi", "mpirun"}) {
    for (std::size_t begin = 0; begin < folders.size();) {
      const std::size_t end = std::min(folders.find(':', begin), folders.size());
      const std::string file = folders.substr(begin, end - begin) + "/" + name;
      if (::access(file.c_str(), X_OK) == 0) return file;
      begin = end + 1;
    }
  }
  throw UsageError(
      "neither oshrun nor mpirun is in PATH; `./run setup processes` installs them (Debian: openmpi-bin "
      "libopenmpi-dev)");
}

void choose_engine(Options& options, const char* not_between_gpus) {
  if (options.engine == "auto" && launched().processes > 1) options.engine = "openshmem";
  joined().together = options.engine == "openshmem";
  if (not_between_gpus == nullptr || !joined().together || options.device != DeviceKind::gpu) return;
  throw UsageError(
      std::string(not_between_gpus) +
      " cannot be sent between GPUs of several processes yet; use --device cpu, or one process with --pes");
}

void join_processes(const Options& options, const std::string& started_as) {
  if (options.engine != "openshmem" || joined().world) return;
  const Launched by = launched();
  std::unique_ptr<Boards> boards;
  {
    // Process 0 reports first, and the launcher then ends the others.
    constexpr double kOnTop =
        8;  // OpenSHMEM takes a second to start, and several where many processes share a processor
    const double seconds = options.stall_timeout_seconds + kOnTop;
    const std::string me = "process " + std::to_string(by.process) + " of " + std::to_string(by.processes);
    const std::string why =
        me + " has waited " + exact(seconds) +
        " s for the others to start OpenSHMEM, but at least one has not; start the same program in all processes";
    const auto began = std::chrono::steady_clock::now();
    const double patience = options.stall_timeout_seconds;
    const auto look = [=, first_stopped = began, stopped = std::string()]() mutable {
      const auto now = std::chrono::steady_clock::now();
      const auto since = [now](auto then) { return std::chrono::duration<double>(now - then).count(); };
      const std::string who = who_is_stopped(by);
      if (who != stopped) stopped = who, first_stopped = now;
      const double later = by.process > 0 ? 1 : 0;
      if (!who.empty() && since(first_stopped) > patience + later) {
        end_process(who + ", and " + me + " has waited " + exact(patience) + " s for it to start OpenSHMEM");
      }
      if (since(began) > seconds + later) end_process(who.empty() ? why : why + "; " + who);
    };
    const Every deadline(std::chrono::milliseconds(500), look);
    boards = openshmem_boards();
  }
  if (boards->processes() != by.processes) {
    throw UsageError(by.by + " started " + std::to_string(by.processes) + " processes, but OpenSHMEM sees " +
                     std::to_string(boards->processes()) +
                     "; start them with the launcher that belongs to it (oshrun; srun --mpi=pmix), or use --engine "
                     "threads to have each run alone");
  }
  const pe_t here = options.pes > 0 ? options.pes : 1;
  const pe_t all = here * static_cast<pe_t>(boards->processes());
  if (all > kMaxPes) {
    throw UsageError(std::to_string(boards->processes()) + " processes with " + std::to_string(here) +
                     " PEs each make " + std::to_string(all) + " PEs, but a run has at most " +
                     std::to_string(kMaxPes) + "; use fewer");
  }
  auto world = std::make_shared<World>(here, options.stall_timeout_seconds, std::move(boards), started_as);
  const std::vector<std::vector<std::byte>> of_all = world->exchange({"processors"}, processors());
  const std::vector<std::byte> mine = processors();
  joined().sharing = static_cast<int>(std::count(of_all.begin(), of_all.end(), mine));
  const auto host_end = std::find(mine.begin(), mine.end(), std::byte{':'});
  const auto is_here = [&](const auto& its) {
    return its.size() == mine.size() && std::equal(mine.begin(), host_end, its.begin()) &&
           its[static_cast<std::size_t>(host_end - mine.begin())] == std::byte{':'};
  };
  joined().on_host = static_cast<int>(std::count_if(of_all.begin(), of_all.end(), is_here));
  joined().before_on_host = static_cast<int>(std::count_if(of_all.begin(), of_all.begin() + world->process(), is_here));
  joined().sign_of_life = std::make_unique<Every>(std::chrono::milliseconds(200), [at = world.get()] { at->beat(); });
  // A put to an unreachable host may never return. Then no thread that communicates with all processes makes progress.
  joined().guard = std::make_unique<Every>(std::chrono::milliseconds(200), [at = world.get()] {
    if (const std::string why = at->held_up(); !why.empty()) end_process(why);
  });
  joined().world = std::move(world);
}

std::shared_ptr<World> joined_world() { return joined().world; }
int processes_that_share_processors() { return joined().sharing; }
int processes_on_this_host() { return joined().on_host; }
int process_on_this_host() { return joined().before_on_host; }

bool gpus_are_apart() {
  if (!joined().world || joined().world->n_processes() == 1) return false;
  const char* const wire = std::getenv("SHOAL_GPU_WIRE");
  if (wire != nullptr && std::strcmp(wire, "nccl") != 0) {
    throw UsageError(std::string("SHOAL_GPU_WIRE=") + wire +
                     " is not known; legal: nccl, or unset (GPUs of a host use each other's memory)");
  }
  return wire != nullptr || joined().on_host < joined().world->n_processes();
}

void refuse_gpus_apart(const Options& options) {
  if (options.engine != "openshmem" || options.device != DeviceKind::gpu || !gpus_are_apart()) return;
  throw UsageError(
      std::string(
          "only bfs and pagerank run yet on GPUs that cannot access each other's memory (those of several hosts); use "
          "--device cpu, or ") +
      (joined().on_host < joined().world->n_processes() ? "start all processes on one host" : "unset SHOAL_GPU_WIRE"));
}

void leave_processes() {
  joined().sign_of_life.reset();
  joined().guard.reset();
  joined().world.reset();
}

void leave_together() {
  if (World* const world = joined().world.get()) {
    for (pe_t pe = world->first_here(); pe < world->first_here() + world->n_here(); ++pe) world->leave(pe);
  }
  leave_processes();
}

void begin_together() { joined().together = true; }

void require_one_process(const std::string& what) {
  const Launched by = launched();
  if (by.processes == 1) return;
  begin_together();
  throw UsageError(what + " runs in one process, but " + by.by + " started " + std::to_string(by.processes) +
                   ", and each would do all of the work; start it without a launcher");
}

bool is_speaker() {
  if (joined().world) return joined().world->process() == 0;
  try {
    return !joined().together || launched().process == 0;
  } catch (const UsageError&) {
    return true;
  }
}

bool should_speak(const std::string& why) {
  World* const world = joined().world.get();
  if (world != nullptr) world->fail(world->first_here(), why);
  const bool speaks = is_speaker();
  if (world != nullptr && processes_on_this_host() < world->n_processes()) {
    for (int i = 0; i < 10; ++i) {  // gives the message to other hosts time to be sent
      world->beat();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  if (speaks) return true;
  if (world == nullptr) return false;
  for (int i = 0; i < 100; ++i) {  // process 0 needs time to report: the launcher ends all when this process has exited
    if (world->takes_leave(0)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return true;
}

}  // namespace shoal
