// Kernel times as other tools write them, turned into a profile (profile.h).
#ifndef DRYDOCK_COMPUTE_SIM_IMPORT_IMPORT_H_
#define DRYDOCK_COMPUTE_SIM_IMPORT_IMPORT_H_

#include <map>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "core/base/result.h"

namespace drydock {

// The model that AIOB's file is of: it has times, and no shapes.
struct ImportedModel {
  int64_t hidden = 0, ffn = 0, heads = 0, sequence = 0, micro_batch = 0, tensor = 1, vocab = 0;
  bool gated = false, sequence_parallel = false;
};
// "hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, micro_batch: 1, tensor: 8, vocab: 50304",
// and "gated: true", "sequence_parallel: true" where they are.
Result<ImportedModel> ParseImportedModel(const std::string& words);

struct ImportOptions {
  DataType type = DataType::kBf16;  // where the foreign file does not say
  ImportedModel model;              // of AIOB's file
};

struct ImportedTimes {
  struct Row {
    Kernel kernel;  // kind, type and extents
    double us = 0;
  };
  // Counted as left out instead if a profile cannot hold it: an extent that is not from 1 to
  // kMostExtent, extents that contradict one another, a time that is not from a picosecond to below
  // kLongestKernel.
  void Add(const Kernel& kernel, double us);

  std::vector<Row> rows;
  bool quantised = false;  // fp8 products contain the quantisation of their activations
  std::map<std::string, int64_t> left_out;  // what has no place in a profile, and how often
};

struct Importer {
  std::string name;
  std::string summary;
  bool burst = true;      // what the tool measures with
  bool says_type = true;  // its files do; otherwise ImportOptions::type counts
  bool needs_model = false;
  Result<ImportedTimes> (*read)(const std::string& path, const ImportOptions& options);
};
const std::vector<Importer>& Importers();
Result<const Importer*> FindImporter(const std::string& name);

// One for each tool; errors have line and column where the file has lines.
Result<ImportedTimes> ReadAiconfigurator(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadVidur(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadAiob(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadKineto(const std::string& path, const ImportOptions& options);
Result<ImportedTimes> ReadNsys(const std::string& path, const ImportOptions& options);

// Kernels whose times are further apart than a factor of two: what is measured of the same thing
// should agree.
int64_t CountDisagreeing(const ImportedTimes& times);

struct ProfileHeader {
  std::string gpu, provenance, method, date;
  bool burst = true;
};
// A profile's text: a row for each kernel, the median where it was measured several times.
std::string ProfileText(const ImportedTimes& times, const ProfileHeader& header);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_IMPORT_IMPORT_H_
