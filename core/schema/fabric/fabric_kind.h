// The seam between the reader of `fabric:` and the kinds of fabric. A kind is a generator that
// turns a few numbers into switches and cables. The reader calls a generator only through this
// interface. The table of kinds is core/schema/cluster/fabric_table.cc.
#ifndef DRYDOCK_CORE_SCHEMA_FABRIC_FABRIC_KIND_H_
#define DRYDOCK_CORE_SCHEMA_FABRIC_FABRIC_KIND_H_

#include <functional>
#include <optional>
#include <string>

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// Returns the text of a file that the section names. Returns nothing, and reports at `node`, if the
// file cannot be read.
using FileFetcher =
    std::function<std::optional<std::string>(const std::string& name, const YamlNode& node)>;

struct FabricContext {
  YamlReader* reader;  // of the section `fabric:`
  Diagnostics* diagnostics;
  Topology* topology;
  Time per_metre;  // signal propagation
  FileFetcher fetch;
};

struct FabricKind {
  const char* name;  // the value of `kind:`
  // Reads the kind's own keys from context->reader, reports mistakes, and fills the switches and
  // links of context->topology->fabric.
  // REQUIRES: context->topology has its hosts, host kinds and transport.
  void (*make)(FabricContext* context);
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FABRIC_FABRIC_KIND_H_
