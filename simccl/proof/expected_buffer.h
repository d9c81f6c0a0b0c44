// What each member's buffer must hold when a call has ended. Internal to the interpreter.
#ifndef DRYDOCK_SIMCCL_PROOF_EXPECTED_BUFFER_H_
#define DRYDOCK_SIMCCL_PROOF_EXPECTED_BUFFER_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"
#include "simccl/proof/symbolic_data.h"

namespace drydock {

// The required content of one stretch of the larger of a call's buffers.
struct ExpectedBuffer {
  enum class Kind : uint8_t { kData, kUntouched, kAnything };
  Kind kind = Kind::kData;
  SymbolRun data;  // for kinds other than kData, only its length counts
};

// One call of a group, with its count in bytes and its data at `begin` in the group's buffer. A
// call that is not grouped is its own only part, and keeps its elements.
struct CallPart {
  CommCall call;
  int64_t begin = 0;
};
std::vector<CallPart> CallPartsOf(const CommCall& call);

// Returns the stretches of the part's `count` elements, in order.
std::vector<ExpectedBuffer> ExpectedBuffersOf(const CallPart& part, int member);

// Returns the member's own input in [at, at + count) of the part, or zeros where it has none.
SymbolRun OwnInput(const CallPart& part, int member, int64_t at, int64_t count);

// Returns the member's output of an all-to-all-v: the data of each sender, in member order.
SymbolData ReceivedFromAll(const CallPart& part, int member);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_EXPECTED_BUFFER_H_
