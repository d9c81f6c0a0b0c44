// compute-sim import: kernel times of other tools as a profile.

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/commands.h"
#include "compute-sim/import/import.h"
#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/model/calls/call_words.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "compute-sim import", "Turns kernel times that other tools measured into a profile.",
    "reads what --from names (docs/how-to/use-measured-kernel-times.md), writes a profile (CSV)",
    "compute-sim import --from kineto --gpu h100-sxm-80g trace.json -o h100.csv", false};

struct Options {
  CLI::App* command = nullptr;
  std::string from, gpu, output, type = "bf16", model;
  std::string date = "not stated";
  std::vector<std::string> files;
};

void PrintImportersIfHelp(const std::string& name) {
  if (name != "help") return;
  for (const Importer& importer : Importers()) {
    fmt::print("{:<15} {}\n", importer.name, importer.summary);
  }
  throw CLI::Success();
}

Status CheckUsage(const Options& options) {
  if (options.from.empty()) return MissingOption("--from");
  ASSIGN_OR_RETURN(const Importer* importer, FindImporter(options.from));
  RETURN_IF_ERROR(ParseDataType(options.type));
  // An option that the importer would ignore is an error.
  if (importer->states_type && options.command->count("--dtype") > 0) {
    return Error(
        fmt::format("--dtype is not valid for '{}': its files state their types", importer->name));
  }
  if (!importer->needs_model && !options.model.empty()) {
    return Error(
        fmt::format("--model is not valid for '{}': its files have shapes", importer->name));
  }
  if (importer->needs_model && options.model.empty()) return MissingOption("--model");
  if (options.gpu.empty()) return MissingOption("--gpu");
  for (const auto& [option, value] :
       {std::pair("--gpu", &options.gpu), {"--date", &options.date}}) {
    if (value->find_first_of("\r\n") == std::string::npos) continue;
    return Error(fmt::format("{} must be one line: it becomes a line of the header", option));
  }
  if (options.files.empty()) return MissingOption("FILE");
  return OkStatus();
}

// "7 aten::relu, 2 kernel without an operator": the eight most frequent, in this order.
std::string LeftOutText(const std::map<std::string, int64_t>& left_out) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [what, count] : left_out) order.emplace_back(-count, what);
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < order.size() && i < 8; ++i) {
    parts.push_back(fmt::format("{} {}", -order[i].first, order[i].second));
  }
  if (order.size() > 8) parts.push_back(fmt::format("{} other kinds", order.size() - 8));
  return Join(parts);
}

void Declare(CLI::App* command, Options* options, const CommonOptions&) {
  options->command = command;
  command->add_option("files", options->files, "What the other tool wrote")->type_name("FILE");
  command->add_option("--from", options->from, "Which tool; 'help' lists them")
      ->type_name("TOOL")
      ->each(PrintImportersIfHelp);
  command->add_option("--gpu", options->gpu, "The GPU's name in its file, for the header")
      ->type_name("NAME");
  command->add_option("--dtype", options->type, "Data type where the file does not say")
      ->capture_default_str();
  command->add_option("--date", options->date, "When it was measured, for the header")
      ->capture_default_str();
  command
      ->add_option("--model", options->model,
                   "For aiob: 'hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, "
                   "micro_batch: 1, tensor: 8, vocab: 50304', and 'gated: true', "
                   "'sequence_parallel: true'")
      ->type_name("WORDS");
  command->add_option("-o,--output", options->output, "The profile; standard output if absent")
      ->type_name("FILE");
  CheckOptions(command, [options] { return CheckUsage(*options); });
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const Importer* importer, FindImporter(options.from));
  ImportOptions import;
  ASSIGN_OR_RETURN(import.type, ParseDataType(options.type));
  if (!options.model.empty()) {
    ASSIGN_OR_RETURN(import.model, ParseImportedModel(options.model));
  }
  if (!options.output.empty()) RETURN_IF_ERROR(CheckCanWrite(options.output));
  ImportedTimes all;
  std::vector<std::string> names;
  for (const std::string& path : options.files) {
    ASSIGN_OR_RETURN(ImportedTimes times, importer->read(path, import));
    all.rows.insert(all.rows.end(), times.rows.begin(), times.rows.end());
    all.quantized |= times.quantized;
    for (const auto& [what, count] : times.left_out) all.left_out[what] += count;
    names.push_back(BaseName(path));
  }
  if (all.rows.empty()) {
    return Error(fmt::format("a profile can hold no kernel of {}{}", Join(names),
                             all.left_out.empty() ? "" : ": " + LeftOutText(all.left_out)));
  }
  const std::string text =
      ProfileText(all, {options.gpu, fmt::format("{} of {}", Join(names), importer->name),
                        importer->summary, options.date, importer->clocks});
  const int64_t disagreeing = CountDisagreeing(all);
  Report(kInfo, common,
         fmt::format("{} times{}{}", all.rows.size(),
                     disagreeing == 0 ? ""
                                      : fmt::format("; the times of {} kernels differ by more than "
                                                    "a factor of two, the profile has their median",
                                                    disagreeing),
                     all.left_out.empty() ? "" : "; left out " + LeftOutText(all.left_out)));
  if (common.check) return OkStatus();
  if (!options.output.empty()) return WriteFileAtomically(options.output, text);
  fmt::print("{}", text);
  return OkStatus();
}

std::string Subject(const Options& options) {
  return options.files.empty() ? "" : options.files.front();
}

}  // namespace

std::unique_ptr<Command> MakeImportCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
