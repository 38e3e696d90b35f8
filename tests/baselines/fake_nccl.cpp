// A replacement of NCCL for ranks that are threads of one process and may share a GPU, which NCCL refuses. Loaded before NCCL
// (LD_PRELOAD), it lets the baselines run with several ranks on one GPU. The host waits for every operation, as only results
// are tested, not times. It has only the functions that baselines/nccl/communicator.cuh calls.
#include <cuda_runtime.h>
#include <nccl.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

struct Mail {
  const void* words;
  std::size_t bytes;
  bool taken = false;
};

/// The state that the ranks of one communicator share.
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Mail>>> mail;  // by sender and receiver
  std::vector<std::vector<char>> parts;                                   // of the current sum, by rank
  std::vector<char> sum;
  int arrived = 0, sums = 0;
};

std::mutex worlds_mutex;
std::map<int, std::shared_ptr<World>> worlds;

struct Operation {
  ncclComm_t comm;
  int peer;
  void* words;
  std::size_t bytes;
  cudaStream_t stream;
  std::shared_ptr<Mail> sent;  // null: a receive
};
thread_local std::vector<Operation> group;

std::size_t bytes_of(ncclDataType_t type) { return type == ncclUint32 ? 4 : 8; }

template <class T>
void add(const std::vector<std::vector<char>>& parts, std::vector<char>& sum) {
  std::vector<T> total(parts[0].size() / sizeof(T)), one(total.size());
  for (const std::vector<char>& part : parts) {
    std::memcpy(one.data(), part.data(), part.size());
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += one[i];
  }
  sum.resize(parts[0].size());
  std::memcpy(sum.data(), total.data(), sum.size());
}

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank, size;
};

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = 0;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "the stand-in of NCCL refuses this"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::lock_guard lock(worlds_mutex);
  const int number = static_cast<int>(worlds.size());
  worlds[number] = std::make_shared<World>();
  std::memset(id, 0, sizeof *id);
  std::memcpy(id, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  const std::lock_guard lock(worlds_mutex);
  int number = 0;
  std::memcpy(&number, &id, sizeof number);
  const auto found = worlds.find(number);
  if (found == worlds.end()) return ncclInvalidArgument;  // the id was made by another process
  found->second->parts.resize(static_cast<std::size_t>(size));
  *comm = new ncclComm{found->second, rank, size};
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() { return group.empty() ? ncclSuccess : ncclInvalidUsage; }

ncclResult_t ncclSend(const void* words, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const std::size_t bytes = count * bytes_of(type);
  group.push_back({comm, peer, nullptr, bytes, stream, std::make_shared<Mail>(Mail{words, bytes})});
  return ncclSuccess;
}
ncclResult_t ncclRecv(void* words, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  group.push_back({comm, peer, words, count * bytes_of(type), stream, nullptr});
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const std::vector<Operation> operations = std::exchange(group, {});
  for (const Operation& o : operations) {
    if (cudaStreamSynchronize(o.stream) != cudaSuccess) return ncclUnhandledCudaError;
    if (!o.sent) continue;
    const std::lock_guard lock(o.comm->world->mutex);
    o.comm->world->mail[{o.comm->rank, o.peer}].push_back(o.sent);
    o.comm->world->changed.notify_all();
  }
  for (const Operation& o : operations) {
    if (o.sent) continue;
    World& world = *o.comm->world;
    std::unique_lock lock(world.mutex);
    auto& waiting = world.mail[{o.peer, o.comm->rank}];
    world.changed.wait(lock, [&] { return !waiting.empty(); });
    const std::shared_ptr<Mail> mail = waiting.front();
    waiting.pop_front();
    lock.unlock();
    if (mail->bytes != o.bytes) return ncclInvalidArgument;
    if (cudaMemcpyAsync(o.words, mail->words, o.bytes, cudaMemcpyDefault, o.stream) != cudaSuccess ||
        cudaStreamSynchronize(o.stream) != cudaSuccess) {
      return ncclUnhandledCudaError;
    }
    lock.lock();
    mail->taken = true;
    world.changed.notify_all();
  }
  for (const Operation& o : operations) {
    if (!o.sent) continue;
    std::unique_lock lock(o.comm->world->mutex);
    o.comm->world->changed.wait(lock, [&] { return o.sent->taken; });
  }
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                           ncclComm_t comm, cudaStream_t stream) {
  World& world = *comm->world;
  std::vector<char> own(count * bytes_of(type));
  if (cudaMemcpyAsync(own.data(), from, own.size(), cudaMemcpyDefault, stream) != cudaSuccess ||
      cudaStreamSynchronize(stream) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  {
    std::unique_lock lock(world.mutex);
    world.parts[static_cast<std::size_t>(comm->rank)] = std::move(own);
    const int before = world.sums;
    if (++world.arrived == comm->size) {
      type == ncclFloat64 ? add<double>(world.parts, world.sum) : add<long long>(world.parts, world.sum);
      world.arrived = 0;
      ++world.sums;
      world.changed.notify_all();
    }
    world.changed.wait(lock, [&] { return world.sums != before; });
    own = world.sum;
  }
  return cudaMemcpyAsync(to, own.data(), own.size(), cudaMemcpyDefault, stream) == cudaSuccess &&
                 cudaStreamSynchronize(stream) == cudaSuccess
             ? ncclSuccess
             : ncclUnhandledCudaError;
}

}  // extern "C"
