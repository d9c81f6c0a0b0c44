// The commands on many predictions.
#ifndef DRYDOCK_STUDY_COMMANDS_H_
#define DRYDOCK_STUDY_COMMANDS_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeSweepCommand();
std::unique_ptr<Command> MakeSearchCommand();
std::unique_ptr<Command> MakeGoodputCommand();

}  // namespace drydock

#endif  // DRYDOCK_STUDY_COMMANDS_H_
