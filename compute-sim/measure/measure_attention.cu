// Fused attention by cuDNN, as frameworks run it.
#include <vector>

#include "compute-sim/measure/attention_graph.h"
#include "compute-sim/measure/measure_launch.cuh"

namespace drydock {
namespace {

class FusedAttention : public Launchable {
 public:
  explicit FusedAttention(const AttentionLibrary& library)
      : handle_(library.handle), graph_(library.cudnn) {}

  bool Prepare(const Kernel& kernel, std::string* error) {
    BuildAttention(kernel, &graph_);
    if (!graph_.Plan({handle_, ""})) {
      *error = graph_.error();
      return false;
    }
    *error = kNoMemory;
    std::vector<void*> pointers;
    for (const size_t bytes : graph_.operand_bytes()) {
      Buffer& buffer = *buffers_.emplace_back(std::make_unique<Buffer>());
      if (!buffer.Allocate(bytes)) return false;
      pointers.push_back(buffer.get());
    }
    if (!workspace_.Allocate(std::max<size_t>(graph_.workspace_bytes(), 16))) return false;
    if (graph_.Bind(pointers, workspace_.get())) return true;
    *error = graph_.error();
    return false;
  }

  bool Launch() override { return graph_.Execute(handle_); }

 private:
  void* const handle_;
  CudnnGraph graph_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Buffer workspace_;
};

}  // namespace

std::unique_ptr<Launchable> MakeAttention(const AttentionLibrary& library, const Kernel& kernel,
                                          std::string* error) {
  auto attention = std::make_unique<FusedAttention>(library);
  if (!attention->Prepare(kernel, error)) return nullptr;
  return attention;
}

}  // namespace drydock
