#include "workload-gen/import/tree/job_tree.h"

#include "core/base/files.h"

namespace drydock {
namespace {

YamlNode* FindOrAdd(const std::string& key, const YamlNode& named, YamlNode* map) {
  for (auto& [name, value] : map->entries) {
    if (name.scalar == key) return &value;
  }
  map->entries.emplace_back(named, YamlNode());
  return &map->entries.back().second;
}

}  // namespace

JobTree::JobTree(std::string file_name) : file_{std::move(file_name), 0, 0} {
  root_.kind = YamlNode::Kind::kMap;
  root_.location = file_;
}

YamlNode JobTree::Scalar(const std::string& text, const Location& location,
                         const std::string& source_line) const {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.scalar = text;
  node.location = location.known() ? location : file_;
  node.source_line = source_line;
  return node;
}

YamlNode* JobTree::Slot(const std::string& key, const Location& location,
                        const std::string& source_line) {
  const size_t dot = key.find('.');
  const std::string section = key.substr(0, dot), name = key.substr(dot + 1);
  YamlNode* map = FindOrAdd(section, Scalar(section, {}, ""), &root_);
  if (map->kind != YamlNode::Kind::kMap) {
    map->kind = YamlNode::Kind::kMap;
    map->location = file_;
  }
  return FindOrAdd(name, Scalar(name, location, source_line), map);
}

void JobTree::Set(const std::string& key, const std::string& value, const Location& location,
                  const std::string& source_line) {
  *Slot(key, location, source_line) = Scalar(value, location, source_line);
}

void JobTree::SetList(const std::string& key, const std::vector<std::string>& values,
                      const Location& location, const std::string& source_line) {
  YamlNode list = Scalar("", location, source_line);
  list.kind = YamlNode::Kind::kList;
  for (const std::string& value : values) {
    list.items.push_back(Scalar(value, location, source_line));
  }
  *Slot(key, location, source_line) = std::move(list);
}

void JobTree::Unset(const std::string& key) {
  const size_t dot = key.find('.');
  for (auto& [section, map] : root_.entries) {
    if (section.scalar != key.substr(0, dot)) continue;
    std::erase_if(map.entries,
                  [&](const auto& entry) { return entry.first.scalar == key.substr(dot + 1); });
  }
}

void JobTree::Assume(const AssumedKey& assumed, ImportNotes* notes) {
  Set(assumed.key, assumed.value);
  notes->assumed.push_back(assumed);
}

std::string PathFrom(const YamlNode& from) {
  const std::string& file = from.location.file;
  if (from.scalar.starts_with("/") || file.starts_with("--set ")) return from.scalar;
  const std::string folder = DirectoryOf(file);
  return folder.empty() ? from.scalar : folder + "/" + from.scalar;
}

Status ExpandFrom(
    const std::string& section,
    const std::function<Result<YamlNode>(const std::string&, const std::string&)>& read,
    YamlNode* root) {
  for (auto& [name, map] : root->entries) {
    if (name.scalar != section || map.kind != YamlNode::Kind::kMap) continue;
    const YamlNode* from = map.Find("from");
    if (from == nullptr) return OkStatus();
    RETURN_IF_ERROR(AsString(*from));
    const std::string path = PathFrom(*from);
    const Result<std::string> text = ReadFile(path);
    if (!text.ok()) return from->ErrorHere(text.error().ToString());
    ASSIGN_OR_RETURN(const YamlNode read_tree, read(*text, path));
    std::erase_if(map.entries, [](const auto& entry) { return entry.first.scalar == "from"; });
    for (const auto& [key, value] : read_tree.entries) {
      if (map.Find(key.scalar) == nullptr) map.entries.emplace_back(key, value);
    }
  }
  return OkStatus();
}

}  // namespace drydock
