// compute-sim fit: fits the parameters of a GPU to measured rows and states their errors.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "compute-sim/commands.h"
#include "compute-sim/fit/fit.h"
#include "compute-sim/gpu_library.h"
#include "compute-sim/kernel/kernel_parameters_text.h"
#include "compute-sim/model/simulate.h"
#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "compute-sim fit",
    "Fits a GPU's kernel models to measured rows and states the errors of their predictions.",
    "reads a GPU's file, profiles (docs/reference/kernel-profile.md) and configs/fit.yaml; writes a "
    "GPU's file",
    "compute-sim fit --gpu h100-sxm-80g --gpu-profile my-h100.csv -o my-h100.yaml", false};

struct Options {
  std::string gpu;
  std::vector<std::string> profiles;
  std::string attention_library;
  std::string output;
  FitOptions fit;
};

Result<GpuData> LoadData(const Options& options) {
  ASSIGN_OR_RETURN(const GpuSpec spec, LoadGpu(options.gpu));
  SimulateOptions simulate;
  simulate.attention_library = options.attention_library;
  for (const std::string& path : options.profiles) {
    ASSIGN_OR_RETURN(Profile profile, LoadProfile(path));
    if (profile.gpu != spec.name) {
      return Error(
          fmt::format("this profile was measured on '{}', not on '{}'", profile.gpu, spec.name),
          {path, 0, 0});
    }
    simulate.profiles.push_back(std::make_shared<const Profile>(std::move(profile)));
  }
  ASSIGN_OR_RETURN(GpuData data, MakeGpuData(spec, simulate));
  if (data.calibrated || spec.reference.empty()) {
    ASSIGN_OR_RETURN(data.parameters, StartingParameters(data, nullptr));
    return data;
  }
  ASSIGN_OR_RETURN(const GpuData reference, MakeReferenceData(spec, {}));
  ASSIGN_OR_RETURN(data.parameters, StartingParameters(data, &reference));
  return data;
}

Result<FitWeights> LoadFitWeights() {
  const std::string path = ConfigDirectory() + "/fit.yaml";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseFitWeights(text, path);
}

std::string Remark(const GpuData& gpu, const FitResult& result, const FitOptions& fit) {
  std::string text =
      fmt::format("Fitted by compute-sim fit, {} evaluations a set, to\n", fit.evaluations);
  for (const ProfilePtr& profile : gpu.profiles) {
    text += fmt::format("  {}: {}\n", BaseName(profile->file_name), profile->source);
  }
  for (const Residuals& residuals : result.residuals) text += ToString(residuals) + "\n";
  for (const std::string& note : result.notes) text += note + "\n";
  if (!result.kept.empty()) text += "Without rows, unchanged: " + Join(result.kept) + "\n";
  return text;
}

void Declare(CLI::App* command, Options* options, const CommonOptions&) {
  command->add_option("--gpu", options->gpu, "A GPU of configs/gpus, or the path of a GPU's file")
      ->type_name("NAME");
  command
      ->add_option("--gpu-profile", options->profiles, "Rows measured on it (CSV); may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--attention-library", options->attention_library,
                   "The library of the attention kernels in the rows, instead of the default")
      ->type_name("NAME");
  command->add_option("-o,--output", options->output, "The GPU's file with the fitted parameters")
      ->type_name("FILE");
  command
      ->add_option("--evaluations", options->fit.evaluations,
                   "Trials for each set of parameters; 0 only states the errors")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command
      ->add_option("--rows", options->fit.max_rows,
                   "Maximum number of rows to which a set is fitted")
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str();
  CheckOptions(command, [options]() -> Status {
    if (options->gpu.empty()) return MissingOption("--gpu");
    if (options->profiles.empty()) return MissingOption("--gpu-profile");
    return OkStatus();
  });
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const GpuData gpu, LoadData(options));
  if (!options.output.empty()) RETURN_IF_ERROR(CheckCanWrite(options.output));
  if (common.check) return OkStatus();
  FitOptions fit = options.fit;
  ASSIGN_OR_RETURN(fit.weights, LoadFitWeights());
  ASSIGN_OR_RETURN(const FitResult result, Fit(gpu, fit));
  for (const Residuals& residuals : result.residuals) fmt::print("{}\n", ToString(residuals));
  for (const std::string& note : result.notes) fmt::print("{}\n", note);
  if (!result.kept.empty()) fmt::print("no rows for {}\n", Join(result.kept));
  if (options.output.empty()) return OkStatus();
  const std::string section = KernelsText(result.parameters, Remark(gpu, result, options.fit));
  return WriteFileAtomically(options.output, WithKernels(gpu.spec.file_text, section));
}

std::string Subject(const Options& options) { return options.gpu; }

}  // namespace

std::unique_ptr<Command> MakeFitCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
