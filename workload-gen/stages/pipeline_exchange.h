// Writes the exchanges of a pipeline stage with its neighbors: the sends and receives that a
// schedule posts, and the waits for them.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_PIPELINE_EXCHANGE_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_PIPELINE_EXCHANGE_H_

#include <map>
#include <tuple>
#include <vector>

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"
#include "workload-gen/stages/schedule.h"

namespace drydock {

PipelineShape PipelineShapeOf(const WriterContext& context);

class PipelineExchanges {
 public:
  // `device_sync`: the device is synchronized after each batched call.
  PipelineExchanges(const WriterContext& context, bool device_sync)
      : c_(context), tensor_(context), device_sync_(device_sync) {}

  void Post(const std::vector<Exchange>& exchanges);
  void Wait(const Action& action);

 private:
  using Key = std::tuple<Direction, int, int>;
  static Key KeyOf(const Exchange& e) { return {e.direction, e.microbatch, e.boundary}; }

  bool SplitOverTensor() const;
  ProgramBuilder::OpId Start(const Exchange& e);
  void SetPlace(bool gradient, int microbatch, int chunk);
  // Every tensor rank gathers a message that was sent in `tensor` parts.
  void Reassemble(const std::vector<Exchange>& exchanges);

  const WriterContext& c_;
  TensorParallel tensor_;
  bool device_sync_;
  std::map<Key, ProgramBuilder::OpId> posted_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_PIPELINE_EXCHANGE_H_
