// simccl explain: says what NCCL picks for one call, and why.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "simccl/commands.h"
#include "simccl/explain/call_selection.h"
#include "simccl/explain/explain.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "simccl explain",
    "Explains what NCCL picks for a call and why, and what it built for the group.",
    "reads cluster.topo (docs/reference/cluster-file.md)",
    "simccl explain --cluster configs/clusters/dgx-h100-8.topo --group 0-15 --collective "
    "all_reduce --size 64MiB",
    false};

struct Options {
  CallOptions call;
  std::string nccl_library;
};

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  DeclareCallOptions(app, &options->call);
  DeclareLibrary(app, &options->nccl_library);
  CheckOptions(app, [options] { return CheckCallOptions(options->call); });
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const SelectedCall selected, SelectCall(options.call, options.nccl_library));
  ASSIGN_OR_RETURN(const std::string text, Explain(selected, options.nccl_library, common.verbose));
  if (!common.check) fmt::print("{}", Printable(text));
  return OkStatus();
}

std::string Subject(const Options& options) { return options.call.cluster; }

}  // namespace

std::unique_ptr<Command> MakeExplainCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
