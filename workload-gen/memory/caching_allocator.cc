#include "workload-gen/memory/caching_allocator.h"

#include <algorithm>
#include <iterator>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// Names as in PyTorch.
constexpr int64_t kMinBlockSize = 512;         // sizes are multiples of it
constexpr int64_t kSmallSize = kMiB;           // the largest block of the small pool
constexpr int64_t kSmallBuffer = 2 * kMiB;     // a segment of the small pool
constexpr int64_t kLargeBuffer = 20 * kMiB;    // a segment of blocks below kMinLargeAlloc
constexpr int64_t kMinLargeAlloc = 10 * kMiB;  // from here on, a block has a segment of its size
constexpr int64_t kRoundLarge = 2 * kMiB;      // rounded up to a multiple of this

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t SegmentBytes(int64_t block) {
  if (block <= kSmallSize) return kSmallBuffer;
  return block < kMinLargeAlloc ? kLargeBuffer : RoundUp(block, kRoundLarge);
}

}  // namespace

CachingAllocator::Address CachingAllocator::Allocate(int64_t bytes) {
  CHECK(bytes > 0);
  bytes = RoundUp(bytes, kMinBlockSize);
  const bool small = bytes <= kSmallSize;
  FreeBlocks& pool = free(small);
  const auto fits = pool.lower_bound({bytes, 0});
  auto block =
      fits != pool.end() ? blocks_.find(fits->second) : AddSegment(SegmentBytes(bytes), small);
  const Address address = block->first;
  Block& taken = block->second;
  pool.erase({taken.bytes, address});
  taken.used = true;
  const int64_t left = taken.bytes - bytes;
  if (small ? left >= kMinBlockSize : left > kSmallSize) {
    blocks_[address + bytes] = {left, small, false, false, taken.last};
    pool.insert({left, address + bytes});
    taken.bytes = bytes;
    taken.last = false;
  }
  allocated_ += taken.bytes;
  max_allocated_ = std::max(max_allocated_, allocated_);
  return address;
}

void CachingAllocator::Free(Address address) {
  auto block = blocks_.find(address);
  CHECK(block != blocks_.end() && block->second.used);
  block->second.used = false;
  allocated_ -= block->second.bytes;
  FreeBlocks& pool = free(block->second.small);
  const auto join = [&](Blocks::iterator front, Blocks::iterator back) {
    front->second.bytes += back->second.bytes;
    front->second.last = back->second.last;
    blocks_.erase(back);
    return front;
  };
  if (!block->second.last && !std::next(block)->second.used) {
    const auto next = std::next(block);
    pool.erase({next->second.bytes, next->first});
    block = join(block, next);
  }
  if (!block->second.first && !std::prev(block)->second.used) {
    const auto previous = std::prev(block);
    pool.erase({previous->second.bytes, previous->first});
    block = join(previous, block);
  }
  pool.insert({block->second.bytes, block->first});
}

CachingAllocator::Blocks::iterator CachingAllocator::AddSegment(int64_t bytes, bool small) {
  if (reserved_ + bytes > capacity_) ReleaseFreeSegments();
  reserved_ += bytes;
  max_reserved_ = std::max(max_reserved_, reserved_);
  const Address address = next_segment_;
  next_segment_ += bytes;
  free(small).insert({bytes, address});
  return blocks_.emplace(address, Block{bytes, small, false, true, true}).first;
}

void CachingAllocator::ReleaseFreeSegments() {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const Block& b = block->second;
    if (b.used || !b.first || !b.last) {
      ++block;
      continue;
    }
    free(b.small).erase({b.bytes, block->first});
    reserved_ -= b.bytes;
    block = blocks_.erase(block);
  }
}

}  // namespace drydock
