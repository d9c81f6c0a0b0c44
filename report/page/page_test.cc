#include "report/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/facts/trace_ranks.h"
#include "report/page/html_table.h"
#include "report/page/page_assets.h"
#include "report/page/page_data.h"
#include "report/page/sections.h"
#include "report/page/tiles.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string PageWith(const Inputs& inputs, const Summary& summary) {
  return PageOf(summary, PageData(inputs, summary, ChooseRanks(inputs.workload, TraceRanks())));
}
std::string Page(const Inputs& inputs) { return PageWith(inputs, Summarize(inputs)); }

size_t CountOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// The page without D3 and its license, which name namespaces of XML and sites.
std::string OwnPart(std::string page) {
  for (const std::string_view part : {D3License(), D3Script()}) {
    const size_t at = page.find(part);
    EXPECT_NE(at, std::string::npos);
    page.erase(at, part.size());
  }
  return page;
}

TEST(Page, RefersToNoOtherFile) {
  const std::string page = OwnPart(Page(FakeRun()));
  for (const char* reference :
       {"http:", "https:", "src=", "href=", "@import", "fetch(", "import("}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none';"));
}

TEST(Page, ShowsTheHeadlines) {
  const std::string page = Page(FakeRun());
  EXPECT_THAT(page, HasSubstr("<b>600 us</b><span>iteration time</span>"));
  EXPECT_THAT(page, HasSubstr("<b>6826667</b><span>tokens per second</span>"));
  EXPECT_THAT(page, HasSubstr("<b>40.0 %</b><span>MFU, of 100 TFLOPS dense fp16</span>"));
}

TEST(Page, TheBandStandsBesideTheHeadline) {
  Summary summary = Summarize(FakeRun());
  summary.band.emplace();
  summary.band->coverage = 0.8;
  summary.band->low = Time::Us(530);
  summary.band->high = Time::Us(678);
  EXPECT_THAT(Tiles(summary, nullptr),
              HasSubstr("<span>iteration time</span><p class=\"band\">80 % of measured runs lie "
                        "within 530 us to 678 us</p></div>"));
}

TEST(Page, CostIsATileIfItIsKnown) {
  Inputs inputs = FakeRun();
  EXPECT_THAT(Page(inputs), Not(HasSubstr("id=\"tile-cost\"")));
  Cost& cost = inputs.workload.topology.cost.emplace();
  cost.currency = "USD";
  cost.gpu_hour = {1800, "list"};
  cost.power = {{700, "a"}, {1200, "b"}, {}, {}, {1.25, "c"}};
  const std::string page = Page(inputs);
  EXPECT_THAT(page, HasSubstr("<b>0.293 USD</b><span>a million tokens; 7200 USD an hour</span>"));
  EXPECT_THAT(page, HasSubstr("<b>0.0007324 J</b><span>a token; 5 kW at the meter</span>"));
}

TEST(Page, EveryElementIsClosed) {
  const std::string page = OwnPart(Page(FakeRun()));
  for (const std::string tag : {"html", "body", "table", "tr", "section", "div", "script", "b"}) {
    EXPECT_EQ(CountOf(page, "<" + tag + ">") + CountOf(page, "<" + tag + " "),
              CountOf(page, "</" + tag + ">"))
        << tag;
  }
}

// Names come from files: they become neither elements nor the end of the data.
TEST(Page, EscapesNames) {
  Inputs inputs = FakeRun();
  inputs.workload.totals.model_name = "<b>\"&</script>";
  inputs.workload.streams[0] = "</script><b>";
  const std::string page = Page(inputs);
  EXPECT_THAT(page, HasSubstr("<h1>&lt;b&gt;&quot;&amp;&lt;/script&gt; on quad</h1>"));
  EXPECT_EQ(CountOf(page, "</script>"), 4u);
}

TEST(Page, BytesDependOnTheInputsAlone) { EXPECT_TRUE(Page(FakeRun()) == Page(FakeRun())); }

// A table sorts by keys, because "2 ms" follows "10 us".
TEST(Page, CellsHaveTheKeysByWhichTheySort) {
  EXPECT_THAT(Page(FakeRun()), HasSubstr("<td class=\"n\" data-key=\"4e-05\">40 us</td>"));
}

Summary WithMemory(int64_t bytes) {
  Inputs inputs = FakeRun();
  inputs.workload.memory = {
      {{"parameters", Bytes(bytes / 2)}, {"activations", Bytes(0)}},
      {{"parameters", Bytes(bytes / 4)}, {"activations", Bytes(bytes / 4 * 3)}}};
  return Summarize(inputs);
}

TEST(Page, TheMemoryIsATileWithItsPartsTheLargestFirst) {
  const std::string tiles = Tiles(WithMemory(8'000'000'000), nullptr);
  EXPECT_THAT(tiles, HasSubstr("<div class=\"tile\" id=\"tile-memory\">"));
  EXPECT_THAT(tiles, HasSubstr("<dl><div><dt>activations</dt><dd>6 GB</dd></div>"
                               "<div><dt>parameters</dt><dd>2 GB"));
}

TEST(Page, SaysWhyTheMemoryIsNotKnown) {
  Inputs inputs = FakeRun();
  inputs.workload.memory.clear();
  for (const auto& [maker, why] :
       {std::pair("drydock-capture", "Not known: the workload was captured"),
        {"nccl-record", "Not known: the workload was recorded"},
        {"workload-gen", "Not known: the workload was imported"},
        {"", "Not known: the workload does not state it."}}) {
    inputs.maker = maker;
    const Summary summary = Summarize(inputs);
    EXPECT_THAT(MemorySection(summary), HasSubstr(why));
  }
}

TEST(Page, MemoryThatDoesNotFitRaisesAnAlarm) {
  const std::string tiles = Tiles(WithMemory(8'000'000'000'000), nullptr);
  EXPECT_THAT(tiles, HasSubstr("<div class=\"tile alarm\" id=\"tile-memory\">"));
  EXPECT_THAT(tiles, HasSubstr("does NOT fit"));
}

// The base takes 660 us: this run is faster, in the iteration and in tokens.
TEST(Page, EveryTileHasItsChangeFromTheBase) {
  const Summary here = Summarize(FakeRun());
  Summary there = here;
  there.rates.iteration = Time::Us(660);
  there.rates.tokens_per_second = here.rates.tokens_per_second * 600 / 660;
  const std::string tiles = Tiles(here, &there);
  EXPECT_EQ(CountOf(tiles, "class=\"change "), CountOf(tiles, "id=\"tile-"));
  EXPECT_THAT(tiles, HasSubstr("<span class=\"change better\">-9.09 % · base 660 us</span>"));
  EXPECT_THAT(tiles, HasSubstr("<span class=\"change better\">+10.00 % · base 6206061</span>"));
  EXPECT_THAT(tiles, HasSubstr("<span class=\"change same\">+0.00 % · base 40.0 %</span>"));
}

TEST(Page, AChangeSaysWhichRunIsSlower) {
  EXPECT_EQ(ChangeCell(0.1).text, "+10.00 % ▲");
  EXPECT_EQ(ChangeCell(-0.1).text, "-10.00 % ▼");
  EXPECT_EQ(ChangeCell(0.0).text, "+0.00 %");
  EXPECT_EQ(ChangeCell(0.1, /*more_is_slower=*/false).text, "+10.00 % ▼");
  EXPECT_EQ(ChangeCell(std::nullopt).text, "");
}

TEST(Page, TheComparisonHasAllCalls) {
  Comparison comparison;
  for (int i = 0; i < 14; ++i) {
    comparison.calls.push_back({"call " + std::to_string(i), Time::Us(1), Time::Us(1)});
  }
  comparison.calls.push_back({"a call of this run", Time::Us(40), std::nullopt});
  const std::string section = ComparisonSection(comparison);
  EXPECT_THAT(section, HasSubstr("<td>call 13</td>"));
  EXPECT_THAT(section, HasSubstr("40 us</td><td class=\"n\">none</td><td class=\"n\"></td>"));
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
  const std::string page = Page(inputs);
  for (const char* text :
       {"max_memory_reserved 19.25 GB", "host: module code",
        "of the iteration the host decides: not launch-bound", "<td>host costs</td>"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace drydock
