// workload-gen keys: prints the keys of model.yaml.
#ifndef DRYDOCK_WORKLOAD_GEN_KEYS_COMMAND_H_
#define DRYDOCK_WORKLOAD_GEN_KEYS_COMMAND_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeKeysCommand();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_KEYS_COMMAND_H_
