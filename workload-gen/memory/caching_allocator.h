// The segments that PyTorch's caching allocator reserves for a sequence of tensors: sizes are
// rounded, small and large blocks come from pools of their own, a free block is taken by best fit
// and split, neighbors are joined, and a segment goes back to the GPU only when memory runs out.
// Constants and rules are those of c10/cuda/CUDACachingAllocator.cpp and
// c10/core/AllocatorConfig.h with PyTorch's default settings, for one stream.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_CACHING_ALLOCATOR_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_CACHING_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/base/units.h"

namespace drydock {

class CachingAllocator {
 public:
  using Address = int64_t;

  // `capacity`: what the GPU has for segments. Where even free segments that go back do not make
  // room, the allocator reserves more than the GPU has, so the caller sees by how much.
  explicit CachingAllocator(Bytes capacity) : capacity_(capacity.count()) {}

  // REQUIRES: bytes > 0.
  Address Allocate(int64_t bytes);
  void Free(Address block);

  Bytes allocated() const { return Bytes(allocated_); }
  Bytes reserved() const { return Bytes(reserved_); }
  Bytes max_allocated() const { return Bytes(max_allocated_); }
  Bytes max_reserved() const { return Bytes(max_reserved_); }

 private:
  struct Block {
    int64_t bytes = 0;
    bool small = false, used = false;
    bool first = false;  // of its segment
    bool last = false;
  };
  using Blocks = std::map<Address, Block>;  // of all segments; a segment's are neighbors
  using FreeBlocks = std::set<std::pair<int64_t, Address>>;

  FreeBlocks& free(bool small) { return small ? free_small_ : free_large_; }
  Blocks::iterator AddSegment(int64_t bytes, bool small);
  void ReleaseFreeSegments();

  const int64_t capacity_;
  Blocks blocks_;
  FreeBlocks free_small_, free_large_;
  Address next_segment_ = 0;
  int64_t allocated_ = 0, reserved_ = 0, max_allocated_ = 0, max_reserved_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_CACHING_ALLOCATOR_H_
