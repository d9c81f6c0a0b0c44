#include "exec-engine/command/large_pages.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The sanitizers have their own heaps. __GLIBC__ is defined by the headers above.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DRYDOCK_GLIBC_HEAP
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace drydock {

#ifdef DRYDOCK_GLIBC_HEAP
namespace {

// Address space that the heap gets at once; pages take memory when they are touched. Allocations
// beyond it have small pages.
constexpr size_t kHeap = size_t{8} << 30;
constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
constexpr size_t kPage = 4096;

}  // namespace

// Large blocks come from the heap as small ones do, and the heap never shrinks. So the part that
// grows here stays in place and keeps its large pages.
void PreferLargePages() {
  if (mallopt(M_MMAP_MAX, 0) == 0) return;
  if (mallopt(M_TRIM_THRESHOLD, -1) == 0) return;
  // A program that looks for uses of fresh memory sets this variable, and malloc then fills what it
  // hands out. This block would become 8 GB of real memory.
  const char* perturb = getenv("MALLOC_PERTURB_");
  if (perturb != nullptr) mallopt(M_PERTURB, 0);
  void* block = malloc(kHeap);
  if (block == nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(block);
  const uintptr_t first = (begin + kPage + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (begin + kHeap) / kLargePage * kLargePage;
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  free(block);
  if (perturb != nullptr) mallopt(M_PERTURB, atoi(perturb));
}
#else
void PreferLargePages() {}
#endif

}  // namespace drydock
