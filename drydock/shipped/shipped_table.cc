#include "drydock/shipped/shipped_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/units.h"
#include "core/model/gpu.h"
#include "core/model/topology.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/cluster/gpu_file.h"
#include "drydock/shipped/shipped_files.h"

namespace drydock {
namespace {

using Row = std::vector<std::string>;

// Columns two spaces apart, as wide as their widest cell; `right` has the columns of figures.
std::string Aligned(const std::vector<Row>& rows, const std::vector<bool>& right) {
  std::vector<size_t> widths(right.size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += right[i] ? fmt::format("{:>{}}", row[i], widths[i])
                       : fmt::format("{:<{}}", row[i], widths[i]);
      line += "  ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string Teraflops(FlopRate rate) {
  const double tera = rate.flops_per_second() * 1e-12;
  return tera == 0 ? "-" : fmt::format("{:.0f}", tera);
}

std::string GigabytesPerSecond(Bandwidth bandwidth) {
  const double giga = bandwidth.bytes_per_second() * 1e-9;
  return giga == 0 ? "-" : fmt::format("{:.0f}", giga);
}

Result<GpuSpec> ReadGpu(const std::string& name) {
  const std::string path = ShippedFile(ShippedKind::kGpu, name);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseGpuFile(text, path);
}

// Whence compute-sim has the times of this GPU's kernels.
std::string KernelTimes(const GpuSpec& gpu) {
  if (FileExists(fmt::format("{}/profiles/{}.csv", ConfigDirectory(), gpu.name))) return "measured";
  return gpu.reference.empty() ? "fitted" : "scaled from " + gpu.reference;
}

// "8 x a100-sxm-80g": the GPUs of one kind of host.
std::string GpusOf(const Topology& topology, const HostKind& kind) {
  return fmt::format("{} x {}", kind.gpus, topology.gpus[static_cast<size_t>(kind.gpu)].name);
}

std::string NicsOf(const HostKind& kind) {
  if (kind.nics.count == 0) return "-";
  const double gigabits = kind.nics.rate.bytes_per_second() * 8e-9;
  return fmt::format("{} x {:.0f} Gb/s", kind.nics.count, gigabits);
}

// The first words of the comment that begins a file.
std::string FirstComment(const std::string& text) {
  if (!text.starts_with("# ")) return "";
  const std::string line = text.substr(2, text.find('\n') - 2);
  const size_t end = line.find_first_of(":;");
  return line.substr(0, end);
}

}  // namespace

Result<std::string> GpuTable() {
  std::vector<Row> rows = {
      {"GPU", "memory GB", "GB/s", "bf16 TFLOPS", "fp8 TFLOPS", "NVLink GB/s", "kernel times"}};
  for (const std::string& name : ShippedNames(ShippedKind::kGpu)) {
    ASSIGN_OR_RETURN(const GpuSpec gpu, ReadGpu(name));
    const FlopRate half = gpu.RateOf(DataType::kBf16).flops_per_second() > 0
                              ? gpu.RateOf(DataType::kBf16)
                              : gpu.RateOf(DataType::kFp16);
    rows.push_back({name, fmt::format("{:.0f}", static_cast<double>(gpu.memory.count()) * 1e-9),
                    GigabytesPerSecond(gpu.memory_bandwidth), Teraflops(half),
                    Teraflops(gpu.RateOf(DataType::kFp8)), GigabytesPerSecond(gpu.nvlink),
                    KernelTimes(gpu)});
  }
  return Aligned(rows, {false, true, true, true, true, true, false}) +
         "\nDense rates, of fp16 where the GPU has no bf16; NVLink in one direction.\n";
}

Result<std::string> ClusterTable() {
  std::vector<Row> rows = {
      {"cluster", "hosts", "GPUs", "GPUs of a host", "NICs of a host", "fabric"}};
  for (const std::string& name : ShippedNames(ShippedKind::kCluster)) {
    ASSIGN_OR_RETURN(const ClusterInput input,
                     LoadCluster(ShippedFile(ShippedKind::kCluster, name), {}));
    const Topology& topology = input.topology;
    for (const HostKind& kind : topology.host_kinds) {
      const bool first = &kind == &topology.host_kinds.front();
      rows.push_back({first ? name : "", first ? std::to_string(topology.host_count()) : "",
                      first ? std::to_string(topology.gpu_count()) : "", GpusOf(topology, kind),
                      NicsOf(kind), topology.fabric.kind.empty() ? "-" : topology.fabric.kind});
    }
  }
  return Aligned(rows, {false, true, true, false, false, false}) +
         "\n--set cluster.hosts=N gives a cluster another number of hosts.\n";
}

Result<std::string> ModelTable() {
  std::vector<Row> rows = {{"model", "what it is"}};
  for (const std::string& name : ShippedNames(ShippedKind::kModel)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(ShippedFile(ShippedKind::kModel, name)));
    rows.push_back({name, FirstComment(text)});
  }
  return Aligned(rows, {false, false});
}

}  // namespace drydock
