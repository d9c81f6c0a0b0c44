#include "core/model/calls/call_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <utility>

#include "core/base/spelling.h"

namespace drydock {
namespace {

// A word of another tool for one of Drydock's names.
using Alias = std::pair<const char*, const char*>;

constexpr Alias kCollectives[] = {{"alltoall", "all-to-all"},  {"alltoallv", "all-to-all-v"},
                                  {"sendrecv", "send-recv"},   {"allreduce", "all-reduce"},
                                  {"allgather", "all-gather"}, {"reducescatter", "reduce-scatter"}};
constexpr Alias kTypes[] = {{"float", "fp32"},   {"float32", "fp32"},  {"half", "fp16"},
                            {"float16", "fp16"}, {"bfloat16", "bf16"}, {"double", "fp64"},
                            {"float64", "fp64"}, {"f8e4m3", "fp8"},    {"f8e5m2", "fp8-e5m2"}};
constexpr Alias kOps[] = {{"average", "avg"}, {"mulsum", "premul-sum"}};

// Returns the word in lower case, with "-" between words, without NCCL's prefix.
std::string Plain(const std::string& word) {
  std::string plain;
  for (const char c : word) {
    plain += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain.starts_with("nccl") ? plain.substr(4) : plain;
}

template <typename Enum>
Result<Enum> Parse(const char* what, const std::string& word, const std::vector<std::string>& names,
                   std::span<const Alias> aliases) {
  std::string plain = Plain(word);
  for (const auto& [alias, name] : aliases) {
    if (plain == alias) plain = name;
  }
  const auto it = std::find(names.begin(), names.end(), plain);
  if (it != names.end()) return static_cast<Enum>(it - names.begin());
  std::vector<std::string> all = names;
  for (const auto& [alias, name] : aliases) all.emplace_back(alias);
  return Error(fmt::format("there is no {} '{}'{}; valid values are {}", what, word,
                           DidYouMean(plain, all), Join(names)));
}

}  // namespace

Result<CollectiveType> ParseCollective(const std::string& word) {
  std::vector<std::string> names = CollectiveTypeNames();
  names.pop_back();  // users cannot name kGrouped
  return Parse<CollectiveType>("collective", word, names, kCollectives);
}

Result<DataType> ParseDataType(const std::string& word) {
  return Parse<DataType>("data type", word, MessageTypeNames(), kTypes);
}

Result<ReduceOp> ParseReduceOp(const std::string& word) {
  return Parse<ReduceOp>("reduction", word, ReduceOpNames(), kOps);
}

Result<BufferKind> ParseBufferKind(const std::string& word) {
  return Parse<BufferKind>("kind of buffers", word, BufferKindNames(), {});
}

Result<Bytes> ParseCallSize(const std::string& word) {
  constexpr std::string_view kSuffixes = "KMGT";
  int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (error == std::errc() && number > 0 && unit.empty()) return Bytes(number);
  const auto suffix =
      unit.size() == 1 ? kSuffixes.find(static_cast<char>(std::toupper(unit[0]))) : kSuffixes.npos;
  if (error == std::errc() && suffix != kSuffixes.npos) {
    const int shift = 10 * (static_cast<int>(suffix) + 1);
    if (number > (INT64_MAX >> shift)) return Error(fmt::format("'{}' is too large", word));
    if (number > 0) return Bytes(number << shift);
  }
  ASSIGN_OR_RETURN(const Bytes bytes, ParseBytes(word));
  if (bytes == Bytes())
    return Error(fmt::format("'{}' is not a size of a call; it must be above 0", word));
  return bytes;
}

std::string NcclTestsName(DataType type) {
  const std::string name(ToString(type));
  if (name == "bf16") return "bfloat16";
  if (name == "fp8") return "f8e4m3";
  for (const auto& [alias, ours] : kTypes) {
    if (name == ours) return alias;
  }
  return name;
}

std::string NcclTestsName(ReduceOp op) {
  return op == ReduceOp::kPremulSum ? "mulsum" : ReduceOpNames()[static_cast<size_t>(op)];
}

}  // namespace drydock
