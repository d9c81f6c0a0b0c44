#include <gtest/gtest.h>

#include <filesystem>

#include "capture/launch/testing/launching.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

class Accelerate : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(home_ + "/accelerate"); }
  void TearDown() override { std::filesystem::remove_all(home_); }

  Result<Launch> Launched(const std::string& line) const {
    return LaunchOf(line, {{"HF_HOME", home_}});
  }
  std::string Write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomically(home_ + "/" + name, text).ok());
    return home_ + "/" + name;
  }

  std::string home_ = testing::TempDir() + "/accelerate_test";
};

TEST_F(Accelerate, StartsWhatItsDocumentationSays) {
  const LineCase cases[] = {
      {"accelerate launch train.py", "1x8 python -u train.py"},
      {"accelerate launch --num_processes 1 train.py", "1x1 python train.py"},
      {"accelerate launch --num-processes=16 --num-machines=2 --machine-rank 1 -m my.train -x",
       "2x8 python -u -m my.train -x"},
      {"accelerate-launch --num_processes 4 train.py", "1x4 python -u train.py"},
      {"python -m accelerate.commands.launch --num_processes 4 train.py", "1x4 python -u train.py"},
      {"python -m accelerate.commands.accelerate_cli launch --use_fsdp train.py",
       "1x8 python -u train.py"},
      {"accelerate launch --num_proc 4 train.py",
       "accelerate: option '--num_proc' is not known; did you mean '--num_processes'?"},
      {"accelerate launch --num_processes 9 --num_machines 2 train.py",
       "accelerate: 9 processes do not divide evenly over 2 machines; --num_processes counts those "
       "of all machines"},
      {"accelerate launch --cpu train.py",
       "accelerate: 'cpu' trains without GPUs of NVIDIA; a capture needs them"},
      {"accelerate launch --num_processes 2", "accelerate: it names no program to start"},
  };
  for (const LineCase& test : cases) EXPECT_EQ(TextOf(Launched(test.line)), test.starts);
  EXPECT_FALSE(IsLauncher(Split("accelerate config")));
}

TEST_F(Accelerate, TellsTheProgramOfFsdp) {
  const std::string file = Write("fsdp.yaml",
                                 "compute_environment: LOCAL_MACHINE\n"
                                 "distributed_type: FSDP\n"
                                 "mixed_precision: bf16\n"
                                 "num_machines: 4\n"
                                 "num_processes: 32\n"
                                 "fsdp_config:\n"
                                 "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
                                 "  fsdp_offload_params: true\n"
                                 "  fsdp_version: 2\n"
                                 "  fsdp_state_dict_type: null\n");
  const Launch launch =
      *Launched("accelerate launch --config_file " + file + " --fsdp_forward_prefetch True t.py");
  EXPECT_EQ(TextOf(launch), "4x8 python -u t.py");
  const std::pair<const char*, const char*> expected[] = {
      {"ACCELERATE_MIXED_PRECISION", "bf16"},
      {"ACCELERATE_USE_FSDP", "true"},
      {"FSDP_AUTO_WRAP_POLICY", "TRANSFORMER_BASED_WRAP"},
      {"FSDP_OFFLOAD_PARAMS", "true"},
      {"FSDP_FORWARD_PREFETCH", "true"},
      {"FSDP_VERSION", "2"},
      {"FSDP_SHARDING_STRATEGY", "FULL_SHARD"},
      {"FSDP_MIN_NUM_PARAMS", "100000000"},
      {"ACCELERATE_DYNAMO_BACKEND", "NO"},
      {"OMP_NUM_THREADS", "1"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(ValueOf(launch.environment, name), value);
  EXPECT_FALSE(Has(launch.environment, "FSDP_STATE_DICT_TYPE"));
  EXPECT_FALSE(Has(launch.environment, "ACCELERATE_USE_DEEPSPEED"));
}

TEST_F(Accelerate, TellsTheProgramOfDeepSpeed) {
  Write("accelerate/default_config.yaml",
        "distributed_type: DEEPSPEED\n"
        "mixed_precision: 'bf16'\n"
        "num_processes: 8\n"
        "deepspeed_config:\n"
        "  zero_stage: 3\n"
        "  gradient_clipping: 1.0\n"
        "  zero3_init_flag: true\n");
  const Launch launch = *Launched("accelerate launch --zero_stage 2 t.py");
  EXPECT_EQ(TextOf(launch), "1x8 python -u t.py");
  const std::pair<const char*, const char*> expected[] = {
      {"ACCELERATE_USE_DEEPSPEED", "true"},
      {"ACCELERATE_DEEPSPEED_ZERO_STAGE", "2"},
      {"ACCELERATE_GRADIENT_CLIPPING", "1.0"},
      {"ACCELERATE_DEEPSPEED_ZERO3_INIT", "true"},
      {"ACCELERATE_CONFIG_DS_FIELDS",
       "zero_stage,gradient_clipping,zero3_init_flag,mixed_precision"},
      {"PYTHONPATH", kTestFolder}};
  for (const auto& [name, value] : expected) EXPECT_EQ(ValueOf(launch.environment, name), value);
}

TEST_F(Accelerate, SaysWhatIsWrongInItsFile) {
  const auto error = [&](const std::string& text) {
    const std::string file = Write("c.yaml", text);
    const Result<Launch> launch = Launched("accelerate launch --config_file " + file + " t.py");
    return launch.ok() ? "" : launch.error().ToString().substr(home_.size() + 1);
  };
  EXPECT_EQ(error("distributed_type: FSDP\nnum_process: 4\n"),
            "c.yaml:2:1: error: accelerate has no setting 'num_process'; did you mean "
            "'num_processes'?\n  num_process: 4\n  ^");
  EXPECT_EQ(error("num_processes: 4\n"),
            "c.yaml:1:1: error: accelerate needs a distributed_type\n  num_processes: 4\n  ^");
  EXPECT_EQ(error("distributed_type: FSDP\n"),
            "c.yaml:1:1: error: it has no num_processes; write --num_processes N on the command "
            "line\n  distributed_type: FSDP\n  ^");
  EXPECT_EQ(Launched("accelerate launch --config_file " +
                     Write("c.yaml", "distributed_type: MULTI_NPU\nnum_processes: 2\n") + " t.py")
                .error()
                .message(),
            "accelerate: distributed_type MULTI_NPU is not that of GPUs; it is MULTI_GPU, FSDP, "
            "DEEPSPEED, MEGATRON_LM or NO");
}

}  // namespace
}  // namespace drydock::capture
