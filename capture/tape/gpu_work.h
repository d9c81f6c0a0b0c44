// The GPU's work of a tape while its log is read: launches and products wait for the end of their
// operator, which tells what they read and write.
#ifndef DRYDOCK_CAPTURE_TAPE_GPU_WORK_H_
#define DRYDOCK_CAPTURE_TAPE_GPU_WORK_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/kernels/operator.h"
#include "capture/kernels/products.h"
#include "capture/log/log_file.h"
#include "capture/tape/iteration.h"
#include "capture/tape/place.h"
#include "capture/tape/rank_tape.h"

namespace drydock::capture {

// One launch, product, fill or copy, one kernel of a library, or all of a known operator.
struct GpuWork {
  std::string name;  // of its submodules
  std::vector<Submodule> submodules;
  bool is_dropped = false;  // another work stands for it
  // Its time is that of the bytes it moves: the kernel, as RankTape::estimates has it, or "".
  std::string estimated_as;
  Bytes estimated_bytes;
  bool is_unknown = false;  // of an estimate: nothing is known but the grid
  // While its operator is open.
  EntryKind kind = EntryKind::kLaunch;
  int64_t kernel = -1;  // kLaunch: number of its name
  int64_t blocks = 0;   // kLaunch: of its grid
  std::optional<LoggedProduct> product;
  Bytes bytes;  // kFill, kCopy
  bool is_backward = false;
  const OperatorRange* module = nullptr;
};

class GpuWorkReader {
 public:
  GpuWorkReader(const ProcessLog& log, LogRanges* ranges) : log_(log), ranges_(*ranges) {}

  void Begin(uint32_t thread, const OperatorRange& range);
  void End(uint32_t thread, int64_t outputs);
  // Returns the number of the work that an entry asks for. `here`: the place of its thread.
  size_t Add(const LogEntry& entry, const PlaceTracker::Here& here);
  // Ends all operators.
  void Finish();

  // By number. REQUIRES: its operator has ended.
  const GpuWork& work(size_t number) const { return works_[number]; }
  // The library of most of fused attention; "" if there is none.
  std::string AttentionBackend() const;

 private:
  struct Frame {
    const OperatorRange* range = nullptr;
    bool is_known = false;  // one submodule may stand for all of it
    std::vector<size_t> works;
  };
  struct Thread {
    std::vector<Frame> open;
    int known = -1;             // place in `open` of the outermost known operator, or -1
    std::vector<size_t> works;  // outside operators
  };

  void Close(Frame* frame, const OperatorValues& outputs, std::vector<size_t>* outer);
  bool ReplaceByKnown(const Frame& frame);
  void Translate(const OperatorRange* range, const OperatorValues& outputs,
                 const std::vector<size_t>& works);
  void SetName(GpuWork* work, const OperatorRange* range) const;

  const ProcessLog& log_;
  LogRanges& ranges_;
  std::deque<GpuWork> works_;
  std::unordered_map<uint32_t, Thread> threads_;
  std::map<std::string, double> attention_flops_;  // by library
};

// "at::native::vectorized_elementwise_kernel": a kernel's name without types and arguments.
std::string ShortKernelName(std::string_view symbol);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_GPU_WORK_H_
