// A SimAI (AICB) or ASTRA-sim 1 workload file: a header line, a count, one row per layer. Internal
// to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_FILE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_FILE_H_

#include <array>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/workload.h"

namespace drydock {

enum class SimaiPolicy : uint8_t {
  kMicro,
  kData,
  kModel,
  kDistributedInference,
  kHybridTransformer,
  kHybridTransformerRecompute,  // HYBRID_TRANSFORMER_FWD_IN_BCKWD
  kHybridDlrm,
  kHybridDlrmEnhanced,
  kHybridDataModel,
  kHybridModelData,
  kHybridCustomized
};
const std::vector<std::string>& SimaiPolicyNames();

// The ranks that a collective spans: by its suffix, or by its column.
enum class SimaiSpan : uint8_t { kColumn, kExpert, kExpertData };

struct SimaiComm {
  bool none = true;
  CollectiveType collective = CollectiveType::kAllReduce;
  SimaiSpan span = SimaiSpan::kColumn;
  int64_t bytes = 0;
};

enum SimaiPass { kSimaiForward, kSimaiInputGradient, kSimaiWeightGradient, kSimaiPasses };

struct SimaiRow {
  std::string name;
  int line = 0;
  std::array<Time, kSimaiPasses> compute;
  std::array<SimaiComm, kSimaiPasses> comm;
  Time update;
  SimaiPolicy policy = SimaiPolicy::kHybridTransformer;  // of HYBRID_CUSTOMIZED
};

// Sizes default to 1 and `gpus` to 0. Row numbers begin at 0.
struct SimaiFile {
  SimaiPolicy policy = SimaiPolicy::kHybridTransformer;
  int tensor = 1, expert = 1, pipeline = 1, virtual_pipeline = 1, accumulation = 1, gpus = 0;
  std::vector<int> checkpoints, checkpoint_initiates;
  double pipeline_bytes = 0;
  int last_bottom_layer = 0;  // of DLRM
  std::vector<SimaiRow> rows;
};

Result<SimaiFile> ParseSimaiFile(const std::string& text, const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_FILE_H_
