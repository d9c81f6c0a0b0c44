// Text to YamlNode: a handler of yaml-cpp's parse events. The handler, not yaml-cpp, builds the
// tree: it expands aliases within Drydock's limits and reports forbidden constructs with their
// place.
#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

constexpr size_t kMaxValues = 100000;  // aliases multiply; a real file has hundreds
constexpr size_t kMaxText = 16 << 20;  // bytes of the file, and of all values together
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxKey = 256;
constexpr size_t kMaxSourceLine = 400;  // every value keeps its line, unless the line is longer

// Appended to every file: yaml-cpp ends an unclosed quoted value at the end of the file, and the
// value then contains this text.
constexpr const char* kEndOfFile = "# (drydock: the end of the file)";

constexpr const char* kTooLarge = "the document is too large or refers to itself";

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else if (c != '\r')
      lines.back() += c;
  }
  return lines;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the length of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is
// none.
size_t Utf8Length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

// The lines of a file, addressed as yaml-cpp counts: from 0, in bytes.
class Text {
 public:
  Text(std::string file, std::string_view text) : file_(std::move(file)), lines_(SplitLines(text)) {
    for (const std::string& line : lines_) {
      std::vector<int>& bytes = continuations_.emplace_back();
      for (size_t i = 0; i < line.size(); ++i) {
        if (IsContinuation(line[i])) bytes.push_back(static_cast<int>(i));
      }
    }
  }

  const std::string& file() const { return file_; }

  // Returns a node at this place, with the column in characters. A place after the last line is
  // taken as the end of the last line.
  YamlNode Placed(int line, int byte) const {
    if (line >= static_cast<int>(lines_.size())) {
      line = static_cast<int>(lines_.size()) - 1;
      byte = static_cast<int>(lines_.back().size());
    }
    const std::string& source = lines_[static_cast<size_t>(line)];
    const std::vector<int>& bytes = continuations_[static_cast<size_t>(line)];
    const auto before = std::lower_bound(bytes.begin(), bytes.end(), byte) - bytes.begin();
    YamlNode node;
    node.location = {file_, line + 1, byte + 1 - static_cast<int>(before)};
    if (source.size() <= kMaxSourceLine) node.source_line = source;
    return node;
  }
  YamlNode Placed(const YAML::Mark& mark) const {
    if (!mark.is_null()) return Placed(mark.line, mark.column);
    YamlNode node;
    node.location = {file_, 0, 0};
    return node;
  }

 private:
  std::string file_;
  std::vector<std::string> lines_;
  std::vector<std::vector<int>> continuations_;  // by line: bytes inside a character
};

// Returns an error if the text is not UTF-8 or has control characters.
Status CheckCharacters(std::string_view text, const Text& places) {
  int line = 0, column = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    const auto c = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      return places.Placed(line, column)
          .ErrorHere(fmt::format("byte 0x{:02x} is not UTF-8 text", c));
    }
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      return places.Placed(line, column)
          .ErrorHere(
              fmt::format("the control character 0x{:02x} does not belong in a text file", c));
    }
    if (c == '\n') ++line;
    column = c == '\n' ? 0 : column + static_cast<int>(length);
    i += length;
  }
  return OkStatus();
}

// The size of a tree, which an alias to the tree adds to the document.
struct Extent {
  size_t values = 0, text = 0, depth = 0;
};
Extent Measure(const YamlNode& node) {
  Extent all = {1, node.scalar.size(), 0};
  const auto add = [&all](const YamlNode& child) {
    const Extent extent = Measure(child);
    all.values += extent.values;
    all.text += extent.text;
    all.depth = std::max(all.depth, extent.depth + 1);
  };
  for (const YamlNode& item : node.items) add(item);
  for (const auto& [key, value] : node.entries) {
    add(key);
    add(value);
  }
  return all;
}

// After the first error the builder skips the rest of the file.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Text& text) : text_(text) {}

  Result<YamlNode> Take() {
    if (error_) return *std::move(error_);
    if (!root_ || root_->kind == YamlNode::Kind::kNull) {
      return Error("the file is empty", {text_.file(), 0, 0});
    }
    return *std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_) Fail(text_.Placed(mark), "only one document is expected");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(text_.Placed(mark), anchor, {1, 0, 0});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = text_.Placed(mark);
    RefuseTag(node, tag);
    if (value.find(kEndOfFile) != std::string::npos) {
      Fail(node, "this quote is not closed");
    } else if (Printable(value) != value) {
      Fail(node, "this value has a control character; leave it out");
    }
    node.kind = YamlNode::Kind::kScalar;
    node.scalar = value;
    const bool may_merge = value == "<<" && tag != "!";  // a quoted one is a name
    Add(std::move(node), anchor, {1, value.size(), 0});
    if (!may_merge || error_ || open_.empty() || !open_.back().key) return;
    open_.back().merge = open_.back().node.entries.size();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (error_) return;
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      Fail(text_.Placed(mark), "this alias is inside the value it refers to");
    } else {
      Add(found->second, 0, Measure(found->second));
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Begin(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Begin(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnSequenceEnd() override { End(); }
  void OnMapEnd() override { End(); }

 private:
  // A list or map whose end is not parsed yet.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::optional<YamlNode> key;      // of the entry whose value comes next
    std::map<std::string, std::pair<int, size_t>> keys;  // with their lines and entries
    std::optional<size_t> merge;      // the entry of the merge key, <<
    bool repeats = false;             // the key is there already, an argument such as --bf16
  };

  void Fail(const YamlNode& where, const std::string& message) {
    if (!error_) error_ = where.ErrorHere(message);
  }

  void RefuseTag(const YamlNode& node, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      Fail(node, fmt::format("the tag '{}' has no meaning here", tag));
    }
  }

  void Begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
             YamlNode::Kind kind) {
    if (error_) return;
    YamlNode node = text_.Placed(mark);
    RefuseTag(node, tag);
    if (open_.size() >= kMaxDepth) return Fail(node, kTooLarge);
    node.kind = kind;
    open_.push_back({std::move(node), anchor, {}, {}, {}, false});
  }

  void End() {
    if (error_) return;
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.merge) Merge(*done.merge, &done.node);
    Add(std::move(done.node), done.anchor, {1, 0, 0});
  }

  // Replaces the entry `<<` by the entries of its value, a map or a list of maps, that are not in
  // the map yet. Of several maps, the first one has precedence.
  void Merge(size_t index, YamlNode* map) {
    const auto [key, value] = map->entries[index];
    map->entries.erase(map->entries.begin() + static_cast<std::ptrdiff_t>(index));
    const bool is_list = value.kind == YamlNode::Kind::kList;
    const std::vector<YamlNode> sources = is_list ? value.items : std::vector<YamlNode>{value};
    std::set<std::string> present;
    for (const auto& [name, kept] : map->entries) present.insert(name.scalar);
    std::vector<std::pair<YamlNode, YamlNode>> merged;
    for (const YamlNode& source : sources) {
      if (source.kind != YamlNode::Kind::kMap) {
        return Fail(key, "'<<' takes a map, or a list of maps, whose keys it adds");
      }
      for (const auto& entry : source.entries) {
        if (present.insert(entry.first.scalar).second) merged.push_back(entry);
      }
    }
    map->entries.insert(map->entries.begin() + static_cast<std::ptrdiff_t>(index), merged.begin(),
                        merged.end());
  }

  // Adds a finished node to the innermost open list or map.
  void Add(YamlNode node, YAML::anchor_t anchor, const Extent& extent) {
    if (error_) return;
    values_ += extent.values;
    bytes_ += extent.text;
    if (values_ > kMaxValues || bytes_ > kMaxText || open_.size() + extent.depth > kMaxDepth) {
      return Fail(node, kTooLarge);
    }
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      AddKey(std::move(node), &parent);
    } else if (parent.repeats) {
      CheckRepeat(node, &parent);
    } else {
      parent.node.entries.emplace_back(*std::move(parent.key), std::move(node));
      parent.key.reset();
    }
  }

  // An argument of a command line may be given again, with the same value.
  void CheckRepeat(const YamlNode& value, Open* parent) {
    const YamlNode key = *std::exchange(parent->key, std::nullopt);
    parent->repeats = false;
    const auto [line, entry] = parent->keys.at(key.scalar);
    const YamlNode& earlier = parent->node.entries[entry].second;
    const bool same = earlier.kind == YamlNode::Kind::kScalar &&
                      value.kind == YamlNode::Kind::kScalar && earlier.scalar == value.scalar;
    if (!same) FailDuplicate(key, line);
  }

  void FailDuplicate(const YamlNode& key, int line) {
    Fail(key, fmt::format("duplicate key '{}'; it is already given in line {}", key.scalar, line));
  }

  void AddKey(YamlNode key, Open* parent) {
    if (key.kind != YamlNode::Kind::kScalar) return Fail(key, "a key must be a plain word");
    if (key.scalar.size() > kMaxKey) return Fail(key, "this key is too long");
    const std::pair<int, size_t> place = {key.location.line, parent->node.entries.size()};
    const auto [earlier, is_new] = parent->keys.emplace(key.scalar, place);
    if (!is_new && !key.scalar.starts_with("--")) return FailDuplicate(key, earlier->second.first);
    parent->repeats = !is_new;
    parent->key = std::move(key);
  }

  const Text& text_;
  std::optional<YamlNode> root_;
  std::optional<Error> error_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  size_t values_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

Result<YamlNode> ParseYaml(const std::string& text, const std::string& file_name) {
  std::string_view body = text;
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);  // skip a byte order mark
  if (body.size() > kMaxText) {
    return Error("the file is larger than 16 MiB", {file_name, 0, 0});
  }
  const Text places(file_name, body);
  RETURN_IF_ERROR(CheckCharacters(body, places));
  TreeBuilder builder(places);
  try {
    std::istringstream stream(fmt::format("{}\n{}\n", body, kEndOfFile));
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::DeepRecursion& e) {
    return places.Placed(e.mark).ErrorHere(kTooLarge);
  } catch (const YAML::Exception& e) {
    return places.Placed(e.mark).ErrorHere(fmt::format("not valid YAML: {}", e.msg));
  }
  return builder.Take();
}

Result<YamlNode> LoadYaml(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseYaml(text, path);
}

}  // namespace drydock
