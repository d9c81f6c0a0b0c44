#include "workload-gen/job/sharding_rules.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace drydock {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 44;
const std::vector<std::string> kReshardNames = {"default", "always", "never"};
const std::vector<std::string> kOffloadNames = {"none", "cpu", "nvme"};
const std::vector<std::string> kSyncNames = {"default", "every-microbatch", "last-microbatch"};

void ReadElements(YamlReader* reader, const std::string& key, int64_t low, int64_t* out) {
  reader->ReadOptional(key, out);
  if (reader->Has(key)) reader->CheckRange(key, *out, low, kMostElements);
}

template <typename Enum>
void ReadEnum(YamlReader* reader, const std::string& key, const std::vector<std::string>& names,
              Enum* out) {
  int index = static_cast<int>(*out);
  reader->ReadChoice(key, names, &index, /*required=*/false);
  *out = static_cast<Enum>(index);
}

void ReadOffload(YamlReader* reader, ZeroRules* rules) {
  for (const auto& [key, offload] : {std::pair{"offload_optimizer", &rules->offload_optimizer},
                                     {"offload_param", &rules->offload_param}}) {
    int device = 0;
    reader->ReadChoice(key, kOffloadNames, &device, /*required=*/false);
    *offload = device == 1;
    if (device == 2) {
      reader->Fail(key,
                   fmt::format("'{}' cannot be nvme: no storage is modelled; none or cpu", key));
    }
  }
  if (!rules->offload_param) return;
  if (rules->stage != 3) reader->Fail("offload_param", "'offload_param' needs stage: 3");
  if (!rules->offload_optimizer) {
    reader->Fail("offload_param", "'offload_param' needs offload_optimizer: cpu");
  }
}

void RefuseUnusedStage3Keys(YamlReader* reader, int stage) {
  if (stage == 3) return;
  for (const char* key : {"prefetch_bucket_size", "param_persistence_threshold",
                          "max_live_parameters", "max_reuse_distance", "sub_group_size"}) {
    if (reader->Has(key)) reader->Fail(key, std::string("'") + key + "' needs stage: 3");
  }
}

}  // namespace

void ReadFsdp(const YamlNode& node, Diagnostics* diagnostics, FsdpRules* rules) {
  YamlReader reader(node, "fsdp", diagnostics);
  reader.ReadOptional("version", &rules->version);
  reader.CheckRange("version", rules->version, 1, 2);
  reader.ReadOptional("replicas", &rules->replicas);
  reader.CheckRange("replicas", rules->replicas, 1, 1 << 24);
  ReadEnum(&reader, "reshard_after_forward", kReshardNames, &rules->reshard_after_forward);
  ReadEnum(&reader, "gradient_sync", kSyncNames, &rules->gradient_sync);
  int type = 0;
  reader.ReadChoice("reduce_type", {"fp32", "bf16"}, &type, /*required=*/false);
  rules->reduce_type = type == 0 ? DataType::kFp32 : DataType::kBf16;
  reader.ReadOptional("backward_prefetch", &rules->backward_prefetch);
  reader.ReadOptional("limit_all_gathers", &rules->limit_all_gathers);
  if (reader.Has("limit_all_gathers") && rules->version != 1) {
    reader.Fail("limit_all_gathers", "'limit_all_gathers' needs version: 1");
  }
  int device = 0;
  reader.ReadChoice("offload", {"none", "cpu"}, &device, /*required=*/false);
  rules->offload = device == 1;
  reader.Finish();
}

void ReadZero(const YamlNode& node, Diagnostics* diagnostics, ZeroRules* rules) {
  YamlReader reader(node, "zero", diagnostics);
  reader.Read("stage", &rules->stage);
  if (reader.Has("stage")) reader.CheckRange("stage", rules->stage, 1, 3);
  ReadElements(&reader, "reduce_bucket_size", 1, &rules->reduce_bucket_size);
  ReadElements(&reader, "allgather_bucket_size", 1, &rules->allgather_bucket_size);
  int gather = 0;
  reader.ReadChoice("allgather", {"whole", "buckets"}, &gather, /*required=*/false);
  rules->bucketed_allgather = gather == 1;
  if (reader.Has("allgather_bucket_size") && !rules->bucketed_allgather) {
    reader.Fail("allgather_bucket_size", "'allgather_bucket_size' needs allgather: buckets");
  }
  reader.ReadOptional("reduce_scatter", &rules->reduce_scatter);
  rules->overlap_comm = rules->stage == 3;
  reader.ReadOptional("overlap_comm", &rules->overlap_comm);
  ReadElements(&reader, "prefetch_bucket_size", 0, &rules->prefetch_bucket_size);
  ReadElements(&reader, "param_persistence_threshold", 0, &rules->param_persistence_threshold);
  ReadElements(&reader, "max_live_parameters", 0, &rules->max_live_parameters);
  ReadElements(&reader, "max_reuse_distance", 0, &rules->max_reuse_distance);
  ReadElements(&reader, "sub_group_size", 1, &rules->sub_group_size);
  RefuseUnusedStage3Keys(&reader, rules->stage);
  if (rules->stage == 3) {
    for (const char* key : {"allgather", "reduce_scatter"}) {
      if (reader.Has(key)) reader.Fail(key, std::string("'") + key + "' needs stage: 1 or 2");
    }
  }
  ReadOffload(&reader, rules);
  reader.Finish();
}

void CheckShardingSections(const YamlNode& root, const std::string& framework,
                           Diagnostics* diagnostics) {
  for (const auto& [section, owner] : {std::pair{"fsdp", "fsdp"}, {"zero", "deepspeed"}}) {
    const YamlNode* node = root.Find(section);
    if (node != nullptr && framework != owner) {
      diagnostics->Add(node->ErrorHere(fmt::format(
          "section '{}' needs training.framework: {}, not {}", section, owner, framework)));
    }
  }
  if (framework == "deepspeed" && root.Find("zero") == nullptr) {
    diagnostics->Add(
        root.ErrorHere("framework deepspeed needs the section 'zero', with its stage"));
  }
}

std::string FsdpText(const FsdpRules& r) {
  std::string text = fmt::format(
      "fsdp:\n  version: {}\n  replicas: {}\n  reshard_after_forward: {}\n  gradient_sync: {}\n"
      "  reduce_type: {}\n  backward_prefetch: {}\n",
      r.version, r.replicas, kReshardNames[static_cast<size_t>(r.reshard_after_forward)],
      kSyncNames[static_cast<size_t>(r.gradient_sync)],
      r.reduce_type == DataType::kFp32 ? "fp32" : "bf16", r.backward_prefetch);
  if (r.version == 1) text += fmt::format("  limit_all_gathers: {}\n", r.limit_all_gathers);
  text += fmt::format("  offload: {}\n", kOffloadNames[r.offload ? 1 : 0]);
  return text;
}

std::string ZeroText(const ZeroRules& r) {
  std::string text =
      fmt::format("zero:\n  stage: {}\n  reduce_bucket_size: {}\n  overlap_comm: {}\n", r.stage,
                  r.reduce_bucket_size, r.overlap_comm);
  text += fmt::format("  offload_optimizer: {}\n", kOffloadNames[r.offload_optimizer ? 1 : 0]);
  if (r.stage == 3) {
    return text + fmt::format(
                      "  prefetch_bucket_size: {}\n  param_persistence_threshold: {}\n"
                      "  max_live_parameters: {}\n  max_reuse_distance: {}\n"
                      "  sub_group_size: {}\n  offload_param: {}\n",
                      r.prefetch_bucket_size, r.param_persistence_threshold, r.max_live_parameters,
                      r.max_reuse_distance, r.sub_group_size,
                      kOffloadNames[r.offload_param ? 1 : 0]);
  }
  text += fmt::format("  reduce_scatter: {}\n", r.reduce_scatter);
  if (!r.bucketed_allgather) return text;
  return text + fmt::format("  allgather: buckets\n  allgather_bucket_size: {}\n",
                            r.allgather_bucket_size);
}

}  // namespace drydock
