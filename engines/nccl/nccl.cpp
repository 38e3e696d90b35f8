// The NCCL library that was found at build time, as a table of functions.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstring>
#include <string>

#include "world/gpu_wire_table.hpp"

namespace {

static_assert(sizeof(ncclUniqueId) == shoal::GpuWireTable::kIdBytes);

ncclComm_t comm_of(void* member) { return static_cast<ncclComm_t>(member); }
cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

const char* failed(const char* what, const char* why, const char* more) {
  static thread_local std::string text;
  text = std::string(what) + ": " + why;
  if (more != nullptr && *more != '\0') text += std::string(", ") + more;
  return text.c_str();
}
const char* told(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return nullptr;
  return failed(what, ncclGetErrorString(status), ncclGetLastError(nullptr));
}
#define TOLD(call) told(call, #call)

const char* name() {
  static const std::string text = [] {
    int number = 0;
    if (ncclGetVersion(&number) != ncclSuccess) return std::string("NCCL");
    return "NCCL " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
  }();
  return text.c_str();
}

const char* make_id(void* id) { return TOLD(ncclGetUniqueId(static_cast<ncclUniqueId*>(id))); }

const char* join(const void* id, int all, int first, int here, const int* devices, void** members) {
  ncclUniqueId unique;
  std::memcpy(&unique, id, sizeof unique);
  int before = 0;
  cudaGetDevice(&before);
  const char* why = TOLD(ncclGroupStart());
  for (int i = 0; i < here && why == nullptr; ++i) {
    const cudaError_t status = cudaSetDevice(devices[i]);
    if (status != cudaSuccess) {
      why = failed("cudaSetDevice", cudaGetErrorString(status), nullptr);
    } else {
      why = TOLD(ncclCommInitRank(reinterpret_cast<ncclComm_t*>(members + i), all, unique, first + i));
    }
  }
  const char* const end = TOLD(ncclGroupEnd());
  cudaSetDevice(before);
  return end != nullptr ? end : why;  // both texts use the same buffer, which holds the later one
}

const char* begin() { return TOLD(ncclGroupStart()); }
const char* send(void* member, const void* from, std::size_t bytes, int to, void* stream) {
  return TOLD(ncclSend(from, bytes, ncclUint8, to, comm_of(member), stream_of(stream)));
}
const char* receive(void* member, void* to, std::size_t bytes, int from, void* stream) {
  return TOLD(ncclRecv(to, bytes, ncclUint8, from, comm_of(member), stream_of(stream)));
}
const char* gather(void* member, void* all, int me, std::size_t bytes, void* stream) {
  const auto* const mine = static_cast<std::byte*>(all) + static_cast<std::size_t>(me) * bytes;
  return TOLD(ncclAllGather(mine, all, bytes, ncclUint8, comm_of(member), stream_of(stream)));
}
const char* end() { return TOLD(ncclGroupEnd()); }

const char* look(void* member) {
  ncclResult_t since = ncclSuccess;
  if (const char* const why = TOLD(ncclCommGetAsyncError(comm_of(member), &since))) return why;
  return since == ncclInProgress ? nullptr : told(since, "what was on its way");
}

void leave(void* member) { ncclCommDestroy(comm_of(member)); }
void abort(void* member) { ncclCommAbort(comm_of(member)); }

constexpr shoal::GpuWireTable kTable = {
    shoal::GpuWireTable::kVersion, name, make_id, join, begin, send, receive, gather, end, look, leave, abort};

}  // namespace

extern "C" const shoal::GpuWireTable* shoal_gpu_wire() { return &kTable; }
