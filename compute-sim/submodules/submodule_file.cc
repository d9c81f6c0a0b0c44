#include "compute-sim/submodules/submodule_file.h"

#include <fmt/format.h>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/submodules/stated_time.h"
#include "compute-sim/submodules/submodule_extents.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

void ReadExtent(YamlReader* reader, const SubmoduleExtent& extent, bool required, Submodule* s) {
  int64_t& value = s->*extent.field;
  if (required)
    reader->Read(extent.name, &value);
  else
    reader->ReadOptional(extent.name, &value);
  if (reader->Has(extent.name)) reader->CheckRange(extent.name, value, 1, kMostExtent);
}

void AddPasses(Submodule s, bool has_pass, std::vector<Submodule>* out) {
  if (has_pass) return out->push_back(s);
  if (!ShapeOf(s.kind).has_backward) {
    s.pass = Pass::kNone;
    return out->push_back(s);
  }
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    s.pass = pass;
    out->push_back(s);
  }
}

Status ReadSubmodule(const YamlNode& node, std::vector<Submodule>* out) {
  Diagnostics diagnostics;
  YamlReader reader(node, "submodule", &diagnostics);
  if (node.kind != YamlNode::Kind::kMap) return diagnostics.ToStatus();
  Submodule s;
  int kind = -1, type = static_cast<int>(s.type), pass = 0;
  reader.ReadChoice("kind", SubmoduleKindNames(), &kind, /*required=*/true);
  reader.ReadOptional("name", &s.name);
  reader.ReadChoice("type", DataTypeNames(), &type, false);
  reader.ReadChoice("pass", PassNames(), &pass, false);
  if (kind < 0) return diagnostics.ToStatus();  // which keys are right, the kind alone knows
  s.kind = static_cast<SubmoduleKind>(kind);
  if (IsStated(s.kind)) {
    return node.ErrorHere(
        fmt::format("'{}' is of imported workloads: there are no kernels to ask for",
                    SubmoduleKindNames()[static_cast<size_t>(kind)]));
  }
  s.type = static_cast<DataType>(type);
  s.pass = static_cast<Pass>(pass);
  if (s.name.empty()) s.name = SubmoduleKindNames()[static_cast<size_t>(kind)];
  const SubmoduleShape& shape = ShapeOf(s.kind);
  for (const SubmoduleExtent& extent : shape.needed) ReadExtent(&reader, extent, true, &s);
  for (const SubmoduleExtent& extent : shape.optional) ReadExtent(&reader, extent, false, &s);
  for (const SubmoduleFlag& flag : shape.flags) reader.ReadOptional(flag.name, &(s.*flag.field));
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  if (const Status status = CheckExtents(s); !status.ok()) {
    return node.ErrorHere(status.error().message());
  }
  AddPasses(s, reader.Has("pass"), out);
  return OkStatus();
}

}  // namespace

Result<std::vector<Submodule>> ParseSubmodules(const std::string& text,
                                               const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  std::vector<Submodule> submodules;
  YamlReader reader(root, "list of submodules", &diagnostics);
  if (const YamlNode* list = reader.Take("submodules", true)) {
    if (list->items.empty()) reader.Fail("submodules", "expected a list of submodules");
    for (const YamlNode& item : list->items) {
      if (const Status status = ReadSubmodule(item, &submodules); !status.ok()) {
        diagnostics.Add(status.error());
      }
    }
  }
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return submodules;
}

Result<std::vector<Submodule>> ParseSubmoduleWords(const std::string& words) {
  return ParseSubmodules("submodules: [{" + words + "}]\n", "--submodule");
}

}  // namespace drydock
