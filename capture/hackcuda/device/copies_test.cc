// "Does the log have each read of a value that nobody computed, and no other?"
#include "capture/hackcuda/device/copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

#include "capture/hackcuda/device/host_reads.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"
#include "capture/hackcuda/testing/pretended.h"

namespace drydock::hackcuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The reads in the log since `text` was all of it.
std::vector<std::string> ReadsSince(const std::string& text) {
  std::vector<std::string> reads;
  const std::string all = Pretended::Log();
  for (size_t at = text.size(), end; at < all.size(); at = end + 1) {
    end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    if (line.find(" read ") != std::string::npos) reads.push_back(line);
  }
  return reads;
}

class CopiesTest : public ::testing::Test {
 protected:
  CopiesTest() : device_(static_cast<char*>(AllocateDevice(16 * kKept))), before_("") {
    Log(EntryKind::kSyncDevice, {});
    before_ = Pretended::Log();
  }
  ~CopiesTest() override { FreeDevice(device_); }
  void Read(size_t at, size_t bytes) {
    std::vector<char> host(bytes);
    Copy(host.data(), device_ + at, bytes, nullptr, Waits::kAlways);
  }
  char* device_;
  std::string before_;
};

TEST_F(CopiesTest, WhatTheHostWroteItMayRead) {
  const std::vector<char> host(2 * kKept);
  Copy(device_, host.data(), 100, nullptr, Waits::kAlways);
  Copy(device_ + 200, device_, 100, nullptr, Waits::kNever);
  Fill(device_ + 1000, 0, 4 * kKept, nullptr);
  Read(0, 100);
  Read(200, 100);
  Read(1000, 4 * kKept);
  EXPECT_THAT(ReadsSince(before_), IsEmpty());
  Copy(device_, host.data(), 2 * kKept, nullptr, Waits::kAlways);
  Read(0, 4);
  Fill(device_, 1, 2 * kKept, nullptr);
  Copy(device_ + 8 * kKept, device_, 4, nullptr, Waits::kNever);
  Read(8 * kKept, 4);
  EXPECT_THAT(ReadsSince(before_),
              ElementsAre("t0 read line= origin=a large copy bytes=4 value=0",
                          "t0 read line= origin=a large fill bytes=4 value=0"));
}

TEST_F(CopiesTest, ALineForARead) {
  SetValues(device_, 16, {Knowledge::kAssumed, NameNumber("mm")});
  *device_ = 5;
  SetLineFinder([] { SetLine("train.py:12"); });
  Read(0, 8);
  IgnoreReads(true);
  Read(0, 8);
  IgnoreReads(false);
  SetLineFinder(nullptr);
  Read(0, 16);
  // A column of a matrix with four rows.
  SetValues(device_, 16, {});
  SetValues(device_ + 64, 256, {Knowledge::kUnknown, NameNumber("mm")});
  char host[64];
  CopyRows(host, 16, device_ + 64, 64, 16, 4, nullptr);
  SetValues(device_ + 80, 240, {});
  CopyRows(host, 16, device_ + 80, 64, 16, 3, nullptr);
  EXPECT_THAT(ReadsSince(before_), ElementsAre("t0 read line=train.py:12 origin=mm bytes=8 value=5",
                                               "t0 read line= origin=mm bytes=16 value=0",
                                               "t0 read line= origin=mm bytes=64 value=0"));
}

TEST_F(CopiesTest, AnAnswerForTheHost) {
  *device_ = 5;
  int64_t read = 0;
  IgnoreReads(true);
  SetAnswer(7, {});
  Copy(&read, device_, sizeof read, nullptr, Waits::kAlways);
  EXPECT_EQ(read, 7);
  SetAnswer(8, {Knowledge::kUnknown, NameNumber("nonzero")});
  Copy(&read, device_, sizeof read, nullptr, Waits::kAlways);
  EXPECT_EQ(read, 8);
  ForgetAnswer();
  IgnoreReads(false);
  Copy(&read, device_, sizeof read, nullptr, Waits::kAlways);
  EXPECT_EQ(read, 5);
  EXPECT_THAT(ReadsSince(before_), ElementsAre("t0 read line= origin=nonzero bytes=8 value=8"));
}

// A run that measures the host reads what the first run has read. Each is a process.
TEST_F(CopiesTest, AReadIsKeptForTheRunThatMeasuresTheHost) {
  const std::string folder = Pretended::Folder();
  const auto read_as = [&](const char* observer, int32_t held) {
    *reinterpret_cast<int32_t*>(device_) = held;
    int32_t got[2] = {0, 0};
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv(capture::kValuesVariable, folder.c_str(), 1);
      ::setenv(capture::kObserverVariable, observer, 1);
      KeepOrReplayRead(device_, sizeof held);
      memcpy(&got[0], device_, sizeof held);
      *reinterpret_cast<int64_t*>(device_) = held;
      KeepOrReplayRead(device_, observer[0] == '\0' ? sizeof(int64_t) : sizeof held);
      memcpy(&got[1], device_, sizeof held);
      (void)!::write(ends[1], got, sizeof got);
      ::_exit(0);
    }
    EXPECT_EQ(::read(ends[0], got, sizeof got), static_cast<ssize_t>(sizeof got));
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    return std::pair(got[0], got[1]);
  };
  EXPECT_EQ(read_as("libobserver.so", 7), std::pair(7, 7));
  // The second read has another size.
  EXPECT_EQ(read_as("", 0), std::pair(7, 0));
}

}  // namespace
}  // namespace drydock::hackcuda
