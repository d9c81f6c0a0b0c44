#include "workload-gen/import/overlap_config.h"

#include <gmock/gmock.h>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"
#include "workload-gen/import/job_source.h"

namespace drydock {
namespace {

using ::testing::ElementsAre;

constexpr const char* kBoth = R"(# two GEMMs
qkv_fprop: {method: ring_exchange, aggregate: 0}
qkv_dgrad: {method: bulk, num_sm: 4, cga_size: 2, set_sm_margin: 0}
proj_fprop: {method: pipeline, num_sm: 24, num_splits: 4}
fc2_fprop:
  method: ring_exchange
)";

std::string Message(const std::string& text, bool strict = false) {
  ImportNotes notes;
  const Result<YamlNode> section = OverlapFromConfig(text, "ub.yaml", strict, &notes);
  return section.ok() ? "" : section.error().ToString();
}

TEST(OverlapConfig, ReadsTheFormsOfReduceScatters) {
  ImportNotes notes;
  const Result<YamlNode> section = OverlapFromConfig(kBoth, "ub.yaml", false, &notes);
  ASSERT_TRUE(section.ok()) << section.error().ToString();
  ASSERT_EQ(section->entries.size(), 2u);
  EXPECT_EQ(section->Find("tensor_scatter_proj")->scalar, "pipelined");
  EXPECT_EQ(section->Find("tensor_scatter_fc2")->scalar, "ring");
  EXPECT_THAT(notes.unmodeled,
              ElementsAre("num_sm (multiprocessors of a kernel)",
                          "cga_size (clusters of thread blocks)", "num_splits (parts of a GEMM)",
                          "set_sm_margin (multiprocessors left to a kernel)",
                          "aggregate (pairs of parts)"));
}

TEST(OverlapConfig, Mistakes) {
  EXPECT_EQ(
      Message("proj_fprop: {method: pipline}"),
      "ub.yaml:1:22: error: method 'pipline' is not generated for proj_fprop; valid values are "
      "pipeline, ring_exchange\n"
      "  proj_fprop: {method: pipline}\n"
      "                       ^");
  EXPECT_EQ(
      Message("proj_fprob: {method: pipeline}\nfc2_fprop: {num_sms: 3}"),
      "ub.yaml:1:1: error: Transformer Engine has no GEMM 'proj_fprob' to overlap; did you mean "
      "'proj_fprop'?\n"
      "  proj_fprob: {method: pipeline}\n"
      "  ^\n"
      "ub.yaml:2:13: error: unknown key 'num_sms'; did you mean 'num_sm'?\n"
      "  fc2_fprop: {num_sms: 3}\n"
      "              ^");
  EXPECT_EQ(Message("qkv_wgrad: {method: ring_exchange}").substr(0, 81),
            "ub.yaml:1:21: error: method 'ring_exchange' is not generated for qkv_wgrad; valid");
  EXPECT_EQ(Message("[1, 2]").substr(0, 75),
            "ub.yaml:1:1: error: expected a mapping of the GEMMs that Transformer Engine");
  EXPECT_EQ(Message("fc2_fprop: 3").substr(0, 55),
            "ub.yaml:1:12: error: 'fc2_fprop' must be a mapping\n  fc");
  EXPECT_EQ(Message("fc2_fprop: {fp8_buf: true}", /*strict=*/true).substr(0, 62),
            "ub.yaml:1:13: error: not modeled: fp8_buf (sums sent in fp8)\n ");
}

class OverlapFromTest : public ::testing::Test {
 protected:
  OverlapFromTest() { EXPECT_TRUE(WriteFileAtomically(dir_ / "ub.yaml", kBoth).ok()); }
  Result<TrainingJob> Script(const std::string& more, bool strict = false) {
    const std::string line =
        "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --bf16 --num-attention-heads 8 "
        "--seq-length 32 --max-position-embeddings 32 --micro-batch-size 1 --global-batch-size 8 "
        "--vocab-size 100 --tensor-model-parallel-size 2 --sequence-parallel --tp-comm-overlap ";
    EXPECT_TRUE(WriteFileAtomically(dir_ / "run.sh", line + more + "\n").ok());
    notes_ = {};
    JobSource source;
    source.path = dir_ / "run.sh";
    source.megatron_arguments = true;
    source.strict = strict;
    return LoadJob(source, {}, &notes_);
  }

  drydock::testing::TemporaryDirectory dir_;
  ImportNotes notes_;
};

TEST_F(OverlapFromTest, ALaunchScriptNamesIt) {
  const Result<TrainingJob> job = Script("--tp-comm-overlap-cfg ub.yaml");
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->overlap.scatter_proj, ScatterForm::kPipelined);
  EXPECT_EQ(job->overlap.scatter_fc2, ScatterForm::kRing);
  EXPECT_EQ(notes_.unmodeled.size(), 5u);
}

TEST_F(OverlapFromTest, ARecipeHasAMap) {
  const auto job = [&](const std::string& sections, const std::string& model = "") {
    const std::string path = dir_ / "recipe.yaml";
    EXPECT_TRUE(
        WriteFileAtomically(
            path,
            "train: {global_batch_size: 8, micro_batch_size: 1}\nmodel: {num_layers: 4,\n"
            "  hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 256, seq_length: 32,\n"
            "  vocab_size: 128, bf16: true, tensor_model_parallel_size: 2,\n"
            "  sequence_parallel: true" +
                model + "}\n" + sections)
            .ok());
    notes_ = {};
    JobSource source;
    source.path = path;
    source.megatron_arguments = true;
    return LoadJob(source, {}, &notes_);
  };
  const std::string map =
      "tp_comm_overlap_cfg: {_target_: a.B, proj_fprop: {_target_: a.C, method: ring_exchange},\n"
      "  fc2_fprop: {method: pipeline, num_sm: 4}, qkv_dgrad: null}";
  const Result<TrainingJob> bridge = job("comm_overlap: {tp_comm_overlap: true, " + map + "}\n");
  ASSERT_TRUE(bridge.ok()) << bridge.error().ToString();
  EXPECT_EQ(bridge->overlap.scatter_proj, ScatterForm::kRing);
  EXPECT_EQ(bridge->overlap.scatter_fc2, ScatterForm::kPipelined);
  EXPECT_THAT(notes_.unmodeled, ElementsAre("num_sm (multiprocessors of a kernel)"));
  const Result<TrainingJob> dump = job("", ", tp_comm_overlap: true, " + map);
  ASSERT_TRUE(dump.ok()) << dump.error().ToString();
  EXPECT_EQ(dump->overlap.scatter_proj, ScatterForm::kRing);
  EXPECT_TRUE(job("", ", tp_comm_overlap: false, " + map).ok());
  EXPECT_TRUE(notes_.unmodeled.empty()) << "no overlap";
  const Result<TrainingJob> wrong =
      job("comm_overlap: {tp_comm_overlap: true, tp_comm_overlap_cfg: {proj_fprob: {}}}\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(),
            "Transformer Engine has no GEMM 'proj_fprob' to overlap; did you mean 'proj_fprop'?");
}

TEST_F(OverlapFromTest, AMissingFileIsReported) {
  const Result<TrainingJob> job = Script("--tp-comm-overlap-cfg other.yaml");
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->overlap.scatter_fc2, ScatterForm::kPipelined);
  EXPECT_THAT(notes_.unmodeled,
              ElementsAre("--tp-comm-overlap-cfg (there is no '" + (dir_ / "other.yaml") + "')"));
  EXPECT_FALSE(Script("--tp-comm-overlap-cfg other.yaml", /*strict=*/true).ok());
}

TEST_F(OverlapFromTest, KeysOfTheModelFileTakePrecedence) {
  const std::string model =
      "model: {architecture: gpt, layers: 2, hidden: 64, heads: 8, vocab: 100, sequence: 32}\n"
      "training: {framework: megatron, precision: bf16, micro_batch: 1, global_batch: 8, "
      "recompute: none, optimizer: adam}\n"
      "parallel: {tensor: 2, sequence_parallel: true, pipeline: 1}\n"
      "overlap: {tensor: true, from: ub.yaml, tensor_scatter_proj: ring}\n";
  EXPECT_TRUE(WriteFileAtomically(dir_ / "m.yaml", model).ok());
  JobSource source;
  source.path = dir_ / "m.yaml";
  const Result<TrainingJob> job = LoadJob(source, {}, &notes_);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->overlap.scatter_proj, ScatterForm::kRing);
  EXPECT_EQ(job->overlap.scatter_fc2, ScatterForm::kRing);
  const Result<TrainingJob> missing = LoadJob(source, {"overlap.from=none.yaml"}, &notes_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(
      missing.error().ToString().substr(0, 86),
      "--set overlap.from=none.yaml: error: none.yaml: error: cannot read: No such file or di");
}

}  // namespace
}  // namespace drydock
