// For tests of Megatron-LM's arguments: jobs from command lines.
#ifndef DRYDOCK_WORKLOAD_GEN_TESTING_MEGATRON_JOB_TESTING_H_
#define DRYDOCK_WORKLOAD_GEN_TESTING_MEGATRON_JOB_TESTING_H_

#include <gtest/gtest.h>

#include <string>

#include "workload-gen/import/megatron/megatron_job.h"
#include "workload-gen/job/job_reader.h"

namespace drydock {

inline constexpr const char* kGpt =
    "--num-layers 48 --hidden-size 6144 --num-attention-heads 64 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 "
    "--padded-vocab-size 51200 ";

inline Result<TrainingJob> Parse(const std::string& text, const ArgumentRules& rules = {},
                                 ImportNotes* notes = nullptr) {
  ImportNotes ignored;
  ASSIGN_OR_RETURN(const YamlNode root,
                   MegatronJob(text, "run.sh", {}, rules, notes != nullptr ? notes : &ignored));
  return TrainingJobFromTree(root, "run.sh");
}

inline TrainingJob Job(const std::string& text) {
  const Result<TrainingJob> job = Parse(text);
  EXPECT_TRUE(job.ok()) << job.error().ToString();
  return job.ok() ? *job : TrainingJob();
}
inline TrainingJob Gpt(const std::string& more) { return Job(kGpt + more); }

inline std::string ErrorOf(const std::string& text, const ArgumentRules& rules = {}) {
  const Result<TrainingJob> job = Parse(text, rules);
  return job.ok() ? "" : job.error().message();
}
inline std::string GptError(const std::string& more, const ArgumentRules& rules = {}) {
  return ErrorOf(kGpt + more, rules);
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TESTING_MEGATRON_JOB_TESTING_H_
