#include "tests/hostile/damage_proto.h"

#include <functional>
#include <map>

#include "tests/hostile/hostile_text.h"

namespace xlaprof {
namespace {

enum : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kStartGroup = 3, kFixed32 = 5 };

constexpr uint64_t kExtremes[] = {0,
                                  1,
                                  0x7f,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  uint64_t{1} << 52,
                                  (uint64_t{1} << 63) / 1000,  // the largest ps in ns
                                  (uint64_t{1} << 62) - 1,
                                  uint64_t{1} << 62,
                                  (uint64_t{1} << 63) - 1,
                                  uint64_t{1} << 63,
                                  (uint64_t{1} << 63) + 1,
                                  UINT64_MAX - 1,
                                  UINT64_MAX};

bool TakeVarint(std::string_view* in, uint64_t* out) {
  *out = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const uint8_t byte = uint8_t(in->front());
    in->remove_prefix(1);
    *out |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

std::string Tag(uint32_t number, uint32_t type) {
  std::string out;
  AppendVarint(out, uint64_t(number) << 3 | type);
  return out;
}

std::string VarintField(uint32_t number, uint64_t value) {
  std::string out = Tag(number, kVarint);
  AppendVarint(out, value);
  return out;
}

// Returns a field, or several or none, to replace `field`.
std::string Damaged(const ProtoField& field, Random& random) {
  const uint64_t extreme = kExtremes[random.Below(std::size(kExtremes))];
  switch (random.Below(field.type == kBytes ? 10 : 4)) {
    case 0:
    case 1:
      if (field.type == kFixed64) {
        std::string out(field.whole.substr(0, field.whole.size() - 8));
        for (int i = 0; i < 8; ++i) out += char(extreme >> (8 * i));
        return out;
      }
      return VarintField(field.number, extreme);
    case 2: {
      std::string out;
      for (size_t times = random.Below(4) == 0 ? 5000 : random.Below(3); times > 0; --times) {
        out += field.whole;
        if (out.size() > (4 << 20)) break;
      }
      return out;
    }
    case 3: {  // the same bytes as another field
      std::string out = Tag(uint32_t(1 + random.Below(12)), field.type);
      uint64_t tag = 0;
      std::string_view rest = field.whole;
      TakeVarint(&rest, &tag);
      return out.append(rest);
    }
    case 4: {  // a false length
      std::string out = Tag(field.number, kBytes);
      AppendVarint(out, random.Below(2) == 0 ? extreme : field.payload.size() + random.Below(100));
      return out.append(field.payload);
    }
    case 5:
    case 6:
      return ProtoBytes(field.number, HostileNames()[random.Below(HostileNames().size())]);
    case 7:
      return ProtoBytes(field.number, NestedMessages(uint32_t(1 + random.Below(6)), 10'000));
    case 8:
      return NestedGroups(field.number, 10'000);
    default:  // an unknown wire type
      return Tag(field.number, uint32_t(3 + random.Below(5))) + std::string(field.payload);
  }
}

// Returns `message` with one field replaced by the result of `change`. The field is in the message
// itself or in a message inside it.
std::string ChangeOne(std::string_view message, Random& random, int depth,
                      const std::function<std::string(const ProtoField&, Random&)>& change) {
  std::vector<ProtoField> fields = ProtoFields(message);
  if (fields.empty()) return std::string(message);
  // Every field number is equally likely, however often it occurs.
  std::map<uint32_t, std::vector<const ProtoField*>> by_number;
  for (const ProtoField& field : fields) by_number[field.number].push_back(&field);
  auto group = std::next(by_number.begin(), int64_t(random.Below(by_number.size())));
  const ProtoField& field = *group->second[random.Below(group->second.size())];
  const size_t before = size_t(field.whole.data() - message.data());
  std::string out(message.substr(0, before));
  const bool deeper = field.type == kBytes && depth < 8 && random.Below(4) != 0 &&
                      !ProtoFields(field.payload).empty();
  out += deeper ? ProtoBytes(field.number, ChangeOne(field.payload, random, depth + 1, change))
                : change(field, random);
  return out.append(message.substr(before + field.whole.size()));
}

}  // namespace

std::vector<ProtoField> ProtoFields(std::string_view message) {
  std::vector<ProtoField> fields;
  constexpr uint32_t kHighestNumber = 200;  // higher ones are text like a message
  while (!message.empty()) {
    ProtoField field;
    std::string_view rest = message;
    uint64_t tag = 0, size = 0;
    if (!TakeVarint(&rest, &tag)) return {};
    field.number = uint32_t(tag >> 3), field.type = uint32_t(tag & 7);
    if (field.number == 0 || field.number > kHighestNumber) return {};
    switch (field.type) {
      case kVarint:
        if (!TakeVarint(&rest, &field.value)) return {};
        break;
      case kBytes:
        if (!TakeVarint(&rest, &size) || size > rest.size()) return {};
        field.payload = rest.substr(0, size);
        rest.remove_prefix(size);
        break;
      case kFixed64:
      case kFixed32:
        size = field.type == kFixed64 ? 8 : 4;
        if (rest.size() < size) return {};
        rest.remove_prefix(size);
        break;
      default:
        return {};
    }
    field.whole = message.substr(0, message.size() - rest.size());
    fields.push_back(field);
    message = rest;
  }
  return fields;
}

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += char(value | 0x80);
  out += char(value);
}

std::string ProtoBytes(uint32_t number, std::string_view payload) {
  std::string out = Tag(number, kBytes);
  AppendVarint(out, payload.size());
  return out.append(payload);
}

std::string DamageProto(std::string_view bytes, Random& random) {
  std::string out(bytes);
  for (size_t i = 1 + random.Below(3); i > 0; --i) out = ChangeOne(out, random, 0, Damaged);
  return out;
}

std::string WithProtoText(std::string_view bytes, std::string_view text, Random& random) {
  auto change = [&](const ProtoField& field, Random&) {
    return field.type == kBytes ? ProtoBytes(field.number, text) : std::string(field.whole);
  };
  std::string out;
  // Most tries hit a number, which stays unchanged, so several tries are needed.
  for (int tries = 0; tries < 50; ++tries) {
    out = ChangeOne(bytes, random, 0, change);
    if (out.size() != bytes.size()) break;
  }
  return out;
}

std::string ThinProto(std::string_view message, size_t of_each_number, size_t max_payload) {
  std::map<uint32_t, size_t> taken;
  std::string out;
  for (const ProtoField& field : ProtoFields(message)) {
    if (field.type != kBytes) {
      out += field.whole;
    } else if (taken[field.number]++ < of_each_number) {
      std::string inside = ThinProto(field.payload, of_each_number, max_payload);
      if (inside.empty()) inside = field.payload.substr(0, max_payload);
      out += ProtoBytes(field.number, inside);
    }
  }
  return out;
}

std::string NestedMessages(uint32_t number, size_t depth) {
  // The nested lengths are computed from the inside out first, so that each byte is written only
  // once.
  std::vector<size_t> sizes = {0};
  std::string length;
  for (size_t i = 1; i < depth; ++i) {
    length.clear();
    AppendVarint(length, sizes.back());
    sizes.push_back(sizes.back() + Tag(number, kBytes).size() + length.size());
  }
  std::string out;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    out += Tag(number, kBytes);
    AppendVarint(out, *size);
  }
  return out;
}

std::string NestedGroups(uint32_t number, size_t depth) {
  return Nested(Tag(number, kStartGroup), depth);
}

}  // namespace xlaprof
