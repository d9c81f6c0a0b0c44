// What is known of one point of a study.
#ifndef DRYDOCK_STUDY_EVALUATE_EVALUATION_H_
#define DRYDOCK_STUDY_EVALUATE_EVALUATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/memory_total.h"
#include "report/facts/summary.h"
#include "report/inputs/inputs.h"

namespace drydock {

enum class PointState : uint8_t {
  kDone,
  kUnfit,    // needs more memory than its GPUs have, and was not simulated
  kRefused,  // bad input: a layout that does not exist, a value that a key cannot have
};

// One point.
struct Evaluation {
  PointState state = PointState::kDone;
  std::string reason;                   // unless kDone
  std::optional<MemoryVerdict> memory;  // unless it was refused
  // Of kDone:
  std::optional<Inputs> inputs;
  std::optional<Summary> summary;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_EVALUATE_EVALUATION_H_
