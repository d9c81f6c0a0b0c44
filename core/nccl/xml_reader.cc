#include "core/nccl/xml_reader.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Turns byte offsets into places. Ascending offsets cost one pass over the text in total.
class Places {
 public:
  Places(const std::string& text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  Location At(size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < offset_) offset_ = 0, line_ = 1, column_ = 1;
    for (; offset_ < offset; ++offset_) {
      const char c = text_[offset_];
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else {
        const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
        column_ += continues_character ? 0 : 1;
      }
    }
    return {file_name_, line_, column_};
  }

 private:
  const std::string& text_;
  const std::string& file_name_;
  size_t offset_ = 0;
  int line_ = 1, column_ = 1;  // of offset_
};

// Finds the attributes of a start tag that expat has accepted: their offsets in the text.
class TagScanner {
 public:
  TagScanner(const std::string& text, size_t begin) : text_(text), at_(begin) {
    while (!IsBlank(text_[at_]) && text_[at_] != '>' && text_[at_] != '/') ++at_;
  }
  struct Found {
    size_t name = 0, quote = 0;
    std::string_view value;  // as written, with references
  };
  // REQUIRES: the tag has a further attribute.
  Found Next() {
    Found found;
    while (IsBlank(text_[at_])) ++at_;
    found.name = at_;
    found.quote = text_.find_first_of("\"'", at_);
    const size_t end = text_.find(text_[found.quote], found.quote + 1);
    found.value = std::string_view(text_).substr(found.quote + 1, end - found.quote - 1);
    at_ = end + 1;
    return found;
  }

 private:
  const std::string& text_;
  size_t at_;
};

bool IsAllowedInValue(char c) {
  return c >= 0x20 && c <= 0x7E && c != '<' && c != '>' && c != '&' && c != '"';
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& file_name, const XmlLimits& limits)
      : text_(text),
        file_name_(file_name),
        limits_(limits),
        places_(text, file_name),
        parser_(XML_ParserCreate("UTF-8"), XML_ParserFree) {
    CHECK(parser_ != nullptr);
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), OnStart, OnEnd);
    XML_SetCharacterDataHandler(parser_.get(), OnText);
    XML_SetStartDoctypeDeclHandler(parser_.get(), OnDoctype);
    XML_SetStartCdataSectionHandler(parser_.get(), OnCdata);
  }

  Result<XmlElement> Parse() {
    const auto bytes = static_cast<int>(text_.size());
    const bool parsed = XML_Parse(parser_.get(), text_.data(), bytes, /*isFinal=*/1) != 0;
    if (error_.has_value()) return *error_;
    if (!parsed) return ExpatError();
    return std::move(root_);
  }

 private:
  static Parser& Of(void* self) { return *static_cast<Parser*>(self); }
  static void OnStart(void* self, const char* name, const char** attributes) {
    Of(self).Start(name, attributes);
  }
  static void OnEnd(void* self, const char*) { Of(self).End(); }
  static void OnText(void* self, const char* text, int bytes) {
    Of(self).Text({text, static_cast<size_t>(bytes)});
  }
  static void OnDoctype(void* self, const char*, const char*, const char*, int) {
    // expat calls this in the middle of the declaration.
    const size_t begin = Of(self).text_.rfind("<!DOCTYPE", Of(self).Here());
    Of(self).Fail(begin, "a topology has no DOCTYPE");
  }
  static void OnCdata(void* self) { Of(self).Fail(Of(self).Here(), "a topology has no CDATA"); }

  size_t Here() const { return static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get())); }

  Error ErrorAt(size_t offset, std::string message) {
    const Location place = places_.At(offset);
    return Error(std::move(message), place, LineOf(text_, place));
  }

  // Keeps the first error and stops the parser.
  void Fail(size_t offset, std::string message) {
    if (error_.has_value()) return;
    error_ = ErrorAt(offset, std::move(message));
    XML_StopParser(parser_.get(), /*resumable=*/0);
  }

  void Start(std::string_view name, const char** attributes) {
    if (error_.has_value()) return;
    const size_t begin = Here();
    if (++elements_ > limits_.elements) {
      return Fail(begin, fmt::format("more than {} elements", limits_.elements));
    }
    if (open_.size() == static_cast<size_t>(kMaxXmlDepth)) {
      return Fail(begin, fmt::format("more than {} levels", kMaxXmlDepth));
    }
    if (!CheckName(begin, name)) return;
    XmlElement& element = open_.emplace_back();
    element.name = name;
    element.location = places_.At(begin);
    TagScanner scanner(text_, begin + 1);
    for (; *attributes != nullptr; attributes += 2) {
      if (!AddAttribute(attributes[0], scanner.Next(), &element)) return;
    }
  }

  bool CheckName(size_t offset, std::string_view name) {
    if (name.size() <= kMaxXmlValue) return true;
    Fail(offset, fmt::format("a name has {} characters; {} at most", name.size(), kMaxXmlValue));
    return false;
  }

  bool AddAttribute(std::string_view name, const TagScanner::Found& found, XmlElement* element) {
    if (!CheckName(found.name, name)) return false;
    const std::string_view value = found.value;
    const auto wrong = std::find_if_not(value.begin(), value.end(), IsAllowedInValue);
    if (value.size() > kMaxXmlValue) {
      Fail(found.quote,
           fmt::format("the value of '{}' is longer than {} characters", name, kMaxXmlValue));
    } else if (wrong != value.end()) {
      Fail(found.quote + 1 + static_cast<size_t>(wrong - value.begin()),
           fmt::format("a value may not hold this character ('{}')", name));
    } else {
      element->attributes.push_back(
          {std::string(name), std::string(value), places_.At(found.name)});
    }
    return !error_.has_value();
  }

  void End() {
    if (error_.has_value()) return;
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(element);
    } else {
      open_.back().children.push_back(std::move(element));
    }
  }

  void Text(std::string_view text) {
    const auto found = std::find_if_not(text.begin(), text.end(), IsBlank);
    if (found == text.end()) return;
    Fail(Here() + static_cast<size_t>(found - text.begin()), "expected an element: '<'");
  }

  // Describes the error that expat found.
  Error ExpatError() {
    const XML_Error code = XML_GetErrorCode(parser_.get());
    const size_t at = Here();
    const std::string_view rest = std::string_view(text_).substr(std::min(at, text_.size()));
    switch (code) {
      case XML_ERROR_NO_ELEMENTS:
        if (open_.empty()) return Error("there is no element in the file", {file_name_, 0, 0});
        return Error(fmt::format("<{}> is not closed: the file ends in it", open_.back().name),
                     open_.back().location, LineOf(text_, open_.back().location));
      case XML_ERROR_UNCLOSED_TOKEN:
        return ErrorAt(at, rest.starts_with("<!--") ? "this comment is not closed"
                           : rest.starts_with("<?")
                               ? "this declaration is not closed"
                               : "this tag is not closed: the file ends in it");
      case XML_ERROR_TAG_MISMATCH:
        return ErrorAt(at - 2, fmt::format("</{}> closes the <{}> of line {}",
                                           rest.substr(0, rest.find_first_of("> \t\r\n")),
                                           open_.back().name, open_.back().location.line));
      case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
        return ErrorAt(at, "nothing may follow the end of <" + root_.name + ">");
      case XML_ERROR_DUPLICATE_ATTRIBUTE:
        return ErrorAt(
            at, fmt::format("'{}' is given twice", rest.substr(0, rest.find_first_of("= \t\r\n"))));
      case XML_ERROR_INVALID_TOKEN:
        return ErrorAt(at, FollowsEqualsSign(at) ? "the value of an attribute must stand in quotes"
                                                 : "this is not well-formed XML");
      default:
        return ErrorAt(at, fmt::format("this is not well-formed XML: {}", XML_ErrorString(code)));
    }
  }

  bool FollowsEqualsSign(size_t offset) const {
    while (offset > 0 && IsBlank(text_[offset - 1])) --offset;
    return offset > 0 && text_[offset - 1] == '=';
  }

  const std::string& text_;
  const std::string& file_name_;
  Places places_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::vector<XmlElement> open_;  // from the root to the current element
  XmlElement root_;
  const XmlLimits limits_;
  int elements_ = 0;
  std::optional<Error> error_;
};

}  // namespace

const XmlAttribute* XmlElement::Find(std::string_view attribute) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(),
                   [&](const XmlAttribute& candidate) { return candidate.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::string LineOf(const std::string& text, const Location& location) {
  size_t begin = 0;
  for (int line = 1; line < location.line; ++line) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

Result<XmlElement> ParseXml(const std::string& text, const std::string& file_name,
                            const XmlLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error(fmt::format("the file has {} bytes; {} at most", text.size(), limits.bytes),
                 {file_name, 0, 0});
  }
  return Parser(text, file_name, limits).Parse();
}

}  // namespace drydock
