// Communicators return their memory, however many are created.
#include <gtest/gtest.h>
#include <malloc.h>

#include <vector>

#include "core/nccl/nccl_library.h"
#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

// Returns the bytes allocated by malloc. The size of the process also depends on heap
// fragmentation.
int64_t BytesInUse() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

// Creates communicators of several shapes, uses each and destroys it.
class CommunicatorLoop {
 public:
  explicit CommunicatorLoop(const NcclWorld& world) : world_(world) {}

  int done() const { return done_; }
  // Creates and destroys five communicators.
  void Round() {
    const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
    Use(world_.CreateCommunicator(Places(1, {3, 5})));
    Use(world_.CreateCommunicator(Places(8, {done_ % 8})));
    Use(world_.CreateCommunicator(Places(2, all)));
    const Result<NcclCommunicator> parent = world_.CreateCommunicator(Places(1, all));
    ASSERT_TRUE(parent.ok()) << parent.error().ToString();
    ASSERT_TRUE(parent->Launch(5, {SendTo(0, 1 << 20)}).ok());  // makes rank 5 real, too
    Use(parent->Split({0, 1, 0, 1, 0, 1, 0, 1}, std::vector<int>(8, 0), 1));
    ++done_;
  }

 private:
  void Use(const Result<NcclCommunicator>& comm) {
    ASSERT_TRUE(comm.ok()) << comm.error().ToString();
    const hacknccl_call call = {
        HACKNCCL_ALL_REDUCE, HACKNCCL_BFLOAT16, HACKNCCL_SUM, 0, uint64_t{1} << 20, 0};
    ASSERT_TRUE(comm->Collective(call).ok());
    hacknccl_call gather = call;
    gather.function = HACKNCCL_ALL_GATHER;
    gather.buffers = HACKNCCL_BUFFERS_REGISTERED;
    ASSERT_TRUE(comm->Collective(gather).ok());
    ASSERT_TRUE(comm->Link(HACKNCCL_GRAPH_RING, 0, 0, 1).ok());
    ++done_;
  }

  const NcclWorld& world_;
  int done_ = 0;
};

TEST(NcclLifetimeTest, TenThousandCommunicatorsFreeTheirMemory) {
  const auto library = NcclLibrary::Load().value();
  const NcclWorld world =
      NcclWorld::Create(library, {DescribeHost(DgxH100(), TestGpu(90)).value()}, {}).value();
  CommunicatorLoop loop(world);
  while (loop.done() < 500 && !HasFatalFailure()) loop.Round();  // caches fill
  const int64_t before = BytesInUse();
  while (loop.done() < 10000 && !HasFatalFailure()) loop.Round();
  EXPECT_EQ(library->api().memory_in_use(), 0);
  EXPECT_LT((BytesInUse() - before) / 9500, 4) << "bytes left by each";
}

}  // namespace
}  // namespace drydock
