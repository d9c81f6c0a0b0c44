#include "exec-engine/command/large_pages.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The sanitizers have heaps of their own. The headers above say whose library it is.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DRYDOCK_GLIBC_HEAP
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace drydock {

#ifdef DRYDOCK_GLIBC_HEAP
namespace {

// The heap is this long from the beginning, as addresses; memory only where it is touched. What
// outgrows it has small pages.
constexpr size_t kHeap = size_t{8} << 30;
constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
constexpr size_t kPage = 4096;

}  // namespace

// Large blocks come from the heap like small ones, and the heap is never cut back: so the part that
// is grown now stays in place, and the request for large pages with it.
void PreferLargePages() {
  if (mallopt(M_MMAP_MAX, 0) == 0) return;
  if (mallopt(M_TRIM_THRESHOLD, -1) == 0) return;
  void* block = malloc(kHeap);
  if (block == nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(block);
  const uintptr_t first = (begin + kPage + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (begin + kHeap) / kLargePage * kLargePage;
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  free(block);
}
#else
void PreferLargePages() {}
#endif

}  // namespace drydock
