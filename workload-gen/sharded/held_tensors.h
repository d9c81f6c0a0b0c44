// Records the tensors that sharding holds for a part of the step: gathered parameters, gradients
// and buffers. The order is that of the host, by which PyTorch's allocator counts, not that of
// streams: a prefetch that the host issues early holds its buffer early.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_HELD_TENSORS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_HELD_TENSORS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "workload-gen/memory/state_memory.h"
#include "workload-gen/program/program_builder.h"

namespace drydock {

class HeldTensors {
 public:
  // A tensor, or none.
  class Tensor {
   public:
    bool held() const { return bytes_ > 0; }

   private:
    friend class HeldTensors;
    HeldKind kind_ = HeldKind::kGathered;
    size_t number_ = 0;
    int64_t bytes_ = 0;
  };

  // The builder outlives this.
  explicit HeldTensors(const ProgramBuilder& builder) : b_(builder) {}

  // Allocates a tensor behind all work issued so far. Of 0 bytes, there is none.
  Tensor Hold(HeldKind kind, int64_t bytes) {
    Tensor tensor;
    tensor.kind_ = kind;
    tensor.number_ = count_++;
    tensor.bytes_ = bytes;
    if (bytes > 0) Note(tensor, bytes);
    return tensor;
  }
  // Allocates the tensor if `tensor` is none.
  void Hold(Tensor* tensor, HeldKind kind, int64_t bytes) {
    if (!tensor->held()) *tensor = Hold(kind, bytes);
  }
  // Frees the tensor behind all work issued so far, if there is one.
  void Free(Tensor* tensor) {
    if (tensor->held()) Note(*tensor, -tensor->bytes_);
    *tensor = {};
  }
  void Free(std::vector<Tensor>* tensors) {
    for (Tensor& tensor : *tensors) Free(&tensor);
    tensors->clear();
  }
  // A tensor that is freed at once.
  void Touch(HeldKind kind, int64_t bytes) {
    Tensor tensor = Hold(kind, bytes);
    Free(&tensor);
  }

  std::vector<HeldChange> Take() { return std::move(changes_); }

 private:
  void Note(const Tensor& tensor, int64_t bytes) {
    changes_.push_back({b_.next_op(), b_.gathered(), tensor.kind_, tensor.number_, bytes});
  }

  const ProgramBuilder& b_;
  std::vector<HeldChange> changes_;
  size_t count_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_HELD_TENSORS_H_
