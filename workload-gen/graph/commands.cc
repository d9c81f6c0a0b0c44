#include "workload-gen/graph/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "workload-gen/graph/cluster_command.h"

namespace drydock {
namespace {

const ToolInfo kHelp = {"workload-gen help", "Prints the help of a command.", "reads nothing",
                        "workload-gen help import", false};

class HelpCommand final : public Command {
 public:
  HelpCommand() : Command(kHelp) {}

  void Declare(CLI::App* app, const CommonOptions&) override {
    app_ = app;
    app->add_option("command", topic_, "The command; none: the tool's own help")
        ->type_name("COMMAND");
  }

  Status Run(const CommonOptions&) const override {
    const CLI::App* tool = app_->get_parent();
    std::vector<std::string> names;
    for (const CLI::App* command : app_->get_parent()->get_subcommands(nullptr)) {
      if (command == app_) continue;
      if (command->get_name() == topic_) {
        fmt::print("{}", command->help(tool->get_name()));
        return OkStatus();
      }
      names.push_back(command->get_name());
    }
    if (!topic_.empty()) {
      return Error(fmt::format("there is no command '{}'{}; commands are {}", topic_,
                               DidYouMean(topic_, names), Join(names)));
    }
    // tool->help() prints the help of the command that the command line names: this one.
    fmt::print(
        "{}", tool->get_formatter()->make_help(tool, tool->get_name(), CLI::AppFormatMode::Normal));
    return OkStatus();
  }

 private:
  CLI::App* app_ = nullptr;
  std::string topic_;
};

std::unique_ptr<Command> MakeHelpCommand() { return std::make_unique<HelpCommand>(); }

}  // namespace

std::vector<CommandMaker> GraphCommands() {
  return {MakeCheckCommand,         MakeExplodeCommand, MakeMergeCommand, MakeImportCommand,
          MakeImportClusterCommand, MakeDumpCommand,    MakeDotCommand,   MakeGraphmlCommand,
          MakeStatsCommand,         MakeDiffCommand,    MakeHelpCommand};
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
  fmt::print("{}", Printable(text));
  return OkStatus();
}

}  // namespace drydock
