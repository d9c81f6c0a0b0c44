#include "capture/kernels/operator.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

namespace drydock::capture {
namespace {

// c10::toString of the scalar types.
struct TypeName {
  std::string_view name;
  DataType type;
  int64_t bytes;
};
constexpr TypeName kTypes[] = {
    {"Float", DataType::kFp32, 4},           {"Half", DataType::kFp16, 2},
    {"BFloat16", DataType::kBf16, 2},        {"Double", DataType::kFp64, 8},
    {"Long", DataType::kInt64, 8},           {"Int", DataType::kInt32, 4},
    {"Short", DataType::kUint8, 2},          {"Char", DataType::kInt8, 1},
    {"Byte", DataType::kUint8, 1},           {"Bool", DataType::kUint8, 1},
    {"Float8_e4m3fn", DataType::kFp8, 1},    {"Float8_e5m2", DataType::kFp8E5m2, 1},
    {"Float8_e8m0fnu", DataType::kUint8, 1}, {"Float4_e2m1fn_x2", DataType::kUint8, 1},
    {"UInt16", DataType::kUint8, 2},         {"UInt32", DataType::kUint32, 4},
    {"UInt64", DataType::kUint64, 8},        {"ComplexFloat", DataType::kFp64, 8},
    {"ComplexDouble", DataType::kFp64, 16},
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // "(VALUE,VALUE,...)"; the text may be cut anywhere.
  OperatorValues Values() {
    OperatorValues values;
    if (!Take('(') || Peek() == ')') return values;
    do {
      values.push_back(Value());
    } while (Take(','));
    return values;
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  OperatorValue Value() {
    OperatorValue value;
    if (Take('{')) {
      value.kind = OperatorValue::Kind::kTensors;
      while (at_ < text_.size() && !Take('}')) {
        const auto tensor = Tensor();
        if (!tensor) break;
        value.tensors.push_back(*tensor);
      }
    } else if (Take('[')) {
      value.kind = OperatorValue::Kind::kNumbers;
      value.numbers = Numbers();
      Take(']');
    } else if (Take('"')) {
      value.kind = OperatorValue::Kind::kText;
      const size_t end = std::min(text_.find('"', at_), text_.size());
      value.text = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
    } else if (TakeWord("true") || TakeWord("false")) {
      value.kind = OperatorValue::Kind::kBool;
      value.number = text_[at_ - 2] == 'u' ? 1 : 0;
    } else if (const auto tensor = Tensor()) {
      value.kind = OperatorValue::Kind::kTensor;
      value.tensors = {*tensor};
    } else {
      Number(&value);
    }
    // Whatever else is there belongs to a value of another kind.
    while (at_ < text_.size() && Peek() != ',' && Peek() != ')') ++at_;
    return value;
  }

  void Number(OperatorValue* value) {
    const std::string rest(text_.substr(at_, 32));
    char* end = nullptr;
    const double number = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) return;
    value->kind = OperatorValue::Kind::kNumber;
    value->number = number;
    at_ += static_cast<size_t>(end - rest.c_str());
  }

  std::vector<int64_t> Numbers() {
    std::vector<int64_t> numbers;
    int64_t number = 0;
    while (true) {
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
      if (error != std::errc()) return numbers;
      numbers.push_back(number);
      at_ += static_cast<size_t>(end - begin);
      if (!Take(',')) return numbers;
    }
  }

  // "BFloat16[512,1024:1,512]", "Float@host[]"
  std::optional<TensorShape> Tensor() {
    const size_t begin = at_;
    const size_t open = text_.find('[', at_);
    const size_t end = text_.find_first_of("@[,)}", at_);
    if (open == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
    const std::string_view name = text_.substr(at_, end - at_);
    for (const TypeName& type : kTypes) {
      if (type.name != name) continue;
      TensorShape tensor;
      tensor.type = type.type;
      tensor.element_bytes = type.bytes;
      at_ = end;
      tensor.on_host = TakeWord("@host");
      if (!Take('[')) break;
      tensor.sizes = Numbers();
      if (Take(':')) tensor.strides = Numbers();
      if (!Take(']')) break;
      if (!tensor.strides.empty() && tensor.strides.size() != tensor.sizes.size()) break;
      return tensor;
    }
    at_ = begin;
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
};

constexpr int kThreadShift = 40;

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Returns the first part of a path that is a number: "decoder.layers.3.mlp".
int LayerOf(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    int layer = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), layer);
    if (error == std::errc() && end == part.data() + part.size() && layer >= 0) return layer;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return -1;
}

// "ROOT:PATH TYPE layer=N"
void ReadModule(std::string_view text, OperatorRange* range) {
  const size_t colon = text.find(':'), space = text.find(' ');
  if (colon == std::string_view::npos || space == std::string_view::npos || colon > space) return;
  std::from_chars(text.data(), text.data() + colon, range->root);
  range->path = text.substr(colon + 1, space - colon - 1);
  text.remove_prefix(space + 1);
  const size_t end = std::min(text.find(' '), text.size());
  range->type = text.substr(0, end);
  range->layer = LayerOf(range->path);
  text.remove_prefix(end);
  if (TakePrefix(" layer=", &text)) {
    std::from_chars(text.data(), text.data() + text.size(), range->layer);
  }
}

}  // namespace

int64_t TensorShape::elements() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

int64_t TensorShape::stored() const {
  if (strides.empty()) return elements();
  int64_t count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] != 0 || sizes[i] == 0) count *= sizes[i];
  }
  return count;
}

Bytes OperatorValue::bytes() const {
  Bytes sum;
  for (const TensorShape& tensor : tensors) {
    if (!tensor.on_host) sum += tensor.bytes();
  }
  return sum;
}

OperatorRange ParseRange(std::string_view text) {
  OperatorRange range;
  if (TakePrefix("module ", &text)) {
    range.kind = RangeKind::kModule;
    range.name = text;
    ReadModule(text, &range);
    return range;
  }
  const size_t number = text.rfind(" #");
  if (number != std::string_view::npos) {
    int64_t sequence = -1;
    const char* end = text.data() + text.size();
    int64_t thread = 0;  // threads have numbers of their own
    auto read = std::from_chars(text.data() + number + 2, end, sequence);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '@') {
      read = std::from_chars(read.ptr + 1, end, thread);
    }
    if (read.ec == std::errc() && read.ptr == end) {
      range.sequence = (thread << kThreadShift) | sequence;
      text = text.substr(0, number);
    }
  }
  if (TakePrefix("backward ", &text)) {
    range.kind = RangeKind::kBackward;
    range.name = text;
  } else if (TakePrefix("scope ", &text)) {
    range.kind = RangeKind::kScope;
    range.name = text;
  } else {
    const size_t open = std::min(text.find('('), text.size());
    range.name = text.substr(0, open);
    range.arguments = ParseValues(text.substr(open));
  }
  return range;
}

OperatorValues ParseValues(std::string_view text) { return Reader(text).Values(); }

const TensorShape* FirstTensor(const OperatorValues& values, size_t from) {
  for (size_t i = from; i < values.size(); ++i) {
    for (const TensorShape& tensor : values[i].tensors) {
      if (!tensor.on_host) return &tensor;
    }
  }
  return nullptr;
}

}  // namespace drydock::capture
