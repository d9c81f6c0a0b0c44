#include "compute-sim/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "compute-sim/profile/profile_rows.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The rows of attention's scores: the largest product of AIOB's extents.
double RowsOf(const ImportedModel& m) {
  return static_cast<double>(m.micro_batch) * static_cast<double>(m.heads) *
         static_cast<double>(m.sequence);
}

bool CanBeARow(const Kernel& kernel) {
  const std::vector<std::string>& names = InfoOf(kernel.kind).dimensions;
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t extent = kernel.dims[i];
    if ((extent < 1 && names[i] != "causal") || extent > kMaxExtent) return false;
  }
  return true;
}

// A kernel of a profile, and its times.
using RowKey = std::tuple<KernelKind, DataType, std::array<int64_t, kMaxKernelDims>>;
std::map<RowKey, std::vector<double>> TimesByRow(const ImportedTimes& times) {
  std::map<RowKey, std::vector<double>> measured;
  for (const ImportedTimes::Row& row : times.rows) {
    measured[{row.kernel.kind, row.kernel.type, row.kernel.dims}].push_back(row.us);
  }
  return measured;
}

// A header consists of lines "# key: value".
std::string OneLine(std::string value) {
  for (char& c : value) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return value;
}

}  // namespace

void ImportedTimes::Add(const Kernel& kernel, double us) {
  const std::string& name = InfoOf(kernel.kind).name;
  if (!CanBeARow(kernel)) {
    ++left_out[name + " with an extent out of range"];
  } else if (IsAttention(kernel.kind) && !ContradictionOf(AttentionShapeOf(kernel)).empty()) {
    ++left_out[name + " that contradicts itself"];
  } else if (!(us >= 1e-6) || us >= kLongestKernel.us()) {
    ++left_out[name + " with a time out of range"];
  } else {
    rows.push_back({kernel, us});
  }
}

const std::vector<Importer>& Importers() {
  using Clocks = KernelParameters::Clocks;
  static const std::vector<Importer> importers = {
      {"aiconfigurator", "gemm_perf and context_attention_perf tables, as text", Clocks::kBurst,
       true, false, ReadAiconfigurator},
      {"vidur", "mlp.csv and attention.csv of Vidur's profiles", Clocks::kBurst, false, false,
       ReadVidur},
      {"aiob", "SimAI's AIOB output; needs --model", Clocks::kBurst, false, true, ReadAiob},
      {"kineto", "PyTorch profiler traces (JSON, also .json.gz) with record_shapes",
       Clocks::kSustained, true, false, ReadKineto},
      {"nsys", "Nsight Systems' SQLite export of a run under emit_nvtx(record_shapes=True)",
       Clocks::kSustained, false, false, ReadNsys},
  };
  return importers;
}

Result<const Importer*> FindImporter(const std::string& name) {
  std::vector<std::string> names;
  for (const Importer& importer : Importers()) {
    if (importer.name == name) return &importer;
    names.push_back(importer.name);
  }
  return Error(fmt::format("there is no importer '{}'{}; valid are {}", name,
                           DidYouMean(name, names), Join(names)));
}

Result<ImportedModel> ParseImportedModel(const std::string& words) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml("{" + words + "}\n", "--model"));
  ImportedModel model;
  Diagnostics diagnostics;
  YamlReader reader(root, "model", &diagnostics);
  const std::pair<const char*, int64_t*> extents[] = {
      {"hidden", &model.hidden},     {"ffn", &model.ffn},     {"heads", &model.heads},
      {"sequence", &model.sequence}, {"vocab", &model.vocab}, {"micro_batch", &model.micro_batch},
      {"tensor", &model.tensor}};
  for (const auto& [name, value] : extents) {
    reader.Read(name, value);
    if (reader.Has(name)) reader.CheckRange(name, *value, 1, 1 << 30);
  }
  reader.ReadOptional("gated", &model.gated);
  reader.ReadOptional("sequence_parallel", &model.sequence_parallel);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  if (model.heads % model.tensor != 0 || model.hidden % model.heads != 0) {
    return Error("--model: heads must divide hidden, and tensor must divide heads");
  }
  if (model.ffn % model.tensor != 0 || model.vocab % model.tensor != 0) {
    return Error("--model: tensor must divide ffn and vocab");
  }
  if (model.sequence_parallel && model.sequence % model.tensor != 0) {
    return Error("--model: tensor must divide sequence if it is sequence_parallel");
  }
  if (RowsOf(model) > static_cast<double>(kMaxExtent)) {
    return Error(fmt::format("--model: micro_batch x heads x sequence is above {}", kMaxExtent));
  }
  return model;
}

int64_t CountDisagreeing(const ImportedTimes& times) {
  int64_t count = 0;
  for (const auto& [key, values] : TimesByRow(times)) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    count += *most > 2 * *least ? 1 : 0;
  }
  return count;
}

std::string ProfileText(const ImportedTimes& times, const ProfileHeader& header) {
  std::vector<std::string> columns;
  for (const ImportedTimes::Row& row : times.rows) {
    for (const std::string& name : InfoOf(row.kernel.kind).dimensions) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
        columns.push_back(name);
      }
    }
  }
  std::string text = fmt::format(
      "# gpu: {}\n# provenance: {}\n# method: {}\n# date: {}\n# clocks: "
      "{}\n{}kernel,dtype,{},time\n",
      OneLine(header.gpu), OneLine(header.provenance), OneLine(header.method), OneLine(header.date),
      KernelParameters::ClocksNames()[static_cast<size_t>(header.clocks)],
      times.quantized ? "# contains: quantise\n" : "", Join(columns, ","));
  for (const auto& [key, values] : TimesByRow(times)) {
    const auto& [kind, type, dims] = key;
    text += ProfileRowText(Kernel{kind, type, dims}, columns, Median(values));
  }
  return text;
}

}  // namespace drydock
