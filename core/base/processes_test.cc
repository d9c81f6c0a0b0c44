#include "core/base/processes.h"

#include <gtest/gtest.h>

#include "core/base/parcel.h"

namespace drydock {
namespace {

// The second of three processes. The other two give the same text if `repeats`, else an empty one.
class SecondOfThree : public Processes {
 public:
  int index() const override { return 1; }
  int count() const override { return 3; }
  int count_here() const override { return 1; }
  std::vector<std::string> GatherAll(const std::string& own) override {
    if (repeats) return {own, own, own};
    return {"", own, ""};
  }
  std::vector<std::string> GatherAtFirst(std::string) override { return {}; }
  void Exchange(const std::vector<std::string>&, std::vector<std::string>*) override {}

  bool repeats = false;
};

TEST(Processes, AgreeReturnsTheErrorOfOneWithItsLocations) {
  SecondOfThree processes;
  const Error error({{"no unit", {"a.topo", 3, 7}, "rate: 5"}, {"no such key", {"a.topo"}, ""}});
  const Status agreed = processes.Agree(error);
  ASSERT_FALSE(agreed.ok());
  EXPECT_EQ(agreed.error().ToString(), error.ToString());
  processes.repeats = true;
  EXPECT_EQ(processes.Agree(error).error().ToString(), error.ToString()) << "reported once";
  EXPECT_TRUE(processes.Agree(OkStatus()).ok());
}

TEST(Processes, OneProcessIsTheFirstAndOnly) {
  Processes& alone = OneProcess();
  EXPECT_TRUE(alone.first());
  EXPECT_EQ(alone.count(), 1);
  EXPECT_EQ(alone.GatherAll("x"), std::vector<std::string>{"x"});
  EXPECT_EQ(alone.GatherAtFirst("x"), std::vector<std::string>{"x"});
  EXPECT_EQ(alone.Agree(Error("wrong")).error().message(), "wrong");
}

TEST(Parcel, UnpacksWhatWasPacked) {
  std::string parcel;
  Pack(int64_t{-5}, &parcel);
  Pack(std::vector<uint16_t>{1, 2, 3}, &parcel);
  Pack(std::vector<double>{}, &parcel);
  Pack(std::string("a\0b", 3), &parcel);
  Unpacker unpacker(parcel);
  EXPECT_EQ(unpacker.Take<int64_t>(), -5);
  std::vector<uint16_t> numbers;
  unpacker.Take(&numbers);
  EXPECT_EQ(numbers, (std::vector<uint16_t>{1, 2, 3}));
  std::vector<double> none = {1};
  unpacker.Take(&none);
  EXPECT_TRUE(none.empty());
  std::string text;
  unpacker.Take(&text);
  EXPECT_EQ(text, std::string("a\0b", 3));
  EXPECT_TRUE(unpacker.empty());
}

TEST(ParcelDeathTest, ATruncatedParcelFailsACheck) {
  std::string parcel;
  Pack(uint64_t{1000}, &parcel);
  Unpacker unpacker(parcel);
  std::string text;
  EXPECT_EXIT(unpacker.Take(&text), testing::ExitedWithCode(3), "does not hold");
}

}  // namespace
}  // namespace drydock
