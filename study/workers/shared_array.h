// Memory that stays shared after a fork.
#ifndef DRYDOCK_STUDY_WORKERS_SHARED_ARRAY_H_
#define DRYDOCK_STUDY_WORKERS_SHARED_ARRAY_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace drydock {

// An array of plain data or atomics. Elements are constructed; none is destroyed.
template <typename T>
class SharedArray {
 public:
  explicit SharedArray(size_t count) : bytes_(count * sizeof(T)) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) return;
    for (size_t i = 0; i < count; ++i) new (data() + i) T();
  }
  ~SharedArray() {
    if (ok()) ::munmap(memory_, bytes_);
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  // False if there is not enough memory, or `count` is 0.
  bool ok() const { return memory_ != MAP_FAILED; }
  T* data() { return static_cast<T*>(memory_); }
  T& operator[](size_t i) { return data()[i]; }

 private:
  const size_t bytes_;
  void* memory_;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_WORKERS_SHARED_ARRAY_H_
