#include "report/output/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/output/pictures.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Page(const Inputs& inputs) { return PageOf(inputs, Summarize(inputs)); }

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Page, RefersToNoOtherFile) {
  const std::string page = Page(FakeRun());
  for (const char* reference : {"http", "src=", "href=", "url(", "<script", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
}

TEST(Page, ShowsTheHeadlines) {
  const std::string page = Page(FakeRun());
  EXPECT_THAT(page, HasSubstr("<b>600 us</b><span>iteration time</span>"));
  EXPECT_THAT(page, HasSubstr("<b>6826667</b><span>tokens per second</span>"));
  EXPECT_THAT(page, HasSubstr("<b>40.0 %</b><span>MFU, of 100 TFLOPS dense fp16</span>"));
}

TEST(Page, EveryElementIsClosed) {
  const std::string page = Page(FakeRun());
  for (const std::string tag : {"html", "body", "table", "tr", "svg", "div", "text", "title"}) {
    EXPECT_EQ(Count(page, "<" + tag + ">") + Count(page, "<" + tag + " "),
              Count(page, "</" + tag + ">"))
        << tag;
  }
}

TEST(Page, EscapesNames) {
  Inputs inputs = FakeRun();
  inputs.workload.totals.model_name = "<b>\"&";
  EXPECT_THAT(Page(inputs), HasSubstr("<h1>&lt;b&gt;&quot;&amp; on quad</h1>"));
}

TEST(Page, BytesDependOnTheInputsAlone) { EXPECT_TRUE(Page(FakeRun()) == Page(FakeRun())); }

// Ranks 0 and 1 compute 255 of 600 us on average: 42.5 % of 960 pixels.
TEST(Pictures, BarsAreAsLongAsTheirShare) {
  const std::string bars = BarsSvg(Summarize(FakeRun()));
  EXPECT_THAT(bars, HasSubstr("<rect x=\"290.00\" y=\"26\" width=\"408.00\" height=\"20\" "));
  EXPECT_THAT(bars, HasSubstr("<title>compute: 255 us (42.5 %)</title>"));
  EXPECT_THAT(bars, HasSubstr(">ranks 0-1 · layer 0</text>"));
}

TEST(Pictures, EveryPartHasADistinctColor) {
  Inputs inputs = FakeRun();
  TimeAccount& account = inputs.timeline.accounts[0];
  account = {};
  account.compute = account.host = account.straggler = account.memory = account.bubble =
      Time::Us(50);
  for (Time& exposed : account.exposed) exposed = Time::Us(50);
  account.idle = Time::Us(50);
  const std::string bars = BarsSvg(Summarize(inputs));
  EXPECT_THAT(bars, HasSubstr(">host</text>"));
  std::set<std::string> colors;
  for (size_t at = bars.find("fill=\"#"); at != std::string::npos;
       at = bars.find("fill=\"#", at + 1)) {
    colors.insert(bars.substr(at + 6, 7));
  }
  EXPECT_EQ(colors.size(), static_cast<size_t>(kPartCount));
}

// 600 us on 960 pixels: the forward pass takes 100 us, 160 pixels; the backward pass 450 to 600.
TEST(Pictures, TimelineShowsOneRankOfEachClassByPhase) {
  const std::string picture = TimelineSvg(FakeRun(), {0, 2});
  EXPECT_THAT(picture, HasSubstr("d=\"M290 46h160v18h-160z\"><title>forward</title>"));
  EXPECT_THAT(picture, HasSubstr("d=\"M1010 46h240v18h-240z\"><title>backward</title>"));
  EXPECT_THAT(picture, HasSubstr(">rank 0</text>"));
  EXPECT_THAT(picture, HasSubstr(">rank 2</text>"));
  EXPECT_THAT(picture, Not(HasSubstr(">rank 1</text>")));
}

TEST(Pictures, RowsAreEvenlyChosenFromFirstToLast) {
  EXPECT_EQ(PictureRows(3), (std::vector<size_t>{0, 1, 2}));
  const std::vector<size_t> rows = PictureRows(100);
  EXPECT_EQ(rows.size(), kMaxPictureRows);
  EXPECT_EQ(rows.front(), 0u);
  EXPECT_EQ(rows.back(), 99u);
}

TEST(Page, ShowsPyTorchsPeaksTheHostsCausesAndAssumptions) {
  Inputs inputs = FakeRun();
  inputs.workload.memory = {{{"parameters", Bytes(10'000'000'000)}},
                            {{"parameters", Bytes(20'000'000'000)}}};
  inputs.workload.pytorch = {{Bytes(9'000'000'000), Bytes(9'500'000'000)},
                             {Bytes(18'000'000'000), Bytes(19'250'000'000)}};
  inputs.workload.launch.queue = 1;
  inputs.workload.assumptions = {{"host costs", "fast", "a file"}};
  for (TimeAccount& account : inputs.timeline.accounts) {
    account.host = account.host_time.of(HostCause::kCode) = Time::Us(60);
  }
  const std::string page = PageOf(inputs, Summarize(inputs), {});
  for (const char* text :
       {"max_memory_reserved 19.25 GB", "host: module code",
        "of the iteration the host decides: not launch-bound", "<td>host costs</td>"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace drydock
