// This process as one of several that a launcher started: which one it is, and the world that they make together. A process
// has one such world in its life, since nobody could say to which of several a message belongs.
#pragma once
#include <memory>
#include <string>

#include "shoal/world/options.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// What the environment says of this process.
struct Launched {
  int process = 0;
  int processes = 1;
  std::string by;  ///< whose variables say so: "mpirun", "srun"; empty: nobody's
};

/// As oshrun, mpirun (Open MPI, and those that speak PMI) and srun tell it. A process that was started alone is one of one.
/// @throws UsageError  the variables do not make sense
Launched launched();

/// The launcher that belongs to OpenSHMEM: oshrun, or mpirun of Open MPI.
/// @throws UsageError  neither is in PATH
std::string find_launcher();

/// What `--engine auto` means for a program: openshmem in one of several processes, else what it was.
/// @param not_between_gpus  what the program would send between GPUs of several processes, and cannot yet; null: it can
/// @throws UsageError  the program would do that
void choose_engine(Options& options, const char* not_between_gpus = nullptr);

/// Starts the engine of `options`, waits for the other processes, and compares how they were started. Does nothing unless the
/// engine is openshmem. From here on machines that are made with this engine are a part of this world.
/// @param started_as  the command line
/// @throws UsageError  as openshmem_boards(), or processes that are started differently, or too many PEs;
///   TransportError: a process does not come
void join_processes(const Options& options, const std::string& started_as);

/// The world that was joined; null before that, and in a process that is alone.
std::shared_ptr<World> joined_world();
/// Processes of the joined world that have the same processors of one host, this one among them; 1 without a world.
int processes_that_share_processors();
int processes_on_this_host();  ///< of the joined world; 1 without a world
int process_on_this_host();    ///< this one among them, counted from 0
/// Whether GPUs of the processes of the joined world do not reach each other's memory: they belong to several hosts. For tests on one
/// host, and for containers that forbid CUDA IPC, SHOAL_GPU_WIRE=nccl says so of the processes of a host.
/// @throws UsageError  SHOAL_GPU_WIRE is something else
bool gpus_are_apart();
/// Refuses, for what GPUs cannot do that are apart, a run of several processes on them. After join_processes(). Every process.
/// @throws UsageError  with a cure
void refuse_gpus_apart(const Options& options);
/// After all PEs have left the world, and what was made of it is gone: ends the engine, for which it waits for all processes.
void leave_processes();
/// The same for a program of which one thread makes all calls: first, all PEs of this process leave the world.
void leave_together();

/// From here on this process is one of those that the launcher started, as long as choose_engine() does not find that it runs alone.
void begin_together();
/// For what runs in one process: several would each do the whole, beside each other, and write the same files.
/// @param what  for the message: "jacobi3d"
/// @throws UsageError  this process is one of several
void require_one_process(const std::string& what);
/// Whether this process says what comes of a program: of those that run together, process 0 does.
bool is_speaker();
/// For a process that failed: tells the others, and returns whether it should say why itself. Process 0 should; it also says what
/// it hears from others, and has a few seconds for that before they leave.
bool should_speak(const std::string& why);

}  // namespace shoal
