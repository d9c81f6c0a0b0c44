// What an attention submodule leaves unsaid: its keys and the width of its values.
#ifndef DRYDOCK_CORE_MODEL_ATTENTION_EXTENTS_H_
#define DRYDOCK_CORE_MODEL_ATTENTION_EXTENTS_H_

#include <cstdint>

#include "core/model/workload.h"

namespace drydock {

// As many keys as queries, unless said.
inline int64_t KeysOf(const Submodule& s) { return s.kv_sequence > 0 ? s.kv_sequence : s.sequence; }
// Values as wide as keys, unless said.
inline int64_t ValueDimOf(const Submodule& s) { return s.value_dim > 0 ? s.value_dim : s.head_dim; }

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_ATTENTION_EXTENTS_H_
