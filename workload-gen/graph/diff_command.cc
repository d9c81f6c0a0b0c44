// workload-gen diff: compares two workloads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/schema/artefacts/artefacts.h"
#include "workload-gen/graph/commands.h"
#include "workload-gen/graph/diff/diff_text.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "workload-gen diff",
    "Compares what the ranks of two workloads do; exit status 1 if anything differs.",
    "reads A/1-workload/ and B/1-workload/; docs/how-to/compare-workloads.md says what is equal",
    "workload-gen diff runs/captured runs/generated --memory-tolerance 3", false};

class DiffCommand final : public Command {
 public:
  DiffCommand() : Command(kInfo) {}

  void Declare(CLI::App* command, const CommonOptions&) override {
    command->add_option("a", a_, "Run directory")->type_name("A");
    command->add_option("b", b_, "Another one")->type_name("B");
    command->add_option("--shown", shown_, "How many differences of each subject to print")
        ->capture_default_str();
    command
        ->add_option("--memory-tolerance", memory_tolerance_,
                     "Sizes of memory are equal if they differ by at most so many percent")
        ->type_name("PERCENT")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    command->add_option("--json", json_, "Write all differences to this file")->type_name("FILE");
    CheckOptions(command, [this]() -> Status {
      if (a_.empty()) return MissingOption("A");
      if (b_.empty()) return MissingOption("B");
      return OkStatus();
    });
  }

  Status Run(const CommonOptions& common) const override {
    ASSIGN_OR_RETURN(const WorkloadFile a, ReadWorkload(a_, WorkloadParts::kAll));
    ASSIGN_OR_RETURN(const WorkloadFile b, ReadWorkload(b_, WorkloadParts::kAll));
    if (common.check) return OkStatus();
    DiffOptions options;
    options.memory_tolerance = memory_tolerance_ / 100;
    WorkloadDiff diff = CompareWorkloads(a.workload, b.workload, options);
    // The programs do not say what hardware they run on.
    if (a.cluster.yaml != b.cluster.yaml || a.cluster.files != b.cluster.files) {
      diff.notes.insert(diff.notes.begin(), "the clusters differ");
    }
    if (!json_.empty()) RETURN_IF_ERROR(WriteFileAtomically(json_, DiffJson(diff)));
    fmt::print("{}", Printable(DiffText(diff, shown_)));
    if (diff.equal()) return OkStatus();
    return Error(fmt::format("this workload and that of {} differ", b_), {a_, 0, 0});
  }

 private:
  std::string a_, b_, json_;
  size_t shown_ = 5;
  double memory_tolerance_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeDiffCommand() { return std::make_unique<DiffCommand>(); }

}  // namespace drydock
