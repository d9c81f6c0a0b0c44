#include "workload-gen/graph/commands.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

const ToolInfo kHelp = {"workload-gen help", "Prints the help of a command.", "reads nothing",
                        "workload-gen help import", false};

}  // namespace

GraphCommands::GraphCommands() {
  for (auto make :
       {MakeCheckCommand, MakeExplodeCommand, MakeMergeCommand, MakeImportCommand, MakeDumpCommand,
        MakeDotCommand, MakeGraphmlCommand, MakeStatsCommand, MakeDiffCommand}) {
    entries_.push_back({make(), nullptr});
  }
}

void GraphCommands::Declare(CLI::App* app, CommonOptions* common) {
  tool_ = app;
  app->require_subcommand(0, 1);  // what follows "help" is a word, not a second command
  for (Entry& entry : entries_) entry.app = entry.command->Declare(app, common);
  help_ = AddCommand(app, kHelp, common);
  help_->add_option("command", topic_, "The command; none: the tool's own help")
      ->type_name("COMMAND");
}

const GraphCommands::Entry* GraphCommands::Given() const {
  for (const Entry& entry : entries_) {
    if (entry.app->parsed()) return &entry;
  }
  return nullptr;
}

Status GraphCommands::Run(const CommonOptions& common) const {
  if (help_->parsed()) return Help();
  return Given()->command->Run(common);
}

Status GraphCommands::Help() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.app->get_name() == topic_) {
      fmt::print("{}", entry.app->help(tool_->get_name()));
      return OkStatus();
    }
    names.push_back(entry.app->get_name());
  }
  if (!topic_.empty()) {
    return Error(fmt::format("there is no command '{}'{}; commands are {}", topic_,
                             DidYouMean(topic_, names), Join(names)));
  }
  // help() of the tool would be that of the command that was given, this one.
  fmt::print("{}", tool_->get_formatter()->make_help(tool_, tool_->get_name(),
                                                     CLI::AppFormatMode::Normal));
  return OkStatus();
}

void AddSliceOptions(CLI::App* app, SliceWords* words) {
  app->add_option("--ranks", words->ranks, "Only these ranks: 0-7, 0,8,16, 0-63:8")
      ->type_name("LIST");
  app->add_option("--ops", words->ops, "Only ops with these numbers")->type_name("LIST");
  app->add_option("--layers", words->layers, "Only ops of these layers")->type_name("LIST");
  app->add_option("--micro-batches", words->micro_batches, "Only ops of these micro-batches")
      ->type_name("LIST");
}

Status WriteText(const std::string& output, const std::string& text) {
  if (!output.empty()) return WriteFileAtomically(output, text);
  fmt::print("{}", text);
  return OkStatus();
}

}  // namespace drydock
