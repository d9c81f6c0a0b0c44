// The commands of workload-gen that work on an existing workload. Each .cc holds one command or a
// few related ones.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_COMMANDS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_COMMANDS_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/cli.h"
#include "workload-gen/graph/text/slice.h"

namespace drydock {

std::unique_ptr<Command> MakeCheckCommand();
std::unique_ptr<Command> MakeExplodeCommand();
std::unique_ptr<Command> MakeMergeCommand();
std::unique_ptr<Command> MakeImportCommand();
std::unique_ptr<Command> MakeDumpCommand();
std::unique_ptr<Command> MakeDotCommand();
std::unique_ptr<Command> MakeGraphmlCommand();
std::unique_ptr<Command> MakeStatsCommand();
std::unique_ptr<Command> MakeDiffCommand();

// Returns all commands, including "help COMMAND".
std::vector<CommandMaker> GraphCommands();

// Adds the options that select a slice: --ranks, --ops, --layers, --micro-batches.
void AddSliceOptions(CLI::App* app, SliceWords* words);
// Writes to the file `output`; to standard output if `output` is empty.
Status WriteText(const std::string& output, const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_COMMANDS_H_
