#include "core/backend/spmd/buffer.h"

#include <cstring>
#include <set>

namespace xlaprof::lazy {
namespace {

// A part of a row-major tensor.
struct Block {
  const Shape& whole;
  const Dims& begin;
  const Shape& part;
};

// Calls f(offset in the whole, offset in the part, bytes) for each row of a block.
template <class F>
void ForEachRow(const Block& block, F&& f) {
  if (block.part.elements() == 0) return;
  const int64_t width = ByteSize(block.whole.dtype), rank = block.whole.rank();
  const Dims strides = RowMajorStrides(block.whole.dims);
  const int64_t row = rank == 0 ? 1 : block.part.dims.back();
  Dims at(size_t(rank), 0);
  for (int64_t done = 0; done < block.part.elements(); done += row) {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) offset += (block.begin[i] + at[i]) * strides[i];
    f(offset * width, done * width, size_t(row * width));
    for (size_t i = at.size(); i-- > 0;) {
      if (i + 1 == at.size()) continue;
      if (++at[i] < block.part.dims[i]) break;
      at[i] = 0;
    }
  }
}

}  // namespace

absl::StatusOr<Ref<Buffer>> DivideAmong(const SpmdBackends& devices, const void* host, Shape shape,
                                        const Sharding& sharding) {
  const Shape part = sharding.PartOf(shape);
  const auto* from = static_cast<const char*>(host);
  std::vector<Ref<Buffer>> parts;
  std::vector<char> packed;
  for (size_t i = 0; i < devices.size(); ++i) {
    const char* own = from;
    if (!sharding.is_whole()) {
      packed.resize(size_t(part.bytes()));
      const Dims begin = sharding.BeginOf(shape, int64_t(i));
      ForEachRow({shape, begin, part}, [&](int64_t whole, int64_t at, size_t bytes) {
        std::memcpy(packed.data() + at, from + whole, bytes);
      });
      own = packed.data();
    }
    XP_TRY(Ref<Buffer> buffer, devices[i]->ToDevice(own, part));
    parts.push_back(std::move(buffer));
  }
  return Ref<Buffer>(MakeRef<SpmdBuffer>(std::move(shape), sharding, std::move(parts)));
}

absl::Status GatherFrom(const SpmdBackends& devices, const SpmdBuffer& buffer, void* host) {
  const Sharding& sharding = buffer.sharding();
  if (sharding.is_whole()) return devices[0]->ToHost(*buffer.parts()[0], host);
  const Shape &shape = buffer.shape(), part = sharding.PartOf(shape);
  auto* to = static_cast<char*>(host);
  std::vector<char> packed(static_cast<size_t>(part.bytes()));
  std::set<Dims> known;  // several devices may have the same part
  for (size_t i = 0; i < devices.size(); ++i) {
    const Dims begin = sharding.BeginOf(shape, int64_t(i));
    if (!known.insert(begin).second) continue;
    XP_TRY(devices[i]->ToHost(*buffer.parts()[i], packed.data()));
    ForEachRow({shape, begin, part}, [&](int64_t whole, int64_t at, size_t bytes) {
      std::memcpy(to + whole, packed.data() + at, bytes);
    });
  }
  return absl::OkStatus();
}

}  // namespace xlaprof::lazy
