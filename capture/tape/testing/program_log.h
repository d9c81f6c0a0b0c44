// Writes the log of a program by hand, in the program's own terms, for tests.
#ifndef DRYDOCK_CAPTURE_TAPE_TESTING_PROGRAM_LOG_H_
#define DRYDOCK_CAPTURE_TAPE_TESTING_PROGRAM_LOG_H_

#include <map>
#include <string>

#include "capture/log/log_file.h"
#include "capture/log/testing/log_builder.h"
#include "core/nccl/recording.h"

namespace drydock::capture {

class ProgramLog {
 public:
  void Begin(const std::string& range) { log_.Entry(EntryKind::kBeginOp, {Number(range)}); }
  void End(const std::string& outputs = "") { log_.Entry(EntryKind::kEndOp, {Number(outputs)}); }
  void Mark(const std::string& text) { log_.Entry(EntryKind::kMark, {Number(text)}); }
  void Launch(const std::string& kernel, int64_t blocks, int64_t stream = 0) {
    log_.Entry(EntryKind::kLaunch, {Number(kernel), blocks, 1, 1, 128, 1, 1, 0, 1, 1, 1, stream});
  }
  // Of bf16.
  void Product(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b) {
    log_.Entry(EntryKind::kProduct, {Number("cublas"), m, n, k, 1, transpose_a ? 1 : 0,
                                     transpose_b ? 1 : 0, 14, 14, 14, 14, 68, 1, 0, 0});
  }
  // Of cuDNN.
  void Attention() {
    log_.Entry(EntryKind::kAttention, {Number("cudnn"), 0, 1, 2, 2, 64, 64, 32, 32, 14, 0, 0, 0});
  }
  void Traffic(const std::string& operation, int64_t bytes) {
    const int64_t library = Number("cudnn");
    log_.Entry(EntryKind::kTraffic, {library, Number(operation), bytes, 0});
  }
  void Communicator(int64_t serial, int64_t ranks) {
    log_.Entry(EntryKind::kCommunicator, {serial, serial, 0, ranks, 0});
  }
  void Call(RecordFunction function, int64_t communicator, int64_t count, int64_t stream = 0) {
    log_.Entry(EntryKind::kCall, {static_cast<int64_t>(function), 7, 0, 0, 0, 0, communicator,
                                  count, ++groups_, stream});
  }
  void HostRead(const std::string& line, const std::string& origin, int64_t bytes, int64_t value) {
    const int64_t at = Number(line);
    log_.Entry(EntryKind::kRead, {at, Number(origin), bytes, value});
  }
  void Add(EntryKind kind, const std::vector<int64_t>& words) { log_.Entry(kind, words); }

  // An operator with one launch.
  void Operator(const std::string& range, const std::string& outputs, int64_t stream = 0) {
    Begin(range);
    Launch("kernel", 8, stream);
    End(outputs);
  }
  // A step of the optimizer of this number.
  void Step(int optimizer = 0) {
    Begin("scope Optimizer.step#AdamW.step");
    Operator("aten::_foreach_add_({Float[100]},1)", "()");
    Mark("optimizer " + std::to_string(optimizer));
    End();
  }

  ProcessLog Read() const { return ProcessLog::Parse(log_.content(), "x.log").value(); }

 private:
  int64_t Number(const std::string& text) {
    const auto [it, is_new] = names_.emplace(text, static_cast<int64_t>(names_.size()));
    if (is_new) log_.Name(text);
    return it->second;
  }

  LogBuilder log_;
  std::map<std::string, int64_t> names_;
  int64_t groups_ = 0;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_TESTING_PROGRAM_LOG_H_
