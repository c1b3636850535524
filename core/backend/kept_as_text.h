// A backend whose executables have no form outside of the process.
#pragma once

#include "core/backend/backend.h"
#include "core/ir/text.h"

namespace xlaprof::lazy {

// Keeps the program's text in place of an executable, and compiles the program again.
class KeptAsText : public Backend {
 public:
  absl::StatusOr<std::string> Serialize(const Executable&, const Program& program) override {
    return IdentityText(program);
  }
  absl::StatusOr<std::unique_ptr<Executable>> Deserialize(std::string_view bytes,
                                                          const Program& program) override {
    if (bytes != IdentityText(program)) return DataLoss("belongs to another program");
    return Compile(program);
  }
};

}  // namespace xlaprof::lazy
