#include "capture/command/rank_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "capture/launch/python_command.h"
#include "capture/launch/words.h"
#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

// Removes what a capture sets for each rank, and a program that is started by itself has not.
std::vector<std::string> WithoutRank(const Launch& launch) {
  std::vector<std::string> command = {"/usr/bin/env"}, restored;
  for (const char* name :
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
        "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}) {
    if (Has(launch.environment, name)) {
      restored.push_back(std::string(name) + "=" + ValueOf(launch.environment, name));
    } else {
      command.insert(command.end(), {"-u", name});
    }
  }
  command.insert(command.end(), restored.begin(), restored.end());
  return command;
}

}  // namespace

Status CheckProgram(const Launch& launch) {
  const PythonCommand python = ReadPythonCommand(launch.command);
  if (python.kind != PythonCommand::Kind::kFile) return OkStatus();
  const fs::path path = fs::path(launch.folder) / python.target;
  std::error_code failed;
  if (fs::exists(path, failed)) return OkStatus();
  std::vector<std::string> beside;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), failed)) {
    if (entry.path().extension() == ".py") beside.push_back(entry.path().filename().string());
  }
  std::sort(beside.begin(), beside.end());
  return Error(fmt::format("{} starts this program, but there is no such file{}",
                           launch.launcher.empty() ? "Python" : launch.launcher,
                           DidYouMean(path.filename().string(), beside)),
               {path.string(), 0, 0});
}

std::string NameOfProgram(const Launch& launch) {
  const PythonCommand python = ReadPythonCommand(launch.command);
  return python.kind == PythonCommand::Kind::kFile ? BaseName(python.target) : python.target;
}

std::vector<std::string> CommandOfRanks(const Launch& launch, const std::string& python) {
  std::vector<std::string> command = launch.command;
  command.front() = python;
  if (launch.launcher.empty()) {
    std::vector<std::string> alone = WithoutRank(launch);
    alone.insert(alone.end(), command.begin(), command.end());
    return alone;
  }
  if (launch.rank_words.empty()) return command;
  std::string line = "exec";
  for (size_t i = 0; i < command.size(); ++i) {
    const auto word = std::find_if(launch.rank_words.begin(), launch.rank_words.end(),
                                   [&](const RankWord& known) { return known.index == i; });
    if (word == launch.rank_words.end()) {
      line += " " + Quoted(command[i]);
      continue;
    }
    const char* variable = word->number == RankNumber::kRank        ? "RANK"
                           : word->number == RankNumber::kLocalRank ? "LOCAL_RANK"
                                                                    : "GROUP_RANK";
    line += fmt::format(" {}\"${}\"{}", word->before.empty() ? "" : Quoted(word->before), variable,
                        word->after.empty() ? "" : Quoted(word->after));
  }
  return {"/bin/sh", "-c", line};
}

}  // namespace drydock::capture
