// Finds the iterations of a captured program in its log.
//
// A step of an optimizer ends an iteration, and so do the steps that follow it without a forward
// pass in between. Optimizers that step in turn, each behind a forward pass of its own, share an
// iteration: it ends before the forward pass of the first that steps again. What the program then
// still reduces and gathers before its next forward pass (a sharded optimizer's parameters) belongs
// to the same iteration. A program that uses no optimizer of PyTorch's, or has it in a CUDA graph,
// repeats itself all the same: its iteration is the period of the GPU's work.
#ifndef DRYDOCK_CAPTURE_TAPE_ITERATION_H_
#define DRYDOCK_CAPTURE_TAPE_ITERATION_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "capture/kernels/operator.h"
#include "capture/log/log_file.h"
#include "core/base/result.h"

namespace drydock::capture {

// The ranges of a log by the number of their text, each read once.
class LogRanges {
 public:
  explicit LogRanges(const ProcessLog& log) : log_(log) {}
  // REQUIRES: `entry` is kBeginOp.
  const OperatorRange& RangeOf(const LogEntry& entry);
  const OperatorRange& RangeOf(int64_t number);
  // REQUIRES: `entry` is kEndOp.
  const OperatorValues& OutputsOf(int64_t number);

 private:
  const ProcessLog& log_;
  std::vector<std::unique_ptr<OperatorRange>> ranges_;
  std::vector<std::unique_ptr<OperatorValues>> outputs_;
};

struct LogIteration {
  size_t begin = 0, end = 0;  // entries
  size_t forward = 0;         // the first entry of the first forward pass
  size_t backward_end = 0;    // behind the last entry of the last node of autograd
};

// Returns the complete iterations, in order. Where a program's steps cannot be told apart, there is
// none.
std::vector<LogIteration> FindIterations(const ProcessLog& log, LogRanges* ranges);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_ITERATION_H_
