// GPUs of a topology. Internal to core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_GPU_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_GPU_CODEC_H_

#include <optional>

#include "core/model/gpu.h"
#include "core/schema/artefacts/topology.pb.h"

namespace drydock::protocol {

// Leaves out the texts of the GPU's files.
void Encode(const GpuSpec& from, proto::Topology::Gpu* to);
// Returns nothing if a table has another size. Ranges are not checked.
std::optional<GpuSpec> Decode(const proto::Topology::Gpu& from);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_GPU_CODEC_H_
