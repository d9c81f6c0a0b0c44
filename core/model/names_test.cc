#include <gtest/gtest.h>

#include <set>

#include "core/model/flow_plan.h"
#include "core/model/gpu.h"
#include "core/model/kernel_times.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {
namespace {

TEST(NamesTest, EachEnumeratorHasItsOwnName) {
  const std::pair<const std::vector<std::string>*, size_t> lists[] = {
      {&DataTypeNames(), kDataTypeCount},
      {&DimensionNames(), kDimensionCount},
      {&CollectiveTypeNames(), kCollectiveTypeCount},
      {&PassNames(), static_cast<size_t>(Pass::kNone) + 1},
      {&SubmoduleKindNames(), kSubmoduleKindCount},
      {&PhaseNames(), static_cast<size_t>(Phase::kOther) + 1},
      {&AlgorithmNames(), static_cast<size_t>(Algorithm::kCustom) + 1},
      {&ProtocolNames(), static_cast<size_t>(Protocol::kSimple) + 1},
      {&TimeSourceNames(), kTimeSourceCount},
      {&KernelBoundNames(), kKernelBoundCount},
      {&RoutingNames(), static_cast<size_t>(Routing::kSpray) + 1},
      {&TransportKindNames(), static_cast<size_t>(TransportKind::kInfiniBand) + 1},
      {&CongestionControlNames(), static_cast<size_t>(CongestionControl::kDctcp) + 1},
      {&FlowControlNames(), static_cast<size_t>(FlowControl::kTrim) + 1},
      {&RetransmissionNames(), static_cast<size_t>(Retransmission::kSelectiveRepeat) + 1}};
  for (const auto& [names, count] : lists) {
    EXPECT_EQ(names->size(), count) << names->front();
    EXPECT_EQ(std::set<std::string>(names->begin(), names->end()).size(), count) << names->front();
  }
}

TEST(NamesTest, NamesAreInEnumOrder) {
  EXPECT_EQ(ToString(DataType::kBf16), "bf16");
  EXPECT_EQ(DimensionNames()[static_cast<size_t>(Dimension::kData)], "data");
  EXPECT_EQ(CollectiveTypeNames()[static_cast<size_t>(CollectiveType::kSendRecv)], "send-recv");
  EXPECT_EQ(CollectiveTypeNames()[static_cast<size_t>(CollectiveType::kAllToAllV)], "all-to-all-v");
  EXPECT_EQ(ReduceOpNames()[static_cast<size_t>(ReduceOp::kPremulSum)], "premul-sum");
  EXPECT_EQ(ToString(DataType::kUint64), "uint64");
  EXPECT_EQ(PassNames()[static_cast<size_t>(Pass::kBackwardWeight)], "wgrad");
  EXPECT_EQ(PhaseNames()[static_cast<size_t>(Phase::kGradientSync)], "gradient-sync");
  EXPECT_EQ(AlgorithmNames()[static_cast<size_t>(Algorithm::kNvlsTree)], "nvls-tree");
  EXPECT_EQ(ProtocolNames()[static_cast<size_t>(Protocol::kLl128)], "LL128");
  EXPECT_EQ(TimeSourceNames()[static_cast<size_t>(TimeSource::kScaled)], "scaled");
  EXPECT_EQ(ToString(KernelBound::kCompute), "compute");
  EXPECT_EQ(ToString(Routing::kAdaptive), "adaptive");
  EXPECT_EQ(ToString(TransportKind::kInfiniBand), "infiniband");
  EXPECT_EQ(ToString(CongestionControl::kTimely), "timely");
  EXPECT_EQ(ToString(FlowControl::kNone), "none");
  EXPECT_EQ(ToString(Retransmission::kSelectiveRepeat), "selective-repeat");
}

TEST(DataTypeTest, SizesOfElements) {
  const int64_t sizes[] = {4, 4, 2, 2, 1, 1, 4, 8, 8, 1, 1, 4, 8};
  for (int i = 0; i < kMessageTypeCount; ++i) {
    EXPECT_EQ(SizeOf(static_cast<DataType>(i)).count(), sizes[i]) << i;
  }
}

}  // namespace
}  // namespace drydock
