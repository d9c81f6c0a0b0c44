#include "capture/kernels/traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace drydock::capture {
namespace {

// Write their first argument without reading it.
const std::set<std::string_view> kOverwrites = {
    "aten::copy_",          "aten::fill_",          "aten::zero_",      "aten::normal_",
    "aten::uniform_",       "aten::random_",        "aten::bernoulli_", "aten::exponential_",
    "aten::_foreach_copy_", "aten::_foreach_zero_", "aten::arange"};
// Read as much of a table as they return.
const std::set<std::string_view> kPicks = {"aten::index", "aten::gather", "aten::index_select",
                                           "aten::take_along_dim", "aten::masked_select"};
// Change as much of their first argument as the values have that they put there.
const std::set<std::string_view> kPuts = {
    "aten::index_put_",  "aten::_index_put_impl_", "aten::index_add_",
    "aten::index_copy_", "aten::scatter_",         "aten::scatter_add_",
    "aten::index_add",   "aten::scatter_reduce_",  "aten::index_fill_"};

// Read or change one element of each row: as many as there are targets, the argument with this
// index.
const std::map<std::string_view, size_t> kOneOfRow = {{"aten::nll_loss_forward", 1},
                                                      {"aten::nll_loss_backward", 2},
                                                      {"aten::nll_loss2d_forward", 1},
                                                      {"aten::nll_loss2d_backward", 2}};

// Adam of Apex and Transformer Engine: lists of gradients, parameters and moments. All are read,
// and all but the gradients written.
bool IsMultiTensorAdam(std::string_view name) {
  return name.find("::multi_tensor_adam") != std::string_view::npos;
}

bool IsInPlace(std::string_view name) { return name.ends_with('_'); }
bool WorksOnLists(const OperatorRange& range) {
  return std::any_of(
      range.arguments.begin(), range.arguments.end(),
      [](const OperatorValue& value) { return value.kind == OperatorValue::Kind::kTensors; });
}

// Of tensors of the GPU, from the value at `from` on.
Bytes SumOf(const OperatorValues& values, size_t from) {
  Bytes sum;
  for (size_t i = from; i < values.size(); ++i) sum += values[i].bytes();
  return sum;
}

}  // namespace

Bytes TrafficOf(const OperatorRange& range, const OperatorValues& outputs) {
  const OperatorValues& arguments = range.arguments;
  const Bytes returned = SumOf(outputs, 0);
  if (arguments.empty()) return returned;
  if (const auto it = kOneOfRow.find(range.name);
      it != kOneOfRow.end() && it->second < arguments.size()) {
    return arguments[it->second].bytes() * 2;
  }
  if (IsMultiTensorAdam(range.name)) {
    Bytes gradients, all;
    bool is_first = true;
    for (const OperatorValue& value : arguments) {
      if (value.kind != OperatorValue::Kind::kTensors) continue;
      all += value.bytes();
      if (std::exchange(is_first, false)) gradients = value.bytes();
    }
    return all * 2 - gradients;
  }
  if (kPicks.count(range.name) != 0) return returned * 2 + SumOf(arguments, 1);
  if (kPuts.count(range.name) != 0) return SumOf(arguments, 1) * 3;
  if (kOverwrites.count(range.name) != 0) return SumOf(arguments, 0);
  // What works in place returns its first argument, or nothing if that is a list.
  if (IsInPlace(range.name)) return SumOf(arguments, 0) + arguments[0].bytes();
  return SumOf(arguments, 0) + returned;
}

std::vector<Bytes> DealOut(const OperatorRange& range, Bytes traffic,
                           std::span<const int64_t> blocks) {
  int64_t whole = 0;
  if (WorksOnLists(range)) {
    for (const int64_t own : blocks) whole += own;
  } else if (!blocks.empty()) {
    whole = *std::max_element(blocks.begin(), blocks.end());
  }
  std::vector<Bytes> parts;
  for (const int64_t own : blocks) {
    const double share =
        static_cast<double>(own) / static_cast<double>(std::max<int64_t>(whole, 1));
    parts.emplace_back(std::llround(static_cast<double>(traffic.count()) * share));
  }
  return parts;
}

// A sum of one operand, in and out, is a kernel that reads and writes 16 bits of each element.
Submodule TrafficSubmodule(Bytes traffic, bool is_backward) {
  submodule::Add work;
  work.rows = 1;
  work.n = std::max<int64_t>((traffic.count() + 3) / 4, 1);
  work.summands = 1;
  Submodule s;
  s.pass = is_backward ? Pass::kBackward : Pass::kForward;
  s.type = DataType::kBf16;
  s.bytes = traffic;
  s.work = work;
  return s;
}

}  // namespace drydock::capture
