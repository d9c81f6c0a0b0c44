// One NPU's part in one phase of a chunk: the order in which ASTRA-sim's algorithms send, receive
// and sum.
//
// Every packet passes the NPU's endpoint before its first send or after its arrival. The endpoint
// sums the packet if the algorithm requires a sum. After a packet has passed, the next message may
// leave.
#ifndef DRYDOCK_EXEC_ENGINE_DIMENSIONS_CHUNK_PHASE_H_
#define DRYDOCK_EXEC_ENGINE_DIMENSIONS_CHUNK_PHASE_H_

#include <cstdint>
#include <memory>

#include "exec-engine/dimensions/phase_plan.h"

namespace drydock {

class ChunkPhase {
 public:
  // Carries out the actions of a phase.
  class Carrier {
   public:
    virtual ~Carrier() = default;
    // A packet passes the endpoint; OnPassed will be called.
    virtual void Pass(int64_t bytes, bool sums) = 0;
    virtual void Send(int to, int64_t bytes) = 0;
    // The phase waits for a message from `from`; OnReceived will be called.
    virtual void Expect(int from, int64_t bytes) = 0;
  };

  virtual ~ChunkPhase() = default;
  virtual void Begin() = 0;
  virtual void OnPassed() = 0;
  virtual void OnReceived() = 0;
  bool done() const { return done_; }

 protected:
  bool done_ = false;
};

// Both arguments outlive the phase.
std::unique_ptr<ChunkPhase> MakeChunkPhase(const PhasePlan& plan, ChunkPhase::Carrier* carrier);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_CHUNK_PHASE_H_
