// workload-gen explode and merge: turn a workload into one Chakra trace per rank, and back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/writable.h"
#include "core/model/calls/rank_list.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/check/proof.h"
#include "workload-gen/graph/commands.h"
#include "workload-gen/graph/foreign/explode.h"

namespace drydock {
namespace {

const ToolInfo kExplode = {
    "workload-gen explode",
    "Writes a workload as one Chakra trace per rank, in the form that ASTRA-sim reads.",
    "reads RUN/1-workload/ and, if it exists, RUN/3-times.pb; writes DIR/PREFIX.<rank>.et, "
    "DIR/PREFIX.json (groups), DIR/manifest.pb and DIR/topology.pb (what merge needs)",
    "workload-gen explode runs/gpt-22b -o traces/gpt-22b", false};

const ToolInfo kMerge = {
    "workload-gen merge",
    "Turns exploded traces back into a workload with one program per rank class.",
    "reads DIR/<prefix>.<rank>.et, DIR/manifest.pb and DIR/topology.pb, writes RUN/1-workload/",
    "workload-gen merge traces/gpt-22b -o runs/again", false};

class ExplodeCommand final : public Command {
 public:
  ExplodeCommand() : Command(kExplode) {}

  void Declare(CLI::App* command, const CommonOptions&) override {
    command->add_option("run", run_, "Run directory")->type_name("RUN");
    command->add_option("-o,--out", dir_, "A folder that is empty or does not exist")
        ->type_name("DIR");
    command->add_option("--prefix", options_.prefix, "The first part of the traces' names")
        ->capture_default_str();
    command->add_option("--ranks", ranks_, "Only these ranks: 0-7, 0,8,16; merge needs all")
        ->type_name("LIST");
    CheckOptions(command, [this]() -> Status {
      if (run_.empty()) return MissingOption("RUN");
      if (dir_.empty()) return MissingOption("-o DIR");
      if (options_.prefix.empty() || options_.prefix.find('/') != std::string::npos) {
        return Error("--prefix: expected the beginning of a file's name");
      }
      return OkStatus();
    });
  }

  std::string Subject() const override { return run_; }

  Status Run(const CommonOptions& common) const override {
    ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run_, WorkloadParts::kAll));
    ExplodeOptions options = options_;
    if (!ranks_.empty()) {
      ASSIGN_OR_RETURN(options.ranks, ParseRanks(ranks_));
      RETURN_IF_ERROR(
          PlacedIn("--ranks " + ranks_, CheckRanks(options.ranks, file.workload.rank_count())));
    }
    KernelTimes times;
    const bool timed = FileExists(run_ + "/" + kKernelTimesName);
    if (timed) {
      ASSIGN_OR_RETURN(times, ReadKernelTimes(run_, file));
    }
    if (common.check) return OkStatus();
    if (!common.quiet) {
      options.progress = [](size_t done, size_t all) {
        Say(fmt::format("workload-gen explode: {} of {} traces\n", done, all));
      };
    }
    ExplodedTables tables;
    ASSIGN_OR_RETURN(tables.manifest, ReadFile(run_ + "/" + kManifestName));
    ASSIGN_OR_RETURN(tables.topology, ReadFile(run_ + "/" + kTopologyName));
    ASSIGN_OR_RETURN(const Exploded exploded,
                     Explode(file.workload, timed ? &times : nullptr, tables, dir_, options));
    for (const std::string& warning : exploded.warnings) {
      Report(kExplode, common, "warning: " + warning);
    }
    Report(kExplode, common,
           fmt::format("{} traces, {} nodes, {}{}", exploded.files, exploded.nodes,
                       ToString(Bytes(exploded.bytes)),
                       timed ? "" : "; no durations, because 3-times.pb is missing"));
    return OkStatus();
  }

 private:
  std::string run_, dir_, ranks_;
  ExplodeOptions options_;
};

class MergeCommand final : public Command {
 public:
  MergeCommand() : Command(kMerge) {}

  void Declare(CLI::App* command, const CommonOptions& common) override {
    command
        ->add_option("traces", place_, "The folder, followed by /PREFIX if it holds several runs")
        ->type_name("DIR");
    command->add_option("-o,--out", run_, "Run directory")->type_name("RUN");
    command->add_flag(
        "--unproven", unproven_,
        "Write the workload without checking that it can run; nccl-record --schedule says how "
        "NCCL fails");
    CheckOptions(command, [this, &common]() -> Status {
      if (place_.empty()) return MissingOption("DIR");
      if (run_.empty() && !common.check) return MissingOption("-o RUN");
      return OkStatus();
    });
  }

  std::string Subject() const override { return place_; }

  Status Run(const CommonOptions& common) const override {
    ASSIGN_OR_RETURN(const RunLock lock, LockRun(kMerge, common, run_, RunLock::Missing::kMake));
    if (!common.check) RETURN_IF_ERROR(CheckCanWrite(run_ + "/" + kManifestName));
    ASSIGN_OR_RETURN(const Merged merged, Merge(place_));
    if (!unproven_) RETURN_IF_ERROR(Prove(common, merged.workload));
    if (merged.durations > 0) {
      Report(kMerge, common,
             fmt::format("{} durations are left out; compute-sim gives them", merged.durations));
    }
    Report(kMerge, common,
           fmt::format("{} in {}", Plural(merged.workload.rank_count(), "rank"),
                       Plural(merged.workload.class_count, "class")));
    if (common.check) return OkStatus();
    return WriteWorkload(run_, merged.workload, merged.cluster, merged.provenance,
                         merged.attention_backend);
  }

 private:
  Status Prove(const CommonOptions& common, const Workload& workload) const {
    const CheckReport report = CheckWorkload(workload);
    RETURN_IF_ERROR(ToStatus(report, place_));
    for (const std::string& note : report.notes) Report(kMerge, common, "note: " + note);
    return OkStatus();
  }

  std::string place_, run_;
  bool unproven_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeExplodeCommand() { return std::make_unique<ExplodeCommand>(); }
std::unique_ptr<Command> MakeMergeCommand() { return std::make_unique<MergeCommand>(); }

}  // namespace drydock
