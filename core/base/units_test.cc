#include "core/base/units.h"

#include <gtest/gtest.h>

#include <random>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

TEST(UnitsTest, ParsesEveryUnit) {
  EXPECT_EQ(ParseTime("7 ps")->ps(), 7);
  EXPECT_EQ(ParseTime("500 ns")->ps(), 500000);
  EXPECT_EQ(ParseTime("1.5us")->ps(), 1500000);
  EXPECT_EQ(ParseTime("  2 ms ")->ps(), 2000000000);
  EXPECT_EQ(ParseTime("1\ts")->ps(), 1000000000000);
  EXPECT_EQ(ParseBytes("4096 B")->count(), 4096);
  EXPECT_EQ(ParseBytes("80 GB")->count(), 80000000000);
  EXPECT_EQ(ParseBytes("50 MiB")->count(), 52428800);
  EXPECT_EQ(ParseBytes("1.5 KiB")->count(), 1536);
  EXPECT_EQ(ParseBandwidth("400 Gbps")->bits_per_second(), 400000000000);
  EXPECT_EQ(ParseBandwidth("450 GB/s")->bits_per_second(), 3600000000000);
  EXPECT_EQ(ParseBandwidth("2.797 TB/s")->bits_per_second(), 22376000000000);
  EXPECT_EQ(ParseFlopRate("312 TFLOPS")->flops_per_second(), 312e12);
  EXPECT_EQ(ParseFlopRate("1979 TOPS")->flops_per_second(), 1979e12);
  EXPECT_EQ(*ParseMeters("10 m"), 10);
  EXPECT_EQ(*ParseMeters("2 cm"), 0.02);
  EXPECT_EQ(*ParseMeters("1.5 km"), 1500);
  EXPECT_EQ(ParseTime("0 ns")->ps(), 0);
}

TEST(UnitsTest, ErrorsSayWhatIsExpected) {
  const auto time = [](const char* text) { return ErrorText(ParseTime(text)); };
  EXPECT_EQ(time("soon"), "error: 'soon' is not a time; write a number and a unit, as in '500 ns'");
  EXPECT_EQ(time(""), "error: '' is not a time; write a number and a unit, as in '500 ns'");
  EXPECT_EQ(time("nan ns"),
            "error: 'nan ns' is not a time; write a number and a unit, as in '500 ns'");
  EXPECT_EQ(time("inf s"),
            "error: 'inf s' is not a time; write a number and a unit, as in '500 ns'");
  EXPECT_EQ(time("500"),
            "error: '500' has no unit; valid units are ps, ns, us, ms, s, as in "
            "'500 ns'");
  EXPECT_EQ(time("500 usec"),
            "error: 'usec' is not a time unit; valid units are ps, ns, us, ms, s");
  EXPECT_EQ(time("500 nsec"),
            "error: 'nsec' is not a time unit; valid units are ps, ns, us, ms, s");
  EXPECT_EQ(time("500 NS"),
            "error: 'NS' is not a time unit; did you mean 'ns'?; valid units are ps, ns, us, ms, "
            "s");
  EXPECT_EQ(time("-5 ns"), "error: '-5 ns' is negative");
  EXPECT_EQ(ErrorText(ParseBandwidth("400 Gb/s")),
            "error: 'Gb/s' is not a bandwidth unit; did you mean 'GB/s'?; valid units are bps, "
            "Kbps, Mbps, Gbps, Tbps, B/s, KB/s, MB/s, GB/s, TB/s");
  EXPECT_EQ(ErrorText(ParseBytes("80 Gb")),
            "error: 'Gb' is not a size unit; did you mean 'GB'?; valid units are B, KB, MB, GB, "
            "TB, KiB, MiB, GiB");
  EXPECT_EQ(ErrorText(ParseFlopRate("312 TFLOP/s")),
            "error: 'TFLOP/s' is not a FLOP rate unit; did you mean 'TFLOPS'?; valid units are "
            "GFLOPS, TFLOPS, PFLOPS, TOPS");
  EXPECT_EQ(ErrorText(ParseMeters("3 ft")),
            "error: 'ft' is not a length unit; valid units are m, cm, km");
}

TEST(UnitsTest, ValuesOutOfRangeAreErrors) {
  EXPECT_EQ(ParseTime("9e18 ps")->ps(), 9000000000000000000);
  EXPECT_EQ(ErrorText(ParseTime("9.1e18 ps")), "error: '9.1e18 ps' is too large");
  EXPECT_EQ(ErrorText(ParseTime("1e9 s")), "error: '1e9 s' is too large");
  EXPECT_EQ(ErrorText(ParseBytes("1e300 TB")), "error: '1e300 TB' is too large");
  EXPECT_EQ(ErrorText(ParseFlopRate("1e300 PFLOPS")), "error: '1e300 PFLOPS' is too large");
  EXPECT_EQ(ErrorText(ParseMeters("1e308 km")), "error: '1e308 km' is too large");
  EXPECT_EQ(ErrorText(ParseTime("1e999 s")), "error: '1e999 s' is too large or too small");
  EXPECT_EQ(ErrorText(ParseTime("0.1 ps")), "error: '0.1 ps' is too small; the minimum is 1 ps");
  EXPECT_EQ(ErrorText(ParseBytes("0.2 B")), "error: '0.2 B' is too small; the minimum is 1 B");
  EXPECT_EQ(ParseTime("0.6 ps")->ps(), 1);
  EXPECT_EQ(ErrorText(ParseMeters("-1 m")), "error: '-1 m' is negative");
  EXPECT_EQ(ErrorText(ParseFlopRate("-1 TFLOPS")), "error: '-1 TFLOPS' is negative");
}

TEST(UnitsTest, TextHasFourDigitsAndAFittingUnit) {
  EXPECT_EQ(ToString(Time()), "0 ps");
  EXPECT_EQ(ToString(Time::Ps(999)), "999 ps");
  EXPECT_EQ(ToString(Time::Us(786)), "786 us");
  EXPECT_EQ(ToString(Time::FromSeconds(1.42)), "1.42 s");
  EXPECT_EQ(ToString(Time::Ps(999600)), "999.6 ns");
  EXPECT_EQ(ToString(Time::Ps(999999)), "1 us");
  EXPECT_EQ(ToString(Time::FromSeconds(123456)), "123456 s");
  EXPECT_EQ(ToString(Time::Us(-5)), "-5 us");
  EXPECT_EQ(ToString(Bytes(80000000000)), "80 GB");
  EXPECT_EQ(ToString(Bytes(100663296)), "100.7 MB");
  EXPECT_EQ(ToString(Bandwidth::BitsPerSecond(400000000000)), "400 Gbps");
  EXPECT_EQ(ToString(FlopRate(312e12)), "312 TFLOPS");
  EXPECT_EQ(ToString(FlopRate(5e6)), "5000000 FLOPS");
}

// Values of any size read back from ToString to within its four digits.
TEST(UnitsTest, TextReadsBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<int64_t>(random() >> (1 + random() % 62));
    if (value > 8900000000000000000) continue;
    const auto near = [value](int64_t got) {
      return std::abs(static_cast<double>(got - value)) <= 0.0006 * static_cast<double>(value);
    };
    ASSERT_TRUE(near(ParseTime(ToString(Time::Ps(value)))->ps())) << value;
    ASSERT_TRUE(near(ParseBytes(ToString(Bytes(value)))->count())) << value;
    ASSERT_TRUE(near(ParseBandwidth(ToString(Bandwidth::BitsPerSecond(value)))->bits_per_second()))
        << value;
  }
}

TEST(UnitsTest, TransferTimesRoundUp) {
  EXPECT_EQ(Bandwidth::BitsPerSecond(8000000000).TimeFor(Bytes(1)).ps(), 1000);
  EXPECT_EQ(Bandwidth::BitsPerSecond(400000000000).TimeFor(Bytes(4096)).ps(), 81920);
  EXPECT_EQ(Bandwidth::BitsPerSecond(3).TimeFor(Bytes(1)).ps(), 2666666666667);
  EXPECT_EQ(Bandwidth::BitsPerSecond(1).TimeFor(Bytes(0)).ps(), 0);
  // 8 TB at 8 Tbps: the product of bits and picoseconds does not fit in 64 bits.
  EXPECT_EQ(Bandwidth::BitsPerSecond(8000000000000).TimeFor(Bytes(8000000000000)).ps(),
            8000000000000);
  EXPECT_EQ(Bandwidth::FromBytesPerSecond(50e9).bits_per_second(), 400000000000);
}

TEST(UnitsDeathTest, AnOverflowOfTimeIsAnInternalError) {
  EXPECT_EXIT(Bandwidth::BitsPerSecond(1).TimeFor(Bytes(int64_t{1} << 40)),
              ::testing::ExitedWithCode(3), "a transfer takes more than 106 days");
  EXPECT_EXIT(Time::FromSeconds(1e7), ::testing::ExitedWithCode(3), "internal error: .*units");
}

}  // namespace
}  // namespace drydock
