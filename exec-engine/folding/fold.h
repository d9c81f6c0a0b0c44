// How far a replay is folded: of hosts that are alike one is replayed (replica_folding.h).
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_FOLD_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_FOLD_H_

#include <cstdint>

namespace drydock {

// kAuto: relaxed where a run has many ranks, else exact, if the network can do that.
enum class Fold : uint8_t { kOff, kExact, kRelaxed, kAuto };

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_FOLD_H_
