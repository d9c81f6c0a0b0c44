#include "drydock/help_pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/spelling.h"
#include "drydock/commands.h"

namespace drydock {
namespace {

namespace fs = std::filesystem;

constexpr int kExitBadInput = 1;

// The pages of the documents: their names, such as "cluster-file", and files.
std::map<std::string, std::string> Pages() {
  std::map<std::string, std::string> pages;
  const std::string docs = DocsDirectory();
  // Where two shelves have a page of one name, the first one counts.
  for (const char* shelf : {"reference", "how-to", "explanation", "tutorial", "."}) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(docs + "/" + shelf, failed)) {
      if (entry.path().extension() != ".md" || entry.path().stem() == "README") continue;
      pages.emplace(entry.path().stem().string(), entry.path().string());
    }
  }
  return pages;
}

// Shows a page in a pager on a terminal, else prints it.
int ShowPage(const std::string& file) {
  if (::isatty(STDOUT_FILENO) == 1) {
    const Variables environment = OwnEnvironment();
    const std::string wanted = ValueOf(environment, "PAGER");
    for (const std::string& pager : {wanted, std::string("less"), std::string("more")}) {
      if (pager.empty() || FindProgram(pager, ValueOf(environment, "PATH")).empty()) continue;
      const Result<int> status = RunShown({pager, file});
      if (status.ok()) return *status;
    }
  }
  const Result<std::string> text = ReadFile(file);
  if (text.ok()) return Print(*text);
  Say(text.error().ToString() + "\n");
  return kExitBadInput;
}

std::string Topics(const std::map<std::string, std::string>& pages) {
  std::string text = MainHelp() + "\nTopics of 'drydock help', besides the commands:\n";
  std::string line = " ";
  for (const auto& [name, file] : pages) {
    if (line.size() + name.size() > 90) {
      text += line + "\n";
      line = " ";
    }
    line += " " + name;
  }
  return text + line + "\n";
}

}  // namespace

std::string MainHelp() {
  const auto line = [](const std::string& name, const std::string& summary) {
    return fmt::format("  {:<17}{}\n", name, summary);
  };
  std::string text =
      "Predicts the iteration time of a training run on a cluster that need not exist.\n"
      "Usage: drydock COMMAND [arguments]\n\n"
      "'drydock COMMAND --help' explains a command. Where a command takes a cluster, the name of "
      "a\n"
      "shipped one will do.\n\nSubcommands:\n";
  for (const OwnCommand& command : OwnCommands()) text += line(command.name, command.summary);
  text += "\nCommands of the tools beside this program, by a shorter name:\n";
  for (const Alias& alias : Aliases()) {
    text += line(alias.name, fmt::format("{} ({}{}{})", alias.summary, alias.tool,
                                         *alias.command == 0 ? "" : " ", alias.command));
  }
  text += "\nTools beside this program:\n";
  for (const Tool& tool : Tools()) text += line(tool.name, tool.summary);
  for (const std::string& name : OtherTools()) text += line(name, "");
  return text +
         "\nOptions:\n  -h,--help        Print this help message and exit\n"
         "  --version        Display program version information and exit\n\n"
         "Exit status:\n  that of the command; 2 if there is no such command\n\n"
         "Example:\n  drydock run gpt-22b dgx-a100-80g-1\n";
}

int ShowHelp(const std::vector<std::string>& arguments) {
  const std::map<std::string, std::string> pages = Pages();
  if (arguments.empty()) return Print(Topics(pages));
  std::string topic = arguments[0];
  if (arguments.size() > 1) {
    return WrongUsage("drydock help",
                      fmt::format("one topic is needed, not also '{}'", arguments[1]));
  }
  for (const OwnCommand& command : OwnCommands()) {
    if (topic == command.name && topic != "run") return Print(HelpOf(command));
    if (topic == command.name) return command.run({"--help"});
  }
  for (const Alias& alias : Aliases()) {
    if (topic != alias.name) continue;
    if (*alias.command == 0) return Become(alias.tool, {"--help"});
    return Become(alias.tool, {alias.command, "--help"});
  }
  if (!ExecutableOf(topic).empty()) return Become(topic, {"--help"});
  if (topic.ends_with(".md")) topic = fs::path(topic).stem().string();
  const auto page = pages.find(topic);
  if (page != pages.end()) return ShowPage(page->second);
  std::vector<std::string> names;
  for (const auto& [name, file] : pages) names.push_back(name);
  for (const OwnCommand& command : OwnCommands()) names.push_back(command.name);
  for (const Alias& alias : Aliases()) names.push_back(alias.name);
  for (const Tool& tool : Tools()) names.push_back(tool.name);
  return WrongUsage("drydock help",
                    fmt::format("there is no topic '{}'{}", topic, DidYouMean(topic, names)));
}

}  // namespace drydock
