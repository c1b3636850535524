// A tensor that several devices have together.
#pragma once

#include <vector>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

class SpmdBuffer final : public Buffer {
 public:
  SpmdBuffer(Shape shape, Sharding sharding, std::vector<Ref<Buffer>> parts)
      : Buffer(std::move(shape)), sharding_(std::move(sharding)), parts_(std::move(parts)) {}

  const Sharding& sharding() const { return sharding_; }
  // Returns each device's part, which is the whole tensor if it is not divided.
  const std::vector<Ref<Buffer>>& parts() const { return parts_; }
  // Gives the parts away. Nobody may use the buffer again.
  std::vector<Ref<Buffer>> TakeParts() { return std::move(parts_); }

 private:
  const Sharding sharding_;
  std::vector<Ref<Buffer>> parts_;
};

using SpmdBackends = std::vector<std::unique_ptr<Backend>>;

// Copies a tensor to the devices, each of which gets its part.
absl::StatusOr<Ref<Buffer>> DivideAmong(const SpmdBackends& devices, const void* host, Shape shape,
                                        const Sharding& sharding);
// Copies the parts of a tensor to where they belong in the whole one.
absl::Status GatherFrom(const SpmdBackends& devices, const SpmdBuffer& buffer, void* host);

}  // namespace xlaprof::lazy
