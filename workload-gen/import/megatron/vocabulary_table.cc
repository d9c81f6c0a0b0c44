#include "workload-gen/import/megatron/vocabulary_table.h"

#include <algorithm>
#include <cctype>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"
#include "workload-gen/job/model_shape.h"

namespace drydock {
namespace {

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Vocabulary ReadVocabulary(YamlReader* reader) {
  Vocabulary vocabulary;
  reader->Read("tokens", &vocabulary.tokens);
  reader->CheckRange("tokens", vocabulary.tokens, 1, kMaxDimension);
  reader->Read("source", &vocabulary.source);
  return vocabulary;
}

// The folders of a path. A cache of Hugging Face joins them by "--".
std::vector<std::string> FoldersOf(const std::string& path) {
  std::vector<std::string> folders(1);
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '/' || path.compare(i, 2, "--") == 0) {
      if (path[i] == '-') ++i;
      folders.emplace_back();
    } else {
      folders.back() += path[i];
    }
  }
  return folders;
}

bool Begins(const std::string& folder, const std::string& name) {
  if (!folder.starts_with(name)) return false;
  if (folder.size() == name.size()) return true;
  const char next = folder[name.size()];
  const bool number = folder.size() > name.size() + 1 &&
                      std::isdigit(static_cast<unsigned char>(folder[name.size() + 1])) != 0;
  return next == '-' || next == '_' || (next == '.' && !number);
}

}  // namespace

Result<VocabularyTable> VocabularyTable::Parse(const std::string& text,
                                               const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of vocabularies", &diagnostics);
  VocabularyTable table;
  const auto each = [&](const char* key, auto&& read) {
    const YamlNode* node = file.Take(key, /*required=*/true);
    if (node == nullptr) return;
    for (const auto& [name, content] : node->entries) {
      YamlReader reader(content, name.scalar, &diagnostics);
      read(name.scalar, &reader);
      reader.Finish();
    }
    for (const YamlNode& content : node->items) {
      YamlReader reader(content, key, &diagnostics);
      read("", &reader);
      reader.Finish();
    }
  };
  each("types", [&](const std::string& name, YamlReader* reader) {
    table.types_[name] = ReadVocabulary(reader);
  });
  each("scripts", [&](const std::string& name, YamlReader* reader) {
    std::string source;
    reader->Read("type", &table.scripts_[name]);
    reader->Read("source", &source);
  });
  each("models", [&](const std::string&, YamlReader* reader) {
    const Vocabulary vocabulary = ReadVocabulary(reader);
    const YamlNode* names = reader->Take("names", /*required=*/true);
    if (names == nullptr) return;
    for (const YamlNode& name : names->items) table.models_[LowerCase(name.scalar)] = vocabulary;
  });
  each("patch_types", [&](const std::string&, YamlReader* reader) {
    PatchType& type = table.patch_types_.emplace_back();
    reader->Read("name", &type.name);
    reader->ReadOptional("extra", &type.extra);
    type.vocabulary = ReadVocabulary(reader);
  });
  if (const YamlNode* otherwise = file.Take("otherwise", /*required=*/true)) {
    YamlReader reader(*otherwise, "otherwise", &diagnostics);
    table.otherwise_ = ReadVocabulary(&reader);
    reader.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return table;
}

std::optional<Vocabulary> VocabularyTable::OfType(const std::string& type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? std::optional<Vocabulary>() : found->second;
}

std::string VocabularyTable::TypeOfScript(const std::string& script) const {
  const auto found = scripts_.find(BaseName(script));
  return found == scripts_.end() ? "" : found->second;
}

std::optional<Vocabulary> VocabularyTable::OfModel(const std::string& path) const {
  std::optional<Vocabulary> best;
  size_t length = 0;
  for (const std::string& folder : FoldersOf(LowerCase(path))) {
    for (const auto& [name, vocabulary] : models_) {
      if (name.size() <= length || !Begins(folder, name)) continue;
      best = vocabulary;
      length = name.size();
    }
  }
  return best;
}

std::optional<Vocabulary> VocabularyTable::OfPatchType(const std::string& type,
                                                       int64_t extra) const {
  for (const PatchType& each : patch_types_) {
    if (each.name == type && (each.extra < 0 || each.extra == extra)) return each.vocabulary;
  }
  return std::nullopt;
}

std::string VocabulariesPath() { return ConfigDirectory() + "/vocabularies.yaml"; }

Result<VocabularyTable> LoadVocabularies() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(VocabulariesPath()));
  return VocabularyTable::Parse(text, VocabulariesPath());
}

}  // namespace drydock
