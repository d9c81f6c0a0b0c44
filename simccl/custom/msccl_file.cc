#include "simccl/custom/msccl_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/spelling.h"
#include "core/nccl/xml_reader.h"

namespace drydock {
namespace {

constexpr XmlLimits kLimits = {256 << 20, 4'000'000};
constexpr int64_t kMostGpus = 4096, kMostChunks = 1 << 20, kMostBlocks = 65535;

using Kind = MscclStep::Kind;

const std::vector<std::pair<std::string, Kind>>& Kinds() {
  static const std::vector<std::pair<std::string, Kind>> kinds = {
      {"nop", Kind::kNothing},
      {"s", Kind::kSend},
      {"r", Kind::kReceive},
      {"rcs", Kind::kReceiveCopySend},
      {"rrs", Kind::kReceiveReduceSend},
      {"rrc", Kind::kReceiveReduceCopy},
      {"rrcs", Kind::kReceiveReduceCopySend},
      {"cpy", Kind::kCopy},
      {"re", Kind::kReduce}};
  return kinds;
}

template <typename T>
std::vector<std::string> NamesOf(const std::vector<std::pair<std::string, T>>& rows) {
  std::vector<std::string> names;
  for (const auto& [name, value] : rows) names.push_back(name);
  return names;
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& file) : text_(text) { out_.file = file; }

  Result<MscclAlgorithm> Read() {
    ASSIGN_OR_RETURN(const XmlElement root, ParseXml(text_, out_.file, kLimits));
    if (root.name != "algo") return Bad(root, "an algorithm of MSCCL begins with <algo>");
    RETURN_IF_ERROR(ReadHead(root));
    for (const XmlElement& gpu : root.children) RETURN_IF_ERROR(ReadGpu(gpu));
    for (size_t id = 0; id < seen_.size(); ++id) {
      if (!seen_[id]) return Bad(root, fmt::format("there is no <gpu id=\"{}\">", id));
    }
    RETURN_IF_ERROR(CheckMessages());
    return std::move(out_);
  }

 private:
  Error At(const Location& location, const std::string& message) const {
    return Error(message, location, LineOf(text_, location));
  }
  Error Bad(const XmlElement& element, const std::string& message) const {
    return At(element.location, message);
  }
  Error BadLine(int line, const std::string& message) const {
    return At({out_.file, line, 0}, message);
  }

  Status CheckAttributes(const XmlElement& element, const std::vector<std::string>& known) const {
    for (const XmlAttribute& attribute : element.attributes) {
      if (std::find(known.begin(), known.end(), attribute.name) != known.end()) continue;
      return At(attribute.location, fmt::format("<{}> has no attribute '{}'{}", element.name,
                                                attribute.name, DidYouMean(attribute.name, known)));
    }
    return OkStatus();
  }

  // Reads an integer attribute. Without `otherwise` it has to be there.
  Result<int64_t> Integer(const XmlElement& element, const std::string& name, int64_t low,
                          int64_t high, std::optional<int64_t> otherwise = std::nullopt) const {
    const XmlAttribute* attribute = element.Find(name);
    if (attribute == nullptr) {
      if (otherwise) return *otherwise;
      return Bad(element, fmt::format("<{}> has no '{}'", element.name, name));
    }
    const std::string& text = attribute->value;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
      return At(attribute->location,
                fmt::format("'{}' is a number from {} to {}, not '{}'", name, low, high, text));
    }
    return value;
  }

  template <typename T>
  Result<T> OneOf(const XmlElement& element, const std::string& name,
                  const std::vector<std::pair<std::string, T>>& rows) const {
    const XmlAttribute* attribute = element.Find(name);
    if (attribute == nullptr) {
      return Bad(element, fmt::format("<{}> has no '{}'", element.name, name));
    }
    for (const auto& [word, value] : rows) {
      if (word == attribute->value) return value;
    }
    const std::vector<std::string> names = NamesOf(rows);
    return At(attribute->location,
              fmt::format("there is no {} '{}'{}; there are {}", name, attribute->value,
                          DidYouMean(attribute->value, names), Join(names)));
  }

  Status ReadHead(const XmlElement& root) {
    RETURN_IF_ERROR(
        CheckAttributes(root, {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll",
                               "inplace", "outofplace", "redop", "minBytes", "maxBytes"}));
    const XmlAttribute* name = root.Find("name");
    out_.name = name == nullptr ? "" : name->value;
    static const std::vector<std::pair<std::string, CollectiveType>> collectives = {
        {"allreduce", CollectiveType::kAllReduce},
        {"allgather", CollectiveType::kAllGather},
        {"reduce_scatter", CollectiveType::kReduceScatter},
        {"reducescatter", CollectiveType::kReduceScatter},
        {"alltoall", CollectiveType::kAllToAll}};
    ASSIGN_OR_RETURN(out_.collective, OneOf(root, "coll", collectives));
    static const std::vector<std::pair<std::string, Protocol>> protocols = {
        {"Simple", Protocol::kSimple}, {"LL", Protocol::kLl}, {"LL128", Protocol::kLl128}};
    ASSIGN_OR_RETURN(out_.protocol, OneOf(root, "proto", protocols));
    ASSIGN_OR_RETURN(const int64_t gpus, Integer(root, "ngpus", 2, kMostGpus));
    ASSIGN_OR_RETURN(out_.chunks, Integer(root, "nchunksperloop", 1, kMostChunks));
    if (out_.collective != CollectiveType::kAllReduce && out_.chunks % gpus != 0) {
      return At(
          root.Find("nchunksperloop")->location,
          fmt::format("nchunksperloop ({}) has to be a multiple of ngpus ({})", out_.chunks, gpus));
    }
    ASSIGN_OR_RETURN(const int64_t in_place, Integer(root, "inplace", 0, 1, 0));
    out_.in_place = in_place == 1;
    constexpr int64_t kMostBytes = int64_t{1} << 50;
    ASSIGN_OR_RETURN(out_.least, Integer(root, "minBytes", 0, kMostBytes, 0));
    ASSIGN_OR_RETURN(out_.most, Integer(root, "maxBytes", 0, kMostBytes, 0));
    if (out_.most == 0) out_.most = INT64_MAX;  // MSCCL's "no limit"
    out_.gpus.resize(static_cast<size_t>(gpus));
    seen_.resize(static_cast<size_t>(gpus), false);
    return OkStatus();
  }

  Status ReadGpu(const XmlElement& element) {
    if (element.name != "gpu") return Bad(element, "expected <gpu>");
    RETURN_IF_ERROR(CheckAttributes(element, {"id", "i_chunks", "o_chunks", "s_chunks"}));
    ASSIGN_OR_RETURN(const int64_t id, Integer(element, "id", 0, out_.members() - 1));
    if (seen_[static_cast<size_t>(id)]) {
      return Bad(element, fmt::format("gpu {} is described twice", id));
    }
    seen_[static_cast<size_t>(id)] = true;
    gpu_ = static_cast<int>(id);
    MscclGpu& gpu = out_.gpus[static_cast<size_t>(id)];
    gpu.line = element.location.line;
    ASSIGN_OR_RETURN(gpu.scratch, Integer(element, "s_chunks", 0, kMostChunks, 0));
    for (size_t block = 0; block < element.children.size(); ++block) {
      RETURN_IF_ERROR(ReadBlock(element.children[block], static_cast<int64_t>(block), &gpu));
    }
    return CheckWaits(gpu);
  }

  Status ReadBlock(const XmlElement& element, int64_t index, MscclGpu* gpu) {
    if (element.name != "tb") return Bad(element, "expected <tb>");
    RETURN_IF_ERROR(CheckAttributes(element, {"id", "send", "recv", "chan"}));
    ASSIGN_OR_RETURN(const int64_t id, Integer(element, "id", 0, kMostBlocks));
    if (id != index) {
      return Bad(element, fmt::format("thread blocks are numbered from 0 in their order; this one "
                                      "is number {}",
                                      index));
    }
    MscclBlock block;
    block.line = element.location.line;
    ASSIGN_OR_RETURN(const int64_t send, Integer(element, "send", -1, out_.members() - 1, -1));
    ASSIGN_OR_RETURN(const int64_t receive, Integer(element, "recv", -1, out_.members() - 1, -1));
    ASSIGN_OR_RETURN(const int64_t channel, Integer(element, "chan", -1, kMostBlocks, 0));
    block.send = static_cast<int>(send);
    block.receive = static_cast<int>(receive);
    block.channel = static_cast<int>(std::max<int64_t>(channel, 0));
    if (block.send == gpu_ || block.receive == gpu_) {
      return Bad(element, fmt::format("gpu {} cannot exchange messages with itself", gpu_));
    }
    for (size_t step = 0; step < element.children.size(); ++step) {
      RETURN_IF_ERROR(ReadStep(element.children[step], static_cast<int64_t>(step), *gpu, &block));
    }
    gpu->blocks.push_back(std::move(block));
    return OkStatus();
  }

  Status ReadStep(const XmlElement& element, int64_t index, const MscclGpu& gpu,
                  MscclBlock* block) {
    if (element.name != "step") return Bad(element, "expected <step>");
    RETURN_IF_ERROR(CheckAttributes(element, {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff",
                                              "buf", "off", "cnt", "depid", "deps", "hasdep"}));
    ASSIGN_OR_RETURN(const int64_t number, Integer(element, "s", 0, INT32_MAX, index));
    if (number != index) {
      return Bad(element, fmt::format("steps are numbered from 0 in their order; this one is "
                                      "number {}",
                                      index));
    }
    MscclStep step;
    step.line = element.location.line;
    ASSIGN_OR_RETURN(step.kind, OneOf(element, "type", Kinds()));
    ASSIGN_OR_RETURN(const int64_t count, Integer(element, "cnt", 0, kMostChunks, 1));
    step.count = static_cast<int>(count);
    if (step.kind != Kind::kNothing) {
      if (count == 0) return Bad(element, "a step moves at least one chunk: cnt=\"1\"");
      if (step.sends() && block->send < 0) {
        return Bad(element, "this thread block has no GPU to send to: send=\"-1\"");
      }
      if (step.receives() && block->receive < 0) {
        return Bad(element, "this thread block has no GPU to receive from: recv=\"-1\"");
      }
      // What a send puts at its target is the receiver's to say.
      const bool reads = step.kind != Kind::kReceive && step.kind != Kind::kReceiveCopySend;
      const bool writes = step.kind != Kind::kSend && step.kind != Kind::kReceiveReduceSend;
      if (reads) {
        ASSIGN_OR_RETURN(step.source, ChunkOf(element, "src", gpu, step.count, false));
      }
      if (writes) {
        ASSIGN_OR_RETURN(step.target, ChunkOf(element, "dst", gpu, step.count, true));
      }
      const bool reduces =
          step.kind == Kind::kReceiveReduceCopy || step.kind == Kind::kReceiveReduceCopySend;
      if (reduces && step.source != step.target) {
        return Bad(element,
                   "a step that adds to a chunk stores the sum in the same place here: source and "
                   "target have to be equal");
      }
    }
    ASSIGN_OR_RETURN(const int64_t wait_block, Integer(element, "depid", -1, kMostBlocks, -1));
    ASSIGN_OR_RETURN(const int64_t wait_step, Integer(element, "deps", -1, INT32_MAX, -1));
    step.wait_block = static_cast<int>(wait_block);
    step.wait_step = static_cast<int>(wait_step);
    block->steps.push_back(step);
    return OkStatus();
  }

  // Returns the place of a buffer's chunk in the larger of the call's buffers, or behind it. `side`
  // is "src" or "dst".
  Result<int64_t> ChunkOf(const XmlElement& element, const std::string& side, const MscclGpu& gpu,
                          int count, bool writes) const {
    const bool short_form = element.Find(side + "buf") == nullptr;
    const std::string buffer_name = short_form ? "buf" : side + "buf";
    const std::string offset_name = short_form ? "off" : side + "off";
    static const std::vector<std::pair<std::string, char>> buffers = {
        {"i", 'i'}, {"o", 'o'}, {"s", 's'}};
    ASSIGN_OR_RETURN(const char buffer, OneOf(element, buffer_name, buffers));
    ASSIGN_OR_RETURN(const int64_t offset, Integer(element, offset_name, 0, kMostChunks));
    const int64_t share = out_.chunks / out_.members();
    const bool gathers = out_.collective == CollectiveType::kAllGather;
    const bool scatters = out_.collective == CollectiveType::kReduceScatter;
    int64_t begin = 0, size = out_.chunks;
    if (buffer == 's') {
      begin = out_.chunks;
      size = gpu.scratch;
    } else if ((buffer == 'i' && gathers) || (buffer == 'o' && scatters)) {
      begin = gpu_ * share;
      size = share;
    } else if (out_.collective == CollectiveType::kAllToAll && (buffer == 'i') == writes) {
      return Bad(element, writes ? "an all-to-all here writes its output and its own memory only"
                                 : "an all-to-all here reads its input and its own memory only");
    }
    if (offset + count > size) {
      return Bad(element, fmt::format("chunks {} to {} of buffer '{}' are not there; it has {}",
                                      offset, offset + count - 1, buffer, size));
    }
    return begin + offset;
  }

  Status CheckWaits(const MscclGpu& gpu) const {
    for (const MscclBlock& block : gpu.blocks) {
      for (const MscclStep& step : block.steps) {
        if (step.wait_block < 0) continue;
        const auto other = static_cast<size_t>(step.wait_block);
        if (other >= gpu.blocks.size() || step.wait_step < 0 ||
            static_cast<size_t>(step.wait_step) >= gpu.blocks[other].steps.size()) {
          return BadLine(step.line, fmt::format("there is no step {} of a thread block {} of gpu "
                                                "{} to wait for",
                                                step.wait_step, step.wait_block, gpu_));
        }
      }
    }
    return OkStatus();
  }

  struct End {
    const MscclBlock* block = nullptr;
    std::vector<const MscclStep*> steps;
  };

  // Each message has a send and a receive of the same chunks, in the same order.
  Status CheckMessages() const {
    std::map<std::tuple<int, int, int>, std::pair<End, End>> ends;  // from, to, channel
    for (int g = 0; g < out_.members(); ++g) {
      for (const MscclBlock& block : out_.gpus[static_cast<size_t>(g)].blocks) {
        End sends, receives;
        for (const MscclStep& step : block.steps) {
          if (step.sends()) sends.steps.push_back(&step);
          if (step.receives()) receives.steps.push_back(&step);
        }
        sends.block = receives.block = &block;
        const std::tuple to = {g, block.send, block.channel};
        const std::tuple from = {block.receive, g, block.channel};
        if (!sends.steps.empty()) {
          End& end = ends[to].first;
          if (end.block != nullptr) return Shared(block, *end.block, "send to", block.send);
          end = sends;
        }
        if (!receives.steps.empty()) {
          End& end = ends[from].second;
          if (end.block != nullptr) {
            return Shared(block, *end.block, "receive from", block.receive);
          }
          end = receives;
        }
      }
    }
    for (const auto& [key, both] : ends) RETURN_IF_ERROR(CheckPair(key, both.first, both.second));
    return OkStatus();
  }

  Error Shared(const MscclBlock& block, const MscclBlock& other, const std::string& what,
               int peer) const {
    return BadLine(block.line,
                   fmt::format("this thread block and that of line {} both {} gpu {} over channel "
                               "{}; give one of them another 'chan'",
                               other.line, what, peer, block.channel));
  }

  Status CheckPair(const std::tuple<int, int, int>& key, const End& sends,
                   const End& receives) const {
    const auto& [from, to, channel] = key;
    const size_t both = std::min(sends.steps.size(), receives.steps.size());
    for (size_t i = 0; i < both; ++i) {
      if (sends.steps[i]->count == receives.steps[i]->count) continue;
      return BadLine(
          receives.steps[i]->line,
          fmt::format("this step receives {} chunks, but line {} sends {}",
                      receives.steps[i]->count, sends.steps[i]->line, sends.steps[i]->count));
    }
    if (sends.steps.size() > both) {
      return BadLine(
          sends.steps[both]->line,
          fmt::format("gpu {} never receives this from gpu {} over channel {}", to, from, channel));
    }
    if (receives.steps.size() > both) {
      return BadLine(
          receives.steps[both]->line,
          fmt::format("gpu {} never sends this to gpu {} over channel {}", from, to, channel));
    }
    return OkStatus();
  }

  const std::string& text_;
  MscclAlgorithm out_;
  std::vector<bool> seen_;
  int gpu_ = 0;
};

}  // namespace

bool MscclStep::sends() const {
  return kind == Kind::kSend || kind == Kind::kReceiveCopySend ||
         kind == Kind::kReceiveReduceSend || kind == Kind::kReceiveReduceCopySend;
}

bool MscclStep::receives() const {
  return kind == Kind::kReceive || kind == Kind::kReceiveCopySend ||
         kind == Kind::kReceiveReduceSend || kind == Kind::kReceiveReduceCopy ||
         kind == Kind::kReceiveReduceCopySend;
}

Result<MscclAlgorithm> ParseMsccl(const std::string& text, const std::string& file_name) {
  return Reader(text, file_name).Read();
}

}  // namespace drydock
