// How far a replay is folded: one representative is replayed for its replicas (replica_folding.h).
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_FOLD_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_FOLD_H_

#include <cstdint>

namespace drydock {

// kAuto: relaxed if the run has many ranks, or exact folding would leave many; else exact if the
// network folds exactly, else off.
enum class Fold : uint8_t { kOff, kExact, kRelaxed, kAuto };

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_FOLD_H_
