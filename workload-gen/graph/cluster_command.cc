// workload-gen import-cluster: turns an inventory of a real fabric into a cluster file.
#include "workload-gen/graph/cluster_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/inventory/cluster_text.h"
#include "core/schema/inventory/gpu_matrix.h"
#include "core/schema/inventory/inventory.h"
#include "workload-gen/graph/commands.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "workload-gen import-cluster",
    "Turns an inventory of a real fabric into a cluster file with an explicit fabric.",
    "reads what --from names (docs/how-to/describe-a-real-cluster.md) and a cluster file, writes a "
    "cluster file",
    "workload-gen import-cluster --from ibnetdiscover net.txt --host "
    "configs/clusters/dgx-h100-8.topo -o mine.topo",
    false};

const std::vector<std::string> kFormats = {"ibnetdiscover", "cables", "air", "nvidia-smi"};

struct Options {
  std::string place, from, base, hosts, output, name;
};

Status CheckUsage(const Options& o) {
  if (o.from.empty()) return MissingOption("--from");
  if (std::find(kFormats.begin(), kFormats.end(), o.from) == kFormats.end()) {
    return Error(fmt::format("there is no inventory '{}'{}; valid values are {}", o.from,
                             DidYouMean(o.from, kFormats), Join(kFormats)));
  }
  if (o.place.empty()) return MissingOption("FILE");
  if (o.base.empty()) return MissingOption("--host");
  if (o.from == "cables" && o.hosts.empty()) {
    return Error("--hosts PATTERN is required with --from cables: which devices are hosts");
  }
  if (o.from != "cables" && o.from != "air" && !o.hosts.empty()) {
    return Error("--hosts applies to --from cables and air only");
  }
  return OkStatus();
}

void Declare(CLI::App* app, Options* o, const CommonOptions&) {
  app->add_option("file", o->place, "The inventory")->type_name("FILE");
  app->add_option("--from", o->from,
                  "ibnetdiscover: its output, also ibdiagnet2.ibnetdiscover; cables: a table of "
                  "cables (CSV); air: a topology of NVIDIA Air (DOT, JSON); nvidia-smi: what "
                  "'nvidia-smi topo -m' prints of a host")
      ->type_name("FORMAT");
  app->add_option("--host", o->base,
                  "A cluster file, whose first kind of host, leaf switches and transport the "
                  "cluster gets")
      ->type_name("FILE");
  app->add_option(
         "--hosts", o->hosts,
         "For cables and air: the names of the devices that are hosts; * stands for any text")
      ->type_name("PATTERN");
  app->add_option("--name", o->name, "The cluster's name; default: the inventory's file name")
      ->type_name("NAME");
  app->add_option("-o,--output", o->output, "The cluster file; standard output if absent")
      ->type_name("FILE");
  CheckOptions(app, [o] { return CheckUsage(*o); });
}

Result<Inventory> ReadInventory(const Options& o, const std::string& text) {
  if (o.from == "cables") return ParseCableTable(text, o.place, o.hosts);
  if (o.from == "air") return ParseAirTopology(text, o.place, o.hosts);
  return ParseIbNetDiscover(text, o.place);
}

Result<ClusterText> ClusterOf(const Options& o, const std::string& text, const ClusterInput& base,
                              const YamlNode& sections, const std::string& name) {
  const HostKind& kind = base.topology.host_kinds.front();
  const auto placed = [&o](Result<ClusterText> made) -> Result<ClusterText> {
    if (made.ok()) return made;
    return Error(made.error().message(), {o.place, 0, 0});
  };
  if (o.from == "nvidia-smi") {
    ASSIGN_OR_RETURN(const GpuMatrix matrix, ParseGpuMatrix(text, o.place));
    const GpuSpec& gpu = base.topology.gpus[static_cast<size_t>(kind.gpu)];
    return placed(ClusterOfGpuMatrix(matrix, sections, NvLinkRate(gpu.compute_capability), name));
  }
  ASSIGN_OR_RETURN(const Inventory inventory, ReadInventory(o, text));
  return placed(ClusterOfInventory(inventory, sections, kind.nics.count, kind.nics.rate, name));
}

Status Run(const Options& o, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(o.place));
  ASSIGN_OR_RETURN(const ClusterInput base, LoadCluster(o.base, {}));
  ASSIGN_OR_RETURN(const YamlNode sections, LoadYaml(o.base));
  const std::string file = BaseName(o.place);
  const std::string name = o.name.empty() ? file.substr(0, file.find('.')) : o.name;
  const Result<ClusterText> cluster = ClusterOf(o, text, base, sections, name);
  if (!cluster.ok()) return cluster.error();
  for (const std::string& note : cluster->notes) Report(kInfo, common, "note: " + note);
  // What is written can be read.
  RETURN_IF_ERROR(ParseCluster(cluster->text, o.output.empty() ? "cluster" : o.output, base.files));
  if (common.check) return OkStatus();
  if (!o.output.empty()) RETURN_IF_ERROR(CheckCanWrite(o.output));
  return WriteText(o.output, cluster->text);
}

std::string Subject(const Options& options) { return options.place; }

}  // namespace

std::unique_ptr<Command> MakeImportClusterCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
