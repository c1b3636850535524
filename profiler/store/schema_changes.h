// Opens stores of older schemas. When schema.sql changes, kSchemaVersion is raised, and
// schema_changes.cc gets the SQL that turns a store of the version before into one of the new
// version. tests/golden/stores keeps a store of each version.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Changes of the schema as SQL. The first leads from kOldestSchemaVersion to the next version, the
// second from there to the one after it, and so on.
using SchemaChanges = std::span<const char* const>;

// Returns the changes that lead to kSchemaVersion.
SchemaChanges AllSchemaChanges();

// Applies to `store`, which has schema `version`, the changes from that version on. Changes nothing
// if it fails.
absl::Status ChangeSchema(Store& store, int64_t version, SchemaChanges changes);

}  // namespace xlaprof
