#include "report/page/page.h"

#include <fmt/format.h>

#include "core/base/plural.h"
#include "report/output/escape.h"
#include "report/page/page_assets.h"
#include "report/page/sections.h"
#include "report/page/tiles.h"

namespace drydock {
namespace {

// The page's own script and style may run; nothing may be loaded.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

std::string Head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n",
      kPolicy, Html(title), PageStyle());
}

std::string Title(const Summary& summary) {
  return fmt::format("{} on {}", summary.job.model, summary.cluster.name);
}

std::string Intro(const Summary& summary) {
  std::string out = fmt::format("<header><div>\n<h1>{}</h1>\n<p>{} in {} · {} · network {}</p>\n",
                                Html(Title(summary)), Plural(summary.cluster.ranks, "GPU"),
                                Plural(summary.cluster.hosts, "host"), Html(summary.job.layout),
                                Html(summary.network.name));
  if (const std::string note = IdleGpusNote(summary.cluster); !note.empty()) {
    out += "<p>" + Html(note) + "</p>\n";
  }
  return out +
         "</div></header>\n<noscript><p>Charts need the script of this page; tables do "
         "not.</p></noscript>\n";
}

// No element may have the id "d3": it would be the global object d3.
std::string Scripts(const std::string& data, const PageBase* base) {
  return fmt::format(
      "<script type=\"application/json\" id=\"data\">{{\"runs\":[{}{}{}]}}</script>\n"
      "<script type=\"text/plain\" id=\"d3-license\">{}</script>\n"
      "<script>{}</script>\n<script>{}</script>\n",
      data, base == nullptr ? "" : ",", base == nullptr ? "" : base->data, D3License(), D3Script(),
      PageScript());
}

}  // namespace

std::string PageOf(const Summary& summary, const std::string& data, const PageBase* base) {
  std::string out = Head(Title(summary)) + Intro(summary);
  out += Tiles(summary, base == nullptr ? nullptr : &base->summary);
  out += TimeSection(summary) + TimelineSection();
  if (base != nullptr) out += ComparisonSection(base->comparison);
  out += MemorySection(summary) + PathSection(summary) + WhatIfSection(summary) +
         CommunicationSection(summary) + LinksSection(summary) + KernelsSection(summary) +
         AssumptionsSection(summary);
  return out + Scripts(data, base) + "</body>\n</html>\n";
}

}  // namespace drydock
