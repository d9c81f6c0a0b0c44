// gpu-profiler: measures the kernels of submodules on a GPU of this machine and writes a profile.
// It writes each row as soon as the row is measured; a later run continues a run that ended early.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "compute-sim/measure/measure_device.h"
#include "compute-sim/measure/measure_file.h"
#include "compute-sim/measure/measure_plan.h"
#include "compute-sim/submodules/submodule_file.h"
#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/writable.h"
#include "core/model/calls/call_words.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "gpu-profiler", "Measures the kernels of a workload, or a grid of them, on this GPU.",
    "reads RUN/1-workload/ or a list of submodules, writes a profile "
    "(docs/reference/kernel-profile.md)",
    "gpu-profiler --gpu h200-sxm-141g --rows 2048,4096,8192 --widths 4096,6144,14336 -o h200.csv",
    false};

struct Options {
  std::string run, list, gpu, output, cudnn, date = "not stated", type = "bf16";
  std::vector<int64_t> rows, widths;
  std::vector<std::string> grid = {"products"};
  int device = 0;
  bool print = false;
};

Status CheckUsage(const Options& options) {
  const bool grid = !options.rows.empty() && !options.widths.empty();
  if (!grid && options.rows.size() + options.widths.size() > 0) {
    return MissingOption(options.rows.empty() ? "--rows" : "--widths");
  }
  if (options.run.empty() && options.list.empty() && !grid) {
    return MissingOption("RUN, --submodules, or --rows with --widths");
  }
  if (options.print) return OkStatus();
  if (options.gpu.empty()) return MissingOption("--gpu");
  return options.output.empty() ? MissingOption("--output") : OkStatus();
}

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("run", options->run, "Run directory, after workload-gen")->type_name("RUN");
  app->add_option("--submodules", options->list, "A list of submodules (YAML)")->type_name("FILE");
  app->add_option("--rows", options->rows, "Rows (M) of a grid of kernels")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--widths", options->widths, "Widths of the grid: every pair is an N and a K")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24));
  app->add_option(
         "--grid", options->grid,
         "Kernels of the grid: 'products', 'memory' (norms, activations, residuals, ...) or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"products", "memory"}))
      ->capture_default_str();
  app->add_option("--dtype", options->type, "Type of the grid")
      ->check(CLI::IsMember({"bf16", "fp16", "fp8"}))
      ->capture_default_str();
  app->add_option("--gpu", options->gpu, "The name of the GPU in its file, for the header");
  app->add_option("--device", options->device, "The index of the GPU on this machine")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app->add_option("--cudnn", options->cudnn,
                  "libcudnn.so.9, for attention; otherwise the loader searches it")
      ->type_name("FILE");
  app->add_option("--date", options->date, "For the header")->capture_default_str();
  app->add_option("-o,--output", options->output, "The profile; an existing profile is continued")
      ->type_name("FILE");
  app->add_flag("--list", options->print, "Print the kernels to measure; needs no GPU");
  CheckOptions(app, [options] { return CheckUsage(*options); });
}

Result<std::vector<Submodule>> SubmodulesOf(const Options& options) {
  const auto has = [&](const char* word) {
    return std::find(options.grid.begin(), options.grid.end(), word) != options.grid.end();
  };
  ASSIGN_OR_RETURN(const DataType type, ParseDataType(options.type));
  std::vector<Submodule> submodules =
      GridSubmodules({options.rows, options.widths, type, has("products"), has("memory")});
  if (!options.list.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(options.list));
    ASSIGN_OR_RETURN(const auto more, ParseSubmodules(text, options.list));
    submodules.insert(submodules.end(), more.begin(), more.end());
  }
  if (!options.run.empty()) {
    ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(options.run, WorkloadParts::kTables));
    submodules.insert(submodules.end(), file.workload.submodules.begin(),
                      file.workload.submodules.end());
  }
  return submodules;
}

Status Append(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return Error("cannot be written", {path, 0, 0});
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) return OkStatus();
  return Error("cannot be written", {path, 0, 0});
}

// Begins the output with complete lines under the right header: the lines of an earlier run, or a
// new header.
Status BeginFile(const Options& options, const MeasureDevice& device,
                 const std::optional<BegunFile>& begun) {
  const MeasuredOn on{options.gpu,        device.name(),   device.driver(),
                      device.libraries(), device.clocks(), options.date};
  if (!begun.has_value()) return WriteFileAtomically(options.output, MeasuredHeader(on));
  RETURN_IF_ERROR(CheckContinues(*begun, on));
  return WriteFileAtomically(options.output, begun->text);
}

// On a machine without cuDNN, reports that attention is left out, with the reason.
void LeaveOutAttentionWithoutCudnn(const MeasureDevice& device, const CommonOptions& common,
                                   MeasurePlan* plan) {
  if (device.WhyNoAttention().empty()) return;
  const size_t planned = plan->kernels.size();
  LeaveOutAttention(plan);
  if (plan->kernels.size() == planned) return;
  Report(kInfo, common,
         fmt::format("{} kernels of attention left out (--cudnn gives the library): {}",
                     planned - plan->kernels.size(), device.WhyNoAttention()));
}

Status MeasureAll(const Options& options, const CommonOptions& common, MeasurePlan plan,
                  const std::optional<BegunFile>& begun) {
  std::string error, state;
  const auto device = MeasureDevice::Open(options.device, options.cudnn, &error);
  if (device == nullptr) return Error(error, {fmt::format("--device {}", options.device), 0, 0});
  RETURN_IF_ERROR(BeginFile(options, *device, begun));
  LeaveOutAttentionWithoutCudnn(*device, common, &plan);
  int64_t failed = 0;
  const bool shows = !common.quiet && ::isatty(STDERR_FILENO) == 1;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const Kernel& kernel = plan.kernels[i];
    if (shows) Say(fmt::format("\rgpu-profiler: {} of {} kernels", i + 1, plan.kernels.size()));
    const double us = device->Measure(kernel, &error);
    if (us > 0) {
      const std::string now = device->StateNow();
      if (!now.empty() && now != state)
        RETURN_IF_ERROR(Append(options.output, MeasuredRemark(now)));
      state = now;
      RETURN_IF_ERROR(Append(options.output, MeasuredRow(kernel, us)));
      continue;
    }
    ++failed;
    Report(kInfo, common,
           fmt::format("{} {}: {}", InfoOf(kernel.kind).name, ShapeString(kernel), error));
  }
  if (shows) Say("\n");
  if (failed == 0) return OkStatus();
  return Error(fmt::format("{} of {} kernels could not be measured", failed, plan.kernels.size()));
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const std::vector<Submodule> submodules, SubmodulesOf(options));
  std::optional<BegunFile> begun;
  if (!options.output.empty()) {
    RETURN_IF_ERROR(CheckCanWrite(options.output));
    if (FileExists(options.output)) {
      ASSIGN_OR_RETURN(begun, ReadBegunFile(options.output, options.gpu));
    }
  }
  const std::string path = KernelAssumptionsPath();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const KernelAssumptions assumptions, ParseKernelAssumptions(text, path));
  ASSIGN_OR_RETURN(
      const MeasurePlan plan,
      PlanMeasurements(submodules, assumptions, begun.has_value() ? &begun->profile : nullptr));
  const std::string left_out = LeftOutText(plan);
  Report(
      kInfo, common,
      fmt::format("{} kernels to measure, {} measured earlier{}", plan.kernels.size(), plan.known,
                  left_out.empty() ? "" : "; left out for lack of a kernel: " + left_out));
  if (options.print) {
    for (const Kernel& kernel : plan.kernels) {
      fmt::print("{} {}\n", InfoOf(kernel.kind).name, ShapeString(kernel));
    }
    return OkStatus();
  }
  if (common.check || plan.kernels.empty()) return OkStatus();
  return MeasureAll(options, common, plan, begun);
}

std::string Subject(const Options& options) {
  if (!options.run.empty()) return options.run;
  return options.list.empty() ? options.output : options.list;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  return drydock::RunTool(argc, argv, [] {
    return drydock::MakeCommand<drydock::Options>(drydock::kInfo, drydock::Declare, drydock::Run,
                                                  drydock::Subject);
  });
}
