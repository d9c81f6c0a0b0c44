#include "simccl/custom/custom_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/model/calls/grouped_call.h"
#include "core/nccl/topology_world.h"
#include "core/schema/foreign/chakra_file.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/planner/call_shape.h"
#include "simccl/planner/pattern_writer.h"
#include "simccl/proof/interpreter.h"

namespace drydock {
namespace {

using Kind = MscclStep::Kind;

// What MSCCL's interpreter takes from NCCL's protocols.
struct ProtocolShape {
  int warps = 0;  // NCCL's most threads of a block (src/include/device.h), and a warp of Simple
  int chunk_steps = 1;  // MSCCL_CHUNKSTEPS: slots that a piece may take
  int slice_steps = 1;  // MSCCL_SLICESTEPS
};
ProtocolShape ShapeOf(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl:
      return {16, 1, 1};
    case Protocol::kLl128:
      return {20, 1, 1};
    case Protocol::kSimple:
      break;
  }
  return {17, 4, 2};
}

// Returns the payload of one slot of a connection's buffer.
int64_t SlotBytes(const hacknccl_shape& shape, Protocol protocol) {
  const int64_t slot = shape.buffer_bytes[static_cast<size_t>(protocol)] / shape.slots;
  if (protocol == Protocol::kLl) return slot / 2;             // half of each line are flags
  if (protocol == Protocol::kLl128) return slot / 128 * 120;  // 8 B of 128 B are
  return slot;
}

class Expansion {
 public:
  Expansion(const MscclAlgorithm& algorithm, const CommCall& call,
            const NcclCommunicator& communicator)
      : algorithm_(algorithm),
        part_(call.bytes().count() / algorithm.chunks),
        element_(SizeOf(call.type).count()),
        shape_(communicator.shape()),
        piece_(PieceOf(algorithm, shape_, element_)),
        builder_(communicator) {}

  // The largest part of a chunk that the program moves at a time.
  static int64_t PieceOf(const MscclAlgorithm& algorithm, const hacknccl_shape& shape,
                         int64_t element) {
    const int64_t bytes =
        SlotBytes(shape, algorithm.protocol) * ShapeOf(algorithm.protocol).chunk_steps;
    return bytes / element * element;
  }

  Result<Plan> Make(const std::string& name) {
    SetWork();
    for (int m = 0; m < algorithm_.members(); ++m) {
      const MscclGpu& gpu = algorithm_.gpus[static_cast<size_t>(m)];
      FindWaits(gpu, m);
      for (size_t block = 0; block < gpu.blocks.size(); ++block) AddBlock(gpu, m, block);
    }
    return builder_.Finish(name);
  }

 private:
  void SetWork() {
    const ProtocolShape protocol = ShapeOf(algorithm_.protocol);
    Work& work = builder_.work();
    work.algorithm = Algorithm::kCustom;
    work.protocol = algorithm_.protocol;
    work.warps = protocol.warps;
    for (const MscclGpu& gpu : algorithm_.gpus) {
      work.channels = std::max(work.channels, static_cast<int>(gpu.blocks.size()));
    }
    work.slots /= protocol.slice_steps;
    const int slices = protocol.chunk_steps / protocol.slice_steps;
    if (slices == 1) return;
    // prims_simple.h, genericOp, as for NCCL's own collectives.
    work.slices = slices;
    work.slice_grain = 16 * element_;
    work.slice_bytes =
        SlotBytes(shape_, algorithm_.protocol) / element_ * protocol.slice_steps / 32 * element_;
  }

  // A wait of one thread block for a step of another is a connection of the GPU to itself. A thread
  // block that has waited for a step need not wait for it, or for an earlier one, again.
  void FindWaits(const MscclGpu& gpu, int member) {
    tokens_to_.assign(gpu.blocks.size(), {});
    tokens_from_.assign(gpu.blocks.size(), {});
    for (size_t b = 0; b < gpu.blocks.size(); ++b) {
      std::map<int, int> waited;  // by thread block: the last step
      for (size_t s = 0; s < gpu.blocks[b].steps.size(); ++s) {
        const MscclStep& step = gpu.blocks[b].steps[s];
        if (step.wait_block < 0 || step.wait_block == static_cast<int>(b)) continue;
        const auto known = waited.find(step.wait_block);
        if (known != waited.end() && known->second >= step.wait_step) continue;
        waited[step.wait_block] = step.wait_step;
        const uint32_t token = builder_.ConnectSelf(member);
        tokens_to_[b][s] = token;
        tokens_from_[static_cast<size_t>(step.wait_block)][static_cast<size_t>(step.wait_step)]
            .push_back(token);
      }
    }
  }

  void AddBlock(const MscclGpu& gpu, int member, size_t index) {
    const MscclBlock& block = gpu.blocks[index];
    if (block.steps.empty()) return;
    operands_.clear();
    slot_of_.clear();
    send_ = receive_ = Slots();
    const int channel = block.channel % std::max(1, shape_.p2p_channels);
    const auto uses = [&block](bool (MscclStep::*does)() const) {
      return std::any_of(block.steps.begin(), block.steps.end(),
                         [does](const MscclStep& step) { return (step.*does)(); });
    };
    if (uses(&MscclStep::receives)) {
      receive_ = SlotOf(Connect(block.channel, channel, block.receive, member));
    }
    if (uses(&MscclStep::sends)) {
      send_ = SlotOf(Connect(block.channel, channel, member, block.send));
    }
    const bool copies = std::any_of(block.steps.begin(), block.steps.end(), [](const auto& step) {
      return (step.kind == Kind::kCopy || step.kind == Kind::kReduce) && step.source != step.target;
    });
    if (copies) own_ = SlotOf(builder_.ConnectSelf(member));
    for (const auto& [step, token] : tokens_to_[index]) SlotOf(token);
    for (const auto& [step, tokens] : tokens_from_[index]) {
      for (const uint32_t token : tokens) SlotOf(token);
    }
    PatternWriter writer;
    writer.Windows(part_, piece_, piece_, 0, [&](int64_t bytes) {
      for (size_t s = 0; s < block.steps.size(); ++s) {
        AddStep(block.steps[s], index, s, bytes, &writer);
      }
    });
    builder_.AddProgram(member, static_cast<int>(index), writer.Take(), operands_);
  }

  // Returns the connection of a channel of the file. NCCL has fewer channels for messages; channels
  // that share one are separate connections all the same.
  uint32_t Connect(int channel, int of_nccl, int from, int to) {
    const auto [entry, added] = connections_.try_emplace({channel, from, to}, 0);
    if (added) {
      const uint32_t made = builder_.Connect(HACKNCCL_GRAPH_P2P, of_nccl, from, to);
      entry->second = made_.insert(made).second ? made : builder_.Duplicate(made);
    }
    return entry->second;
  }

  Slots SlotOf(uint32_t connection) {
    const auto [entry, added] =
        slot_of_.try_emplace(connection, static_cast<uint32_t>(operands_.size()));
    if (added) operands_.push_back(connection);
    return {entry->second, 1};
  }

  void AddStep(const MscclStep& step, size_t block, size_t index, int64_t bytes,
               PatternWriter* writer) {
    // A token is as small as data can be, and a part of the primitive beside it.
    const auto wait = tokens_to_[block].find(index);
    if (wait != tokens_to_[block].end()) {
      writer->JoinedStep(SlotOf(wait->second), {}, element_, 0, Local::kNone, false);
    }
    // Chunks that together fit a piece move in one primitive.
    const int64_t together = std::max<int64_t>(1, piece_ / std::max<int64_t>(part_, 1));
    for (int64_t done = 0; done < step.count && step.kind != Kind::kNothing; done += together) {
      Move(step, done, std::min<int64_t>(together, step.count - done) * bytes, writer);
    }
    const auto tokens = tokens_from_[block].find(index);
    if (tokens == tokens_from_[block].end()) return;
    for (const uint32_t token : tokens->second) {
      writer->JoinedStep({}, SlotOf(token), element_, 0, Local::kNone, false);
    }
  }

  void Move(const MscclStep& step, int64_t chunk, int64_t bytes, PatternWriter* writer) {
    const int64_t source = (step.source + chunk) * part_, target = (step.target + chunk) * part_;
    switch (step.kind) {
      case Kind::kNothing:
        break;
      case Kind::kSend:
        return writer->Step({}, send_, bytes, source, Local::kNone);
      case Kind::kReceive:
        return writer->Step(receive_, {}, bytes, target, Local::kStore);
      case Kind::kReceiveCopySend:
        return writer->Step(receive_, send_, bytes, target, Local::kStore);
      case Kind::kReceiveReduceSend:
        return writer->Step(receive_, send_, bytes, source, Local::kReduce);
      case Kind::kReceiveReduceCopy:
        return writer->Step(receive_, {}, bytes, target, Local::kReduceStore);
      case Kind::kReceiveReduceCopySend:
        return writer->Step(receive_, send_, bytes, target, Local::kReduceStore);
      case Kind::kCopy:
      case Kind::kReduce: {
        if (source == target) return writer->Step({}, {}, bytes, target, Local::kStore);
        const Local local = step.kind == Kind::kCopy ? Local::kStore : Local::kReduceStore;
        writer->JoinedStep({}, own_, bytes, source, Local::kNone, true);
        return writer->JoinedStep(own_, {}, bytes, target, local, false);
      }
    }
  }

  const MscclAlgorithm& algorithm_;
  const int64_t part_;     // bytes of a chunk of the algorithm
  const int64_t element_;  // bytes
  const hacknccl_shape shape_;
  const int64_t piece_;
  PlanBuilder builder_;
  // By thread block and step of the present GPU.
  std::vector<std::map<size_t, uint32_t>> tokens_to_;
  std::vector<std::map<size_t, std::vector<uint32_t>>> tokens_from_;
  std::map<std::tuple<int, int, int>, uint32_t> connections_;  // by channel, from and to
  std::set<uint32_t> made_;
  // Of the present thread block.
  std::vector<uint32_t> operands_;
  std::map<uint32_t, uint32_t> slot_of_;
  Slots send_, receive_, own_;
};

// Returns a call with the same program for each piece as `call`: two whole pieces and a rest, or as
// `call` has them if that is less.
CommCall Shortened(const MscclAlgorithm& algorithm, const CommCall& call,
                   const hacknccl_shape& shape) {
  const int64_t element = SizeOf(call.type).count();
  const int64_t piece = Expansion::PieceOf(algorithm, shape, element);
  const int64_t part = call.bytes().count() / algorithm.chunks;
  if (part <= 3 * piece) return call;
  CommCall shorter = call;
  shorter.count = (2 * piece + part % piece) / element * algorithm.chunks;
  return shorter;
}

Status Prove(const MscclAlgorithm& algorithm, const CommCall& call,
             const NcclCommunicator& communicator) {
  const CommCall proven = Shortened(algorithm, call, communicator.shape());
  ASSIGN_OR_RETURN(const Plan plan,
                   Expansion(algorithm, proven, communicator).Make(NameOf(proven)));
  ProofRules rules;
  rules.overwrites = true;
  rules.in_place = algorithm.in_place;
  const int64_t part = proven.bytes().count() / algorithm.chunks;
  for (const MscclGpu& gpu : algorithm.gpus) {
    rules.scratch = std::max(rules.scratch, gpu.scratch * part);
  }
  // Programs without a wait between them may run in either order.
  std::optional<PlanMistake> mistake = FindPlanMistake(plan, proven, rules);
  rules.last_first = true;
  if (!mistake) mistake = FindPlanMistake(plan, proven, rules);
  if (!mistake) return OkStatus();
  const int line =
      mistake->member < 0 ? 1 : algorithm.gpus[static_cast<size_t>(mistake->member)].line;
  return Error(fmt::format("this is no {} over {} GPUs: {}",
                           CollectiveTypeNames()[static_cast<size_t>(algorithm.collective)],
                           algorithm.members(), mistake->what),
               {algorithm.file, line, 0});
}

// ASTRA-sim's collective API turns an algorithm into a Chakra trace for each rank, and keeps the
// XML in every trace. The nodes of a trace say how many bytes move, not which.
Result<std::string> TextOf(const std::string& file) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(file));
  if (!file.ends_with(".et")) return text;
  ASSIGN_OR_RETURN(std::string xml, ChakraTraceText(text, file, "input_file"));
  if (!xml.empty()) return xml;
  return Error(
      "this trace does not contain the XML that it was made of, and its nodes do not say which "
      "data they move; give the XML file of MSCCL",
      {file, 0, 0});
}

class CustomPlanner : public CollectivePlanner {
 public:
  CustomPlanner(const Topology& topology, MscclAlgorithm algorithm, NcclWorld world,
                std::unique_ptr<CollectivePlanner> others)
      : topology_(topology),
        algorithm_(std::move(algorithm)),
        world_(std::move(world)),
        others_(std::move(others)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override {
    members_.assign(members.begin(), members.end());
    communicator_.reset();
    return others_->OpenGroup(members);
  }

  Result<Plan> PlanCall(const CommCall& call) override {
    const auto members = static_cast<int>(members_.size());
    if (!IsFor(algorithm_, call, members)) return others_->PlanCall(call);
    RETURN_IF_ERROR(CheckCallShape(call, members));
    if (!communicator_) {
      ASSIGN_OR_RETURN(NcclCommunicator created,
                       world_.CreateCommunicator(PlacesOf(members_, topology_)));
      communicator_.emplace(std::move(created));
    }
    return PlanMsccl(algorithm_, call, *communicator_);
  }

 private:
  const Topology& topology_;
  const MscclAlgorithm algorithm_;
  NcclWorld world_;
  std::unique_ptr<CollectivePlanner> others_;
  std::vector<Placement::Slot> members_;
  std::optional<NcclCommunicator> communicator_;
};

}  // namespace

bool IsFor(const MscclAlgorithm& algorithm, const CommCall& call, int members) {
  const int64_t bytes = call.bytes().count();
  return call.collective == algorithm.collective && members == algorithm.members() &&
         call.count > 0 && call.count % algorithm.chunks == 0 && bytes >= algorithm.least &&
         bytes <= algorithm.most;
}

Result<Plan> PlanMsccl(const MscclAlgorithm& algorithm, const CommCall& call,
                       const NcclCommunicator& communicator) {
  RETURN_IF_ERROR(Prove(algorithm, call, communicator));
  return Expansion(algorithm, call, communicator).Make(NameOf(call));
}

Result<std::unique_ptr<CollectivePlanner>> MakeCustomPlanner(
    const Topology& topology, const std::string& file, const std::string& nccl_library,
    std::unique_ptr<CollectivePlanner> others) {
  ASSIGN_OR_RETURN(const std::string text, TextOf(file));
  ASSIGN_OR_RETURN(MscclAlgorithm algorithm, ParseMsccl(text, file));
  ASSIGN_OR_RETURN(NcclWorld world, WorldOf(topology, nccl_library));
  return std::unique_ptr<CollectivePlanner>(std::make_unique<CustomPlanner>(
      topology, std::move(algorithm), std::move(world), std::move(others)));
}

}  // namespace drydock
