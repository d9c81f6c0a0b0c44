// "Do other tools' files become the right rows?" Files as those tools write them, made here.
#include "compute-sim/import.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "compute-sim/profile.h"
#include "compute-sim/traced_op.h"
#include "core/base/files.h"
#include "core/base/testing.h"

namespace drydock {
namespace {

class ImportTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = dir_.path() + "/" + name;
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
    return path;
  }
  // "gemm 8x16x32 bf16 1500", a line a row.
  static std::string Rows(const ImportedTimes& times) {
    std::string text;
    for (const ImportedTimes::Row& row : times.rows) {
      text += InfoOf(row.kernel.kind).name + " " + ShapeString(row.kernel) + " " +
              std::to_string(static_cast<int64_t>(row.us * 1000 + 0.5)) + "\n";
    }
    return text;
  }
  static std::string ErrorOf(const Result<ImportedTimes>& result) {
    return result.ok() ? "no error" : result.error().message();
  }

  drydock::testing::TemporaryDirectory dir_;
};

TEST_F(ImportTest, AiconfiguratorGivesProductsAndAttention) {
  const std::string gemm =
      Write("gemm_perf.txt",
            "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
            "TRTLLM,1.0.0,\"NVIDIA A100, 80GB\",gemm,torch_flow,bfloat16,8,16,32,1.5\n"
            "TRTLLM,1.0.0,NVIDIA A100,gemm,torch_flow,fp8,8,16,32,0.25\n"
            "TRTLLM,1.0.0,NVIDIA A100,gemm,torch_flow,int4_wo,8,16,32,0.25\n");
  const ImportedTimes times = *ReadAiconfigurator(gemm, {});
  EXPECT_EQ(Rows(times), "gemm 8x16x32 bf16 1500000\ngemm 8x16x32 fp8 250000\n");
  EXPECT_EQ(times.left_out.at("gemm in int4_wo"), 1);
  const std::string attention =
      Write("context_attention_perf.txt",
            "framework,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,latency\n"
            "TRTLLM,2,1024,8,0,128,bfloat16,0.1\n");
  EXPECT_EQ(Rows(*ReadAiconfigurator(attention, {})),
            "attention-forward 2x1024x8x8x128 causal bf16 100000\n");
  EXPECT_EQ(ErrorOf(ReadAiconfigurator(Write("p", "PAR1..."), {})),
            "this is a Parquet file; export it as comma-separated text first");
  const auto bad =
      ReadAiconfigurator(Write("b.txt", "gemm_dtype,m,n,k,latency\nfloat16,8,x,32,1\n"), {});
  EXPECT_EQ(bad.error().diagnostics()[0].location.line, 2);
  EXPECT_EQ(bad.error().diagnostics()[0].location.column, 11);
  EXPECT_EQ(bad.error().message(), "expected a whole number from 0 for 'n', found 'x'");
}

// The prefill writes into the KV cache: in another type, or in a window, it is another kernel.
TEST_F(ImportTest, AiconfiguratorsOtherAttentionIsLeftOut) {
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

TEST_F(ImportTest, AColumnThatIsThereTwiceIsRefused) {
  const auto twice =
      ReadAiconfigurator(Write("t.txt", "gemm_dtype,m,m,n,k,latency\nbfloat16,8,16,32,1.5\n"), {});
  EXPECT_EQ(ErrorOf(twice), "the column 'm' is there twice");
  EXPECT_EQ(twice.error().diagnostics()[0].location.line, 1);
  EXPECT_EQ(twice.error().diagnostics()[0].location.column, 14);
  // Names may be missing, as an index's often is; fields may not.
  EXPECT_EQ(ErrorOf(ReadAiconfigurator(
                Write("s.txt", ",gemm_dtype,m,n,,k,latency\n0,bfloat16,8,16,x,32\n"), {})),
            "expected 7 fields, as in the line of column names, found 6");
}

// What an importer writes is what a profile's reader takes.
TEST_F(ImportTest, WhatAProfileCannotHoldIsLeftOut) {
  const std::string path =
      Write("gemm_perf.txt",
            "gemm_dtype,m,n,k,latency\nbfloat16,0,16,32,1.5\nbfloat16,1e15,16,32,1.5\n"
            "bfloat16,8,16,32,1e-10\nbfloat16,8,16,32,1e10\nbfloat16,8,16,64,3e-7\n");
  const ImportedTimes times = *ReadAiconfigurator(path, {});
  EXPECT_EQ(times.left_out.at("gemm with an extent out of range"), 2);
  EXPECT_EQ(times.left_out.at("gemm with a time out of range"), 2);
  const Profile profile =
      *ParseProfile(ProfileText(times, {"h100-sxm-80g", "a", "b", "c", true}), "p.csv");
  EXPECT_EQ(profile.row_count(), 1u);
  EXPECT_EQ(FindRow(profile, Gemm(DataType::kBf16, 8, 16, 64))->time(), Time::Ps(300));
}

TEST_F(ImportTest, VidursRowsThatDoNotDivideAreLeftOut) {
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

TEST(ImportedModel, WhatTensorDoesNotDivideIsRefused) {
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

TEST_F(ImportTest, VidurGivesALayersPieces) {
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

TEST_F(ImportTest, AiobsTimesGetTheModelsShapes) {
  const std::string path = Write(
      "aiob.txt",
      "train_iter:10\natten_qkv:\n    time_gpu_max: 130\n    time_gpu_min: 110\n    time_gpu_avg: "
      "120\nmlp_gelu:\n    time_gpu_avg: 30.5\nparam_time:\n    time_gpu_avg: 9\n");
  ImportOptions options{DataType::kFp16,
                        *ParseImportedModel("hidden: 4096, ffn: 16384, heads: 32, sequence: 2048, "
                                            "micro_batch: 2, tensor: 8, vocab: 512")};
  const ImportedTimes times = *ReadAiob(path, options);
  EXPECT_EQ(Rows(times), "gemm 4096x1536x4096 fp16 120000\ngelu 4096x2048 fp16 30500\n");
  EXPECT_EQ(times.left_out.at("param_time"), 1);
  EXPECT_NE(ErrorOf(ReadAiob(path, {})).find("--model"), std::string::npos);
  const auto unit = ReadAiob(Write("u.txt", "atten_qkv:\n  time_gpu_avg: 30.5 ms\n"), options);
  EXPECT_EQ(ErrorOf(unit), "expected a time above 0, in microseconds and without a unit");
  EXPECT_EQ(unit.error().diagnostics()[0].location.line, 2);
  EXPECT_EQ(Rows(*ReadAiob(Write("r.txt", "atten_qkv:\r\n  time_gpu_avg: 30.5 \r\n"), options)),
            "gemm 4096x1536x4096 fp16 30500\n");
}

TEST_F(ImportTest, KinetoKernelsBelongToTheOperatorThatLaunchedThem) {
  const std::string path = Write("trace.json", R"({"traceEvents": [
    {"cat": "kernel", "name": "sm90_gemm", "dur": 40.5, "args": {"External id": 7}},
    {"cat": "kernel", "name": "splitKreduce", "dur": 2, "args": {"External id": 7}},
    {"cat": "cpu_op", "name": "aten::addmm", "dur": 100, "args": {"External id": 7,
     "Input Dims": [[64], [8, 32], [32, 64], [], []],
     "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]}},
    {"cat": "cpu_op", "name": "aten::_scaled_dot_product_flash_attention", "args": {
     "External id": 8, "Input Dims": [[1, 8, 64, 128], [1, 2, 64, 128], [1, 2, 64, 128], [], []],
     "Concrete Inputs": ["", "", "", "0.", "True"],
     "Input type": ["c10::Half", "c10::Half", "c10::Half"]}},
    {"cat": "kernel", "name": "flash_fwd", "dur": 10, "args": {"External id": 8}},
    {"cat": "cpu_op", "name": "aten::relu", "args": {"External id": 9}},
    {"cat": "kernel", "name": "relu", "dur": 3, "args": {"External id": 9}},
    {"cat": "kernel", "name": "x", "dur": 3, "args": {"External id": 10}}]})");
  const ImportedTimes times = *ReadKineto(path, {});
  EXPECT_EQ(Rows(times),
            "gemm 8x64x32 bf16 42500\nattention-forward 1x64x8x2x128 causal fp16 10000\n");
  EXPECT_EQ(times.left_out.at("aten::relu"), 1);
  EXPECT_EQ(times.left_out.at("kernel without an operator"), 1);
  EXPECT_NE(ErrorOf(ReadKineto(Write("x.json", "{"), {})).find("no JSON"), std::string::npos);
  EXPECT_NE(ErrorOf(ReadKineto(Write("y.json", "{}"), {})).find("traceEvents"), std::string::npos);
  EXPECT_NE(ErrorOf(ReadKineto(Write("z.json", R"({"traceEvents": [{"cat": 1, "args":
    {"External id": 1}}]})"),
                               {}))
                .find("no trace"),
            std::string::npos);
  const ImportedTimes huge = *ReadKineto(Write("h.json", R"({"traceEvents": [
    {"cat": "kernel", "dur": 40.5, "args": {"External id": 7}},
    {"cat": "cpu_op", "name": "aten::gelu", "args": {"External id": 7, "Input type": ["c10::Half"],
     "Input Dims": [[4294967296, 4294967296, 4096]]}}]})"),
                                         {});
  EXPECT_EQ(Rows(huge), "");
  EXPECT_EQ(huge.left_out.at("aten::gelu"), 1);
}

// Two operators, one inside the other; a launch goes to the inner one. A second process has
// launches of the same numbers.
TEST_F(ImportTest, NsightsKernelsBelongToTheInnermostRange) {
  const std::string path = dir_.path() + "/report.sqlite";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const char* sql =
      "CREATE TABLE StringIds(id INTEGER, value TEXT);"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, text TEXT, textId INTEGER, globalTid "
      "INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER, "
      "globalTid INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, correlationId INTEGER, "
      "globalPid INTEGER);"
      "INSERT INTO StringIds VALUES (5, 'aten::mm, op_id = 4, sizes = [[8, 32], [32, 64]]');"
      "INSERT INTO NVTX_EVENTS VALUES (100, 500, 'aten::linear, op_id = 3, sizes = [[8, 32], [64, "
      "32]]', NULL, 1), (150, 400, NULL, 5, 1), (410, 420, 'aten::relu, op_id = 5, sizes = [[8]]', "
      "NULL, 1), (0, 9000, 'step', NULL, 1), (100, 500, 'aten::gelu, op_id = 3, sizes = [[8, "
      "32]]', "
      "NULL, 83886081);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (200, 210, 11, 1), (411, 412, 12, 1), (600, "
      "601, 13, 1), (200, 201, 14, 2), (200, 210, 11, 83886081);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 43500, 11, 0), (44000, 45000, 12, 0), "
      "(50000, "
      "50001, 13, 0), (60000, 60001, 14, 0), (1000, 8000, 11, 83886080);";
  ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const ImportedTimes times = *ReadNsys(path, {});
  EXPECT_EQ(Rows(times), "gemm 8x64x32 bf16 42500\ngelu 8x32 bf16 7000\n");
  EXPECT_EQ(times.left_out.at("aten::relu"), 1);
  EXPECT_EQ(times.left_out.at("kernel without an operator"), 2);
  EXPECT_NE(ErrorOf(ReadNsys(Write("n.sqlite", "no database, but text that is long enough"), {}))
                .find("no export of Nsight Systems"),
            std::string::npos);
}

TEST_F(ImportTest, AProfileHasTheMedianOfEachKernel) {
  ImportedTimes times;
  for (const double us : {5.0, 9.0, 6.0})
    times.rows.push_back({Gemm(DataType::kBf16, 8, 16, 32), us});
  times.rows.push_back({MemoryKernel(KernelKind::kGelu, DataType::kFp16, 64, 128, 1), 2});
  const std::string text = ProfileText(times, {"h100-sxm-80g", "a test", "none", "never", false});
  const Profile profile = *ParseProfile(text, "p.csv");
  EXPECT_EQ(profile.row_count(), 2u);
  EXPECT_FALSE(profile.burst);
  EXPECT_EQ(FindRow(profile, Gemm(DataType::kBf16, 8, 16, 32))->time(), Time::Us(6));
}

TEST(TracedOp, ShapesThatDoNotFitAreNoKernel) {
  EXPECT_FALSE(KernelOfOp("aten::mm", {{8, 32}, {16, 64}}, DataType::kBf16, false).has_value());
  EXPECT_FALSE(KernelOfOp("aten::mm", {{8, 0}, {0, 64}}, DataType::kBf16, false).has_value());
  EXPECT_FALSE(KernelOfOp("aten::mm", {{8, 32}}, DataType::kBf16, false).has_value());
  EXPECT_TRUE(KernelOfOp("aten::gelu", {{1 << 20, 1 << 20, 8}}, DataType::kBf16, false));
  EXPECT_FALSE(KernelOfOp("aten::gelu", {{1 << 20, 1 << 21, 8}}, DataType::kBf16, false));
  EXPECT_FALSE(ParseShapes("[[1, 2").has_value());
  EXPECT_FALSE(ParseShapes("[[1, -2]]").has_value());
  EXPECT_EQ(ParseShapes("[[1, 2], [], [3]], more")->size(), 3u);
}

}  // namespace
}  // namespace drydock
