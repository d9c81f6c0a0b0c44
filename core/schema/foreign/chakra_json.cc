// Chakra traces as JSON. Two tools of mlcommons write it, in different words:
//   the jsonizer  the messages of an .et file one after another, without a comma, with the names
//                 that protobuf gives to fields, and 64-bit numbers as text
//   the feeder    {"workload_graph": [{"Id": 1, "Name": ..., "NodeType": 4, "data_deps": [...]}]}
// A node is parsed and passed on before the next one is, so that memory stays small.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/schema/foreign/chakra_file.h"
#include "core/schema/foreign/json_place.h"

namespace drydock {
namespace {

using Json = nlohmann::json;

// A JSON value takes up to 30 times its text in memory.
constexpr size_t kMaxNodeBytes = 16 << 20;

// A whole number, or text that is one.
std::optional<int64_t> Integer(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned()) {
    return static_cast<int64_t>(
        std::min<uint64_t>(value.get<uint64_t>(), std::numeric_limits<int64_t>::max()));
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

ChakraAttribute Attribute(std::string name, const Json& value) {
  ChakraAttribute attribute;
  attribute.name = std::move(name);
  if (value.is_number_float()) {
    attribute.kind = ChakraAttribute::Kind::kReal;
    attribute.real = value.get<double>();
  } else if (value.is_string()) {
    attribute.kind = ChakraAttribute::Kind::kText;
    attribute.text = value.get<std::string>();
  } else if (const auto number = Integer(value)) {
    attribute.kind = ChakraAttribute::Kind::kInteger;
    attribute.integer = *number;
  }
  return attribute;
}

class NodeReader {
 public:
  NodeReader(const std::string& path, bool feeder,
             const std::function<Status(const ChakraNode&)>& visit)
      : path_(path), feeder_(feeder), visit_(visit) {}

  Status Read(const Json& json) {
    ChakraNode node;
    if (!json.is_object()) return Fail("expected an object");
    for (const auto& [key, value] : json.items()) RETURN_IF_ERROR(ReadKey(key, value, &node));
    ++index_;
    return visit_(node);
  }

 private:
  Error Fail(const std::string& what) const {
    return Error(fmt::format("node {} of the file: {}", index_, what), {path_, 0, 0});
  }

  Status ReadKey(const std::string& key, const Json& value, ChakraNode* node) {
    if (key == "id" || key == "Id") return ReadNumber(key, value, &node->id);
    if (key == "durationMicros" || key == "runtime") {
      return ReadNumber(key, value, &node->duration_us);
    }
    if (key == "dataDeps" || key == "data_deps") return ReadNumbers(key, value, &node->deps);
    // The feeder ignores its own "ctrlDeps".
    if (key == "ctrlDeps" && feeder_) return OkStatus();
    if (key == "ctrlDeps" || key == "ctrl_deps") return ReadNumbers(key, value, &node->ctrl_deps);
    if (key == "type" || key == "NodeType") return ReadType(value, node);
    if (key == "name" || key == "Name") {
      if (!value.is_string()) return Fail(fmt::format("its {} is not text", key));
      node->name = value.get<std::string>();
    } else if (key == "inputs") {
      const auto values = value.is_object() ? value.find("values") : value.end();
      if (values != value.end() && values->is_string()) node->input_values = *values;
    } else if (key == "attr") {
      return ReadAttributes(value, node);
    } else {
      node->attributes.push_back(Attribute(key, value));
    }
    return OkStatus();
  }

  Status ReadNumber(const std::string& key, const Json& value, uint64_t* out) {
    const auto number = Integer(value);
    if (!number || *number < 0) return Fail(fmt::format("its {} is not a whole number", key));
    *out = static_cast<uint64_t>(*number);
    return OkStatus();
  }

  Status ReadNumbers(const std::string& key, const Json& value, std::vector<uint64_t>* out) {
    if (!value.is_array()) return Fail(fmt::format("its {} are not a list", key));
    for (const Json& each : value) RETURN_IF_ERROR(ReadNumber(key, each, &out->emplace_back()));
    return OkStatus();
  }

  Status ReadType(const Json& value, ChakraNode* node) {
    const std::vector<std::string>& names = ChakraKindNames();
    if (value.is_string()) {
      const auto found = std::find(names.begin(), names.end(), value.get<std::string>());
      node->type = found == names.end() ? -1 : static_cast<int>(found - names.begin());
    } else if (const auto number = Integer(value)) {
      node->type = *number < 0 || *number > 255 ? -1 : static_cast<int>(*number);
    } else {
      node->type = -1;
    }
    if (node->type >= 0) return OkStatus();
    return Fail("its type is not one of Chakra's, such as \"COMP_NODE\" or 4");
  }

  // {"name": "comm_size", "int64Val": "1024"}
  Status ReadAttributes(const Json& list, ChakraNode* node) {
    if (!list.is_array()) return Fail("its attr are not a list");
    for (const Json& each : list) {
      if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) {
        return Fail("an attribute has no name");
      }
      ChakraAttribute attribute;
      for (const auto& [key, value] : each.items()) {
        if (!key.ends_with("Val")) continue;
        attribute = Attribute("", value);
        // 64-bit numbers are text.
        const auto number = Integer(value);
        if (key != "stringVal" && key != "bytesVal" && number) {
          attribute.kind = ChakraAttribute::Kind::kInteger;
          attribute.integer = *number;
        }
      }
      attribute.name = each["name"].get<std::string>();
      node->attributes.push_back(std::move(attribute));
    }
    return OkStatus();
  }

  const std::string& path_;
  const bool feeder_;
  const std::function<Status(const ChakraNode&)>& visit_;
  size_t index_ = 0;
};

Error NotJson(const std::string& content, const std::string& path, size_t byte) {
  return Error("this is not valid JSON", JsonPlace(content, path, byte));
}

// Returns the place behind the object that begins at `begin`.
Result<size_t> FindEnd(const std::string& content, const std::string& path, size_t begin) {
  int depth = 0;
  bool in_text = false;
  for (size_t at = begin; at < content.size(); ++at) {
    const char c = content[at];
    if (in_text) {
      if (c == '\\') ++at;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
    if (at - begin > kMaxNodeBytes) {
      return Error(fmt::format("a node is larger than {} MiB", kMaxNodeBytes >> 20),
                   JsonPlace(content, path, begin + 1));
    }
  }
  return NotJson(content, path, content.size() + 1);
}

size_t SkipBlanks(const std::string& content, size_t at, bool commas) {
  while (at < content.size() && (content[at] == ' ' || content[at] == '\n' || content[at] == '\r' ||
                                 content[at] == '\t' || (commas && content[at] == ','))) {
    ++at;
  }
  return at;
}

Result<Json> ParseValue(const std::string& content, const std::string& path, size_t begin,
                        size_t end) {
  try {
    return Json::parse(content.begin() + static_cast<std::ptrdiff_t>(begin),
                       content.begin() + static_cast<std::ptrdiff_t>(end));
  } catch (const Json::parse_error& e) {
    return NotJson(content, path, begin + e.byte);
  } catch (const Json::out_of_range&) {  // the exception has no position
    return Error("a number has no value: it is too large", JsonPlace(content, path, begin + 1));
  }
}

// Reads objects one after another, from `at` up to `closing`, or to the end of the text if
// `closing` is 0.
Status ReadObjects(const std::string& content, const std::string& path, size_t at, char closing,
                   const std::function<Status(const Json&)>& visit) {
  while (true) {
    at = SkipBlanks(content, at, closing != 0);
    if (at == content.size() && closing == 0) return OkStatus();
    if (at == content.size()) return NotJson(content, path, at + 1);
    if (content[at] == closing) return OkStatus();
    if (content[at] != '{') return NotJson(content, path, at + 1);
    ASSIGN_OR_RETURN(const size_t end, FindEnd(content, path, at));
    ASSIGN_OR_RETURN(const Json json, ParseValue(content, path, at, end));
    RETURN_IF_ERROR(visit(json));
    at = end;
  }
}

}  // namespace

Status ForEachChakraJsonNode(const std::string& content, const std::string& path,
                             const std::function<Status(const ChakraNode&)>& visit) {
  // The feeder's single object is the only one whose first key has this name.
  constexpr std::string_view kGraph = "\"workload_graph\"";
  const size_t brace = SkipBlanks(content, 0, false);
  if (brace == content.size() || content[brace] != '{') {
    return Error("this is not a Chakra trace in JSON: it does not begin with '{'", {path, 0, 0});
  }
  const size_t key = SkipBlanks(content, brace + 1, false);
  const bool feeder = content.compare(key, kGraph.size(), kGraph) == 0;
  NodeReader reader(path, feeder, visit);
  if (feeder) {
    size_t at = SkipBlanks(content, key + kGraph.size(), false);
    if (at < content.size() && content[at] == ':') at = SkipBlanks(content, at + 1, false);
    if (at == content.size() || content[at] != '[') return NotJson(content, path, at + 1);
    return ReadObjects(content, path, at + 1, ']',
                       [&reader](const Json& json) { return reader.Read(json); });
  }
  bool is_metadata = true;  // the first object
  return ReadObjects(content, path, brace, 0, [&](const Json& json) -> Status {
    if (!std::exchange(is_metadata, false)) return reader.Read(json);
    if (!json.contains("id") && !json.contains("name")) return OkStatus();
    return Error(
        "this is not a Chakra trace in JSON: its first object is not Chakra's metadata "
        "and its first key is not \"workload_graph\"",
        {path, 0, 0});
  });
}

}  // namespace drydock
