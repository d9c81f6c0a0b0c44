#include "compute-sim/submodules/submodule_file.h"

#include <fmt/format.h>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/submodules/submodule_extents.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

// False for kinds that run in one direction only or do the same work in both, so that a list need
// not give a pass.
bool HasBackward(const Submodule& s) {
  return !(s.Is<submodule::Optimizer>() || s.Is<submodule::GradientScale>() ||
           s.Is<submodule::GradientNorm>() || s.Is<submodule::Cast>() || s.Is<submodule::Add>() ||
           s.Is<submodule::Quantize>());
}

class FieldReader {
 public:
  explicit FieldReader(YamlReader* reader) : reader_(reader) {}

  void operator()(submodule::Field field, std::string_view name, int64_t& extent) const {
    const std::string key(name);
    if (field == submodule::Field::kExtent)
      reader_->Read(key, &extent);
    else
      reader_->ReadOptional(key, &extent);
    if (reader_->Has(key)) reader_->CheckRange(key, extent, 1, kMaxExtent);
  }
  void operator()(submodule::Field field, std::string_view name, bool& flag) const {
    if (field == submodule::Field::kFlag) reader_->ReadOptional(std::string(name), &flag);
  }

 private:
  YamlReader* reader_;
};

void AddPasses(Submodule s, bool has_pass, std::vector<Submodule>* out) {
  if (has_pass) return out->push_back(s);
  if (!HasBackward(s)) {
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
  if (kind < 0) return diagnostics.ToStatus();  // the kind decides which other keys are valid
  s.work = MakeSubmoduleWork(static_cast<size_t>(kind));
  if (s.has_stated_time()) {
    return node.ErrorHere(
        fmt::format("'{}' is a kind of imported workloads, which state its time; it has no kernels",
                    s.kind_name()));
  }
  s.type = static_cast<DataType>(type);
  s.pass = static_cast<Pass>(pass);
  if (s.name.empty()) s.name = s.kind_name();
  ForEachField(s.work, FieldReader(&reader));
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
