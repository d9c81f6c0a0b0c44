// Which process and thread gets which partition, and does data for a partition of another process
// arrive there?
#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <memory>
#include <thread>

#include "ns3-backend/model/simulator/partition-shares.h"
#include "ns3-backend/model/simulator/window-exchange.h"

namespace drydock {
namespace {

using ns3::rdma::Assignment;
using ns3::rdma::Distribute;
using ns3::rdma::Mailbox;
using ns3::rdma::NEVER;
using ns3::rdma::Partition;
using ns3::rdma::ThreadContext;
using ns3::rdma::WindowExchange;

// Records the numbers that it receives, by name of the mailbox.
class Listener : public Partition {
 public:
  explicit Listener(uint32_t weight) : weight_(weight) {}
  void Start() override {}
  uint64_t Process(int64_t) override { return 0; }
  int64_t NextTime() const override { return NEVER; }
  int64_t LocalTime() const override { return 0; }
  uint32_t GetWeight() const override { return weight_; }
  void Receive(uint32_t name, Unpacker& parcel) override {
    std::vector<int> numbers;
    parcel.Take(&numbers);
    received[name].insert(received[name].end(), numbers.begin(), numbers.end());
  }

  std::map<uint32_t, std::vector<int>> received;

 private:
  const uint32_t weight_;
};

class Numbers : public Mailbox {
 public:
  Numbers(Partition* receiver, uint32_t name, std::vector<int> numbers)
      : Mailbox(receiver, name), numbers_(std::move(numbers)) {}
  void Deliver() override {}
  int64_t EarliestTime() const override { return NEVER; }
  void Pack(std::string* parcel) override { drydock::Pack(numbers_, parcel); }

 private:
  std::vector<int> numbers_;
};

// Processes that are threads of the test.
class ThreadProcesses : public Processes {
 public:
  struct Shared {
    explicit Shared(int count) : meet(count), out(static_cast<size_t>(count)) {}
    std::barrier<> meet;
    std::vector<std::vector<std::string>> out;
  };
  ThreadProcesses(int index, Shared* shared) : index_(index), shared_(shared) {}
  int index() const override { return index_; }
  int count() const override { return static_cast<int>(shared_->out.size()); }
  int count_here() const override { return count(); }
  std::vector<std::string> GatherAll(const std::string&) override { return {}; }
  std::vector<std::string> GatherAtFirst(std::string) override { return {}; }
  void Exchange(const std::vector<std::string>& out, std::vector<std::string>* in) override {
    const auto self = static_cast<size_t>(index_);
    shared_->out[self] = out;
    shared_->meet.arrive_and_wait();
    for (size_t p = 0; p < shared_->out.size(); ++p) {
      if (p != self) (*in)[p] = shared_->out[p][self];
    }
    shared_->meet.arrive_and_wait();
  }

 private:
  const int index_;
  Shared* shared_;
};

// Three partitions, each in its own process. Each sends its number to the next partition, in
// mailbox 7, and its next event is at 100 - number; the last one requests a stop. Returns what
// process `index` received.
std::map<uint32_t, std::vector<int>> RunProcess(int index, ThreadProcesses::Shared* shared) {
  ThreadProcesses processes(index, shared);
  std::vector<std::unique_ptr<Listener>> partitions;
  std::vector<Partition*> all;
  for (uint32_t i = 0; i < 3; ++i) {
    partitions.push_back(std::make_unique<Listener>(1));
    all.push_back(partitions.back().get());
    all.back()->SetNumber(i);
  }
  WindowExchange exchange(&processes, all, 1);
  ThreadContext context;
  context.posted.resize(1 + 3);
  for (int i = 0; i < 3; ++i) {
    if (i == index) all[static_cast<size_t>(i)]->Adopt(&context, 0);
    if (i != index) exchange.Adopt(all[static_cast<size_t>(i)], static_cast<uint32_t>(i));
  }
  for (int round = 0; round < 2; ++round) {
    Partition* next = all[static_cast<size_t>(index + 1) % 3];
    Numbers mailbox(next, 7, {index, round});
    context.posted[next->GetThread()].push_back(&mailbox);
    exchange.Collect(context);
    exchange.Run(100 - index, index == 2 && round == 1);
    int touched = 0;
    exchange.Deliver(0, [&touched](const Partition*) { ++touched; });
    EXPECT_EQ(touched, 1);
    EXPECT_EQ(exchange.GetEarliest(), 98);
    EXPECT_EQ(exchange.GetStop(), round == 1);
  }
  return partitions[static_cast<size_t>(index)]->received;
}

TEST(Mailbox, KnowsTheThreadOfItsReceiver) {
  Listener listener(1);
  ThreadContext context;
  context.index = 3;
  listener.Adopt(&context, 0);
  Numbers mailbox(&listener, 7, {});
  mailbox.Address();
  EXPECT_EQ(mailbox.GetThread(), 3U);
}

TEST(WindowExchange, EveryMailboxArrivesAndAllKnowTheNextWindow) {
  ThreadProcesses::Shared shared(3);
  std::vector<std::map<uint32_t, std::vector<int>>> received(3);
  std::vector<std::thread> threads;
  for (int index = 0; index < 3; ++index) {
    threads.emplace_back(
        [&, index] { received[static_cast<size_t>(index)] = RunProcess(index, &shared); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int index = 0; index < 3; ++index) {
    const int before = (index + 2) % 3;
    EXPECT_EQ(received[static_cast<size_t>(index)],
              (std::map<uint32_t, std::vector<int>>{{7, {before, 0, before, 1}}}));
  }
}

class Shares : public testing::Test {
 protected:
  // Makes layers of partitions of these weights.
  std::vector<std::vector<uint32_t>> Deal(const std::vector<std::vector<uint32_t>>& weights,
                                          uint32_t parts, Assignment assignment) {
    std::vector<std::vector<Partition*>> layers;
    for (const auto& layer : weights) {
      layers.emplace_back();
      for (const uint32_t weight : layer) {
        made_.push_back(std::make_unique<Listener>(weight));
        layers.back().push_back(made_.back().get());
      }
    }
    return Distribute(layers, parts, assignment);
  }

  std::vector<std::unique_ptr<Listener>> made_;
};

using Owners = std::vector<std::vector<uint32_t>>;

TEST_F(Shares, NeighborsStayTogetherByWeight) {
  EXPECT_EQ(Deal({{1, 1, 1, 1}, {6, 1, 1}}, 2, ns3::rdma::NEIGHBOURS),
            (Owners{{0, 0, 1, 1}, {0, 1, 1}}));
}

TEST_F(Shares, TurnsContinueFromLayerToLayer) {
  EXPECT_EQ(Deal({{1, 1, 1}, {1, 1}}, 2, ns3::rdma::IN_TURNS), (Owners{{0, 1, 0}, {1, 0}}));
}

TEST_F(Shares, EmptyLayersDoNotCount) {
  EXPECT_EQ(Deal({{1, 1}, {}, {1}}, 2, ns3::rdma::BY_LAYER), (Owners{{0, 0}, {}, {1}}));
}

}  // namespace
}  // namespace drydock
