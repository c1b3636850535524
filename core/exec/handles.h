// Counts the values on devices, as torch_xla counts its data handles.
#pragma once

#include "core/exec/data.h"

namespace xlaprof::lazy {

// Sets a value, and counts its handle: now, and when it is gone. Values on the host have none.
void SetAndCount(Data& data, Ref<Buffer> buffer);

}  // namespace xlaprof::lazy
