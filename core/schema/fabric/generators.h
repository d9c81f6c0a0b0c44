// The generators of fabrics. Each is in a separate file.
#ifndef DRYDOCK_CORE_SCHEMA_FABRIC_GENERATORS_H_
#define DRYDOCK_CORE_SCHEMA_FABRIC_GENERATORS_H_

#include "core/schema/fabric/fabric_kind.h"

namespace drydock {

// fabric_tiers.cc
void MakeRailOptimised(FabricContext* context);
void MakeLeafSpine(FabricContext* context);
// fabric_single_switch.cc
void MakeSingleSwitch(FabricContext* context);
// fabric_fat_tree.cc
void MakeFatTree(FabricContext* context);
// fabric_dragonfly.cc
void MakeDragonfly(FabricContext* context);
// fabric_torus.cc
void MakeTorus(FabricContext* context);
// fabric_simai.cc
void MakeSimai(FabricContext* context);
// fabric_explicit.cc
void MakeExplicit(FabricContext* context);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FABRIC_GENERATORS_H_
