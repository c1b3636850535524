// Reads back a trace that the Perfetto exporter wrote, and checks the rules for every trace. Fields
// are known, and text is UTF-8 without NUL. Tracks and texts are defined before they are used. On
// each track, times do not go back, and every end has a begin.
#pragma once

#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perfetto.pb.h"

namespace xlaprof {

class PerfettoTrace {
 public:
  explicit PerfettoTrace(const std::string& bytes) {
    EXPECT_TRUE(trace_.ParseFromString(bytes));
    for (const perfetto::TracePacket& packet : packets()) {
      Check(packet);
      Learn(packet);
      if (packet.has_track_event()) Replay(packet);
    }
  }

  const google::protobuf::RepeatedPtrField<perfetto::TracePacket>& packets() const {
    return trace_.packet();
  }
  const std::map<uint64_t, perfetto::TrackDescriptor>& tracks() const { return tracks_; }
  // Returns one packet per line.
  std::string Text() const {
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    std::string text;
    for (const perfetto::TracePacket& packet : packets()) {
      std::string line;
      printer.PrintToString(packet, &line);
      text += line + "\n";
    }
    return text;
  }
  std::vector<const perfetto::TracePacket*> Events(perfetto::TrackEvent::Type type) const {
    std::vector<const perfetto::TracePacket*> events;
    for (const perfetto::TracePacket& packet : packets()) {
      if (packet.has_track_event() && packet.track_event().type() == type)
        events.push_back(&packet);
    }
    return events;
  }
  std::string NameOf(const perfetto::TrackEvent& event) const {
    return event.has_name() ? event.name() : Text(2, event.name_iid());
  }
  std::string TrackOf(const perfetto::TrackEvent& event) const {
    const perfetto::TrackDescriptor& track = tracks_.at(event.track_uuid());
    return track.has_thread() ? track.thread().thread_name() : track.name();
  }
  // Returns the arguments of the event with this name, as text.
  std::map<std::string, std::string> ArgumentsOf(std::string_view name) const {
    std::map<std::string, std::string> arguments;
    for (const perfetto::TracePacket& packet : packets()) {
      if (!packet.has_track_event() || NameOf(packet.track_event()) != name) continue;
      for (perfetto::DebugAnnotation argument : packet.track_event().debug_annotations()) {
        const std::string key =
            argument.has_name_iid() ? Text(3, argument.name_iid()) : argument.name();
        argument.clear_name(), argument.clear_name_iid();
        arguments[key] = argument.has_string_value_iid() ? Text(29, argument.string_value_iid())
                                                         : argument.ShortDebugString();
      }
    }
    return arguments;
  }

 private:
  std::string Text(int field, uint64_t iid) const {
    auto found = texts_.find({field, iid});
    return found == texts_.end() ? "" : found->second;
  }
  void Check(const google::protobuf::Message& message) {
    const auto* reflection = message.GetReflection();
    EXPECT_TRUE(reflection->GetUnknownFields(message).empty()) << message.ShortDebugString();
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const auto* field : fields) {
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == field->CPPTYPE_MESSAGE) {
          Check(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                     : reflection->GetMessage(message, field));
        } else if (field->cpp_type() == field->CPPTYPE_STRING) {
          const std::string text = field->is_repeated()
                                       ? reflection->GetRepeatedString(message, field, i)
                                       : reflection->GetString(message, field);
          EXPECT_EQ(text.find('\0'), std::string::npos);
        }
      }
    }
  }
  void Learn(const perfetto::TracePacket& packet) {
    auto learn = [&](int field, const auto& texts) {
      for (const auto& text : texts)
        EXPECT_TRUE(texts_.try_emplace({field, text.iid()}, text.name()).second) << "defined twice";
    };
    learn(1, packet.interned_data().event_categories());
    learn(2, packet.interned_data().event_names());
    learn(3, packet.interned_data().debug_annotation_names());
    learn(29, packet.interned_data().debug_annotation_string_values());
    if (!packet.has_track_descriptor()) return;
    const perfetto::TrackDescriptor& track = packet.track_descriptor();
    EXPECT_TRUE(tracks_.try_emplace(track.uuid(), track).second) << track.uuid();
    EXPECT_TRUE(tracks_.contains(track.parent_uuid()));
  }
  void Replay(const perfetto::TracePacket& packet) {
    const perfetto::TrackEvent& event = packet.track_event();
    EXPECT_TRUE(tracks_.contains(event.track_uuid()));
    auto known = [&](int field, uint64_t iid) { return iid == 0 || texts_.contains({field, iid}); };
    for (uint64_t iid : event.category_iids()) EXPECT_TRUE(known(1, iid));
    EXPECT_TRUE(known(2, event.name_iid()));
    for (const auto& argument : event.debug_annotations()) {
      EXPECT_TRUE(known(3, argument.name_iid()));
      EXPECT_TRUE(known(29, argument.string_value_iid()));
    }
    auto& [last_ns, depth] = open_[event.track_uuid()];
    EXPECT_GE(packet.timestamp(), last_ns) << packet.ShortDebugString();
    last_ns = packet.timestamp();
    depth += event.type() == perfetto::TrackEvent::BEGIN;
    depth -= event.type() == perfetto::TrackEvent::END;
    EXPECT_GE(depth, 0) << packet.ShortDebugString();
  }
  std::map<uint64_t, std::pair<uint64_t, int>> open_;  // last time and open events, by track
  perfetto::Trace trace_;
  std::map<std::pair<int, uint64_t>, std::string> texts_;  // by field of InternedData and iid
  std::map<uint64_t, perfetto::TrackDescriptor> tracks_;
};

}  // namespace xlaprof
