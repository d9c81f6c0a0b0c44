// The name by which a program's reads of its data loader are known among its transfers.
#ifndef DRYDOCK_CORE_MODEL_SAMPLE_READ_H_
#define DRYDOCK_CORE_MODEL_SAMPLE_READ_H_

namespace drydock {

inline constexpr char kSampleRead[] = "data.samples";

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SAMPLE_READ_H_
