#include "drydock/run/hostfile.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

std::string ErrorOf(const std::string& text) {
  const Result<int> machines = MachinesOfHostfile(text, "hosts");
  return machines.ok() ? "" : machines.error().ToString();
}

TEST(Hostfile, CountsTheMachines) {
  EXPECT_EQ(*MachinesOfHostfile("# two\nnode1 slots=2 max_slots=4\n\n node2.rack-7 # c\n", "h"), 2);
  EXPECT_EQ(*MachinesOfHostfile("node1 slots=2\nnode1 slots=2", "h"), 1);
}

TEST(Hostfile, NamesThePlaceOfAMistake) {
  EXPECT_EQ(ErrorOf("# node1\n"), "hosts: error: it names no machine");
  EXPECT_EQ(ErrorOf("node1\n%node2\n"), "hosts:2:1: error: '%node2' is not the name of a machine");
  EXPECT_EQ(ErrorOf("node1 slots=2\nnode2  slots=two"),
            "hosts:2:8: error: 'slots=two' is neither 'slots=N' nor 'max_slots=N'");
  EXPECT_EQ(ErrorOf("node1 slots=0"),
            "hosts:1:7: error: 'slots=0' is neither 'slots=N' nor 'max_slots=N'");
  EXPECT_EQ(ErrorOf(std::string(100000, 'a')).size(), 100000 + 49u);
}

}  // namespace
}  // namespace drydock
