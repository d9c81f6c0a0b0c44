// Readers reject artefacts that parse and have a correct checksum, but contradict themselves or
// each other.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "core/base/files.h"
#include "core/schema/artefacts/protocol.h"
#include "core/schema/testing/artefacts_testing.h"

namespace drydock {
namespace {

using testing::ArtefactsTest;

template <typename Message>
void Alter(const std::string& path, const std::function<void(Message*)>& change) {
  Message message;
  ASSERT_TRUE(message.ParseFromString(*ReadFile(path)));
  message.clear_checksum();
  change(&message);
  ASSERT_TRUE(WriteFileAtomically(path, *protocol::Serialize(message, path)).ok());
}

TEST_F(ArtefactsTest, RejectsManifestsThatContradictThemselves) {
  using Manifest = proto::Manifest;
  const std::string whole = *ReadFile(At(kManifestName));
  const std::map<std::string, std::function<void(Manifest*)>> cases = {
      {"rank without class", [](Manifest* m) { m->mutable_class_of_rank()->RemoveLast(); }},
      {"class out of range", [](Manifest* m) { m->set_class_of_rank(0, 2); }},
      {"negative class", [](Manifest* m) { m->set_class_of_rank(0, -1); }},
      {"unknown dimension", [](Manifest* m) { m->mutable_roles(0)->set_dimension(6); }},
      {"dimension above 255", [](Manifest* m) { m->mutable_roles(0)->set_dimension(256); }},
      {"group out of range", [](Manifest* m) { m->mutable_roles(0)->set_group_of_rank(0, 4); }},
      {"group without the rank", [](Manifest* m) { m->mutable_roles(0)->set_group_of_rank(0, 1); }},
      {"negative launch time", [](Manifest* m) { m->mutable_launch()->set_kernel_ps(-1); }},
      {"launch time too long", [](Manifest* m) { m->mutable_launch()->set_latency_ps(INT64_MAX); }},
      {"negative queue length", [](Manifest* m) { m->mutable_launch()->set_queue(-1); }},
      {"empty group", [](Manifest* m) { m->mutable_groups(0)->clear_ranks(); }},
      {"duplicate member", [](Manifest* m) { m->mutable_groups(0)->set_ranks(1, 0); }},
      {"rank out of range", [](Manifest* m) { m->mutable_groups(0)->set_ranks(1, 4); }},
      {"unknown submodule",
       [](Manifest* m) { m->mutable_submodules(0)->set_kind(kSubmoduleKindCount); }},
      {"negative experts", [](Manifest* m) { m->mutable_submodules(0)->set_experts(-1); }},
      {"negative duration", [](Manifest* m) { m->mutable_submodules(0)->set_duration_ps(-1); }},
      {"duration too long",
       [](Manifest* m) { m->mutable_submodules(0)->set_duration_ps(INT64_MAX); }},
      {"negative rows", [](Manifest* m) { m->mutable_submodules(0)->set_rows(-1); }},
      {"too many rows", [](Manifest* m) { m->mutable_submodules(0)->set_rows(INT64_MAX); }},
      {"FLOPs are NaN", [](Manifest* m) { m->mutable_submodules(0)->set_flops(0.0 / 0.0); }},
      {"block with an unknown submodule",
       [](Manifest* m) { m->mutable_blocks(0)->set_submodules(0, 2); }},
      {"empty call", [](Manifest* m) { m->mutable_calls(0)->set_count(0); }},
      {"call too large", [](Manifest* m) { m->mutable_calls(0)->set_count(INT64_MAX); }},
      {"unknown collective", [](Manifest* m) { m->mutable_calls(0)->set_collective(10); }},
      {"unknown buffers", [](Manifest* m) { m->mutable_calls(0)->set_buffers(kBufferKindCount); }},
      {"unknown operation", [](Manifest* m) { m->mutable_calls(0)->set_op(6); }},
      {"root out of range", [](Manifest* m) { m->mutable_calls(0)->set_root(2); }},
      {"peer out of range", [](Manifest* m) { m->mutable_calls(0)->set_peer(-1); }},
      {"pair counts in a call without pairs",
       [](Manifest* m) { m->mutable_calls(0)->add_pair_counts(1); }},
      {"pair count missing",
       [](Manifest* m) { m->mutable_calls(4)->mutable_pair_counts()->RemoveLast(); }},
      {"negative pair count", [](Manifest* m) { m->mutable_calls(4)->set_pair_counts(0, -1); }},
      {"buffer too small", [](Manifest* m) { m->mutable_calls(4)->set_pair_counts(0, 3); }},
      {"pair count too large",
       [](Manifest* m) { m->mutable_calls(4)->set_pair_counts(0, INT64_MAX); }},
      {"grouped call with another size", [](Manifest* m) { m->mutable_calls(5)->set_count(1); }},
      {"grouped call without parts", [](Manifest* m) { m->mutable_calls(5)->clear_parts(); }},
      {"grouped call in a grouped call",
       [](Manifest* m) { m->mutable_calls(5)->mutable_parts(0)->set_collective(10); }},
      {"part with another group size",
       [](Manifest* m) { m->mutable_calls(5)->mutable_parts(1)->set_group_size(3); }},
      {"parts of a call that is not grouped",
       [](Manifest* m) { m->mutable_calls(0)->add_parts(); }},
      {"use of an unknown call", [](Manifest* m) { m->set_use_call(0, 6); }},
      {"use without a group", [](Manifest* m) { m->mutable_use_group()->RemoveLast(); }},
      {"group size unlike the group", [](Manifest* m) { m->mutable_calls(0)->set_group_size(3); }},
      {"memory of only one class", [](Manifest* m) { m->mutable_classes(0)->clear_memory(); }},
      {"memory parts of different names",
       [](Manifest* m) { m->mutable_classes(1)->mutable_memory(0)->set_name("x"); }},
      {"negative memory",
       [](Manifest* m) { m->mutable_classes(1)->mutable_memory(0)->set_bytes(-1); }},
      {"peaks of only one class",
       [](Manifest* m) { m->mutable_classes(0)->set_reserved_bytes(0); }},
      {"less reserved than allocated",
       [](Manifest* m) { m->mutable_classes(0)->set_reserved_bytes(4499); }},
      {"unknown precision", [](Manifest* m) { m->set_precision(kDataTypeCount); }}};
  for (const auto& [what, change] : cases) {
    Alter(At(kManifestName), change);
    EXPECT_EQ(ErrorOf(kManifestName),
              At(kManifestName) + ": error: damaged: its tables contradict each other")
        << what;
    ASSERT_TRUE(WriteFileAtomically(At(kManifestName), whole).ok());
  }
}

TEST_F(ArtefactsTest, RejectsAnotherFormat) {
  Alter<proto::FlowPlan>(At(kFlowPlanName),
                         [](proto::FlowPlan* m) { m->mutable_provenance()->set_format(99); });
  EXPECT_EQ(ErrorOf(kFlowPlanName), At(kFlowPlanName) +
                                        ": error: this flow plan has format 99, but this version "
                                        "reads format 6; run simccl again");
}

TEST_F(ArtefactsTest, RejectsCallsInGroupsThatRanksLack) {
  // Rank 1 and 3 have no group in the role "pp"; let them run the program that sends in it.
  Alter<proto::Manifest>(At(kManifestName), [](proto::Manifest* m) { m->set_class_of_rank(1, 0); });
  EXPECT_EQ(ErrorOf(kManifestName),
            At("1-workload/class-0.et") +
                ": error: damaged: its calls do not fit the groups of its ranks");
}

TEST_F(ArtefactsTest, RejectsPlansThatContradictThemselves) {
  using File = proto::FlowPlan;
  const std::string whole = *ReadFile(At(kFlowPlanName));
  const auto plan = [](File* f) { return f->mutable_plans(0); };
  const auto pattern = [](File* f, int i) { return f->mutable_plans(0)->mutable_patterns(i); };
  const auto connection = [](File* f, int i) {
    return f->mutable_plans(0)->mutable_connections(i);
  };
  const auto work = [](File* f) { return f->mutable_plans(0)->mutable_works(0); };
  const std::map<std::string, std::function<void(File*)>> cases = {
      {"operand out of range", [&](File* f) { plan(f)->set_operands(0, 4); }},
      {"operand of another member", [&](File* f) { plan(f)->set_operands(0, 1); }},
      {"operands left over", [&](File* f) { plan(f)->add_operands(0); }},
      {"operands missing", [&](File* f) { plan(f)->mutable_operands()->RemoveLast(); }},
      {"column lengths", [&](File* f) { pattern(f, 0)->add_bytes(1); }},
      {"step with too many operands", [&](File* f) { pattern(f, 0)->set_send_count(0, 9); }},
      {"begin beyond 32 bits", [&](File* f) { pattern(f, 0)->set_send_begin(0, UINT32_MAX); }},
      {"no bytes", [&](File* f) { pattern(f, 0)->set_bytes(0, 0); }},
      {"negative offset", [&](File* f) { pattern(f, 0)->set_offset(0, -1); }},
      {"last chunk as long as the others", [&](File* f) { pattern(f, 1)->set_last_bytes(0, 64); }},
      {"no ring", [&](File* f) { pattern(f, 0)->set_ring(0); }},
      {"first off the ring", [&](File* f) { pattern(f, 1)->set_first(0, 2); }},
      {"more chunks than the ring has", [&](File* f) { pattern(f, 1)->set_count(0, 3); }},
      {"loop without turns", [&](File* f) { pattern(f, 0)->set_loop_repeat(0, 0); }},
      {"loop without end", [&](File* f) { pattern(f, 0)->set_loop_repeat(0, INT64_MAX); }},
      {"loop without steps", [&](File* f) { pattern(f, 0)->set_loop_step_end(0, 0); }},
      {"steps outside loops", [&](File* f) { pattern(f, 0)->set_loop_step_end(1, 2); }},
      {"bytes beyond 64 bits", [&](File* f) { pattern(f, 0)->set_bytes(0, INT64_MAX); }},
      {"stride beyond 64 bits", [&](File* f) { pattern(f, 0)->set_loop_stride(0, INT64_MAX); }},
      {"pitch beyond 64 bits", [&](File* f) { pattern(f, 1)->set_pitch(0, INT64_MAX); }},
      {"base beyond 64 bits", [&](File* f) { plan(f)->set_base(0, INT64_MAX); }},
      {"base before the buffer", [&](File* f) { plan(f)->set_base(0, -1); }},
      {"channel beyond 16 bits", [&](File* f) { plan(f)->set_channel(0, 65536); }},
      {"pattern out of range", [&](File* f) { plan(f)->set_pattern(0, 2); }},
      {"position off the ring", [&](File* f) { plan(f)->set_position(1, 2); }},
      {"order out of range", [&](File* f) { plan(f)->set_order(1, 1); }},
      {"order of another ring", [&](File* f) { plan(f)->set_order(0, 0); }},
      {"piece out of range", [&](File* f) { plan(f)->mutable_orders(0)->set_pieces(0, 2); }},
      {"work out of range", [&](File* f) { plan(f)->set_work(0, 1); }},
      {"programs left over", [&](File* f) { plan(f)->set_programs_of_member(1, 0); }},
      {"programs missing", [&](File* f) { plan(f)->set_programs_of_member(1, UINT32_MAX); }},
      {"program columns", [&](File* f) { plan(f)->add_base(0); }},
      {"unknown link kind", [&](File* f) { connection(f, 0)->set_link(7); }},
      {"reduction on a link between peers", [&](File* f) { connection(f, 0)->set_reduction(0); }},
      {"switch connection without reduction",
       [&](File* f) { connection(f, 2)->set_reduction(-1); }},
      {"reduction without a receiver", [&](File* f) { connection(f, 3)->set_reduction(1); }},
      {"reduction sent to another member", [&](File* f) { connection(f, 3)->set_to(1); }},
      {"member contributes twice", [&](File* f) { connection(f, 3)->set_link(5); }},
      {"member out of range", [&](File* f) { connection(f, 0)->set_to(2); }},
      {"no NIC", [&](File* f) { connection(f, 1)->set_send_nic(-1); }},
      {"NIC out of range", [&](File* f) { connection(f, 1)->set_recv_nic(2); }},
      {"NIC beyond 16 bits", [&](File* f) { connection(f, 1)->set_recv_nic(65536); }},
      {"proxy out of range", [&](File* f) { connection(f, 1)->set_proxy(2); }},
      {"no first kernel", [&](File* f) { work(f)->set_launch(1); }},
      {"kernel number skipped",
       [&](File* f) {
         const auto second = plan(f)->add_works();
         *second = *work(f);
         second->set_launch(2);
       }},
      {"negative kernel number", [&](File* f) { work(f)->set_launch(-1); }},
      {"no work", [&](File* f) { plan(f)->clear_works(); }},
      {"unknown algorithm", [&](File* f) { work(f)->set_algorithm(11); }},
      {"protocol above 255", [&](File* f) { work(f)->set_protocol(256); }},
      {"no slots", [&](File* f) { work(f)->set_slots(0); }},
      {"negative slice size", [&](File* f) { work(f)->set_slice_bytes(-1); }},
      {"negative slice count", [&](File* f) { work(f)->set_slices(-1); }},
      {"too many slices", [&](File* f) { work(f)->set_slices(1025); }},
      {"grain of 0", [&](File* f) { work(f)->set_slice_grain(0); }},
      {"grain too large", [&](File* f) { work(f)->set_slice_grain((1 << 20) + 1); }}};
  for (const auto& [what, change] : cases) {
    Alter(At(kFlowPlanName), change);
    EXPECT_EQ(ErrorOf(kFlowPlanName),
              At(kFlowPlanName) +
                  ": error: damaged: the plan 'all-reduce bf16 128 B over 2' "
                  "contradicts itself")
        << what;
    ASSERT_TRUE(WriteFileAtomically(At(kFlowPlanName), whole).ok());
  }
  Alter<File>(At(kFlowPlanName), [](File* f) { f->mutable_assignment_plan()->RemoveLast(); });
  EXPECT_EQ(ErrorOf(kFlowPlanName),
            At(kFlowPlanName) + ": error: damaged: not every call has a plan");
  ASSERT_TRUE(WriteFileAtomically(At(kFlowPlanName), whole).ok());
  Alter<File>(At(kFlowPlanName), [](File* f) { f->set_assignment_plan(0, 2); });
  EXPECT_EQ(ErrorOf(kFlowPlanName),
            At(kFlowPlanName) + ": error: damaged: its assignments do not fit the workload");
}

TEST_F(ArtefactsTest, RejectsInvalidTimes) {
  using File = proto::KernelTimes;
  const std::string whole = *ReadFile(At(kKernelTimesName));
  const auto first = [](File* f) { return f->mutable_gpus(0)->mutable_submodules(0); };
  const std::vector<std::pair<std::function<void(File*)>, std::string>> cases = {
      {[&](File* f) { first(f)->set_total_ps(-1); }, "a time is invalid"},
      {[&](File* f) { first(f)->mutable_kernels(0)->set_time_ps(-1); }, "a time is invalid"},
      {[&](File* f) { first(f)->mutable_kernels(0)->set_source(kTimeSourceCount); },
       "a time is invalid"},
      {[](File* f) { f->mutable_gpus(0)->set_gpu("h100"); }, "its GPUs are not the cluster's"},
      {[](File* f) { f->clear_gpus(); }, "its GPUs are not the cluster's"},
      {[](File* f) { f->mutable_gpus(0)->mutable_submodules()->RemoveLast(); },
       "it lacks times of submodules"}};
  for (const auto& [change, message] : cases) {
    Alter(At(kKernelTimesName), change);
    EXPECT_EQ(ErrorOf(kKernelTimesName), At(kKernelTimesName) + ": error: damaged: " + message);
    ASSERT_TRUE(WriteFileAtomically(At(kKernelTimesName), whole).ok());
  }
}

proto::Timeline::Rank SameAs(int number) {
  proto::Timeline::Rank rank;
  rank.set_same_as(number);
  return rank;
}

TEST_F(ArtefactsTest, RejectsTimelinesThatRunBackwardsOrOverflow) {
  using File = proto::Timeline;
  const std::string whole = *ReadFile(At(kTimelineName));
  const std::vector<std::function<void(File*)>> cases = {
      [](File* f) { f->mutable_ranks(0)->set_start_delta_ps(0, -1); },
      [](File* f) { f->mutable_ranks(0)->set_start_delta_ps(1, INT64_MAX); },
      [](File* f) { f->mutable_ranks(0)->set_ready_after_ps(0, -1); },
      [](File* f) { f->mutable_ranks(1)->set_end_after_ps(0, INT64_MAX); },
      [](File* f) { f->mutable_ranks(0)->add_start_delta_ps(1); },
      [](File* f) { f->mutable_ranks(2)->set_same_as(1); },  // but it has times as well
      [](File* f) { *f->mutable_ranks(2) = SameAs(3); },     // itself
      [](File* f) { *f->mutable_ranks(2) = SameAs(-1); },
      [](File* f) { *f->mutable_ranks(2) = SameAs(2); },  // has another program
      [](File* f) { f->mutable_accounts(0)->add_exposed_ps(1); }};
  for (size_t i = 0; i < cases.size(); ++i) {
    // The first op starts at 0, so a delta of -1 is before the beginning.
    Alter(At(kTimelineName), cases[i]);
    EXPECT_EQ(ErrorOf(kTimelineName),
              At(kTimelineName) + ": error: damaged: its ops are not the workload's")
        << i;
    ASSERT_TRUE(WriteFileAtomically(At(kTimelineName), whole).ok());
  }
  for (const int64_t more : {int64_t{1}, int64_t{-1}, INT64_MAX}) {
    Alter<File>(At(kTimelineName), [more](File* f) {
      proto::Timeline::Account* account = f->mutable_accounts(0);
      account->set_host_by_cause_ps(4, account->host_by_cause_ps(4) + more);
    });
    EXPECT_EQ(
        ErrorOf(kTimelineName),
        At(kTimelineName) + ": error: damaged: the causes of a host's time do not add up to it")
        << more;
    ASSERT_TRUE(WriteFileAtomically(At(kTimelineName), whole).ok());
  }
  Alter<File>(At(kTimelineName), [](File* f) { f->mutable_ranks()->RemoveLast(); });
  EXPECT_EQ(ErrorOf(kTimelineName),
            At(kTimelineName) + ": error: damaged: its ranks are not the workload's");
}

}  // namespace
}  // namespace drydock
