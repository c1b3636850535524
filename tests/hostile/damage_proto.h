// Damages protobuf messages so that the messages around the damage stay readable. It works without
// a schema, from the wire format alone: the inside of a field is changed, and the lengths around it
// are adapted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hostile/damage.h"

namespace xlaprof {

// One field of a message. All views point into the message.
struct ProtoField {
  uint32_t number = 0, type = 0;
  uint64_t value = 0;        // of a varint; otherwise 0
  std::string_view whole;    // tag and value
  std::string_view payload;  // of a bytes field
};

// Returns the fields of `message`, or nothing if the bytes are not a message.
std::vector<ProtoField> ProtoFields(std::string_view message);

// Appends `value` as a varint to `out`.
void AppendVarint(std::string& out, uint64_t value);
// Returns a field of bytes.
std::string ProtoBytes(uint32_t number, std::string_view payload);

// Damages a field somewhere in `bytes` (or in a message inside it): its value, length, type or
// number is false, or it is repeated, removed or nested deeply.
std::string DamageProto(std::string_view bytes, Random& random);

// Returns `bytes` with `text` in place of a text somewhere in it, with matching lengths.
std::string WithProtoText(std::string_view bytes, std::string_view text, Random& random);

// Returns `message` with few fields of each number, at every level, and no payload above
// `max_payload`: it has the same shape in a few kilobytes.
std::string ThinProto(std::string_view message, size_t of_each_number, size_t max_payload);

// Returns a message nested in itself `depth` times under field `number`. As groups, only the start
// tags are written.
std::string NestedMessages(uint32_t number, size_t depth);
std::string NestedGroups(uint32_t number, size_t depth);

}  // namespace xlaprof
