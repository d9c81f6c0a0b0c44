#include "tests/fuzz/import_target.h"

#include "compute-sim/import/import.h"
#include "compute-sim/measure/measure_file.h"
#include "compute-sim/profile/profile.h"
#include "core/base/check.h"
#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock::fuzz {
namespace {

const ImportOptions& TheOptions() {
  static const ImportOptions options{
      DataType::kFp16, *ParseImportedModel("hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, "
                                           "micro_batch: 1, tensor: 8, vocab: 50304")};
  return options;
}

// A profile can hold every time that an importer accepts.
void CheckReadsBack(const Result<ImportedTimes>& times, const Importer& importer) {
  if (!times.ok()) CHECK(!times.error().message().empty());
  if (!times.ok() || times->rows.empty()) return;
  const std::string text =
      ProfileText(*times, {"g", "a\nb", importer.summary, "never", importer.clocks});
  const Result<drydock::Profile> profile = ParseProfile(text, "p.csv");
  CHECK_NOTE(profile.ok(), profile.error().ToString());
  CHECK(profile->row_count() > 0);
}

}  // namespace

void Import(const std::string& input) {
  static const testing::TemporaryDirectory folder;
  const std::string path = folder / "file";
  if (input.empty() || !WriteFileAtomically(path, input.substr(1)).ok()) return;
  const size_t which = static_cast<unsigned char>(input[0]) % (Importers().size() + 1);
  if (which < Importers().size()) {
    const Importer& importer = Importers()[which];
    return CheckReadsBack(importer.read(path, TheOptions()), importer);
  }
  const Result<BegunFile> begun = ReadBegunFile(path, "");
  if (begun.ok()) CHECK(ParseProfile(begun->text, path).ok());
}

std::vector<std::string> ImportSeeds() {
  const auto seed = [](char which, const std::string& text) {
    return std::string(1, which) + text;
  };
  return {
      seed(0,
           "framework,gemm_dtype,m,n,k,latency\na,bfloat16,8,16,32,1.5\n\"a, b\",fp8,8,16,32,2\n"),
      seed(0,
           "batch_size,isl,num_heads,num_key_value_heads,head_dim,window_size,attn_dtype,"
           "kv_cache_dtype,step,latency\n2,1024,8,0,128,0,bfloat16,bfloat16,0,0.1\n"),
      seed(1,
           "num_tokens,num_tensor_parallel_workers,n_embd,n_expanded_embd,n_head,n_kv_head,"
           "use_gated_mlp,time_stats.mlp_up_proj.median,time_stats.attn_rope.median\n"
           "512,2,4096,11008,32,8,True,0.5,0.02\n"),
      seed(1,
           "batch_size,prefill_chunk_size,kv_cache_size,num_tensor_parallel_workers,n_embd,"
           "n_q_head,n_kv_head,time_stats.attn_prefill.median\n1,256,768,2,4096,32,8,0.05\n"),
      seed(2,
           "train_iter:10\natten_qkv:\n    time_gpu_max: 130\n    time_gpu_avg: 120\nlayernorm:\n"
           "    time_gpu_avg: 3.5\natten_flash:\n    time_gpu_avg: 9\n"),
      seed(3, R"({"traceEvents": [{"cat": "kernel", "dur": 4.5, "args": {"External id": 7}},
          {"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7,
          "Input Dims": [[8, 32], [32, 64]], "Input type": ["c10::BFloat16", "c10::BFloat16"],
          "Concrete Inputs": ["", ""]}}]})"),
      seed(4, "SQLite format 3"),
      seed(5, MeasuredHeader({"g", "a GPU", "1", "2", "3", "4"}) +
                  MeasuredRow(Gemm(DataType::kBf16, 8, 16, 32), 3)),
  };
}

}  // namespace drydock::fuzz
