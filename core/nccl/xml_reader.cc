#include "core/nccl/xml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace drydock {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == ':' || c == '.';
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  Result<XmlElement> Parse() {
    if (text_.size() > kMostXmlBytes) {
      return Error(fmt::format("the file has {} bytes; {} at most", text_.size(), kMostXmlBytes),
                   {file_name_, 0, 0});
    }
    RETURN_IF_ERROR(SkipBetween());
    if (AtEnd()) return Error("there is no element in the file", {file_name_, 0, 0});
    ASSIGN_OR_RETURN(XmlElement root, ParseElement(1));
    RETURN_IF_ERROR(SkipBetween());
    if (!AtEnd()) return Fail("nothing may follow the end of <" + root.name + ">");
    return root;
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  bool Sees(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  void Advance(size_t n = 1) {
    for (; n > 0 && !AtEnd(); --n, ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      }
    }
  }
  // Columns are counted in characters: bytes that do not continue one.
  Location Here() const {
    int column = 1;
    for (size_t i = line_begin_; i < at_; ++i) {
      column += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80 ? 1 : 0;
    }
    return {file_name_, line_, column};
  }
  Error Fail(std::string message) const { return FailAt(Here(), std::move(message)); }
  Error FailAt(const Location& place, std::string message) const {
    return Error(std::move(message), place, LineOf(text_, place));
  }
  void SkipBlanks() {
    while (!AtEnd() && IsBlank(text_[at_])) Advance();
  }

  // Blanks, comments and declarations.
  Status SkipBetween() {
    while (true) {
      SkipBlanks();
      const bool comment = Sees("<!--");
      if (!comment && !Sees("<?") && !Sees("<!")) return OkStatus();
      const std::string_view closing = comment ? "-->" : ">";
      const size_t end = text_.find(closing, at_ + (comment ? 4 : 2));
      if (end == std::string::npos) {
        return Fail(comment ? "this comment is not closed" : "this declaration is not closed");
      }
      Advance(end + closing.size() - at_);
    }
  }

  Result<std::string> ParseName(std::string_view of_what) {
    const size_t begin = at_;
    while (!AtEnd() && IsNameCharacter(text_[at_])) Advance();
    if (at_ == begin) {
      return AtEnd() ? Fail(fmt::format("the file ends before the name of {}", of_what))
                     : Fail(fmt::format("expected the name of {}", of_what));
    }
    if (at_ - begin > kMostXmlValue) {
      return Fail(fmt::format("a name of {} characters; {} at most", at_ - begin, kMostXmlValue));
    }
    return text_.substr(begin, at_ - begin);
  }

  Result<XmlAttribute> ParseAttribute() {
    XmlAttribute attribute;
    attribute.location = Here();
    ASSIGN_OR_RETURN(attribute.name, ParseName("an attribute"));
    SkipBlanks();
    if (!Sees("=")) return Fail(fmt::format("expected '=' after '{}'", attribute.name));
    Advance();
    SkipBlanks();
    if (!Sees("\"") && !Sees("'")) {
      return Fail(fmt::format("the value of '{}' must stand in quotes", attribute.name));
    }
    const char quote = text_[at_];
    const Location opened = Here();
    Advance();
    const size_t begin = at_;
    for (; !AtEnd() && text_[at_] != quote; Advance()) {
      const char c = text_[at_];
      if (at_ - begin == kMostXmlValue) {
        return FailAt(opened, fmt::format("the value of '{}' is longer than {} characters",
                                          attribute.name, kMostXmlValue));
      }
      if (c < 0x20 || c > 0x7E || c == '<' || c == '>' || c == '&' || c == '"') {
        return Fail(fmt::format("a value may not hold this character ('{}')", attribute.name));
      }
    }
    if (AtEnd()) return FailAt(opened, "this quote is not closed");
    attribute.value = text_.substr(begin, at_ - begin);
    Advance();
    return attribute;
  }

  // From "<" to the end of the opening tag. True: it was <name/>.
  Result<bool> ParseOpening(XmlElement* element) {
    element->location = Here();
    Advance();
    ASSIGN_OR_RETURN(element->name, ParseName("an element"));
    while (true) {
      SkipBlanks();
      if (AtEnd()) return FailAt(element->location, "this tag is not closed: the file ends in it");
      if (Sees("/>")) {
        Advance(2);
        return true;
      }
      if (Sees(">")) {
        Advance();
        return false;
      }
      ASSIGN_OR_RETURN(XmlAttribute attribute, ParseAttribute());
      if (element->Find(attribute.name) != nullptr) {
        return FailAt(attribute.location, fmt::format("'{}' is given twice", attribute.name));
      }
      element->attributes.push_back(std::move(attribute));
    }
  }

  Result<XmlElement> ParseElement(int depth) {
    if (!Sees("<")) return Fail("expected an element: '<'");
    if (++elements_ > kMostXmlElements) {
      return Fail(fmt::format("more than {} elements", kMostXmlElements));
    }
    if (depth > kMostXmlDepth) return Fail(fmt::format("more than {} levels", kMostXmlDepth));
    XmlElement element;
    ASSIGN_OR_RETURN(const bool empty, ParseOpening(&element));
    if (empty) return element;
    while (true) {
      RETURN_IF_ERROR(SkipBetween());
      if (AtEnd()) {
        return FailAt(element.location,
                      fmt::format("<{}> is not closed: the file ends in it", element.name));
      }
      if (Sees("</")) break;
      ASSIGN_OR_RETURN(XmlElement child, ParseElement(depth + 1));
      element.children.push_back(std::move(child));
    }
    const Location closing = Here();
    Advance(2);
    ASSIGN_OR_RETURN(const std::string name, ParseName("an element"));
    if (name != element.name) {
      return FailAt(closing, fmt::format("</{}> closes the <{}> of line {}", name, element.name,
                                         element.location.line));
    }
    SkipBlanks();
    if (!Sees(">")) return Fail(fmt::format("expected '>' after '</{}'", name));
    Advance();
    return element;
  }

  const std::string& text_;
  const std::string& file_name_;
  size_t at_ = 0;
  int line_ = 1;
  size_t line_begin_ = 0;
  int elements_ = 0;
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

Result<XmlElement> ParseXml(const std::string& text, const std::string& file_name) {
  return Parser(text, file_name).Parse();
}

}  // namespace drydock
