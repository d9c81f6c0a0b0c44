#include "workload-gen/job/training_job.h"

#include <fmt/format.h>

#include <random>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const Result<TrainingJob> job = ParseTrainingJob(text, "test.yaml", overrides);
  return job.ok() ? "" : job.error().ToString();
}

// Returns kTestJob with one piece of text replaced.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kTestJob;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TrainingJob, ReadsAGptWithTheFamilysDefaults) {
  const TrainingJob job = TestJob();
  EXPECT_EQ(job.model.name, "test");
  EXPECT_EQ(job.model.layers, 8);
  EXPECT_EQ(job.model.mlp.ffn, 256);
  EXPECT_EQ(job.model.attention.head_dim, 8);
  EXPECT_EQ(job.model.attention.kv_heads, 8);
  EXPECT_EQ(job.model.embedding.max_positions, 32);
  EXPECT_TRUE(job.model.embedding.learned_positions());
  EXPECT_TRUE(job.model.embedding.tied);
  EXPECT_TRUE(job.model.attention.qkv_bias);
  EXPECT_FALSE(job.model.mlp.gated());
  EXPECT_EQ(job.training.precision.type, DataType::kFp16);
  EXPECT_EQ(job.parallel.data, 0);
  EXPECT_TRUE(job.overlap.tensor_backward);
}

// As in Megatron-LM: by default, gradients of bf16 are fp32 and those of fp16 are fp16.
TEST(TrainingJob, GradientTypesDefaultToMegatrons) {
  const auto gradients = [](const char* precision) {
    return TestJob({fmt::format("training.precision={}", precision)}).training.precision.gradients;
  };
  EXPECT_EQ(gradients("bf16"), DataType::kFp32);
  EXPECT_EQ(gradients("fp8"), DataType::kFp32);
  EXPECT_EQ(gradients("fp16"), DataType::kFp16);
  EXPECT_EQ(TestJob({"training.gradient_type=fp32"}).training.precision.gradients, DataType::kFp32);
}

TEST(TrainingJob, ALlamaIsRotaryGatedUntiedAndUnbiased) {
  const TrainingJob job =
      TestJob({"model.architecture=llama", "model.ffn=224", "model.kv_heads=2", "model.dropout=0"});
  EXPECT_FALSE(job.model.embedding.learned_positions());
  EXPECT_TRUE(job.model.mlp.gated());
  EXPECT_TRUE(job.model.rms_norm);
  EXPECT_FALSE(job.model.embedding.tied);
  EXPECT_FALSE(job.model.bias);
  EXPECT_FALSE(job.model.attention.qkv_bias);
  EXPECT_EQ(job.model.attention.kv_width(), 16);
}

TEST(TrainingJob, EveryKeyCanDifferFromItsFamily) {
  const TrainingJob job =
      TestJob({"model.architecture=llama", "model.ffn=224", "model.qkv_bias=true",
               "model.tied_embedding=true", "model.norm=layernorm", "model.head_dim=16"});
  EXPECT_TRUE(job.model.attention.qkv_bias);
  EXPECT_FALSE(job.model.bias);
  EXPECT_TRUE(job.model.embedding.tied);
  EXPECT_FALSE(job.model.rms_norm);
  EXPECT_EQ(job.model.attention.query_width(), 128);
}

TEST(TrainingJob, UnknownKeysAreLocatedWithTheNearestOne) {
  const std::string error = ErrorOf(With("  hidden: 64\n", "  hiden: 64\n"));
  EXPECT_NE(error.find("test.yaml:4:3: error: unknown key 'hiden' in 'model'; did you mean "
                       "'hidden'?"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("error: 'model' lacks the key 'hidden'"), std::string::npos) << error;
}

TEST(TrainingJob, DuplicateKeysAreLocated) {
  EXPECT_EQ(ErrorOf(With("  hidden: 64\n", "  hidden: 64\n  hidden: 32\n")),
            "test.yaml:5:3: error: duplicate key 'hidden'; it is already given in line 4\n"
            "    hidden: 32\n"
            "    ^");
}

TEST(TrainingJob, UnknownSectionsAreLocated) {
  const std::string error = ErrorOf(std::string(kTestJob) + "overlaps: {p2p: true}\n");
  EXPECT_EQ(
      error.substr(0, error.find('\n')),
      "test.yaml:19:1: error: unknown key 'overlaps' in 'model.yaml'; did you mean "
      "'overlap'?; valid keys are model, training, parallel, overlap, fsdp, megatron_fsdp, zero, "
      "memory");
}

TEST(TrainingJob, AMissingSectionIsAnError) {
  EXPECT_EQ(ErrorOf("model: {architecture: gpt, layers: 2, hidden: 8, heads: 2, vocab: 8, "
                    "sequence: 8}\ntraining: {framework: megatron, precision: bf16, micro_batch: 1,"
                    " global_batch: 1, recompute: none, optimizer: adam}\n")
                .substr(0, 62),
            "test.yaml:1:1: error: 'model.yaml' lacks the key 'parallel'\n  ");
}

TEST(TrainingJob, AnInvalidChoiceListsTheValidValues) {
  EXPECT_EQ(
      ErrorOf(With("precision: fp16", "precision: fp64")),
      "test.yaml:11:14: error: 'fp64' is not a valid precision; did you mean 'fp16'?; valid values "
      "are fp16, bf16, fp8, nvfp4\n"
      "    precision: fp64\n"
      "               ^");
  EXPECT_EQ(ErrorOf(With("framework: megatron", "framework: megatorn")),
            "test.yaml:10:14: error: 'megatorn' is not a valid framework; did you mean "
            "'megatron'?; valid "
            "values are megatron, deepspeed, fsdp\n"
            "    framework: megatorn\n"
            "               ^");
}

TEST(TrainingJob, InferenceIsOutOfScope) {
  EXPECT_EQ(
      ErrorOf(With("framework: megatron", "framework: vllm")),
      "test.yaml:10:14: error: 'vllm': inference is out of scope: Drydock rehearses iterations "
      "of training\n"
      "    framework: vllm\n"
      "               ^");
  EXPECT_EQ(ErrorOf("inference: {batch: 8}\n").substr(0, 58),
            "test.yaml:1:1: error: 'inference': inference is out of sco");
  EXPECT_NE(ErrorOf(With("framework: megatron", "framework: megatron\n  mode: inference"))
                .find("'inference': inference is out of scope"),
            std::string::npos);
}

struct BadValue {
  const char* assignment;
  const char* message;
};

class TrainingJobBadValue : public testing::TestWithParam<BadValue> {};

TEST_P(TrainingJobBadValue, IsReportedAtTheOverride) {
  const BadValue& bad = GetParam();
  EXPECT_EQ(ErrorOf(kTestJob, {bad.assignment}),
            "--set " + std::string(bad.assignment) + ": error: " + bad.message);
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainingJobBadValue,
    testing::Values(
        BadValue{"model.layers=0", "'layers' is 0; it must be between 1 and 10000"},
        BadValue{"model.hidden=big", "'big' is not a whole number"},
        BadValue{"model.heads=7", "hidden 64 is not divisible by heads 7; give head_dim"},
        BadValue{"model.kv_heads=3", "heads 8 is not divisible by kv_heads 3"},
        BadValue{"model.max_positions=16", "max_positions 16 is less than sequence 32"},
        BadValue{"model.dropout=1", "'dropout' is 1; it must be at least 0 and below 1"},
        BadValue{"training.recompute_layers=2", "'recompute_layers' needs recompute: full"},
        BadValue{"parallel.context=0", "'context' is 0; it must be between 1 and 1048576"},
        BadValue{"parallel.data=0", "'data' is 0; it must be between 1 and 16777216"},
        BadValue{
            "parallel.rank_order=tp-dp",
            "'tp-dp' is not a valid rank_order; valid values are tp-cp-ep-dp-pp, tp-cp-ep-pp-dp"},
        BadValue{"overlap.param_gather=true",
                 "param_gather needs training.distributed_optimizer and overlap.grad_reduce"}));

TEST(TrainingJob, SequenceParallelNeedsTensorParallel) {
  EXPECT_EQ(ErrorOf(With("tensor: 2\n", "tensor: 1\n  sequence_parallel: true\n")),
            "test.yaml:18:22: error: 'sequence_parallel' needs tensor > 1\n"
            "    sequence_parallel: true\n"
            "                       ^");
}

TEST(TrainingJob, SwigluNeedsAnExplicitWidth) {
  const std::string error = ErrorOf(kTestJob, {"model.activation=swiglu"});
  EXPECT_NE(error.find("'model' lacks the key 'ffn'"), std::string::npos) << error;
}

TEST(TrainingJob, ErrorsLandOnTheKeyOrItsSection) {
  const TrainingJob job = TestJob({"parallel.pipeline=4"});
  EXPECT_EQ(job.ErrorAt("parallel.tensor", "x").ToString(),
            "test.yaml:17:11: error: x\n    tensor: 2\n            ^");
  EXPECT_EQ(job.ErrorAt("parallel.pipeline", "x").ToString(),
            "--set parallel.pipeline=4: error: x");
  EXPECT_EQ(job.ErrorAt("parallel.data", "x").diagnostics()[0].location.line, 16);
}

TEST(TrainingJob, OverridesAreSortedByTheirSection) {
  EXPECT_TRUE(IsTrainingOverride("training.micro_batch=2"));
  EXPECT_FALSE(IsTrainingOverride("trainings.micro_batch=2"));
  EXPECT_FALSE(IsTrainingOverride("nccl.settings.NCCL_ALGO=Ring"));
}

TEST(TrainingJob, MissingFileIsNamed) {
  const Result<TrainingJob> job = LoadTrainingJob("no/such.yaml", {});
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().ToString(), "no/such.yaml: error: cannot read: No such file or directory");
}

// Each prefix and many random corruptions of a valid file are read or refused without a crash; each
// error has a place.
TEST(TrainingJob, SurvivesTruncatedAndGarbledFiles) {
  const std::string text = kTestJob;
  std::vector<std::string> cases;
  for (size_t length = 0; length < text.size(); ++length) cases.push_back(text.substr(0, length));
  std::mt19937 random(1);
  const std::string noise = "{}[]:,-\"'\t\n&*!|>%@`#0 9.e\xff";
  for (int i = 0; i < 3000; ++i) {
    std::string garbled = text;
    for (int k = 0; k < 1 + i % 4; ++k) {
      garbled[random() % garbled.size()] = noise[random() % noise.size()];
    }
    cases.push_back(garbled);
  }
  int refused = 0;
  for (const std::string& garbled : cases) {
    const Result<TrainingJob> job = ParseTrainingJob(garbled, "test.yaml", {});
    if (job.ok()) continue;
    ++refused;
    for (const Diagnostic& diagnostic : job.error().diagnostics()) {
      EXPECT_EQ(diagnostic.location.file, "test.yaml") << garbled;
      EXPECT_FALSE(diagnostic.message.empty());
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace drydock
