// Damage to protobuf messages that leaves the messages around readable: without a schema, from the
// wire format alone. What is inside a field is changed, and the lengths around it follow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hostile/damage.h"

namespace xlaprof {

// One field of a message; all views point into it.
struct ProtoField {
  uint32_t number = 0, type = 0;
  uint64_t value = 0;        // of a varint; else 0
  std::string_view whole;    // tag and value
  std::string_view payload;  // of a bytes field
};

// The fields of `message`; empty when it is none.
std::vector<ProtoField> ProtoFields(std::string_view message);

// `value` as a varint, behind `out`.
void AppendVarint(std::string& out, uint64_t value);
// A field of bytes.
std::string ProtoBytes(uint32_t number, std::string_view payload);

// A field somewhere in `bytes` (or in a message in it) has a value, a length, a type or a number
// that lies, is repeated, gone, or nested deeply.
std::string DamageProto(std::string_view bytes, Random& random);

// `bytes` with `text` in place of a text somewhere in it, lengths fitting.
std::string WithProtoText(std::string_view bytes, std::string_view text, Random& random);

// `message` with few fields of each number, at every level, and no payload above `max_payload`: the
// same shape in a few kilobytes.
std::string ThinProto(std::string_view message, size_t of_each_number, size_t max_payload);

// A message in itself `depth` times, under field `number`; as groups: start tags only.
std::string NestedMessages(uint32_t number, size_t depth);
std::string NestedGroups(uint32_t number, size_t depth);

}  // namespace xlaprof
