#include "workload-gen/import/job_source.h"

#include "core/base/files.h"
#include "core/testing/unit_testing.h"
#include "workload-gen/job_text.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

constexpr const char* kConfig = R"({
  "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
  "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000
})";

constexpr const char* kRest = R"(
training: {framework: megatron, precision: bf16, micro_batch: 1, global_batch: 8,
           recompute: none, optimizer: adam}
parallel: {tensor: 1, pipeline: 1}
)";

class JobSourceTest : public ::testing::Test {
 protected:
  JobSourceTest() { EXPECT_TRUE(WriteFileAtomically(dir_ / "config.json", kConfig).ok()); }
  Result<TrainingJob> Load(const std::string& model,
                           const std::vector<std::string>& overrides = {}) {
    EXPECT_TRUE(WriteFileAtomically(dir_ / "model.yaml", model + kRest).ok());
    notes_ = {};
    return LoadJob({dir_ / "model.yaml"}, overrides, &notes_);
  }

  drydock::testing::TemporaryDirectory dir_;
  ImportNotes notes_;
};

TEST_F(JobSourceTest, ReadsAConfigurationBesideTheModel) {
  const Result<TrainingJob> job = Load("model: {from: config.json, sequence: 2048, layers: 2}");
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->model.name, "model");
  EXPECT_EQ(job->model.hidden, 4096);
  EXPECT_EQ(job->model.layers, 2) << "keys of the model file take precedence";
  EXPECT_NE(job->yaml.find("11008"), std::string::npos) << "the job contains the configuration";
}

TEST_F(JobSourceTest, OverridesTakePrecedence) {
  const Result<TrainingJob> job =
      Load("model: {from: config.json, sequence: 2048}", {"model.hidden=8192"});
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->model.hidden, 8192);
}

TEST_F(JobSourceTest, AnotherRecomputationReplacesWhatTheFileSaysOfItsOwn) {
  const std::string path = dir_ / "full.yaml";
  const std::string text = R"(
model: {from: config.json, sequence: 2048}
training: {framework: megatron, precision: bf16, micro_batch: 1, global_batch: 8, optimizer: adam,
           recompute: full, recompute_method: block, recompute_layers: 3}
parallel: {tensor: 1, pipeline: 1}
)";
  ASSERT_TRUE(WriteFileAtomically(path, text).ok());
  const Result<TrainingJob> job = LoadJob({path}, {"training.recompute=none"}, &notes_);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->training.recompute.granularity, Recompute::kNone);
  EXPECT_EQ(notes_.remarks, (std::vector<std::string>{
                                "recompute_method is left out: it needs recompute: full, and --set "
                                "training.recompute=none",
                                "recompute_layers is left out: it needs recompute: full, and --set "
                                "training.recompute=none"}));
  // What the same call gives is not left out.
  EXPECT_FALSE(
      LoadJob({path}, {"training.recompute=none", "training.recompute_method=uniform"}, &notes_)
          .ok());
}

TEST_F(JobSourceTest, AMissingConfigurationIsAnError) {
  const Result<TrainingJob> job = Load("model: {from: confg.json, sequence: 2048}");
  ASSERT_FALSE(job.ok());
  const std::string message = job.error().ToString();
  EXPECT_NE(message.find("model.yaml:1:15: error: " + (dir_ / "confg.json") +
                         ": error: cannot read: No such file or directory"),
            std::string::npos)
      << message;
}

TEST_F(JobSourceTest, ReportsMistakesInTheConfiguration) {
  EXPECT_TRUE(WriteFileAtomically(dir_ / "config.json",
                                  "{\"model_type\": \"llama\",\n"
                                  " \"hidden_size\": -1}")
                  .ok());
  const Result<TrainingJob> job = Load(
      "model: {from: config.json, sequence: 2048, layers: 2, "
      "heads: 2, ffn: 8, vocab: 8, head_dim: 4}");
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().ToString().find("config.json:2:17: error: 'hidden' is -1; it must be"),
            std::string::npos)
      << job.error().ToString();
}

TEST_F(JobSourceTest, ShippedLaunchScriptEqualsItsModel) {
  ImportNotes notes;
  const Result<TrainingJob> script = LoadJob({"configs/models/mixtral-8x7b.sh", true}, {}, &notes);
  ASSERT_TRUE(script.ok()) << script.error().ToString();
  const Result<TrainingJob> yaml = LoadJob({"configs/models/mixtral-8x7b.yaml"}, {}, &notes);
  ASSERT_TRUE(yaml.ok()) << yaml.error().ToString();
  EXPECT_EQ(JobText(*script), JobText(*yaml));
  EXPECT_TRUE(notes.unknown.empty() && notes.unmodeled.empty() && notes.remarks.empty());
}

TEST_F(JobSourceTest, ALaunchScriptWithItsVariables) {
  const std::string script = dir_ / "run.sh";
  EXPECT_TRUE(
      WriteFileAtomically(script,
                          "torchrun pretrain_gpt.py --num-layers $LAYERS --hidden-size 64 --bf16 "
                          "--num-attention-heads 8 --seq-length 32 --max-position-embeddings 32 "
                          "--micro-batch-size 1 --global-batch-size 8 --vocab-size 100 --lr 1\n")
          .ok());
  ImportNotes notes;
  const Result<TrainingJob> job =
      LoadJob({script, true, {"LAYERS=3"}}, {"model.hidden=128"}, &notes);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->model.name, "run");
  EXPECT_EQ(job->model.layers, 3);
  EXPECT_EQ(job->model.hidden, 128);
  EXPECT_EQ(notes.ignored, std::vector<std::string>{"--lr"});
  EXPECT_FALSE(LoadJob({script, true, {"LAYERS"}}, {}, &notes).ok());
}

}  // namespace
}  // namespace drydock
