// The commands of workload-gen beside generating: what can be done with a workload that is there.
// Each is one .cc with a row in the table; main.cc asks whether one was given and runs it.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_COMMANDS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_COMMANDS_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/cli.h"
#include "workload-gen/graph/text/slice.h"

namespace drydock {

class GraphCommand {
 public:
  virtual ~GraphCommand() = default;
  // Adds the command with its flags to the tool.
  virtual CLI::App* Declare(CLI::App* app, CommonOptions* common) = 0;
  virtual Status Run(const CommonOptions& common) const = 0;
};

std::unique_ptr<GraphCommand> MakeCheckCommand();
std::unique_ptr<GraphCommand> MakeExplodeCommand();
std::unique_ptr<GraphCommand> MakeMergeCommand();
std::unique_ptr<GraphCommand> MakeImportCommand();
std::unique_ptr<GraphCommand> MakeDumpCommand();
std::unique_ptr<GraphCommand> MakeDotCommand();
std::unique_ptr<GraphCommand> MakeGraphmlCommand();
std::unique_ptr<GraphCommand> MakeStatsCommand();
std::unique_ptr<GraphCommand> MakeDiffCommand();

// All of them, and "help COMMAND".
class GraphCommands {
 public:
  GraphCommands();
  void Declare(CLI::App* app, CommonOptions* common);
  bool given() const { return Given() != nullptr || help_->parsed(); }
  Status Run(const CommonOptions& common) const;

 private:
  struct Entry {
    std::unique_ptr<GraphCommand> command;
    CLI::App* app = nullptr;
  };
  const Entry* Given() const;
  Status Help() const;

  std::vector<Entry> entries_;
  CLI::App* tool_ = nullptr;
  CLI::App* help_ = nullptr;
  std::string topic_;
};

// For commands that show a slice: --ranks, --ops, --layers, --micro-batches.
void AddSliceOptions(CLI::App* app, SliceWords* words);
// To standard output, or into the file.
Status WriteText(const std::string& output, const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_COMMANDS_H_
