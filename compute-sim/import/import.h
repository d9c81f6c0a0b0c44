// Turns kernel times of other tools into a profile (profile.h).
#ifndef DRYDOCK_COMPUTE_SIM_IMPORT_IMPORT_H_
#define DRYDOCK_COMPUTE_SIM_IMPORT_IMPORT_H_

#include <map>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/kernel/kernel_parameters.h"
#include "core/base/result.h"

namespace drydock {

// The model of an AIOB file, which has times but no shapes.
struct ImportedModel {
  int64_t hidden = 0, ffn = 0, heads = 0, sequence = 0, micro_batch = 0, tensor = 1, vocab = 0;
  bool gated = false, sequence_parallel = false;
};
// "hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, micro_batch: 1, tensor: 8, vocab: 50304",
// and optionally "gated: true", "sequence_parallel: true".
Result<ImportedModel> ParseImportedModel(const std::string& words);

struct ImportOptions {
  DataType type = DataType::kBf16;  // used if the files state no types
  ImportedModel model;              // the model that AIOB measured
};

struct ImportedTimes {
  struct Row {
    Kernel kernel;  // kind, type and extents
    double us = 0;
  };
  // Counts the row as left out if a profile cannot hold it: an extent that is not from 1 to
  // kMaxExtent, extents that contradict one another, a time that is below a picosecond or not below
  // kLongestKernel.
  void Add(const Kernel& kernel, double us);

  std::vector<Row> rows;
  bool quantized = false;  // fp8 GEMMs contain the quantization of their activations
  std::map<std::string, int64_t> left_out;  // kernels that a profile cannot hold, with their count
};

struct Importer {
  std::string name;
  std::string summary;
  KernelParameters::Clocks clocks = KernelParameters::Clocks::kBurst;  // at which the tool measures
  bool states_type = true;  // its files state types; otherwise ImportOptions::type is used
  bool needs_model = false;
  Result<ImportedTimes> (*read)(const std::string& path, const ImportOptions& options);
};
const std::vector<Importer>& Importers();
Result<const Importer*> FindImporter(const std::string& name);

// One reader for each tool. Errors have line and column if the file has lines.
Result<ImportedTimes> ReadAiconfigurator(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadVidur(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadAiob(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadKineto(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadNsys(const std::string& path, const ImportOptions& options);

// The number of kernels whose times differ by more than a factor of two. Measurements of one kernel
// should agree.
int64_t CountDisagreeing(const ImportedTimes& times);

struct ProfileHeader {
  std::string gpu, provenance, method, date;
  KernelParameters::Clocks clocks = KernelParameters::Clocks::kBurst;
};
// The text of a profile: a row for each kernel, with the median of its times.
std::string ProfileText(const ImportedTimes& times, const ProfileHeader& header);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_IMPORT_IMPORT_H_
