// workload-gen dump, dot, graphml, stats: show a workload as text.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/schema/artefacts/artefacts.h"
#include "workload-gen/graph/commands.h"
#include "workload-gen/graph/text/graph_text.h"
#include "workload-gen/graph/text/stats.h"
#include "workload-gen/graph/text/topology_text.h"
#include "workload-gen/graph/text/workload_text.h"

namespace drydock {
namespace {

const ToolInfo kDump = {"workload-gen dump", "Prints a workload, one op per line.",
                        "reads RUN/1-workload/",
                        "workload-gen dump runs/gpt-22b --ranks 0,8 --micro-batches 0", false};
const ToolInfo kDot = {
    "workload-gen dot", "Draws a slice of a workload for Graphviz.", "reads RUN/1-workload/",
    "workload-gen dot runs/gpt-22b --ranks 0 --layers 0 | dot -Tsvg > a.svg", false};
const ToolInfo kGraphml = {"workload-gen graphml", "Writes a slice of a workload as GraphML.",
                           "reads RUN/1-workload/",
                           "workload-gen graphml runs/gpt-22b --ranks 0-7 -o graph.graphml", false};
const ToolInfo kStats = {"workload-gen stats",
                         "Counts ops, FLOPs and bytes of a workload by kind and group.",
                         "reads RUN/1-workload/", "workload-gen stats runs/gpt-22b", false};
// A larger picture is unreadable.
constexpr size_t kMaxDrawnOps = 20000;

// A command that reads one run and prints text.
class TextCommand : public Command {
 public:
  explicit TextCommand(const ToolInfo& info) : Command(info) {}

  void Declare(CLI::App* command, const CommonOptions&) override {
    command->add_option("run", run_, "Run directory")->type_name("RUN");
    command->add_option("-o,--output", output_, "The output file; default: standard output")
        ->type_name("FILE");
    AddOptions(command);
    RequireIf(command, "RUN", [this] { return run_.empty(); });
  }

  std::string Subject() const override { return run_; }

  Status Run(const CommonOptions& common) const override {
    ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run_, WorkloadParts::kAll));
    ASSIGN_OR_RETURN(const std::string text, Text(file));
    return common.check ? OkStatus() : WriteText(output_, text);
  }

 protected:
  virtual void AddOptions(CLI::App* command) = 0;
  virtual Result<std::string> Text(const WorkloadFile& file) const = 0;

 private:
  std::string run_, output_;
};

class DumpCommand final : public TextCommand {
 public:
  DumpCommand() : TextCommand(kDump) {}

 private:
  void AddOptions(CLI::App* command) override {
    AddSliceOptions(command, &words_);
    command->add_flag("--tables", tables_, "Print only the tables");
    command->add_flag("--topology", topology_, "Print only the cluster: GPUs, hosts, fabric");
  }

  // Prints all classes, or the selected ranks.
  Result<std::string> Text(const WorkloadFile& file) const override {
    const Workload& w = file.workload;
    if (topology_) return TopologyText(w.topology, file.cluster.variation);
    if (tables_) return TablesText(w);
    const bool whole = words_.ranks.empty() && words_.ops.empty() && words_.layers.empty() &&
                       words_.micro_batches.empty();
    std::string text;
    if (whole) {
      text = TablesText(w);
      for (int c = 0; c < w.class_count; ++c) text += ProgramText(w, c);
      return text;
    }
    ASSIGN_OR_RETURN(const Slice slice, Slice::Make(words_, w));
    for (const int rank : slice.ranks()) text += RankText(w, rank, slice);
    return text;
  }

  SliceWords words_;
  bool tables_ = false, topology_ = false;
};

class DrawCommand final : public TextCommand {
 public:
  using Draw = std::string (*)(const Workload&, const OpGraph&);
  DrawCommand(const ToolInfo& info, Draw draw) : TextCommand(info), draw_(draw) {}

 private:
  void AddOptions(CLI::App* command) override { AddSliceOptions(command, &words_); }

  Result<std::string> Text(const WorkloadFile& file) const override {
    const Workload& w = file.workload;
    ASSIGN_OR_RETURN(const Slice slice, Slice::Make(words_, w));
    const size_t ops = slice.CountOps(w);
    if (ops > kMaxDrawnOps) {
      return Error(
          fmt::format("{} ops are too many to draw (at most {}); --ranks, --layers, "
                      "--micro-batches and --ops narrow them down",
                      ops, kMaxDrawnOps));
    }
    return draw_(w, MakeOpGraph(w, slice));
  }

  const Draw draw_;
  SliceWords words_;
};

class StatsCommand final : public TextCommand {
 public:
  StatsCommand() : TextCommand(kStats) {}

 private:
  void AddOptions(CLI::App* command) override { command->add_flag("--json", json_, "Print JSON"); }
  Result<std::string> Text(const WorkloadFile& file) const override {
    const Workload& w = file.workload;
    const WorkloadStats stats = StatsOf(w);
    return json_ ? StatsJson(w, stats) : StatsText(w, stats);
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDumpCommand() { return std::make_unique<DumpCommand>(); }
std::unique_ptr<Command> MakeDotCommand() { return std::make_unique<DrawCommand>(kDot, DotText); }
std::unique_ptr<Command> MakeGraphmlCommand() {
  return std::make_unique<DrawCommand>(kGraphml, GraphmlText);
}
std::unique_ptr<Command> MakeStatsCommand() { return std::make_unique<StatsCommand>(); }

}  // namespace drydock
