#include "study/axes/study_file.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

// Texts of a list, or of one text.
void ReadTexts(YamlReader* reader, const std::string& key, Diagnostics* diagnostics,
               std::vector<std::string>* out) {
  const YamlNode* node = reader->Take(key, /*required=*/false);
  if (node == nullptr) return;
  const std::vector<YamlNode> items =
      node->kind == YamlNode::Kind::kList ? node->items : std::vector<YamlNode>{*node};
  for (const YamlNode& item : items) {
    const Result<std::string> text = AsString(item);
    if (text.ok()) {
      out->push_back(*text);
    } else {
      diagnostics->Add(text.error());
    }
  }
}

void ReadAxes(YamlReader* reader, Diagnostics* diagnostics, std::vector<Axis>* axes) {
  const YamlNode* node = reader->Take("over", /*required=*/true);
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kMap) {
    diagnostics->Add(
        node->ErrorHere("'over' lists keys with their values, such as "
                        "parallel.tensor: [1, 2, 4]"));
    return;
  }
  for (const auto& [key, value] : node->entries) {
    Result<Axis> axis = AxisOf(key, value);
    if (axis.ok()) {
      axes->push_back(*std::move(axis));
    } else {
      diagnostics->Add(axis.error());
    }
  }
}

void ReadZip(YamlReader* reader, Diagnostics* diagnostics,
             std::vector<std::vector<std::string>>* zip) {
  const YamlNode* node = reader->Take("zip", /*required=*/false);
  if (node == nullptr) return;
  const bool lists = node->kind == YamlNode::Kind::kList && !node->items.empty() &&
                     node->items.front().kind == YamlNode::Kind::kList;
  for (const YamlNode& list : lists ? node->items : std::vector<YamlNode>{*node}) {
    std::vector<std::string>& names = zip->emplace_back();
    for (const YamlNode& item : list.items) {
      const Result<std::string> name = AsString(item);
      if (name.ok()) {
        names.push_back(*name);
      } else {
        diagnostics->Add(name.error());
      }
    }
    if (names.size() < 2) {
      diagnostics->Add(list.ErrorHere("'zip' lists at least two axes that advance together"));
    }
  }
}

void ReadSet(YamlReader* reader, Diagnostics* diagnostics, std::vector<std::string>* set) {
  const YamlNode* node = reader->Take("set", /*required=*/false);
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kMap) {
    diagnostics->Add(
        node->ErrorHere("'set' lists keys with a value, such as "
                        "training.recompute: full"));
    return;
  }
  for (const auto& [key, value] : node->entries) {
    set->push_back(key.scalar + "=" +
                   (value.kind == YamlNode::Kind::kScalar ? value.scalar : ToYaml(value)));
  }
}

// A path that exists beside the study file; else `name` itself, which may be that of a shipped one.
std::string Beside(const std::string& name, const std::string& study) {
  if (name.empty() || name.front() == '/') return name;
  const std::string path = DirectoryOf(study) + "/" + name;
  return FileExists(path) ? path : name;
}

}  // namespace

Result<StudyFile> ParseStudy(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  if (root.Find("over") == nullptr && root.Find("cluster") == nullptr) {
    return root.ErrorHere(
        "this is not a study file, which has 'model', 'cluster' and 'over'; a model needs a "
        "cluster beside it: drydock sweep MODEL CLUSTER --over KEY=VALUES");
  }
  Diagnostics diagnostics;
  StudyFile study;
  YamlReader reader(root, "study", &diagnostics);
  reader.Read("model", &study.model);
  reader.Read("cluster", &study.cluster);
  reader.ReadOptional("network", &study.network);
  ReadAxes(&reader, &diagnostics, &study.axes);
  ReadZip(&reader, &diagnostics, &study.zip);
  ReadTexts(&reader, "constraints", &diagnostics, &study.constraints);
  ReadSet(&reader, &diagnostics, &study.set);
  ReadTexts(&reader, "metrics", &diagnostics, &study.metrics);
  ReadTexts(&reader, "gpu_profiles", &diagnostics, &study.gpu_profiles);
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  study.model = Beside(study.model, file_name);
  study.cluster = Beside(study.cluster, file_name);
  for (std::string& profile : study.gpu_profiles) profile = Beside(profile, file_name);
  return study;
}

Result<StudyFile> LoadStudy(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseStudy(text, path);
}

}  // namespace drydock
