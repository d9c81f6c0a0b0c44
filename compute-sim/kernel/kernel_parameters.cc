#include "compute-sim/kernel/kernel_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/check.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"
#include "core/model/attention_backend.h"
#include "core/schema/cluster/gpu_limits_file.h"

namespace drydock {
namespace {

bool ParseInteger(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

void ReadTypes(YamlReader* reader, std::vector<DataType>* types, Diagnostics* diagnostics) {
  const YamlNode* list = reader->Take("types", true);
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    const auto& names = DataTypeNames();
    const auto found = std::find(names.begin(), names.end(), item.scalar);
    if (found == names.end()) {
      diagnostics->Add(
          item.ErrorHere(fmt::format("unknown data type '{}'{}; valid are {}", item.scalar,
                                     DidYouMean(item.scalar, names), Join(names))));
      continue;
    }
    types->push_back(static_cast<DataType>(found - names.begin()));
  }
  if (list->items.empty()) reader->Fail("types", "expected a list of data types");
}

void ReadTiles(YamlReader* reader, std::vector<Tile>* tiles, Diagnostics* diagnostics) {
  const YamlNode* list = reader->Take("tiles", true);
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    const size_t x = item.scalar.find('x');
    Tile tile;
    if (x == std::string::npos || !ParseInteger(item.scalar.substr(0, x), &tile.rows) ||
        !ParseInteger(item.scalar.substr(x + 1), &tile.columns) || tile.rows < 1 ||
        tile.columns < 1) {
      diagnostics->Add(item.ErrorHere("expected a tile like 128x256"));
      continue;
    }
    tiles->push_back(tile);
  }
  if (list->items.empty()) reader->Fail("tiles", "expected a list like [128x256, 128x128]");
}

void ReadSplits(YamlReader* reader, std::vector<int64_t>* splits, Diagnostics* diagnostics) {
  const YamlNode* list = reader->Take("splits", true);
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    const Result<int64_t> value = AsInteger(item);
    if (!value.ok())
      diagnostics->Add(value.error());
    else if (*value < 1)
      diagnostics->Add(item.ErrorHere("expected a split of 1 or more"));
    else
      splits->push_back(*value);
  }
  if (list->items.empty()) reader->Fail("splits", "expected a list like [1, 2, 4]");
}

void RequirePositive(YamlReader* reader, const std::string& key, double value) {
  if (reader->Has(key) && !(value > 0)) reader->Fail(key, fmt::format("'{}' must be above 0", key));
}

void RequireRange(YamlReader* reader, const std::string& key, double value, double low,
                  double high) {
  if (reader->Has(key) && !(value >= low && value <= high)) {
    reader->Fail(key, fmt::format("'{}' must be from {} to {}", key, low, high));
  }
}

// The longest time of a kernel or of a part of one.
void RequireShort(YamlReader* reader, const std::string& key, Time time) {
  RequireRange(reader, key, time.seconds(), 0, 1);
}

void ReadErrors(YamlReader* parent, FitErrors* errors, Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take("error", false);
  if (node == nullptr) return;
  YamlReader reader(*node, "error", diagnostics);
  for (const auto& [name, share] :
       {std::pair("large", &errors->large), {"small", &errors->small}}) {
    reader.ReadOptional(name, share);
    if (!(*share >= 0 && *share <= 10)) reader.Fail(name, "expected a share from 0 to 10");
  }
  reader.Finish();
}

void ReadQuantize(const YamlNode& node, QuantizeStage* stage, Diagnostics* diagnostics) {
  YamlReader reader(node, "quantise", diagnostics);
  reader.Read("launch", &stage->launch);
  reader.Read("bytes", &stage->bytes);
  RequireShort(&reader, "launch", stage->launch);
  if (!(stage->bytes >= 0 && stage->bytes <= 1000)) {
    reader.Fail("bytes", "expected the bytes an activation moves, from 0 to 1000");
  }
  reader.Finish();
}

void ReadGemmSet(const YamlNode& node, GemmParameters* set, Diagnostics* diagnostics) {
  YamlReader reader(node, "gemm set", diagnostics);
  ReadTypes(&reader, &set->types, diagnostics);
  reader.Read("tensor_rate", &set->tensor_rate);
  reader.Read("memory", &set->memory);
  reader.Read("l2_to_sm", &set->l2_to_sm);
  reader.Read("launch", &set->launch);
  reader.Read("tile_start", &set->tile_start);
  reader.Read("tile_store", &set->tile_store);
  reader.Read("persistence", &set->persistence);
  reader.Read("overlap", &set->overlap);
  reader.Read("split_sync", &set->split_sync);
  reader.Read("derate", &set->derate);
  reader.Read("derate_at", &set->derate_at);
  reader.Read("derate_slope", &set->derate_slope);
  reader.Read("l2_warm", &set->l2_warm);
  reader.ReadOptional("promotion", &set->promotion);
  reader.ReadOptional("row_scales", &set->row_scales);
  reader.ReadOptional("long_rows", &set->long_rows);
  reader.ReadOptional("store_growth", &set->store_growth);
  reader.ReadOptional("group_start", &set->group_start);
  reader.ReadOptional("power_exponent", &set->power_exponent);
  if (const YamlNode* stage = reader.Take("quantise", false)) {
    ReadQuantize(*stage, &set->quantize, diagnostics);
  }
  ReadErrors(&reader, &set->error, diagnostics);
  RequirePositive(&reader, "tensor_rate", set->tensor_rate.flops_per_second());
  RequirePositive(&reader, "memory", set->memory.bytes_per_second());
  RequirePositive(&reader, "l2_to_sm", set->l2_to_sm.bytes_per_second());
  RequirePositive(&reader, "overlap", set->overlap);
  RequirePositive(&reader, "derate_at", set->derate_at.seconds());
  RequirePositive(&reader, "l2_warm", set->l2_warm);
  RequireRange(&reader, "persistence", set->persistence, 0, 1);
  RequireRange(&reader, "derate", set->derate, 0, 10);
  RequireRange(&reader, "promotion", set->promotion, 0, 10);
  RequireRange(&reader, "row_scales", set->row_scales, 0, 10);
  RequireRange(&reader, "long_rows", set->long_rows, 0, 10);
  RequireRange(&reader, "store_growth", set->store_growth, 0, 1);
  RequireShort(&reader, "group_start", set->group_start);
  RequireRange(&reader, "power_exponent", set->power_exponent, 0, 3);
  RequireRange(&reader, "derate_slope", set->derate_slope, 0, 100);
  RequireShort(&reader, "launch", set->launch);
  RequireShort(&reader, "tile_start", set->tile_start);
  RequireShort(&reader, "tile_store", set->tile_store);
  RequireShort(&reader, "split_sync", set->split_sync);
  reader.Finish();
}

void ReadGemm(const YamlNode& node, KernelParameters* out, Diagnostics* diagnostics) {
  YamlReader reader(node, "gemm", diagnostics);
  ReadTiles(&reader, &out->tiles, diagnostics);
  ReadSplits(&reader, &out->splits, diagnostics);
  reader.Read("tile_k", &out->tile_k);
  reader.CheckRange("tile_k", out->tile_k, 1, 1024);
  if (const YamlNode* sets = reader.Take("sets", true)) {
    for (const YamlNode& item : sets->items)
      ReadGemmSet(item, &out->gemm.emplace_back(), diagnostics);
  }
  reader.Finish();
}

void ReadAttentionDerate(YamlReader* parent, AttentionDerate* derate, Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take("derate", false);
  if (node == nullptr) return;
  YamlReader reader(*node, "derate", diagnostics);
  reader.Read("time", &derate->time);
  reader.Read("at", &derate->at);
  reader.Read("slope", &derate->slope);
  RequireRange(&reader, "time", derate->time, 0, 10);
  RequirePositive(&reader, "at", derate->at.seconds());
  RequireRange(&reader, "slope", derate->slope, 0, 100);
  reader.Finish();
}

void ReadAttentionPass(YamlReader* parent, const std::string& key, AttentionPass* pass,
                       Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take(key, true);
  if (node == nullptr) return;
  YamlReader reader(*node, key, diagnostics);
  reader.ReadOptional("block", &pass->block);
  reader.ReadOptional("balance", &pass->balance);
  RequireRange(&reader, "block", static_cast<double>(pass->block), 1, 4096);
  RequirePositive(&reader, "balance", pass->balance);
  reader.Read("launch", &pass->launch);
  reader.Read("tensor_rate", &pass->tensor_rate);
  reader.Read("scores_per_ps", &pass->scores_per_ps);
  reader.Read("block_start", &pass->block_start);
  reader.Read("overlapped_passes", &pass->overlapped_passes);
  reader.Read("serial_passes", &pass->serial_passes);
  ReadAttentionDerate(&reader, &pass->derate, diagnostics);
  RequirePositive(&reader, "tensor_rate", pass->tensor_rate.flops_per_second());
  RequirePositive(&reader, "scores_per_ps", pass->scores_per_ps);
  RequireRange(&reader, "overlapped_passes", pass->overlapped_passes, 0, 1000);
  RequireRange(&reader, "serial_passes", pass->serial_passes, 0, 1000);
  RequireShort(&reader, "launch", pass->launch);
  RequireShort(&reader, "block_start", pass->block_start);
  reader.Finish();
}

// The passes of heads that are at least as large as `from`.
void ReadWideHeads(YamlReader* parent, AttentionParameters* library, Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take("wide_heads", false);
  if (node == nullptr) return;
  YamlReader reader(*node, "wide_heads", diagnostics);
  reader.Read("from", &library->wide_from);
  reader.CheckRange("from", library->wide_from, 1, 4096);
  ReadAttentionPass(&reader, "forward", &library->wide_forward, diagnostics);
  ReadAttentionPass(&reader, "backward", &library->wide_backward, diagnostics);
  reader.Finish();
}

void ReadLibrary(const YamlNode& node, AttentionParameters* library, Diagnostics* diagnostics) {
  YamlReader reader(node, "attention library", diagnostics);
  reader.Read("name", &library->name);
  ReadTypes(&reader, &library->types, diagnostics);
  reader.Read("block", &library->block);
  reader.CheckRange("block", library->block, 1, 4096);
  reader.Read("balance", &library->balance);
  reader.Read("memory_overlap", &library->memory_overlap);
  RequirePositive(&reader, "balance", library->balance);
  RequirePositive(&reader, "memory_overlap", library->memory_overlap);
  ReadErrors(&reader, &library->error, diagnostics);
  ReadAttentionPass(&reader, "forward", &library->forward, diagnostics);
  ReadAttentionPass(&reader, "backward", &library->backward, diagnostics);
  ReadWideHeads(&reader, library, diagnostics);
  reader.Finish();
}

void ReadAttention(const YamlNode& node, KernelParameters* out, Diagnostics* diagnostics) {
  YamlReader reader(node, "attention", diagnostics);
  std::string chosen, pytorch;
  reader.Read("default", &chosen);
  pytorch = chosen;
  reader.ReadOptional("pytorch", &pytorch);
  if (const YamlNode* list = reader.Take("libraries", true)) {
    for (const YamlNode& item : list->items) {
      ReadLibrary(item, &out->attention.emplace_back(), diagnostics);
    }
  }
  const std::vector<std::string> names = out->AttentionNames();
  const auto find = [&](const char* key, const std::string& name, size_t* index) {
    const auto found = std::find(names.begin(), names.end(), name);
    *index = static_cast<size_t>(found - names.begin());
    if (found == names.end() && reader.Has(key) && reader.Has("libraries")) {
      reader.Fail(key, fmt::format("no library is named '{}'{}", name, DidYouMean(name, names)));
    }
  };
  find("default", chosen, &out->default_attention);
  find("pytorch", pytorch, &out->pytorch_attention);
  reader.Finish();
}

void ReadCurve(YamlReader* parent, const std::string& key, ShareCurve* curve,
               Diagnostics* diagnostics) {
  const YamlNode* node = parent->Take(key, true);
  if (node == nullptr) return;
  for (const auto& [columns, share] : node->entries) {
    int64_t length = 0;
    const Result<double> value = AsNumber(share);
    if (!ParseInteger(columns.scalar, &length) || length < 1) {
      diagnostics->Add(columns.ErrorHere("expected a row length"));
    } else if (!value.ok() || !(*value > 0)) {
      diagnostics->Add(share.ErrorHere("expected a share above 0"));
    } else if (!curve->empty() && curve->back().first >= length) {
      diagnostics->Add(columns.ErrorHere("row lengths must ascend"));
    } else {
      curve->emplace_back(length, *value);
    }
  }
  if (node->entries.empty()) parent->Fail(key, "expected a mapping of row length to share");
}

void ReadMemory(const YamlNode& node, MemoryParameters* memory, Diagnostics* diagnostics) {
  YamlReader reader(node, "memory", diagnostics);
  reader.Read("launch", &memory->launch);
  reader.Read("hbm", &memory->hbm);
  reader.Read("l2", &memory->l2);
  reader.Read("l2_share", &memory->l2_share);
  RequireShort(&reader, "launch", memory->launch);
  RequirePositive(&reader, "hbm", memory->hbm.bytes_per_second());
  RequirePositive(&reader, "l2", memory->l2.bytes_per_second());
  RequirePositive(&reader, "l2_share", memory->l2_share);
  ReadCurve(&reader, "layer_norm", &memory->layer_norm, diagnostics);
  ReadCurve(&reader, "softmax", &memory->softmax, diagnostics);
  reader.Read("fused_norm", &memory->fused_norm);
  RequirePositive(&reader, "fused_norm", memory->fused_norm);
  if (const YamlNode* stage = reader.Take("quantise", false)) {
    ReadQuantize(*stage, &memory->quantize, diagnostics);
  }
  ReadErrors(&reader, &memory->error, diagnostics);
  reader.Finish();
}

void ReadScaling(const YamlNode& node, ScalingErrors* errors, Diagnostics* diagnostics) {
  YamlReader reader(node, "scaling_errors", diagnostics);
  const std::pair<const char*, double*> shares[] = {{"gemm", &errors->gemm},
                                                    {"attention", &errors->attention},
                                                    {"memory", &errors->memory},
                                                    {"gemm_with_share", &errors->gemm_with_share}};
  for (const auto& [name, share] : shares) {
    if (share == &errors->gemm_with_share)
      reader.ReadOptional(name, share);
    else
      reader.Read(name, share);
    if (!(*share >= 0 && *share <= 1)) reader.Fail(name, "expected a share from 0 to 1");
  }
  reader.Finish();
}

}  // namespace

const std::vector<std::string>& KernelParameters::ClocksNames() {
  static const std::vector<std::string> names = {"sustained", "burst"};
  return names;
}

std::optional<KernelParameters::Clocks> KernelParameters::ClocksOf(std::string_view name) {
  const auto found = std::find(ClocksNames().begin(), ClocksNames().end(), name);
  if (found == ClocksNames().end()) return std::nullopt;
  return static_cast<Clocks>(found - ClocksNames().begin());
}

const GemmParameters* KernelParameters::GemmFor(DataType type) const {
  for (const GemmParameters& set : gemm) {
    if (std::find(set.types.begin(), set.types.end(), type) != set.types.end()) return &set;
  }
  return nullptr;
}

namespace {

// Returns true if `backend` names a family of libraries ("flash") that includes `library`.
bool IsOfFamily(const std::string& library, const std::string& backend) {
  const bool family = backend == kAttentionByFlash || backend == kAttentionByCudnn;
  return family && library.starts_with(backend + "-");
}

}  // namespace

const AttentionParameters* KernelParameters::AttentionFor(DataType type,
                                                          const std::string& backend) const {
  const bool family = backend == kAttentionByFlash || backend == kAttentionByCudnn;
  const bool has_family =
      family && std::any_of(attention.begin(), attention.end(),
                            [&](const auto& library) { return IsOfFamily(library.name, backend); });
  const bool by_default =
      backend.empty() || backend == kAttentionByTransformerEngine || (family && !has_family);
  const auto takes = [&](const AttentionParameters& library) {
    return std::find(library.types.begin(), library.types.end(), type) != library.types.end();
  };
  // Where the framework's library has no kernels of this type (fp8), another library has them.
  const bool elsewhere = by_default && !takes(attention[default_attention]);
  for (size_t i = 0; i < attention.size(); ++i) {
    const bool wanted = by_default                       ? elsewhere || i == default_attention
                        : backend == kAttentionByPytorch ? i == pytorch_attention
                        : family                         ? IsOfFamily(attention[i].name, backend)
                                                         : attention[i].name == backend;
    if (wanted && takes(attention[i])) return &attention[i];
  }
  return nullptr;
}

std::vector<std::string> KernelParameters::AttentionNames() const {
  std::vector<std::string> names;
  for (const AttentionParameters& library : attention) names.push_back(library.name);
  return names;
}

std::vector<std::string> KernelParameters::AttentionBackends() const {
  std::vector<std::string> names = AttentionNames();
  names.insert(names.begin(), {kAttentionByTransformerEngine, kAttentionByPytorch});
  names.insert(names.end(), {kAttentionByFlash, kAttentionByCudnn});
  return names;
}

Result<KernelParameters> ReadKernelParameters(const std::string& file_text,
                                              const std::string& file_name, bool* present) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(file_text, file_name));
  KernelParameters out;
  const YamlNode* section = root.Find("kernels");
  *present = section != nullptr;
  if (section == nullptr) return out;
  Diagnostics diagnostics;
  YamlReader reader(*section, "kernels", &diagnostics);
  int clocks = 0;
  reader.ReadChoice("clocks", KernelParameters::ClocksNames(), &clocks, /*required=*/true);
  out.clocks = static_cast<KernelParameters::Clocks>(clocks);
  std::string power;
  reader.ReadOptional("power_limit", &power);
  if (reader.Has("power_limit")) {
    const std::optional<int> watts = WattsOf(power);
    out.power_limit = watts.value_or(0);
    if (!watts) {
      reader.Fail("power_limit", fmt::format("expected a power like '700 W', found '{}'", power));
    }
  }
  reader.Read("launch_gap", &out.launch_gap);
  if (const YamlNode* node = reader.Take("gemm", true)) ReadGemm(*node, &out, &diagnostics);
  if (const YamlNode* node = reader.Take("attention", true)) {
    ReadAttention(*node, &out, &diagnostics);
  }
  if (const YamlNode* node = reader.Take("memory", true)) {
    ReadMemory(*node, &out.memory, &diagnostics);
  }
  if (const YamlNode* node = reader.Take("scaling_errors", false)) {
    ReadScaling(*node, &out.scaling, &diagnostics);
  }
  reader.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return out;
}

double ShareAt(const ShareCurve& curve, int64_t columns) {
  CHECK(!curve.empty());
  if (columns <= curve.front().first) return curve.front().second;
  for (size_t i = 1; i < curve.size(); ++i) {
    if (columns > curve[i].first) continue;
    const auto& [c0, s0] = curve[i - 1];
    const auto& [c1, s1] = curve[i];
    const double x = std::log(static_cast<double>(columns) / static_cast<double>(c0)) /
                     std::log(static_cast<double>(c1) / static_cast<double>(c0));
    return s0 + x * (s1 - s0);
  }
  return curve.back().second;
}

}  // namespace drydock
