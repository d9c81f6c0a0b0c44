// Strict YAML: every key must be known, present once, and have a value of the right type and unit.
// Otherwise the message says where the mistake is and what is valid. A YamlReader reads the values
// of one section and collects diagnostics instead of stopping at the first.
//
//   ASSIGN_OR_RETURN(YamlNode root, LoadYaml("gpt.yaml"));
//   Diagnostics diagnostics;
//   YamlReader model(root, "model", &diagnostics);
//   model.Read("layers", &layers);               // required
//   model.ReadOptional("dropout", &dropout);      // keeps the default
//   model.Finish();                               // reports unknown keys
//   RETURN_IF_ERROR(diagnostics.ToStatus());
//
// Aliases are expanded. Errors, with the place: more than 100,000 values or 16 MiB or 64 levels,
// duplicate keys, tags, several documents, text that is not UTF-8. Not thread-safe.
#ifndef DRYDOCK_CORE_BASE_YAML_H_
#define DRYDOCK_CORE_BASE_YAML_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct YamlNode {
  // Defined in the .cc, where YamlNode is complete: `entries` has pairs of it.
  YamlNode();
  YamlNode(const YamlNode&);
  YamlNode(YamlNode&&) noexcept;
  YamlNode& operator=(const YamlNode&);
  YamlNode& operator=(YamlNode&&) noexcept;
  ~YamlNode();

  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  std::string scalar;
  std::vector<YamlNode> items;                         // kList
  std::vector<std::pair<YamlNode, YamlNode>> entries;  // kMap; keys are scalars, in order
  Location location;
  std::string source_line;

  const YamlNode* Find(std::string_view key) const;  // in a map; null if absent
  Error ErrorHere(std::string message) const;
};

Result<YamlNode> ParseYaml(const std::string& text, const std::string& file_name);
Result<YamlNode> LoadYaml(const std::string& path);

// Applies one `--set section.key=value`: replaces or adds the value in `root`. The location of the
// value is "--set section.key=value", which messages about it show.
Status ApplyOverride(const std::string& assignment, YamlNode* root);

// Returns YAML text that parses to the same tree (flow style, every scalar quoted).
std::string ToYaml(const YamlNode& node);

// Collects mistakes, to report all of them at once.
class Diagnostics {
 public:
  void Add(const Error& error);
  bool ok() const { return list_.empty(); }
  Status ToStatus() const;

 private:
  std::vector<Diagnostic> list_;
};

// Return the value of a node. The error has the node's location.
Result<int64_t> AsInteger(const YamlNode& node);
Result<double> AsNumber(const YamlNode& node);
Result<bool> AsBool(const YamlNode& node);
Result<std::string> AsString(const YamlNode& node);

class YamlReader {
 public:
  // `what` names the section in messages. A node that is not a map is reported once.
  YamlReader(const YamlNode& node, std::string what, Diagnostics* diagnostics);

  bool Has(std::string_view key) const { return node_->Find(key) != nullptr; }

  // T: int64_t, int, double, bool, std::string, Time, Bytes, Bandwidth or FlopRate.
  template <typename T>
  void Read(const std::string& key, T* out) {
    const YamlNode* value = Take(key, /*required=*/true);
    if (value != nullptr && !Parse(*value, out)) unread_.push_back(key);
  }
  template <typename T>
  void ReadOptional(const std::string& key, T* out) {
    const YamlNode* value = Take(key, /*required=*/false);
    if (value != nullptr && !Parse(*value, out)) unread_.push_back(key);
  }
  // Sets *out to the index of the value in `choices`. Keeps *out if the key is absent.
  void ReadChoice(const std::string& key, const std::vector<std::string>& choices, int* out,
                  bool required);

  // Returns the node of a nested section or list. If it is absent, returns null, and reports that
  // if `required`.
  const YamlNode* Take(const std::string& key, bool required);

  // Reports a mistake at the value of `key`, or at the section if the key is absent. Does nothing
  // if the value is reported already, as missing or of the wrong type.
  void Fail(const std::string& key, const std::string& message);
  // Fails unless low <= value <= high.
  void CheckRange(const std::string& key, int64_t value, int64_t low, int64_t high);

  // Reports every key that no Read or Take has named, with the nearest valid key.
  void Finish();

 private:
  template <typename T>
  bool Parse(const YamlNode& node, T* out);  // returns false, and reports, on a wrong type
  template <typename T>
  bool Store(const Result<T>& result, T* out);

  const YamlNode* node_;
  std::string what_;
  Diagnostics* diagnostics_;
  std::vector<std::string> known_;
  std::vector<std::string> unread_;  // required but missing, or of the wrong type
};

template <>
bool YamlReader::Parse(const YamlNode& node, int64_t* out);
template <>
bool YamlReader::Parse(const YamlNode& node, int* out);
template <>
bool YamlReader::Parse(const YamlNode& node, double* out);
template <>
bool YamlReader::Parse(const YamlNode& node, bool* out);
template <>
bool YamlReader::Parse(const YamlNode& node, std::string* out);
template <>
bool YamlReader::Parse(const YamlNode& node, Time* out);
template <>
bool YamlReader::Parse(const YamlNode& node, Bytes* out);
template <>
bool YamlReader::Parse(const YamlNode& node, Bandwidth* out);
template <>
bool YamlReader::Parse(const YamlNode& node, FlopRate* out);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_YAML_H_
