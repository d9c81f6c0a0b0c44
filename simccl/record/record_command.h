// The command line of nccl-record.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_COMMAND_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_COMMAND_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeRecordCommand();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_COMMAND_H_
