// Waits for the data loader of a rank (PyTorch's torch/utils/data/dataloader.py): its workers read
// micro-batches beside the training, and a forward pass starts when its micro-batch is there.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_SAMPLE_LOADER_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_SAMPLE_LOADER_H_

#include <vector>

#include "workload-gen/program/program_builder.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class SampleLoader {
 public:
  // Only ranks that read tokens or labels have a loader: those of the first and the last stage.
  explicit SampleLoader(const WriterContext& context) : c_(context) {}

  // Issues the reads of as many micro-batches as the iteration takes. The first ones of the
  // iteration were read in the iteration before, so the last reads are for the next one. Thus an
  // iteration lasts at least as long as the reads of its micro-batches.
  void Begin();
  // The forward pass of the micro-batch comes next.
  void BeforeForward(int microbatch);

 private:
  const WriterContext& c_;
  std::vector<ProgramBuilder::OpId> reads_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_SAMPLE_LOADER_H_
