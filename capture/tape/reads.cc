#include "capture/tape/reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

namespace drydock::capture {
namespace {

template <typename Number>
Number As(int64_t word) {
  Number number;
  memcpy(&number, &word, sizeof number);
  return number;
}

float FromUpperHalf(uint16_t bits) {
  const uint32_t whole = uint32_t{bits} << 16;
  float value;
  memcpy(&value, &whole, sizeof value);
  return value;
}

// Returns the value of a tensor with one element; "" for other tensors and types.
std::string ValueOf(const TensorShape& tensor, int64_t word) {
  if (tensor.elements() != 1) return "";
  switch (tensor.type) {
    case DataType::kFp32:
      return fmt::format("{:g}", As<float>(word));
    case DataType::kFp64:
      return fmt::format("{:g}", As<double>(word));
    case DataType::kBf16:
      return fmt::format("{:g}", FromUpperHalf(As<uint16_t>(word)));
    case DataType::kInt64:
      return std::to_string(word);
    case DataType::kInt32:
      return std::to_string(As<int32_t>(word));
    case DataType::kInt8:
    case DataType::kUint8:
      return tensor.element_bytes == 1 ? std::to_string(As<uint8_t>(word)) : "";
    default:
      return word == 0 ? "0" : "";
  }
}

// "fp32[8,2]", or "8 bytes" where no operator says more.
std::string ShapeOf(const TensorShape* tensor, int64_t bytes) {
  if (tensor == nullptr) return fmt::format("{} bytes", bytes);
  std::string text = fmt::format("{}[", ToString(tensor->type));
  for (size_t i = 0; i < tensor->sizes.size(); ++i) {
    text += fmt::format("{}{}", i > 0 ? "," : "", tensor->sizes[i]);
  }
  return text + "]";
}

}  // namespace

std::vector<TapeRead> FindReads(const ProcessLog& log, LogRanges* ranges) {
  std::vector<TapeRead> reads;
  std::unordered_map<uint32_t, std::vector<int64_t>> open;  // by thread: texts of its ranges
  for (const LogEntry& entry : log.entries()) {
    if (entry.kind == EntryKind::kBeginOp) {
      open[entry.thread].push_back(entry.words[0]);
    } else if (entry.kind == EntryKind::kEndOp) {
      if (!open[entry.thread].empty()) open[entry.thread].pop_back();
    } else if (entry.kind == EntryKind::kRead) {
      const std::vector<int64_t>& own = open[entry.thread];
      const TensorShape* tensor = nullptr;
      if (!own.empty()) tensor = FirstTensor(ranges->RangeOf(own.back()).arguments);
      const int64_t bytes = entry.words[2];
      // An operator may read a part of its tensors, or what it made of them.
      if (tensor != nullptr && tensor->elements() * tensor->element_bytes != bytes) {
        tensor = nullptr;
      }
      TapeRead read;
      read.line = log.name(entry.words[0]);
      read.origin = log.name(entry.words[1]);
      read.shape = ShapeOf(tensor, bytes);
      if (tensor != nullptr) read.value = ValueOf(*tensor, entry.words[3]);
      const auto known = std::find_if(reads.begin(), reads.end(),
                                      [&](const TapeRead& other) { return other.IsLike(read); });
      TapeRead& all = known == reads.end() ? reads.emplace_back(read) : *known;
      if (all.value != read.value) all.value.clear();
      ++all.count;
    }
  }
  std::stable_sort(reads.begin(), reads.end(),
                   [](const TapeRead& a, const TapeRead& b) { return a.count > b.count; });
  return reads;
}

}  // namespace drydock::capture
