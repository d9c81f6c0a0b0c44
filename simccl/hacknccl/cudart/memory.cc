// Memory of the virtual GPUs: reserved addresses without content, counted against the memory of a
// GPU. Host memory is real and zeroed. Only copies from host to host move data.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "simccl/hacknccl/cudart/runtime.h"

using drydock::RecordHost;
using drydock::RecordKind;
using drydock::cudart::CheckHost;
using drydock::cudart::Log;
using drydock::cudart::Recording;
using drydock::cudart::Return;

namespace {

struct Block {
  size_t bytes = 0;
  int device = -1;  // -1: host memory
};

// Blocks of cudaMalloc are multiples of this size: CUDA programming guide, 256-byte alignment.
constexpr size_t kAlignment = 256;

// A GPU's memory is only reserved addresses, so an allocation of any size costs this machine
// nothing.
class Memory {
 public:
  cudaError_t Allocate(void** pointer, size_t bytes) {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    const int device = Recording().device();
    const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (size < bytes || size > Free(device)) return cudaErrorMemoryAllocation;
    void* address =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) return cudaErrorMemoryAllocation;
    used_[device] += size;
    blocks_[address] = {size, device};
    *pointer = address;
    return cudaSuccess;
  }
  cudaError_t AllocateHost(void** pointer, size_t bytes) {
    *pointer = calloc(1, bytes == 0 ? 1 : bytes);
    if (*pointer == nullptr) return cudaErrorMemoryAllocation;
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[*pointer] = {bytes, -1};
    return cudaSuccess;
  }
  cudaError_t Release(void* pointer) {
    if (pointer == nullptr) return cudaSuccess;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(pointer);
    if (found == blocks_.end()) return cudaErrorInvalidValue;
    if (found->second.device < 0) {
      free(pointer);
    } else {
      used_[found->second.device] -= found->second.bytes;
      munmap(pointer, found->second.bytes);
    }
    blocks_.erase(found);
    return cudaSuccess;
  }
  size_t FreeBytes(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Free(device);
  }
  // Returns the block that holds the address, or a block of 0 bytes.
  Block Find(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto after = blocks_.upper_bound(const_cast<void*>(pointer));
    if (after == blocks_.begin()) return {};
    --after;
    const auto offset = static_cast<size_t>(static_cast<const char*>(pointer) -
                                            static_cast<const char*>(after->first));
    return offset < after->second.bytes ? after->second : Block{};
  }

 private:
  size_t Free(int device) const {
    return static_cast<size_t>(Recording().host()->memory_bytes) - used_[device];
  }
  std::mutex mutex_;
  std::map<void*, Block> blocks_;
  size_t used_[RecordHost::kMaxGpus] = {};
};

// Never destroyed: programs free memory from static destructors.
Memory& TheMemory() {
  static Memory* const memory = new Memory;
  return *memory;
}

cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToHost) memmove(to, from, bytes);
  Recording().count_copy();
  return Return(CheckHost());
}

cudaError_t Allocate(void** pointer, size_t bytes) {
  const cudaError_t error = CheckHost();
  return Return(error != cudaSuccess ? error : TheMemory().Allocate(pointer, bytes));
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return Allocate(pointer, bytes); }
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  return Allocate(pointer, bytes);
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return Return(TheMemory().AllocateHost(pointer, bytes));
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return cudaMallocHost(pointer, bytes);
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  return cudaMallocHost(pointer, bytes);
}
cudaError_t cudaFree(void* pointer) { return Return(TheMemory().Release(pointer)); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *total = static_cast<size_t>(Recording().host()->memory_bytes);
  *free_bytes = TheMemory().FreeBytes(Recording().device());
  return Return(CheckHost());
}
cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned) {
  *out = host;
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  memset(attributes, 0, sizeof *attributes);
  const Block block = TheMemory().Find(pointer);
  attributes->device = block.device < 0 ? Recording().device() : block.device;
  attributes->type = block.bytes == 0   ? cudaMemoryTypeUnregistered
                     : block.device < 0 ? cudaMemoryTypeHost
                                        : cudaMemoryTypeDevice;
  if (block.bytes != 0) attributes->devicePointer = const_cast<void*>(pointer);
  if (block.device < 0) attributes->hostPointer = const_cast<void*>(pointer);
  return Return(CheckHost());
}

// A copy without a stream uses the default stream, and the program waits for it.
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Log(RecordKind::kStreamSync, nullptr, nullptr);
  return Copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return Copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t) {
  return Copy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemset(void*, int, size_t) {
  Recording().count_copy();
  return Return(CheckHost());
}
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t) {
  Recording().count_copy();
  return Return(CheckHost());
}

}  // extern "C"
