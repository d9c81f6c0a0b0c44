#include "workload-gen/program/module_offload.h"

#include <algorithm>

namespace drydock {

ModuleOffload::ModuleOffload(const WriterContext& context, std::vector<Pass> backwards)
    : c_(context), backwards_(std::move(backwards)) {
  for (int chunk = 0; chunk < c_.layout.chunks; ++chunk) chunks_.push_back(GroupsOf(chunk));
}

ModuleOffload::ChunkGroups ModuleOffload::GroupsOf(int chunk) const {
  ChunkGroups groups;
  groups.last.fill(-1);
  const auto add = [&](int layer) {
    for (const OffloadModuleName& name : kOffloadModuleNames) {
      const bool has = c_.job.training.module_offload.Has(name.module) &&
                       drydock::HasModule(name.module, c_.work.LayerOf(layer));
      if (!has) continue;
      groups.last[static_cast<size_t>(name.module)] = layer;
      ++groups.count;
    }
  };
  const int end = c_.layout.EndLayer(c_.stage, chunk), model = c_.job.model.layers;
  for (int layer = c_.layout.FirstLayer(c_.stage, chunk); layer < end; ++layer) add(layer);
  if (!c_.HasMtpLayers(chunk)) return groups;
  const int mtp_end = c_.layout.EndMtpLayer(c_.stage, chunk);
  for (int k = c_.layout.FirstMtpLayer(c_.stage, chunk); k < mtp_end; ++k) add(model + k);
  return groups;
}

ModuleOffload::Pass ModuleOffload::pass() const {
  const Op& place = c_.builder->place();
  return {place.microbatch, place.chunk};
}

bool ModuleOffload::Runs(OffloadModule module) const {
  const Op& place = c_.builder->place();
  return c_.job.training.module_offload.Has(module) && place.phase != Phase::kRecompute &&
         drydock::HasModule(module, c_.work.LayerOf(place.layer));
}

bool ModuleOffload::HasModule(const Pass& pass, OffloadModule module) const {
  return chunks_[static_cast<size_t>(pass.second)].last[static_cast<size_t>(module)] >= 0;
}

std::optional<ModuleOffload::Pass> ModuleOffload::Next(std::optional<OffloadModule> module) const {
  for (size_t i = begun_; i < backwards_.size(); ++i) {
    const Pass& pass = backwards_[i];
    const bool has =
        module ? HasModule(pass, *module) : chunks_[static_cast<size_t>(pass.second)].count > 0;
    if (has) return pass;
  }
  return std::nullopt;
}

// post_warmup_callback and should_bulk_offload.
bool ModuleOffload::Stays(const Pass& pass, OffloadModule module) const {
  const ChunkGroups& groups = chunks_[static_cast<size_t>(pass.second)];
  if (c_.builder->place().layer != groups.last[static_cast<size_t>(module)]) return false;
  const auto first = std::find_if(backwards_.begin(), backwards_.end(),
                                  [&](const Pass& p) { return HasModule(p, module); });
  return (first != backwards_.end() && *first == pass) || Next(module) == pass;
}

ModuleOffload::OpId ModuleOffload::Move(OpKind kind, const Group& group, OpId after) {
  const OffloadedTensors& tensors = group.tensors;
  OpId last = after;
  for (const bool again : {false, true}) {
    const Bytes bytes = again ? tensors.again : tensors.left;
    if (bytes == Bytes()) continue;
    last = c_.builder->Move(kind, {TransferName(group.module, again), MemoryTier::kHost, bytes},
                            after);
  }
  return last;
}

void ModuleOffload::Leave(OffloadModule module) {
  if (!Runs(module)) return;
  PassGroups& groups = passes_[pass()];
  ++groups.forward;
  if (Stays(pass(), module)) return;
  const int layer = c_.builder->place().layer;
  Group group = {module, layer,
                 OffloadedBy(module, c_.work.LayerOf(layer), c_.job, c_.layout, *c_.tables)};
  if (group.tensors.left == Bytes() && group.tensors.again == Bytes()) return;
  group.stored = Move(OpKind::kStore, group, ProgramBuilder::kNothing);
  groups.away.push_back(group);
}

// The op has the place of the group.
void ModuleOffload::Load(const Pass& pass, size_t index) {
  PassGroups* groups = &passes_[pass];
  Group group = groups->away[index];
  groups->away.erase(groups->away.begin() + static_cast<ptrdiff_t>(index));
  const Op here = c_.builder->place();
  c_.builder->SetPlace(group.layer, pass.first, pass.second);
  group.loaded = Move(OpKind::kLoad, group, group.stored);
  c_.builder->SetPlace(here.layer, here.microbatch, here.chunk);
  groups->arriving.push_back(group);
}

// A group whose copy has not begun is copied when backward asks for its tensors.
void ModuleOffload::Await(OffloadModule module) {
  if (!Runs(module)) return;
  const auto begun = backwards_.begin() + static_cast<ptrdiff_t>(begun_);
  const auto now = std::find(begun, backwards_.end(), pass());
  if (now != backwards_.end()) begun_ = static_cast<size_t>(now - backwards_.begin()) + 1;
  PassGroups& groups = passes_[pass()];
  const int layer = c_.builder->place().layer;
  const auto find = [&](const std::vector<Group>& list) {
    return std::find_if(list.begin(), list.end(), [&](const Group& group) {
      return group.module == module && group.layer == layer;
    });
  };
  const auto away = find(groups.away);
  if (away != groups.away.end()) Load(pass(), static_cast<size_t>(away - groups.away.begin()));
  const auto arriving = find(groups.arriving);
  if (arriving == groups.arriving.end()) return;
  c_.builder->Wait(arriving->loaded);
  groups.arriving.erase(arriving);
}

// bulk_reload.
void ModuleOffload::Behind(OffloadModule module) {
  if (!Runs(module)) return;
  const PassGroups& groups = passes_[pass()];
  if (!groups.away.empty()) return Load(pass(), groups.away.size() - 1);
  const std::optional<Pass> next = Next(std::nullopt);
  if (!next) return;
  const PassGroups& ahead = passes_[*next];
  const bool whole = ahead.forward == chunks_[static_cast<size_t>(next->second)].count;
  if (whole && !ahead.away.empty()) Load(*next, ahead.away.size() - 1);
}

}  // namespace drydock
