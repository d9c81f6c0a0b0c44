#include "core/schema/cluster/simai_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>

#include "core/base/spelling.h"
#include "core/schema/cluster/cluster_limits.h"

namespace drydock {
namespace {

// Thresholds and steps of rates in a cluster file are those of a port of this rate.
constexpr double kReferenceRate = 25e9;

struct Line {
  std::vector<std::string> words;  // the key first
  std::string path;
  int number = 0;
  std::string text;
};

enum class Mode { kDcqcn = 1, kHpcc = 3, kTimely = 7, kDctcp = 8 };

// Keys that decide no speed: files, traces and monitors, and keys that SimAI itself reads without
// using them.
const std::vector<std::string>& Ignored() {
  static const std::vector<std::string> keys = {"FLOW_FILE",         "TRACE_FILE",
                                                "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE",
                                                "PFC_OUTPUT_FILE",   "QLEN_MON_FILE",
                                                "BW_MON_FILE",       "RATE_MON_FILE",
                                                "CNP_MON_FILE",      "MON_START",
                                                "MON_END",           "QP_MON_INTERVAL",
                                                "QLEN_MON_INTERVAL", "BW_MON_INTERVAL",
                                                "ENABLE_TRACE",      "SIMULATOR_STOP_TIME",
                                                "DATA_RATE",         "LINK_DELAY",
                                                "GLOBAL_T",          "USE_DYNAMIC_PFC_THRESHOLD",
                                                "INT_MULTI",         "NIC_TOTAL_PAUSE_TIME",
                                                "AS_LOG_LEVEL"};
  return keys;
}

// Keys that decide speeds.
const std::vector<std::string>& Meant() {
  static const std::vector<std::string> keys = {"CC_MODE",
                                                "ENABLE_QCN",
                                                "PACKET_PAYLOAD_SIZE",
                                                "L2_CHUNK_SIZE",
                                                "L2_ACK_INTERVAL",
                                                "L2_BACK_TO_ZERO",
                                                "PAUSE_TIME",
                                                "ALPHA_RESUME_INTERVAL",
                                                "RATE_DECREASE_INTERVAL",
                                                "CLAMP_TARGET_RATE",
                                                "RP_TIMER",
                                                "EWMA_GAIN",
                                                "FAST_RECOVERY_TIMES",
                                                "RATE_AI",
                                                "RATE_HAI",
                                                "MIN_RATE",
                                                "DCTCP_RATE_AI",
                                                "ERROR_RATE_PER_LINK",
                                                "HAS_WIN",
                                                "VAR_WIN",
                                                "FAST_REACT",
                                                "U_TARGET",
                                                "MI_THRESH",
                                                "MULTI_RATE",
                                                "SAMPLE_FEEDBACK",
                                                "PINT_LOG_BASE",
                                                "PINT_PROB",
                                                "RATE_BOUND",
                                                "ACK_HIGH_PRIO",
                                                "LINK_DOWN",
                                                "KMAX_MAP",
                                                "KMIN_MAP",
                                                "PMAX_MAP",
                                                "BUFFER_SIZE",
                                                "AS_SEND_LAT",
                                                "AS_NVLS_ENABLE",
                                                "AS_NVLSTREE_ENABLE",
                                                "AS_PXN_ENABLE"};
  return keys;
}

bool Has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> WordsOf(std::string text) {
  const size_t comment = text.find('#');
  if (comment != std::string::npos) text.resize(comment);
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() > 1 && words[0] == "export") words.erase(words.begin());
  if (!words.empty() && words[0].starts_with("AS_")) {
    const size_t equals = words[0].find('=');
    if (equals != std::string::npos) {
      words.insert(words.begin() + 1, words[0].substr(equals + 1));
      words[0].resize(equals);
    }
  }
  return words;
}

class Reader {
 public:
  explicit Reader(const SimaiFabric& fabric) : fabric_(fabric) {}

  Result<SimaiConf> Read(const std::vector<SimaiConfText>& files) {
    for (const SimaiConfText& file : files) RETURN_IF_ERROR(ReadLines(file));
    RETURN_IF_ERROR(ReadMode());
    for (const auto& read :
         {&Reader::Packets, &Reader::Switches, &Reader::Windows, &Reader::Losses, &Reader::Nccl}) {
      RETURN_IF_ERROR((this->*read)());
    }
    switch (mode_) {
      case Mode::kDcqcn:
        RETURN_IF_ERROR(Dcqcn());
        break;
      case Mode::kHpcc:
        RETURN_IF_ERROR(Hpcc());
        break;
      case Mode::kTimely:
        RETURN_IF_ERROR(Timely());
        break;
      case Mode::kDctcp:
        RETURN_IF_ERROR(Dctcp());
        break;
    }
    // Keys of the algorithms that CC_MODE does not name.
    for (const auto& [key, line] : lines_) {
      if (!used_.contains(key)) conf_.ignored.push_back(key);
    }
    return std::move(conf_);
  }

 private:
  Error Bad(const Line& line, const std::string& message) const {
    return Error(message, {line.path, line.number, 1}, line.text);
  }

  Status ReadLines(const SimaiConfText& file) {
    std::istringstream in(file.text);
    Line line;
    line.path = file.path;
    const size_t before = lines_.size();
    while (std::getline(in, line.text)) {
      ++line.number;
      line.words = WordsOf(line.text);
      if (line.words.empty()) continue;
      const std::string& key = line.words[0];
      if (!Has(Ignored(), key) && !Has(Meant(), key)) {
        std::vector<std::string> known = Meant();
        known.insert(known.end(), Ignored().begin(), Ignored().end());
        return Bad(line, fmt::format("SimAI has no setting '{}'{}", Printable(key),
                                     DidYouMean(Printable(key), known)));
      }
      if (line.words.size() < 2) return Bad(line, fmt::format("'{}' has no value", key));
      if (!lines_.emplace(key, line).second) {
        return Bad(line, fmt::format("'{}' stands in line {} of {} already", key,
                                     lines_[key].number, lines_[key].path));
      }
    }
    if (lines_.size() == before)
      return Error("this file has no setting of SimAI, such as AS_PXN_ENABLE", {file.path, 0, 0});
    return OkStatus();
  }

  // Returns the line of a key, or null, and counts the key as used.
  const Line* Find(const std::string& key) {
    used_.insert(key);
    const auto found = lines_.find(key);
    return found == lines_.end() ? nullptr : &found->second;
  }

  Status NumberOf(const Line& line, size_t word, double low, double high, double* value) const {
    const std::string text = word < line.words.size() ? line.words[word] : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
        !(*value >= low && *value <= high)) {
      return Bad(line, fmt::format("'{}' is a number from {:.10g} to {:.10g}, not '{}'",
                                   line.words[0], low, high, Printable(text)));
    }
    return OkStatus();
  }

  // Reads a key with one number. *found tells whether the file has it.
  Status Number(const std::string& key, double low, double high, double* value, bool* found) {
    const Line* line = Find(key);
    *found = line != nullptr;
    if (line == nullptr) return OkStatus();
    if (line->words.size() > 2) return Bad(*line, fmt::format("'{}' has one value", key));
    return NumberOf(*line, 1, low, high, value);
  }

  // Reads a key of 0 or 1; absent, it keeps its value.
  Status Flag(const std::string& key, bool* value) {
    double number = 0;
    bool found = false;
    RETURN_IF_ERROR(Number(key, 0, 1, &number, &found));
    if (found && number != 0 && number != 1) {
      return Bad(*Find(key), fmt::format("'{}' is 0 or 1", key));
    }
    if (found) *value = number == 1;
    return OkStatus();
  }

  void Set(const std::string& key, const std::string& value) {
    conf_.values.emplace_back(key, value);
  }
  void Attribute(const std::string& name, const std::string& value) {
    Set("transport.attributes." + name, value);
  }
  void Differs(const std::string& key, const std::string& what) {
    conf_.differences.push_back(fmt::format("{}: {}", key, what));
  }

  // Sets an attribute from a key with one number.
  Status Take(const std::string& key, double low, double high, const std::string& attribute,
              const std::string& unit = "") {
    double value = 0;
    bool found = false;
    RETURN_IF_ERROR(Number(key, low, high, &value, &found));
    if (found) Attribute(attribute, fmt::format("{:.12g}{}", value, unit));
    return OkStatus();
  }

  // "50Mb/s", as ns-3 writes rates: bits per second unless the unit has a capital B.
  Status RateOf(const Line& line, double* bits) const {
    static const std::map<std::string, double> units = {
        {"bps", 1},    {"b/s", 1},    {"kbps", 1e3}, {"kb/s", 1e3}, {"Kbps", 1e3}, {"Kb/s", 1e3},
        {"Mbps", 1e6}, {"Mb/s", 1e6}, {"Gbps", 1e9}, {"Gb/s", 1e9}, {"Bps", 8},    {"B/s", 8},
        {"KB/s", 8e3}, {"kB/s", 8e3}, {"MB/s", 8e6}, {"MBps", 8e6}, {"GB/s", 8e9}, {"GBps", 8e9}};
    const std::string& text = line.words[1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *bits);
    const auto unit = units.find(std::string(end, text.data() + text.size()));
    if (error != std::errc() || unit == units.end() || line.words.size() > 2 || !(*bits >= 0) ||
        *bits * unit->second > 1e15) {
      return Bad(line, fmt::format("'{}' is a rate such as 50Mb/s, not '{}'", line.words[0],
                                   Printable(text)));
    }
    *bits *= unit->second;
    return OkStatus();
  }

  // Sets an attribute from a key with a rate. `proportional`: the attribute is that of a port of
  // 25 Gb/s.
  Status TakeRate(const std::string& key, const std::string& attribute, bool proportional) {
    const Line* line = Find(key);
    if (line == nullptr) return OkStatus();
    double bits = 0;
    RETURN_IF_ERROR(RateOf(*line, &bits));
    if (proportional) bits *= kReferenceRate / static_cast<double>(fabric_.nic.bits_per_second());
    Attribute(attribute, fmt::format("{} bps", std::llround(bits)));
    return OkStatus();
  }

  Status ReadMode() {
    double mode = 1;
    bool found = false;
    RETURN_IF_ERROR(Number("CC_MODE", 0, 100, &mode, &found));
    if (mode != 1 && mode != 3 && mode != 7 && mode != 8) {
      const std::string what = mode == 10 ? "CC_MODE 10 is HPCC-PINT, which Drydock has no model of"
                                          : fmt::format("there is no CC_MODE {:.10g}", mode);
      return Bad(*Find("CC_MODE"),
                 what + "; modes are 1 (DCQCN), 3 (HPCC), 7 (TIMELY) and 8 (DCTCP)");
    }
    mode_ = static_cast<Mode>(static_cast<int>(mode));
    bool marks = true;
    RETURN_IF_ERROR(Flag("ENABLE_QCN", &marks));
    std::string control = mode_ == Mode::kDcqcn    ? "dcqcn"
                          : mode_ == Mode::kHpcc   ? "hpcc"
                          : mode_ == Mode::kTimely ? "timely"
                                                   : "dctcp";
    if (!marks && (mode_ == Mode::kDcqcn || mode_ == Mode::kDctcp)) {
      control = "none";
      Differs("ENABLE_QCN", fmt::format("without marks, CC_MODE {} never slows a sender", mode));
    }
    Set("transport.congestion_control", control);
    return OkStatus();
  }

  // SimAI's NICs are RoCE's, and its switches pause.
  Status Packets() {
    Set("transport.kind", "roce-v2");
    Set("transport.header", "82 B");
    Set("transport.ack", "84 B");
    Set("transport.flow_control", "pfc");
    double payload = 1000, interval = 0;
    bool found = false;
    RETURN_IF_ERROR(Number("PACKET_PAYLOAD_SIZE", static_cast<double>(kMinMtu),
                           static_cast<double>(kMaxMtu), &payload, &found));
    Set("transport.mtu", fmt::format("{:.0f} B", payload));
    // A receiver acknowledges when it has this many bytes more.
    RETURN_IF_ERROR(Number("L2_ACK_INTERVAL", 1, 1e8, &interval, &found));
    const double packets = std::ceil(interval / payload);
    if (packets > kMaxPacketsPerAck) {
      return Bad(*Find("L2_ACK_INTERVAL"),
                 fmt::format("'L2_ACK_INTERVAL' is {:.0f} packets; at most {} share an "
                             "acknowledgement",
                             packets, kMaxPacketsPerAck));
    }
    if (found) Set("transport.packets_per_ack", fmt::format("{:.0f}", packets));
    bool early = false;
    RETURN_IF_ERROR(Flag("ACK_HIGH_PRIO", &early));
    if (early) Attribute("RdmaTransport::AckPriority", "6");
    payload_ = payload;
    return OkStatus();
  }

  Status Switches() {
    double megabytes = 16;
    bool found = false;
    RETURN_IF_ERROR(Number("BUFFER_SIZE", 1, 4095, &megabytes, &found));
    Set("fabric.switch_buffer", fmt::format("{} B", std::llround(megabytes * 1024 * 1024)));
    if (Find("PAUSE_TIME") != nullptr) {
      Differs("PAUSE_TIME", "a pause lasts until the switch ends it");
    }
    RETURN_IF_ERROR(Marks("KMIN_MAP", "FabricSwitch::EcnMin", 1000));
    RETURN_IF_ERROR(Marks("KMAX_MAP", "FabricSwitch::EcnMax", 1000));
    return Marks("PMAX_MAP", "FabricSwitch::EcnProbability", 0);
  }

  // "n rate value ...": a value of each rate of port. `unit`: bytes of a value that grows with the
  // rate in a cluster file; 0: a probability, which does not.
  Status Marks(const std::string& key, const std::string& attribute, double unit) {
    const Line* line = Find(key);
    if (line == nullptr) return OkStatus();
    double count = 0;
    RETURN_IF_ERROR(NumberOf(*line, 1, 1, 1000, &count));
    if (line->words.size() != 2 + 2 * static_cast<size_t>(count)) {
      return Bad(*line, fmt::format("'{}' is a count and as many pairs of a rate and a value; the "
                                    "count is {:.10g}, and {} values follow",
                                    key, count, line->words.size() - 2));
    }
    std::map<int64_t, double> values;
    for (size_t word = 2; word < line->words.size(); word += 2) {
      double rate = 0, value = 0;
      RETURN_IF_ERROR(NumberOf(*line, word, 1, 1e15, &rate));
      RETURN_IF_ERROR(NumberOf(*line, word + 1, 0, unit > 0 ? 1e6 : 1, &value));
      values[std::llround(rate)] = value;
    }
    for (const int64_t rate : fabric_.rates) {
      if (values.contains(rate)) continue;
      return Bad(*line, fmt::format("'{}' has no value for {}, a rate of the topology's links; "
                                    "SimAI needs one for each",
                                    key, ToString(Bandwidth::BitsPerSecond(rate))));
    }
    const auto at = [&](int64_t rate) {
      return unit > 0 ? values[rate] * unit * kReferenceRate / static_cast<double>(rate)
                      : values[rate];
    };
    const double value = at(fabric_.nic.bits_per_second());
    Attribute(attribute,
              unit > 0 ? fmt::format("{}", std::llround(value)) : fmt::format("{:.12g}", value));
    for (const int64_t rate : fabric_.rates) {
      if (std::abs(at(rate) - value) < 1e-9 * (1 + std::abs(value))) continue;
      const double here =
          unit > 0 ? value / unit * static_cast<double>(rate) / kReferenceRate : value;
      Differs(key,
              fmt::format("ports of {} have {:.10g}, not {:.10g}: the value of {}, that of a "
                          "NIC, counts for all{}",
                          ToString(Bandwidth::BitsPerSecond(rate)), here, values[rate],
                          ToString(fabric_.nic), unit > 0 ? " in proportion to the rate" : ""));
    }
    return OkStatus();
  }

  Status Windows() {
    bool windows = true, shrinks = false, bounded = true;
    RETURN_IF_ERROR(Flag("HAS_WIN", &windows));
    RETURN_IF_ERROR(Flag("VAR_WIN", &shrinks));
    RETURN_IF_ERROR(Flag("RATE_BOUND", &bounded));
    Attribute("RdmaTransport::WindowBdp", windows ? "1" : "1000000");
    if (windows && shrinks && mode_ == Mode::kDcqcn) {
      Differs("VAR_WIN", "a window keeps its size when DCQCN cuts the rate");
    }
    if (!bounded) {
      return Bad(*Find("RATE_BOUND"),
                 "RATE_BOUND 0 lets a NIC send above its rate, which Drydock has no model of; "
                 "write 1");
    }
    return OkStatus();
  }

  Status Losses() {
    double rate = 0;
    bool found = false, back_to_zero = false;
    RETURN_IF_ERROR(Number("ERROR_RATE_PER_LINK", 0, 1, &rate, &found));
    if (rate > 0) {
      return Bad(*Find("ERROR_RATE_PER_LINK"),
                 "ERROR_RATE_PER_LINK counts packets; write 'bit_errors' under 'faults'");
    }
    RETURN_IF_ERROR(Flag("L2_BACK_TO_ZERO", &back_to_zero));
    Set("transport.retransmission", "go-back-n");
    if (back_to_zero) {
      Differs("L2_BACK_TO_ZERO",
              "after a loss a queue pair sends again from the lost packet, not from its chunk");
    }
    const Line* chunk = Find("L2_CHUNK_SIZE");
    if (chunk != nullptr) conf_.ignored.push_back("L2_CHUNK_SIZE");  // of L2_BACK_TO_ZERO
    return LinkDown();
  }

  // "microseconds a b": the cable between two nodes is down from then on. 0: none.
  Status LinkDown() {
    const Line* line = Find("LINK_DOWN");
    if (line == nullptr) return OkStatus();
    if (line->words.size() != 4) return Bad(*line, "'LINK_DOWN' is a time and two nodes");
    double at = 0, a = 0, b = 0;
    RETURN_IF_ERROR(NumberOf(*line, 1, 0, 1e12, &at));
    RETURN_IF_ERROR(NumberOf(*line, 2, 0, 1e8, &a));
    RETURN_IF_ERROR(NumberOf(*line, 3, 0, 1e8, &b));
    if (at == 0) {
      conf_.ignored.push_back("LINK_DOWN");
      return OkStatus();
    }
    for (const double node : {a, b}) {
      const auto id = static_cast<int64_t>(node);
      if (id < fabric_.gpus || id >= fabric_.first_switch) continue;
      return Bad(*line,
                 fmt::format("node {} is an NVSwitch, whose links do not fail in Drydock", id));
    }
    Set("faults",
        fmt::format("[{{link: [{}, {}], at: {:.12g} us}}]", NodeName(a), NodeName(b), at));
    return OkStatus();
  }

  std::string NodeName(double node) const {
    const auto id = static_cast<int64_t>(node);
    if (id >= fabric_.gpus) return fmt::format("switch{}", id);
    return fmt::format("host{}/nic{}", id / fabric_.gpus_per_server, id % fabric_.gpus_per_server);
  }

  // SimAI decides itself what NCCL would; here NCCL decides, and these settings bind it.
  Status Nccl() {
    bool nvls = false, tree = false, pxn = false;
    RETURN_IF_ERROR(Flag("AS_NVLS_ENABLE", &nvls));
    RETURN_IF_ERROR(Flag("AS_NVLSTREE_ENABLE", &tree));
    RETURN_IF_ERROR(Flag("AS_PXN_ENABLE", &pxn));
    if (lines_.contains("AS_NVLS_ENABLE") || lines_.contains("AS_NVLSTREE_ENABLE")) {
      Set("nccl.settings.NCCL_NVLS_ENABLE", nvls || tree ? "1" : "0");
      if (nvls != tree) Set("nccl.settings.NCCL_ALGO", nvls ? "^nvlstree" : "^nvls");
    }
    if (lines_.contains("AS_PXN_ENABLE")) {
      Set("nccl.settings.NCCL_PXN_DISABLE", pxn ? "0" : "1");
    }
    if (Find("AS_SEND_LAT") != nullptr) {
      Differs("AS_SEND_LAT", "the GPU's file says what a step of NCCL's kernels costs");
    }
    return OkStatus();
  }

  Status Dcqcn() {
    bool clamp = true;
    RETURN_IF_ERROR(Flag("CLAMP_TARGET_RATE", &clamp));
    if (!clamp) {
      Differs("CLAMP_TARGET_RATE", "a cut always lowers the target to the rate, as in the paper");
    }
    RETURN_IF_ERROR(Take("EWMA_GAIN", 0, 1, "Dcqcn::Gain"));
    RETURN_IF_ERROR(Take("ALPHA_RESUME_INTERVAL", 0.001, 1e9, "Dcqcn::AlphaInterval", " us"));
    RETURN_IF_ERROR(Take("RATE_DECREASE_INTERVAL", 0, 1e9, "Dcqcn::DecreaseInterval", " us"));
    RETURN_IF_ERROR(Take("RP_TIMER", 0.001, 1e9, "Dcqcn::IncreaseInterval", " us"));
    RETURN_IF_ERROR(Take("FAST_RECOVERY_TIMES", 1, 4294967295.0, "Dcqcn::FastRecoveries"));
    RETURN_IF_ERROR(TakeRate("RATE_AI", "Dcqcn::AdditiveIncrease", true));
    RETURN_IF_ERROR(TakeRate("RATE_HAI", "Dcqcn::HyperIncrease", true));
    return TakeRate("MIN_RATE", "Dcqcn::MinRate", false);
  }

  Status Hpcc() {
    bool reacts = true, per_hop = true, samples = false;
    RETURN_IF_ERROR(Flag("FAST_REACT", &reacts));
    RETURN_IF_ERROR(Flag("MULTI_RATE", &per_hop));
    RETURN_IF_ERROR(Flag("SAMPLE_FEEDBACK", &samples));
    const auto refuse = [&](const char* key, const std::string& what) {
      const Line* line = Find(key);
      const std::string text = fmt::format("{}, which Drydock has no model of", what);
      return line != nullptr ? Bad(*line, text) : Bad(*Find("CC_MODE"), text);
    };
    if (!reacts) return refuse("FAST_REACT", "FAST_REACT 0 reacts once a round trip");
    if (per_hop) {
      return refuse("MULTI_RATE",
                    "MULTI_RATE 1, SimAI's default, keeps a rate for each hop; write 'MULTI_RATE "
                    "0', the rule of the paper, for MULTI_RATE 1");
    }
    if (samples) return refuse("SAMPLE_FEEDBACK", "SAMPLE_FEEDBACK 1 skips telemetry");
    RETURN_IF_ERROR(Take("U_TARGET", 0.01, 1, "Hpcc::Target"));
    RETURN_IF_ERROR(Take("MI_THRESH", 0, 4294967295.0, "Hpcc::MaxStage"));
    const Line* line = Find("RATE_AI");
    if (line == nullptr) return OkStatus();
    // SimAI adds to a rate, HPCC to a window: a rate times the round trip of the longest path.
    double bits = 0;
    RETURN_IF_ERROR(RateOf(*line, &bits));
    const double round_trip =
        2 * static_cast<double>(fabric_.delay.ps()) * 1e-12 + 8 * payload_ * fabric_.inverse_rates;
    Attribute("Hpcc::AdditiveIncrease", fmt::format("{}", std::llround(bits * round_trip / 8)));
    return OkStatus();
  }

  Status Timely() {
    RETURN_IF_ERROR(TakeRate("RATE_AI", "Timely::AdditiveIncrease", true));
    if (Find("RATE_HAI") != nullptr) {
      Differs("RATE_HAI", "five times RATE_AI, as in the paper of TIMELY");
    }
    return TakeRate("MIN_RATE", "Timely::MinRate", false);
  }

  Status Dctcp() {
    RETURN_IF_ERROR(Take("EWMA_GAIN", 0, 1, "Dctcp::Gain"));
    if (Find("DCTCP_RATE_AI") != nullptr) {
      Differs("DCTCP_RATE_AI", "a window grows by a packet each round trip, as in the paper");
    }
    if (Find("MIN_RATE") != nullptr) Differs("MIN_RATE", "a window is at least a packet");
    return OkStatus();
  }

  const SimaiFabric& fabric_;
  std::map<std::string, Line> lines_;
  std::set<std::string> used_;
  Mode mode_ = Mode::kDcqcn;
  double payload_ = 1000;
  SimaiConf conf_;
};

}  // namespace

Result<SimaiConf> ParseSimaiConf(const std::vector<SimaiConfText>& files,
                                 const SimaiFabric& fabric) {
  return Reader(fabric).Read(files);
}

}  // namespace drydock
