// This process as one of several that a launcher started: its number among them, and the world that they form. A process
// has at most one such world, because messages do not say to which of several worlds they belong.
#pragma once
#include <memory>
#include <string>

#include "shoal/world/options.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// What the launcher's environment variables say of this process.
struct Launched {
  int process = 0;
  int processes = 1;
  std::string by;  ///< the launcher whose variables were found: "mpirun", "srun"; empty: none
};

/// Reads the variables that oshrun, mpirun (Open MPI, and others that set PMI variables) and srun set. A process that was
/// started alone is process 0 of 1.
/// @throws UsageError  the variables do not make sense
Launched launched();

/// The path of the launcher for OpenSHMEM: oshrun, or mpirun of Open MPI.
/// @throws UsageError  neither is in PATH
std::string find_launcher();

/// Resolves `--engine auto` if this process is one of several: to openshmem. Otherwise options.engine stays as it is.
/// @param not_between_gpus  data that the program cannot send between GPUs of several processes yet, for the message;
///   null: it can send everything
/// @throws UsageError  the run would have to send that
void choose_engine(Options& options, const char* not_between_gpus = nullptr);

/// Starts the engine of `options`, waits for the other processes, and checks that all were started in the same way. Does
/// nothing unless the engine is openshmem. Machines that are made with this engine from here on belong to this world.
/// @param started_as  the command line
/// @throws UsageError  as openshmem_boards(); or processes were started differently, or there are too many PEs in all
/// @throws TransportError  a process does not come
void join_processes(const Options& options, const std::string& started_as);

/// The world that was joined; null before that, and in a process that is alone.
std::shared_ptr<World> joined_world();
/// The number of processes of the joined world that run on the same host with the same processor affinity as this one,
/// itself included; 1 without a world.
int processes_that_share_processors();
int processes_on_this_host();  ///< processes of the joined world that run on this host; 1 without a world
int process_on_this_host();    ///< the number of this process among them, from 0
/// Whether GPUs of different processes of the joined world cannot reach each other's memory. This is so if the processes run
/// on several hosts, or if SHOAL_GPU_WIRE=nccl is set: for tests on one host, and for containers that forbid CUDA IPC.
/// @throws UsageError  SHOAL_GPU_WIRE has another value
bool gpus_are_apart();
/// For programs that need GPUs to reach each other's memory: refuses a run on GPUs of several processes for which
/// gpus_are_apart() is true. Every process calls it, after join_processes().
/// @throws UsageError  with a cure
void refuse_gpus_apart(const Options& options);
/// Ends the engine; waits for all processes. To be called after all PEs have left the world, and after everything that was
/// made from the world has been destroyed.
void leave_processes();
/// The same for a program in which one thread makes all calls: first all PEs of this process leave the world.
void leave_together();

/// From here on is_speaker() treats this process as one of those that the launcher started, unless choose_engine() then finds
/// that it runs alone.
void begin_together();
/// For programs that run in one process only: each of several processes would do all of the work and write the same files.
/// @param what  for the message: "jacobi3d"
/// @throws UsageError  this process is one of several
void require_one_process(const std::string& what);
/// Whether this process prints a program's result: of processes that run together, only process 0 does.
bool is_speaker();
/// For a process that failed: tells the other processes, and returns whether this one should print the error. Process 0
/// should. It also prints the errors that it hears of from others, which give it a few seconds for that before they exit.
bool should_speak(const std::string& why);

}  // namespace shoal
