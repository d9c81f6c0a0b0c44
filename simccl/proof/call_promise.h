// What a call promises: what each member's buffer holds when it has ended. Internal to the
// interpreter.
#ifndef DRYDOCK_SIMCCL_PROOF_CALL_PROMISE_H_
#define DRYDOCK_SIMCCL_PROOF_CALL_PROMISE_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"
#include "simccl/proof/symbolic_data.h"

namespace drydock {

// Of a stretch of the larger of the call's buffers.
struct Promise {
  enum class Kind : uint8_t { kData, kUntouched, kAnything };
  Kind kind = Kind::kData;
  SymbolRun data;  // its length counts for every kind
};

// A call of a group; its elements are bytes, and stand from `begin` on in the group's buffer. Of a
// call that is not grouped, the call itself.
struct CallPart {
  CommCall call;
  int64_t begin = 0;
};
std::vector<CallPart> CallPartsOf(const CommCall& call);

// Of the part's `count` elements, one stretch after another.
std::vector<Promise> PromisesOf(const CallPart& part, int member);

// What the member itself has to send from [at, at + count) of the part; what it lacks is zeros.
SymbolRun OwnInput(const CallPart& part, int member, int64_t at, int64_t count);

// All-to-all-v: what members put one after another into the member's output.
SymbolData ReceivedFromAll(const CallPart& part, int member);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_CALL_PROMISE_H_
