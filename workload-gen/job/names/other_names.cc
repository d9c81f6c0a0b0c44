#include "workload-gen/job/names/other_names.h"

#include <cctype>

namespace drydock {
namespace {

struct OtherName {
  const char* names;  // in lower case, without '-' and '_', each between spaces
  const char* write;
};

// "bf16_with_MXFP8_mixed" of Megatron-Bridge becomes "mxfp8".
std::string Bare(const std::string& given) {
  std::string bare;
  for (const char c : given) {
    if (c == '-' || c == '_' || c == ' ') continue;
    bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string start : {"bf16with", "fp16with"}) {
    if (bare.starts_with(start)) bare = bare.substr(start.size());
  }
  for (const std::string end : {"mixed", "scaling", "recipe"}) {
    if (bare.size() > end.size() && bare.ends_with(end)) bare.resize(bare.size() - end.size());
  }
  return bare;
}

template <size_t N>
std::string Find(const std::string& given, const OtherName (&table)[N]) {
  const std::string word = " " + Bare(given) + " ";
  for (const OtherName& row : table) {
    if (std::string(row.names).find(word) != std::string::npos) return row.write;
  }
  return "";
}

// Names of Transformer Engine, Megatron-Bridge (fp8_cs, bf16_with_fp8_current_scaling_mixed), its
// tables (FP8-MX), torchao, PyTorch.
constexpr OtherName kRecipes[] = {
    {" mxfp8 fp8mx mx fp8mxfp8 mxfp8block ", "mxfp8"},
    {" blockwise fp8blockwise fp8block float8block block fp8sc sc subchannel fp8subchannel "
     "float8blockwise ",
     "blockwise"},
    {" delayed fp8delayed fp8ds ds ", "delayed"},
    {" tensorwise fp8tensorwise fp8cs cs current fp8current currenttensor float8current ",
     "tensorwise"},
};

constexpr OtherName kTypes[] = {
    {" nvfp4 fp4 e2m1 nvfp4block fp4nvfp4 fp4e2m1 ", "precision: nvfp4"},
    {" float8 e4m3 e5m2 hybrid fp8hybrid fp8e4m3 fp8e5m2 ", "precision: fp8"},
    {" rowwise fp8rowwise ", "precision: fp8 with framework: fsdp and fsdp.fp8_recipe: rowwise"},
    {" bfloat16 bf torch.bfloat16 ", "precision: bf16"},
    {" float16 half torch.float16 ", "precision: fp16"},
    {" fp32 float32 tf32 32 torch.float32 ",
     "precision: bf16 or fp16; training in fp32 is not generated"},
};

constexpr OtherName kOtherRecipes[] = {
    {" nvfp4 fp4 e2m1 ", "precision: nvfp4, and no fp8_recipe"},
    {" rowwise fp8rowwise ", "fsdp.fp8_recipe: rowwise, which needs framework: fsdp"},
};

constexpr OtherName kDispatchers[] = {
    {" deepep ", "moe_dispatcher: flex"},
    {" hybridep deepephybrid ", "moe_dispatcher: hybridep"},
    {" a2a all2all nccl alltoallseq ", "moe_dispatcher: alltoall"},
    {" ag ", "moe_dispatcher: allgather"},
};

}  // namespace

std::string PrecisionFor(const std::string& given) {
  const std::string recipe = Find(given, kRecipes);
  if (!recipe.empty()) return "precision: fp8 with fp8_recipe: " + recipe;
  return Find(given, kTypes);
}

std::string Fp8RecipeFor(const std::string& given) {
  const std::string recipe = Find(given, kRecipes);
  if (!recipe.empty()) return "fp8_recipe: " + recipe;
  return Find(given, kOtherRecipes);
}

std::string MoeDispatcherFor(const std::string& given) { return Find(given, kDispatchers); }

}  // namespace drydock
