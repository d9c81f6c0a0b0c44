// drydock COMMAND ARGUMENTS: runs a command of its own, or becomes the tool that has it, which lies
// beside this executable: drydock-COMMAND or COMMAND.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/spelling.h"
#include "drydock/commands.h"
#include "drydock/help_pages.h"
#include "drydock/run/pipeline.h"

namespace drydock {
namespace {

using Words = std::vector<std::string>;

int RunOwn(const OwnCommand& command, const Words& arguments) {
  const bool help = !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h");
  // `run` has options, and with them its own help.
  return help && std::string(command.name) != "run" ? Print(HelpOf(command))
                                                    : command.run(arguments);
}

int Dispatch(const std::string& name, const Words& arguments) {
  for (const OwnCommand& command : OwnCommands()) {
    if (name == command.name) return RunOwn(command, arguments);
  }
  for (const Alias& alias : Aliases()) {
    if (name != alias.name) continue;
    Words words = arguments;
    if (*alias.command != 0) words.insert(words.begin(), alias.command);
    return Become(alias.tool, words);
  }
  if (!ExecutableOf(name).empty()) return Become(name, arguments);
  Words names = OtherTools();
  for (const OwnCommand& command : OwnCommands()) names.push_back(command.name);
  for (const Alias& alias : Aliases()) names.push_back(alias.name);
  for (const Tool& tool : Tools()) {
    if (name == tool.name) return Become(name, arguments);  // which says that it is not built
    names.push_back(tool.name);
  }
  return WrongUsage("drydock",
                    fmt::format("there is no command '{}'{}", name, DidYouMean(name, names)));
}

// As every tool prints it.
int PrintVersion() {
  struct Nothing {};
  const auto tool = [] {
    return MakeCommand<Nothing>(
        {.name = "drydock", .writes_artefact = false},
        [](CLI::App*, Nothing*, const CommonOptions&) {},
        [](const Nothing&, const CommonOptions&) { return OkStatus(); },
        [](const Nothing&) { return std::string(); });
  };
  char name[] = "drydock", flag[] = "--version";
  char* words[] = {name, flag, nullptr};
  return RunTool(2, words, tool);
}

int Main(const Words& words) {
  // run_pipeline.sh starts this program under its own name, for messages in the user's terms.
  if (const std::string called = BaseName(words[0]); called.ends_with(".sh")) {
    return RunPipeline({called, "./" + called}, {words.begin() + 2, words.end()});
  }
  const std::string name = words.size() < 2 ? "--help" : words[1];
  if (name == "--help" || name == "-h") return Print(MainHelp());
  if (name == "--version") return PrintVersion();
  return Dispatch(name, {words.begin() + 2, words.end()});
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  return words.empty() ? 2 : drydock::Main(words);
}
