#include "workload-gen/graph/foreign/simai_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "core/base/spelling.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/foreign/text_lines.h"

namespace drydock {
namespace {

constexpr int kMaxRanks = 1 << 20, kMaxRows = 1'000'000;
constexpr double kMaxBytes = 0x1p50;
constexpr size_t kColumns = 12;

using Columns = std::vector<TextLines::Word>;

bool Number(std::string_view text, double* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end && std::isfinite(*value);
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& path) : lines_(text, path) {}

  Result<SimaiFile> Parse() {
    if (!NextLine()) return lines_.ErrorAtEnd("the file is empty; it begins with a policy");
    RETURN_IF_ERROR(ReadHeader());
    if (!NextLine()) return lines_.ErrorAtEnd("expected the number of rows");
    int rows = 0;
    if (lines_.words().size() != 1) return lines_.ErrorHere("expected the number of rows alone", 0);
    RETURN_IF_ERROR(ReadWhole(0, 1, kMaxRows, &rows));
    while (NextLine()) {
      if (static_cast<int>(file_.rows.size()) == rows) {
        return lines_.ErrorHere(fmt::format("there are more than the stated {} rows", rows), 0);
      }
      RETURN_IF_ERROR(ReadRow());
    }
    if (static_cast<int>(file_.rows.size()) != rows) {
      return lines_.ErrorAtEnd(
          fmt::format("the number of rows is {}, but the file states {}", file_.rows.size(), rows));
    }
    RETURN_IF_ERROR(CheckRowNumbers());
    return std::move(file_);
  }

 private:
  bool NextLine() {
    while (lines_.Next()) {
      if (!lines_.words().empty()) return true;
    }
    return false;
  }
  const Columns& words() const { return lines_.words(); }
  std::string Text(size_t word) const { return std::string(words()[word].text); }

  Status ReadWhole(size_t word, int least, int most, int* value) const {
    double number = 0;
    if (word >= words().size() || !Number(words()[word].text, &number) ||
        number != std::floor(number) || number < least || number > most) {
      return lines_.ErrorHere(fmt::format("expected a whole number from {} to {}", least, most),
                              std::min(word, words().size() - 1));
    }
    *value = static_cast<int>(number);
    return OkStatus();
  }

  Status ReadPolicy(size_t word, SimaiPolicy* policy) {
    const std::vector<std::string>& names = SimaiPolicyNames();
    const auto found = std::find(names.begin(), names.end(), Text(word));
    if (found == names.end()) {
      return lines_.ErrorHere(
          fmt::format("there is no policy '{}'{}; policies are {}", PrintableName(Text(word)),
                      DidYouMean(PrintableName(Text(word)), names), Join(names)),
          word);
    }
    *policy = static_cast<SimaiPolicy>(found - names.begin());
    return OkStatus();
  }

  // "POLICY model_parallel_NPU_group: 8 ep: 1 ... checkpoints: 2 0 4 ...".
  Status ReadHeader() {
    RETURN_IF_ERROR(ReadPolicy(0, &file_.policy));
    const std::map<std::string, int*> sizes = {{"model_parallel_NPU_group", &file_.tensor},
                                               {"ep", &file_.expert},
                                               {"expert_parallel_npu_group", &file_.expert},
                                               {"pp", &file_.pipeline},
                                               {"vpp", &file_.virtual_pipeline},
                                               {"ga", &file_.accumulation},
                                               {"all_gpus", &file_.gpus}};
    const std::map<std::string, std::vector<int>*> lists = {
        {"checkpoints", &file_.checkpoints}, {"checkpoint_initiates", &file_.checkpoint_initiates}};
    std::map<std::string, bool> seen;
    for (size_t word = 1; word < words().size();) {
      std::string key = Text(word);
      if (key.ends_with(':')) key.pop_back();
      if (!seen.emplace(key, true).second) return lines_.ErrorHere("this key occurs twice", word);
      if (const auto size = sizes.find(key); size != sizes.end()) {
        RETURN_IF_ERROR(ReadWhole(word + 1, 1, kMaxRanks, size->second));
        word += 2;
      } else if (const auto list = lists.find(key); list != lists.end()) {
        RETURN_IF_ERROR(ReadList(word + 1, list->second));
        word += 2 + list->second->size();
      } else if (key == "pp_comm") {
        RETURN_IF_ERROR(ReadBytes(word + 1, &file_.pipeline_bytes));
        word += 2;
      } else if (key == "mode") {
        RETURN_IF_ERROR(ReadMode(word + 1));
        word += 2;
      } else if (key == "DLRM_LAST_BOTTOM_LAYER") {
        RETURN_IF_ERROR(ReadWhole(word + 1, 0, kMaxRows, &file_.last_bottom_layer));
        word += 2;
      } else {
        return UnknownKey(key, word);
      }
    }
    return OkStatus();
  }

  Error UnknownKey(const std::string& key, size_t word) const {
    static const std::vector<std::string> keys = {"model_parallel_NPU_group",
                                                  "ep",
                                                  "pp",
                                                  "vpp",
                                                  "ga",
                                                  "all_gpus",
                                                  "checkpoints",
                                                  "checkpoint_initiates",
                                                  "pp_comm",
                                                  "DLRM_LAST_BOTTOM_LAYER"};
    return lines_.ErrorHere(fmt::format("unknown key '{}'{}; keys are {}", PrintableName(key),
                                        DidYouMean(PrintableName(key), keys), Join(keys)),
                            word);
  }

  // AICB marks workloads of inference.
  Status ReadMode(size_t word) const {
    int mode = 0;
    RETURN_IF_ERROR(ReadWhole(word, 0, 1, &mode));
    if (mode == 0) return OkStatus();
    return lines_.ErrorHere(
        "mode 1 is inference, which is out of scope: Drydock rehearses iterations of training",
        word);
  }

  // "2 0 4": a count, then that number of rows.
  Status ReadList(size_t word, std::vector<int>* list) {
    int count = 0;
    RETURN_IF_ERROR(ReadWhole(word, 0, kMaxRows, &count));
    for (int i = 0; i < count; ++i) {
      int row = 0;
      RETURN_IF_ERROR(ReadWhole(word + 1 + static_cast<size_t>(i), 0, kMaxRows, &row));
      list->push_back(row);
    }
    return OkStatus();
  }

  Status ReadBytes(size_t word, double* value) {
    if (word >= words().size() || !Number(words()[word].text, value) || *value < 0 ||
        *value > kMaxBytes) {
      return lines_.ErrorHere("expected bytes from 0 to 2^50", std::min(word, words().size() - 1));
    }
    return OkStatus();
  }

  Status ReadTime(size_t word, Time* time) {
    double ns = 0;
    if (!Number(words()[word].text, &ns) || ns < 0 ||
        ns > submodule::kLongestFixedDuration.us() * 1e3) {
      return lines_.ErrorHere("expected nanoseconds from 0 to an hour", word);
    }
    *time = Time::FromSeconds(ns * 1e-9);
    return OkStatus();
  }

  // name, -1, then time, collective and bytes of each pass, then the time of the update.
  Status ReadRow() {
    const bool customized = file_.policy == SimaiPolicy::kHybridCustomized;
    const size_t columns = kColumns + (customized ? 1 : 0);
    if (words().size() != columns) {
      return lines_.ErrorHere(fmt::format("expected {} columns, found {}", columns, words().size()),
                              0);
    }
    SimaiRow row;
    row.name = PrintableName(Text(0));
    row.line = lines_.line();
    row.policy = file_.policy;
    double depends = 0;
    if (!Number(words()[1].text, &depends)) return lines_.ErrorHere("expected a number", 1);
    for (size_t pass = 0; pass < kSimaiPasses; ++pass) {
      const size_t first = 2 + 3 * pass;
      RETURN_IF_ERROR(ReadTime(first, &row.compute[pass]));
      RETURN_IF_ERROR(ReadComm(first + 1, &row.comm[pass]));
    }
    RETURN_IF_ERROR(ReadTime(11, &row.update));
    if (customized) RETURN_IF_ERROR(ReadPolicy(12, &row.policy));
    file_.rows.push_back(std::move(row));
    return OkStatus();
  }

  // "ALLREDUCE_DP_EP" and its bytes.
  Status ReadComm(size_t word, SimaiComm* comm) {
    double bytes = 0;
    RETURN_IF_ERROR(ReadBytes(word + 1, &bytes));
    comm->bytes = static_cast<int64_t>(bytes);
    std::string name = Text(word);
    if (name == "NONE") return OkStatus();
    comm->none = false;
    for (const auto& [suffix, span] :
         {std::pair("_DP_EP", SimaiSpan::kExpertData), std::pair("_EP", SimaiSpan::kExpert)}) {
      if (comm->span != SimaiSpan::kColumn || !name.ends_with(suffix)) continue;
      comm->span = span;
      name.resize(name.size() - std::string_view(suffix).size());
    }
    static const std::map<std::string, CollectiveType> kinds = {
        {"ALLREDUCE", CollectiveType::kAllReduce},
        {"ALLGATHER", CollectiveType::kAllGather},
        {"BROADCAST", CollectiveType::kBroadcast},
        {"REDUCESCATTER", CollectiveType::kReduceScatter},
        {"ALLTOALL", CollectiveType::kAllToAll}};
    const auto found = kinds.find(name);
    if (found != kinds.end()) {
      comm->collective = found->second;
      return OkStatus();
    }
    std::vector<std::string> names = {"NONE"};
    for (const auto& [known, type] : kinds) names.push_back(known);
    return lines_.ErrorHere(
        fmt::format("there is no collective '{}'{}; collectives are {}, each also with _EP or "
                    "_DP_EP",
                    PrintableName(Text(word)), DidYouMean(PrintableName(name), names), Join(names)),
        word);
  }

  Status CheckRowNumbers() const {
    const auto rows = static_cast<int>(file_.rows.size());
    for (const std::vector<int>* list : {&file_.checkpoints, &file_.checkpoint_initiates}) {
      for (const int row : *list) {
        if (row < rows) continue;
        return lines_.ErrorAtEnd(fmt::format(
            "the header names row {}, counted from 0, but the number of rows is {}", row, rows));
      }
    }
    return OkStatus();
  }

  TextLines lines_;
  SimaiFile file_;
};

}  // namespace

const std::vector<std::string>& SimaiPolicyNames() {
  static const std::vector<std::string> names = {"MICRO",
                                                 "DATA",
                                                 "MODEL",
                                                 "DISTRIBUTED_INFERENCE",
                                                 "HYBRID_TRANSFORMER",
                                                 "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                 "HYBRID_DLRM",
                                                 "HYBRID_DLRM_ENHANCED",
                                                 "HYBRID_DATA_MODEL",
                                                 "HYBRID_MODEL_DATA",
                                                 "HYBRID_CUSTOMIZED"};
  return names;
}

Result<SimaiFile> ParseSimaiFile(const std::string& text, const std::string& path) {
  return Parser(text, path).Parse();
}

}  // namespace drydock
