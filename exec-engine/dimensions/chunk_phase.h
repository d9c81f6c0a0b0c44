// One NPU's part in one phase of a chunk: the order in which ASTRA-sim's algorithms send, receive
// and sum.
//
// Every packet, before it is sent first or after it was received, passes the NPU's endpoint, and is
// summed there if the algorithm says so. A packet that has passed lets the next message go.
#ifndef DRYDOCK_EXEC_ENGINE_DIMENSIONS_CHUNK_PHASE_H_
#define DRYDOCK_EXEC_ENGINE_DIMENSIONS_CHUNK_PHASE_H_

#include <cstdint>
#include <memory>

#include "exec-engine/dimensions/phase_plan.h"

namespace drydock {

class ChunkPhase {
 public:
  // Who carries out what a phase wants.
  class Carrier {
   public:
    virtual ~Carrier() = default;
    // A packet passes the endpoint; OnPassed will be called.
    virtual void Pass(int64_t bytes, bool sums) = 0;
    virtual void Send(int to, int64_t bytes) = 0;
    // One such message is waited for; OnReceived will be called.
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

// Both outlive the phase.
std::unique_ptr<ChunkPhase> MakeChunkPhase(const PhasePlan& plan, ChunkPhase::Carrier* carrier);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_CHUNK_PHASE_H_
