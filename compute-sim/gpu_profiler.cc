// gpu-profiler: measures the kernels of submodules on the GPU at hand and writes a profile. Each
// row is written when it is measured; a run that ended early is taken up where it stopped.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "compute-sim/measure_device.h"
#include "compute-sim/measure_plan.h"
#include "compute-sim/submodule_file.h"
#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/schema/artefacts.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "gpu-profiler", "Measures the kernels of a workload, or a grid of products, on this GPU.",
    "reads RUN/1-workload/manifest.pb or a list of submodules, writes a profile (docs/compute.md)",
    "gpu-profiler --gpu h200-sxm-141g --rows 2048,4096,8192 --widths 4096,6144,14336 -o h200.csv",
    false};

struct Options {
  std::string run, list, gpu, output, date = "not stated", type = "bf16";
  std::vector<int64_t> rows, widths;
  int device = 0;
  bool print = false;
};

Status CheckWords(const Options& options) {
  const bool grid = !options.rows.empty() && !options.widths.empty();
  if (options.run.empty() && options.list.empty() && !grid) {
    return MissingOption("RUN, --submodules, or --rows with --widths");
  }
  if (options.print) return OkStatus();
  if (options.gpu.empty()) return MissingOption("--gpu");
  return options.output.empty() ? MissingOption("--output") : OkStatus();
}

void Declare(CLI::App* app, Options* options) {
  app->add_option("run", options->run, "Run directory, after workload-gen")->type_name("RUN");
  app->add_option("--submodules", options->list, "A list of submodules (YAML)")->type_name("FILE");
  app->add_option("--rows", options->rows, "Rows (M) of a grid of products")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--widths", options->widths, "Widths of it: every pair is an N and a K")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--dtype", options->type, "Type of the grid")
      ->check(CLI::IsMember({"bf16", "fp16", "fp8"}))
      ->capture_default_str();
  app->add_option("--gpu", options->gpu, "The GPU's name in its file, for the header");
  app->add_option("--device", options->device, "Which of this machine's GPUs")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app->add_option("--date", options->date, "For the header")->capture_default_str();
  app->add_option("-o,--output", options->output, "The profile; one that is there is continued")
      ->type_name("FILE");
  app->add_flag("--list", options->print, "Print what would be measured; needs no GPU");
  CheckOptions(app, [options] { return CheckWords(*options); });
}

DataType TypeOfWord(const std::string& word) {
  const auto& names = DataTypeNames();
  return static_cast<DataType>(std::find(names.begin(), names.end(), word) - names.begin());
}

Result<std::vector<Submodule>> SubmodulesOf(const Options& options) {
  std::vector<Submodule> submodules =
      GridSubmodules(options.rows, options.widths, TypeOfWord(options.type));
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

Measurement MeasurementOf(const Kernel& kernel) {
  Measurement what;
  what.type = kernel.type == DataType::kFp8    ? MeasuredType::kFp8
              : kernel.type == DataType::kBf16 ? MeasuredType::kBf16
                                               : MeasuredType::kFp16;
  what.elements = kernel.dims[0] * kernel.dims[1];
  size_t first = 0;
  if (kernel.kind == KernelKind::kBatchedGemm) what.batch = kernel.dims[first++];
  what.m = kernel.dims[first], what.n = kernel.dims[first + 1], what.k = kernel.dims[first + 2];
  if (kernel.kind == KernelKind::kGemmAccumulate) what.kind = MeasuredKind::kGemmAccumulate;
  if (kernel.kind == KernelKind::kAdd) what.kind = MeasuredKind::kAdd;
  if (kernel.kind == KernelKind::kCopy) what.kind = MeasuredKind::kCopy;
  if (kernel.kind == KernelKind::kFill) what.kind = MeasuredKind::kFill;
  return what;
}

// Appends; the header first, if the file is new.
Status Append(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return Error("cannot be written", {path, 0, 0});
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) return OkStatus();
  return Error("cannot be written", {path, 0, 0});
}

Status MeasureAll(const Options& options, const CommonOptions& common, const MeasurePlan& plan,
                  bool begun) {
  std::string error;
  const auto device = MeasureDevice::Open(options.device, &error);
  if (device == nullptr) return Error(fmt::format("GPU {}: {}", options.device, error));
  if (!begun) {
    RETURN_IF_ERROR(
        Append(options.output, MeasuredHeader({options.gpu, device->name(), device->driver(),
                                               device->libraries(), options.date})));
  }
  int64_t failed = 0;
  const bool shows = !common.quiet && ::isatty(STDERR_FILENO) == 1;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const Kernel& kernel = plan.kernels[i];
    if (shows) Say(fmt::format("\rgpu-profiler: {} of {} kernels", i + 1, plan.kernels.size()));
    const double us = device->Measure(MeasurementOf(kernel), &error);
    if (us > 0) {
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
  Profile present;
  const bool begun = !options.output.empty() && FileExists(options.output);
  if (begun) {
    ASSIGN_OR_RETURN(present, LoadProfile(options.output));
    if (!options.gpu.empty() && present.gpu != options.gpu) {
      return Error(fmt::format("it has rows of '{}', not of '{}'", present.gpu, options.gpu),
                   {options.output, 0, 0});
    }
  }
  ASSIGN_OR_RETURN(const MeasurePlan plan,
                   PlanMeasurements(submodules, begun ? &present : nullptr));
  Report(kInfo, common,
         fmt::format("{} kernels to measure, {} there already, {} of kinds that it does not launch",
                     plan.kernels.size(), plan.known, plan.left_out));
  if (options.print) {
    for (const Kernel& kernel : plan.kernels) {
      fmt::print("{} {}\n", InfoOf(kernel.kind).name, ShapeString(kernel));
    }
    return OkStatus();
  }
  if (common.check || plan.kernels.empty()) return OkStatus();
  return MeasureAll(options, common, plan, begun);
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  drydock::CommonOptions common;
  return drydock::RunTool(
      argc, argv, drydock::kInfo, &common, [&](CLI::App* app) { drydock::Declare(app, &options); },
      [&] { return drydock::Run(options, common); });
}
