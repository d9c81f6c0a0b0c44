#include "capture/hackcuda/device/memory.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "capture/hackcuda/device/log.h"
#include "core/nccl/recording.h"

namespace drydock::hackcuda {
namespace {

using capture::CapturedProcess;
using capture::Side;

// The driver maps memory in pages of this size.
constexpr size_t kPage = size_t{2} << 20;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Memory of devices lies at the same addresses in every run. The system puts nothing else there:
// it fills the address space from the top.
constexpr uintptr_t kFirstAddress = uintptr_t{0x100000000000};
constexpr uintptr_t kBetweenDevices = uintptr_t{1} << 40;

// `wanted`: null: anywhere.
void* Map(size_t bytes, uintptr_t wanted = 0) {
  void* at = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  madvise(at, bytes, MADV_NOHUGEPAGE);  // a byte that is written would take 2 MiB
  return at;
}

struct Extent {
  size_t bytes = 0;
  int device = -1;
};

// Never destroyed.
struct Memory {
  std::mutex mutex;
  char* base[CapturedProcess::kMaxGpus] = {};
  size_t used[CapturedProcess::kMaxGpus] = {};
  // By address, of all devices.
  std::map<char*, Extent> taken, free;
  std::map<char*, Extent> reserved;        // addresses without memory
  std::map<char*, size_t> pinned, mapped;  // of the host; `mapped`: allocated here
};
Memory& All() {
  static Memory& memory = *new Memory;
  return memory;
}

thread_local int current_device = 0;

// Returns the extent that holds the address, or end().
template <typename Map>
auto Find(Map& map, const void* address, size_t (*bytes)(const typename Map::mapped_type&)) {
  auto it = map.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (it == map.begin()) return map.end();
  --it;
  const auto offset = static_cast<size_t>(static_cast<const char*>(address) - it->first);
  return offset < bytes(it->second) ? it : map.end();
}

size_t BytesOf(const Extent& extent) { return extent.bytes; }
size_t BytesOfHost(const size_t& bytes) { return bytes; }

}  // namespace

int Device() { return current_device; }
void SetDevice(int device) {
  current_device = device;
  // NCCL asks a runtime of its own, inside libnccl.so.2.
  using Find = const RecordingApi* (*)();
  static const auto find = reinterpret_cast<Find>(::dlsym(RTLD_DEFAULT, "hacknccl_get_recording"));
  if (find != nullptr) find()->set_device(device);
}

size_t UsableMemory() {
  return static_cast<size_t>(Process().memory_bytes - Process().context_bytes);
}

size_t UsedMemory(int device) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  return All().used[device];
}

void* AllocateDevice(size_t bytes) {
  Memory& memory = All();
  const std::lock_guard<std::mutex> lock(memory.mutex);
  const int device = current_device;
  const size_t whole = RoundUp(bytes == 0 ? 1 : bytes, kPage);
  if (whole < bytes || memory.used[device] + whole > UsableMemory()) return nullptr;
  if (memory.base[device] == nullptr) {
    const size_t size = RoundUp(static_cast<size_t>(Process().memory_bytes), kPage);
    memory.base[device] = static_cast<char*>(
        Map(size, kFirstAddress + static_cast<uintptr_t>(device) * kBetweenDevices));
    if (memory.base[device] == nullptr) return nullptr;
    memory.free[memory.base[device]] = {size, device};
  }
  for (auto it = memory.free.begin(); it != memory.free.end(); ++it) {
    if (it->second.device != device || it->second.bytes < whole) continue;
    char* at = it->first;
    const size_t rest = it->second.bytes - whole;
    memory.free.erase(it);
    if (rest > 0) memory.free[at + whole] = {rest, device};
    memory.taken[at] = {whole, device};
    memory.used[device] += whole;
    return at;
  }
  return nullptr;
}

bool FreeDevice(void* address) {
  Memory& memory = All();
  const std::lock_guard<std::mutex> lock(memory.mutex);
  const auto it = memory.taken.find(static_cast<char*>(address));
  if (it == memory.taken.end()) return false;
  const Extent extent = it->second;
  memory.taken.erase(it);
  memory.used[extent.device] -= extent.bytes;
  madvise(address, extent.bytes, MADV_DONTNEED);
  auto own = memory.free.emplace(static_cast<char*>(address), extent).first;
  const auto joins = [](const auto& left, const auto& right) {
    return left->second.device == right->second.device &&
           left->first + left->second.bytes == right->first;
  };
  if (const auto after = std::next(own); after != memory.free.end() && joins(own, after)) {
    own->second.bytes += after->second.bytes;
    memory.free.erase(after);
  }
  if (own != memory.free.begin() && joins(std::prev(own), own)) {
    std::prev(own)->second.bytes += own->second.bytes;
    memory.free.erase(own);
  }
  return true;
}

void* AllocateHost(size_t bytes) {
  void* at = Map(bytes == 0 ? 1 : bytes);
  if (at == nullptr) return nullptr;
  Memory& memory = All();
  const std::lock_guard<std::mutex> lock(memory.mutex);
  memory.pinned[static_cast<char*>(at)] = memory.mapped[static_cast<char*>(at)] =
      bytes == 0 ? 1 : bytes;
  return at;
}

bool FreeHost(void* address) {
  Memory& memory = All();
  const std::lock_guard<std::mutex> lock(memory.mutex);
  const auto it = memory.mapped.find(static_cast<char*>(address));
  if (it == memory.mapped.end()) return false;
  munmap(address, it->second);
  memory.mapped.erase(it);
  memory.pinned.erase(static_cast<char*>(address));
  return true;
}

void PinHost(void* address, size_t bytes) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().pinned[static_cast<char*>(address)] = bytes;
}

void UnpinHost(void* address) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().pinned.erase(static_cast<char*>(address));
}

void* ReserveAddresses(size_t bytes) {
  void* at = Map(bytes);
  if (at == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().reserved[static_cast<char*>(at)] = {bytes, current_device};
  return at;
}

bool FreeAddresses(void* address) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto it = All().reserved.find(static_cast<char*>(address));
  if (it == All().reserved.end()) return false;
  munmap(address, it->second.bytes);
  All().reserved.erase(it);
  return true;
}

bool TakeMemory(int device, size_t bytes) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  if (All().used[device] + bytes > UsableMemory()) return false;
  All().used[device] += bytes;
  return true;
}

void GiveMemory(int device, size_t bytes) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().used[device] -= bytes;
}

Place PlaceOf(const void* address) {
  Memory& memory = All();
  const std::lock_guard<std::mutex> lock(memory.mutex);
  if (const auto it = Find(memory.taken, address, BytesOf); it != memory.taken.end()) {
    return {Side::kDevice, it->second.device, it->first, it->second.bytes};
  }
  if (const auto it = Find(memory.reserved, address, BytesOf); it != memory.reserved.end()) {
    return {Side::kDevice, it->second.device, it->first, it->second.bytes};
  }
  if (const auto it = Find(memory.pinned, address, BytesOfHost); it != memory.pinned.end()) {
    return {Side::kPinned, -1, it->first, it->second};
  }
  return {};
}

void CopyBytes(void* to, const void* from, size_t bytes) {
  const bool to_device = PlaceOf(to).side == Side::kDevice;
  if (bytes <= kKept || (!to_device && PlaceOf(from).side != Side::kDevice)) {
    memmove(to, from, bytes);
  } else if (to_device) {
    FillBytes(to, 0, bytes);
  } else {
    memset(to, 0, bytes);  // the host reads what is unknown
  }
}

void FillBytes(void* to, int value, size_t bytes) {
  if (bytes <= kKept) {
    memset(to, value, bytes);
    return;
  }
  // Whole pages become zeros again. The ends are only written where they are not zero: a page that
  // is written takes room.
  constexpr uintptr_t kHostPage = 4096;
  const auto begin = reinterpret_cast<uintptr_t>(to), end = begin + bytes;
  const uintptr_t first = RoundUp(begin, kHostPage), last = end / kHostPage * kHostPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  const auto clear = [](uintptr_t from, uintptr_t until) {
    auto* at = reinterpret_cast<char*>(from);
    if (std::any_of(at, at + (until - from), [](char byte) { return byte != 0; })) {
      memset(at, 0, until - from);
    }
  };
  clear(begin, first);
  clear(last, end);
}

}  // namespace drydock::hackcuda
