// "Do files of other tools become the right rows?" The files here have the format of these tools.
#include "compute-sim/profile/profile.h"
#include "compute-sim/testing/import_testing.h"

namespace drydock {
namespace {

using Clocks = KernelParameters::Clocks;

TEST_F(ImportTest, AiconfiguratorGivesGemmsAndAttention) {
  const std::string gemm =
      Write("gemm_perf.txt",
            "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
            "TRTLLM,1.0.0,\"NVIDIA A100, 80GB\",gemm,torch_flow,bfloat16,8,16,32,1.5\n"
            "TRTLLM,1.0.0,NVIDIA A100,gemm,torch_flow,fp8,8,16,32,0.25\n"
            "TRTLLM,1.0.0,NVIDIA A100,gemm,torch_flow,int4_wo,8,16,32,0.25\n");
  const ImportedTimes times = *ReadAiconfigurator(gemm, {});
  EXPECT_EQ(Rows(times), "gemm 8x16x32 bf16 1500000\ngemm 8x16x32 fp8 250000\n");
  EXPECT_EQ(times.left_out.at("gemm in int4_wo"), 1);
  const ProfileHeader header = {"g", "a", "b", "c", Clocks::kBurst};
  EXPECT_TRUE(ParseProfile(ProfileText(times, header), "p.csv")->quantized);
  const std::string attention =
      Write("context_attention_perf.txt",
            "framework,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,latency\n"
            "TRTLLM,2,1024,8,0,128,bfloat16,0.1\n");
  EXPECT_EQ(Rows(*ReadAiconfigurator(attention, {})),
            "attention-forward 2x1024x8x8x128 causal bf16 100000\n");
  EXPECT_EQ(ErrorOf(ReadAiconfigurator(Write("p", "PAR1..."), {})),
            "this is a Parquet file; make text of it with 'python3 -m drydock.parquet FILE -o "
            "FILE.csv', of the Python package with its extra 'parquet'");
  const auto bad =
      ReadAiconfigurator(Write("b.txt", "gemm_dtype,m,n,k,latency\nfloat16,8,x,32,1\n"), {});
  EXPECT_EQ(bad.error().diagnostics()[0].location.line, 2);
  EXPECT_EQ(bad.error().diagnostics()[0].location.column, 11);
  EXPECT_EQ(bad.error().message(), "expected a whole number from 0 for 'n', found 'x'");
}

// The prefill writes into the KV cache. With a cache of another type, or with a window, the kernel
// is different.
TEST_F(ImportTest, AiconfiguratorAttentionWithOtherCachesOrWindowsIsLeftOut) {
  const std::string path = Write(
      "context_attention_perf.txt",
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,kv_cache_dtype,window_size,"
      "latency\n1,64,8,8,128,bfloat16,bfloat16,0,0.1\n1,64,8,8,128,bfloat16,fp8,0,0.2\n"
      "1,64,8,8,128,bfloat16,bfloat16,32,0.3\n");
  const ImportedTimes times = *ReadAiconfigurator(path, {});
  EXPECT_EQ(Rows(times), "attention-forward 1x64x8x8x128 causal bf16 100000\n");
  EXPECT_EQ(times.left_out.at("attention in bfloat16 with a KV cache in fp8"), 1);
  EXPECT_EQ(times.left_out.at("attention in a window"), 1);
}

TEST_F(ImportTest, RefusesARepeatedColumn) {
  const auto twice =
      ReadAiconfigurator(Write("t.txt", "gemm_dtype,m,m,n,k,latency\nbfloat16,8,16,32,1.5\n"), {});
  EXPECT_EQ(ErrorOf(twice), "the column 'm' occurs twice");
  EXPECT_EQ(twice.error().diagnostics()[0].location.line, 1);
  EXPECT_EQ(twice.error().diagnostics()[0].location.column, 14);
  // The name of a column may be empty, as in the index columns of some tools. A row must have all
  // fields.
  EXPECT_EQ(ErrorOf(ReadAiconfigurator(
                Write("s.txt", ",gemm_dtype,m,n,,k,latency\n0,bfloat16,8,16,x,32\n"), {})),
            "expected 7 fields, as in the line of column names, found 6");
}

// One field too many would shift the later fields into wrong columns.
TEST_F(ImportTest, RefusesASurplusFieldAtItsPlace) {
  const auto more =
      ReadAiconfigurator(Write("m.txt", "gemm_dtype,m,n,k,latency\nbfloat16,8,16,32,1.5,7\n"), {});
  EXPECT_EQ(ErrorOf(more), "expected 5 fields, as in the line of column names, found 6");
  EXPECT_EQ(more.error().diagnostics()[0].location.line, 2);
  EXPECT_EQ(more.error().diagnostics()[0].location.column, 22);
  const auto quote = ReadAiconfigurator(
      Write("q.txt", "device,gemm_dtype,m,n,k,latency\n\"a, b\",\"bfloat16,8,16,32,1.5\n"), {});
  EXPECT_EQ(ErrorOf(quote), "this quote is not closed on its line");
  EXPECT_EQ(quote.error().diagnostics()[0].location.column, 8);
  const auto wrong = ReadAiconfigurator(
      Write("w.txt", "device,gemm_dtype,m,n,k,latency\n\"a, b\",bfloat16,8,16,32,-1\n"), {});
  EXPECT_EQ(ErrorOf(wrong), "expected a number above 0 for 'latency', found '-1'");
  EXPECT_EQ(wrong.error().diagnostics()[0].location.column, 25);
  EXPECT_EQ(
      ErrorOf(ReadVidur(Write("lfs", "version https://git-lfs.github.com/spec/v1\noid x\n"), {})),
      "this is a pointer of Git LFS, not the table; fetch it with 'git lfs pull'");
}

// A decode step has one query after `step` keys, and the same columns as a prefill.
TEST_F(ImportTest, AiconfiguratorGenerationIsLeftOut) {
  const std::string columns =
      "framework,version,device,op_name,kernel_source,batch_size,isl,num_heads,"
      "num_key_value_heads,head_dim,window_size,beam_width,attn_dtype,kv_cache_dtype,step,"
      "latency\n";
  const std::string path = Write(
      "generation_attention_perf.txt",
      columns +
          "TRTLLM,1.0.0,NVIDIA H100,generation_attention,torch_flow,1,1,32,8,128,0,1,bfloat16,"
          "bfloat16,4095,0.02\nTRTLLM,1.0.0,NVIDIA H100,generation_attention,torch_flow,1,1,"
          "32,8,128,0,1,bfloat16,fp8,1,0.01\n");
  const ImportedTimes times = *ReadAiconfigurator(path, {});
  EXPECT_EQ(Rows(times), "");
  EXPECT_EQ(times.left_out.at("attention after an earlier step (generation)"), 1);
  EXPECT_EQ(times.left_out.at("attention in bfloat16 with a KV cache in fp8"), 1);
  const std::string context = Write(
      "context_attention_perf.txt",
      columns +
          "TRTLLM,1.0.0,NVIDIA H100,context_attention,torch_flow,2,4096,32,0,128,0,1,bfloat16,"
          "bfloat16,0,1.25\n");
  EXPECT_EQ(Rows(*ReadAiconfigurator(context, {})),
            "attention-forward 2x4096x32x32x128 causal bf16 1250000\n");
  EXPECT_EQ(
      ErrorOf(ReadAiconfigurator(
          Write("context_mla_perf.txt", "mla_dtype,num_heads,isl,latency\nfloat16,8,8,1\n"), {})),
      "neither 'gemm_dtype' nor 'attn_dtype' is among the columns: no gemm_perf, "
      "context_attention_perf or generation_attention_perf");
}

// The reader of profiles reads what an importer writes.
TEST_F(ImportTest, RowsThatAProfileCannotHoldAreLeftOut) {
  const std::string path =
      Write("gemm_perf.txt",
            "gemm_dtype,m,n,k,latency\nbfloat16,0,16,32,1.5\nbfloat16,1e15,16,32,1.5\n"
            "bfloat16,8,16,32,1e-10\nbfloat16,8,16,32,1e10\nbfloat16,8,16,64,3e-7\n");
  const ImportedTimes times = *ReadAiconfigurator(path, {});
  EXPECT_EQ(times.left_out.at("gemm with an extent out of range"), 2);
  EXPECT_EQ(times.left_out.at("gemm with a time out of range"), 2);
  const Profile profile =
      *ParseProfile(ProfileText(times, {"h100-sxm-80g", "a", "b", "c", Clocks::kBurst}), "p.csv");
  EXPECT_EQ(profile.row_count(), 1u);
  EXPECT_EQ(FindRow(profile, Gemm(DataType::kBf16, 8, 16, 64))->time(), Time::Ps(300));
}

TEST_F(ImportTest, VidurRowsThatDoNotDivideAreLeftOut) {
  const std::string columns =
      "num_tokens,num_tensor_parallel_workers,n_embd,n_expanded_embd,n_head,n_kv_head,"
      "time_stats.mlp_up_proj.median\n";
  const ImportedTimes layer = *ReadVidur(
      Write("mlp.csv", columns + "512,3,4096,11008,32,8,0.5\n512,2,4096,11009,32,8,0.5\n"
                                 "512,2,4096,11008,32,64,0.5\n512,2,4096,11008,32,0,0.5\n"),
      {});
  EXPECT_EQ(Rows(layer), "");
  EXPECT_EQ(layer.left_out.at("row whose extents do not divide"), 3);
  EXPECT_EQ(layer.left_out.at("row without extents"), 1);
  const ImportedTimes attention = *ReadVidur(
      Write("attention.csv",
            "batch_size,prefill_chunk_size,kv_cache_size,num_tensor_parallel_workers,n_embd,"
            "n_q_head,n_kv_head,time_stats.attn_prefill.median\n1,256,0,3,4096,32,8,0.05\n"
            "1,256,0,8,4096,32,4,0.05\n1,256,0,8,4096,32,6,0.05\n"),
      {});
  EXPECT_EQ(Rows(attention), "attention-forward 1x256x4x1x128 causal bf16 50000\n");
  EXPECT_EQ(attention.left_out.at("row whose extents do not divide"), 2);
}

TEST(ImportedModel, RefusesExtentsThatTensorDoesNotDivide) {
  const auto error = [](const std::string& rest) {
    const auto model = ParseImportedModel("hidden: 4096, heads: 32, tensor: 8, " + rest);
    return model.ok() ? "no error" : model.error().message();
  };
  EXPECT_EQ(error("ffn: 16384, sequence: 2048, micro_batch: 2, vocab: 512"), "no error");
  EXPECT_EQ(error("ffn: 16385, sequence: 2048, micro_batch: 2, vocab: 512"),
            "--model: tensor must divide ffn and vocab");
  EXPECT_EQ(error("ffn: 16384, sequence: 2048, micro_batch: 2, vocab: 513"),
            "--model: tensor must divide ffn and vocab");
  EXPECT_EQ(error("ffn: 16384, sequence: 1073741824, micro_batch: 1073741824, vocab: 512"),
            "--model: micro_batch x heads x sequence is above 1099511627776");
}

TEST_F(ImportTest, VidurGivesTheKernelsOfALayer) {
  const std::string path =
      Write("mlp.csv",
            "num_tokens,num_tensor_parallel_workers,n_embd,n_expanded_embd,n_head,n_kv_head,"
            "use_gated_mlp,time_stats.mlp_up_proj.median,time_stats.mlp_act.median,"
            "time_stats.attn_pre_proj.median,time_stats.add.median\n"
            "512,2,4096,11008,32,8,True,0.5,0.02,0.25,\n");
  EXPECT_EQ(Rows(*ReadVidur(path, {DataType::kFp16, {}})),
            "gemm 512x11008x4096 fp16 500000\ngemm 512x3072x4096 fp16 250000\n"
            "swiglu 512x5504 fp16 20000\n");
  const std::string attention = Write(
      "attention.csv",
      "batch_size,prefill_chunk_size,kv_cache_size,num_tensor_parallel_workers,n_embd,n_q_head,"
      "n_kv_head,time_stats.attn_prefill.median\n1,256,768,2,4096,32,8,0.05\n4,0,768,2,4096,32,8,"
      "\n");
  const ImportedTimes times = *ReadVidur(attention, {DataType::kFp16, {}});
  EXPECT_EQ(Rows(times), "attention-forward 1x256x16x4x128 keys 1024 causal fp16 50000\n");
  EXPECT_EQ(times.left_out.at("decode"), 1);
}

// As in Vidur's files: five figures for each operation, rounded to a microsecond. If a model is not
// gated, some operations are unknown.
TEST_F(ImportTest, VidurFlagsAndRoundedTimes) {
  std::string columns;
  for (const char* op : {"emb", "input_layernorm", "attn_rope", "mlp_up_proj", "mlp_act"}) {
    for (const char* figure : {"min", "max", "mean", "median", "std"}) {
      columns += std::string("time_stats.") + op + "." + figure + ",";
    }
  }
  columns +=
      "n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,num_tokens,"
      "num_tensor_parallel_workers\n";
  std::string figures;
  for (const char* ms : {"0.1", "0.04", "0.03", "0.5", "0.0"}) {
    figures += "0.001,9.0," + std::string(ms) + "," + ms + ",0.0001,";
  }
  const auto read = [&](const std::string& gated) {
    return ReadVidur(
        Write("mlp.csv", columns + figures + "32,8,4096,14336,128256," + gated + ",64,1\n"), {});
  };
  const ImportedTimes gated = *read("True");
  EXPECT_EQ(Rows(gated),
            "gemm 64x28672x4096 bf16 500000\nrotary 64x5120 bf16 30000\n"
            "fused-norm 64x4096 bf16 40000\n");
  EXPECT_EQ(gated.left_out.at("swiglu with a time out of range"), 1);
  const ImportedTimes plain = *read("False");
  EXPECT_EQ(Rows(plain), "gemm 64x14336x4096 bf16 500000\n");
  EXPECT_EQ(plain.left_out.at("input_layernorm of an ungated model"), 1);
  EXPECT_EQ(ErrorOf(read("yes")), "expected True or False for 'use_gated_mlp', found 'yes'");
  EXPECT_EQ(ErrorOf(read("")), "expected True or False for 'use_gated_mlp', found ''");
}

// The sections of a GPT's forward pass that AIOB times, with Apex's layer norm.
TEST_F(ImportTest, AiobTimesGetTheShapesOfTheModel) {
  const std::string path = Write(
      "aiob.txt",
      "train_iter:10\nEmb:\n    time_gpu_max: 857\n    time_gpu_min: 782\n    time_gpu_avg: 799\n"
      "layernorm:\n    time_gpu_max: 84\n    time_gpu_min: 43\n    time_gpu_avg: 70\natten_qkv:\n"
      "    time_gpu_avg: 120\natten_flash:\n    time_gpu_avg: 51.25\natten_linear:\n    "
      "time_gpu_avg: 40\nmlp_linear_1:\n    time_gpu_avg: 150\nmlp_gelu:\n    time_gpu_avg: 30.5\n"
      "logit_time:\n    time_gpu_avg: 900\nparam_time:\n    time_gpu_avg: 9\n");
  const std::string words =
      "hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, tensor: 8, vocab: 512, ";
  const auto read = [&](const std::string& file, const std::string& more) {
    return ReadAiob(file, {DataType::kFp16, *ParseImportedModel(words + more)});
  };
  const ImportedTimes times = *read(path, "micro_batch: 1, sequence_parallel: true");
  EXPECT_EQ(Rows(times),
            "fused-norm 256x4096 fp16 70000\ngemm 2048x1536x4096 fp16 120000\n"
            "attention-forward 1x2048x4x4x128 causal fp16 51250\ngemm 2048x4096x512 fp16 40000\n"
            "gemm 2048x2048x4096 fp16 150000\ngelu 2048x2048 fp16 30500\n"
            "gemm 2048x64x4096 fp16 900000\n");
  EXPECT_EQ(times.left_out, (std::map<std::string, int64_t>{{"Emb", 1}, {"param_time", 1}}));
  const ImportedTimes gated = *read(path, "micro_batch: 2, gated: true");
  EXPECT_EQ(Rows(gated),
            "fused-norm 4096x4096 fp16 70000\ngemm 4096x1536x4096 fp16 120000\n"
            "attention-forward 2x2048x4x4x128 causal fp16 51250\n"
            "gemm 4096x4096x4096 fp16 150000\ngemm 4096x64x4096 fp16 900000\n");
  EXPECT_EQ(gated.left_out.at("atten_linear with a copy"), 1);
  EXPECT_EQ(gated.left_out.at("mlp_gelu of several kernels"), 1);
}

// Without FlashAttention, the time of the last GEMM includes the copy after it, and PyTorch's
// softmax comes after a multiplication.
TEST_F(ImportTest, AiobUnfusedAttentionGivesOnlyTimesOfSingleKernels) {
  const std::string path =
      Write("core.txt",
            "atten_core_qk:\n  time_gpu_avg: 1\natten_core_softmax:\n  time_gpu_avg: 2\n"
            "atten_core_contex:\n  time_gpu_avg: 3\natten_linear:\n  time_gpu_avg: 4\n");
  const ImportedModel model = *ParseImportedModel(
      "hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, micro_batch: 2, tensor: 8, vocab: 512");
  const ImportedTimes half = *ReadAiob(path, {DataType::kFp16, model});
  EXPECT_EQ(Rows(half),
            "batched-gemm 8x2048x2048x128 fp16 1000\ncausal-softmax 16384x2048 fp16 2000\n"
            "gemm 4096x4096x512 fp16 4000\n");
  EXPECT_EQ(half.left_out.at("atten_core_contex with a copy"), 1);
  EXPECT_EQ(ReadAiob(path, {DataType::kBf16, model})
                ->left_out.at("atten_core_softmax of several kernels"),
            1);
  const ImportedTimes deepseek =
      *ReadAiob(Write("d.txt",
                      "attention_q_column:\n time_gpu_avg: 1\nmlp_linear_1:\n "
                      "time_gpu_avg: 2\n"),
                {DataType::kBf16, model});
  EXPECT_EQ(Rows(deepseek), "");
  EXPECT_EQ(deepseek.left_out.at("mlp_linear_1 of a DeepSeek model"), 1);
}

TEST_F(ImportTest, RefusesMistakesInAiobFiles) {
  EXPECT_NE(ErrorOf(ReadAiob(Write("a.txt", ""), {})).find("--model"), std::string::npos);
  const ImportOptions options{DataType::kFp16,
                              *ParseImportedModel("hidden: 4096, ffn: 16384, heads: 32, sequence: "
                                                  "2048, micro_batch: 2, tensor: 8, vocab: 512")};
  for (const char* time : {"30.5 ms", "0", "-3", "nan", "1e30", ""}) {
    const auto bad = ReadAiob(
        Write("u.txt", std::string("atten_qkv:\n  time_gpu_avg: ") + time + "\n"), options);
    EXPECT_EQ(ErrorOf(bad), "expected a time above 0, in microseconds and without a unit") << time;
    EXPECT_EQ(bad.error().diagnostics()[0].location.line, 2);
  }
  EXPECT_EQ(ErrorOf(ReadAiob(Write("s.txt", "  time_gpu_avg: 3\n"), options)),
            "this time is not in a section");
  EXPECT_EQ(Rows(*ReadAiob(Write("r.txt", "atten_qkv:\r\n  time_gpu_avg: 30.5 \r\n"), options)),
            "gemm 4096x1536x4096 fp16 30500\n");
}

TEST_F(ImportTest, AttentionWithContradictingHeadsIsLeftOut) {
  const ImportedTimes times = *ReadAiconfigurator(
      Write("context_attention_perf.txt",
            "batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,latency\n"
            "2,1024,8,16,128,bfloat16,0.1\n"),
      {});
  EXPECT_EQ(times.left_out.at("attention-forward that contradicts itself"), 1);
}

// No value in the header can begin a new line.
TEST_F(ImportTest, EachHeaderValueIsOneLine) {
  ImportedTimes times;
  times.Add(Gemm(DataType::kBf16, 8, 16, 32), 5);
  const std::string text =
      ProfileText(times, {"g", "a\n# gpu: other", "b\rc", "d\n", Clocks::kBurst});
  EXPECT_EQ(text.substr(0, text.find("kernel,")),
            "# gpu: g\n# provenance: a # gpu: other\n# method: b c\n# date: d \n# clocks: burst\n");
  EXPECT_EQ(ParseProfile(text, "p.csv")->gpu, "g");
}

TEST_F(ImportTest, ProfileHasTheMedianOfEachKernel) {
  ImportedTimes times;
  for (const double us : {5.0, 9.0, 6.0})
    times.rows.push_back({Gemm(DataType::kBf16, 8, 16, 32), us});
  times.rows.push_back({MemoryKernel(KernelKind::kGelu, DataType::kFp16, 64, 128, 1), 2});
  EXPECT_EQ(CountDisagreeing(times), 0);
  times.rows.push_back({UsualMemoryKernel(KernelKind::kGelu, DataType::kFp16, 64, 256), 2});
  times.rows.push_back({UsualMemoryKernel(KernelKind::kGelu, DataType::kFp16, 64, 256), 4.1});
  EXPECT_EQ(CountDisagreeing(times), 1);
  times.rows.resize(times.rows.size() - 2);
  const std::string text =
      ProfileText(times, {"h100-sxm-80g", "a test", "none", "never", Clocks::kSustained});
  const Profile profile = *ParseProfile(text, "p.csv");
  EXPECT_EQ(profile.row_count(), 2u);
  EXPECT_EQ(profile.clocks, Clocks::kSustained);
  EXPECT_EQ(FindRow(profile, Gemm(DataType::kBf16, 8, 16, 32))->time(), Time::Us(6));
}

}  // namespace
}  // namespace drydock
