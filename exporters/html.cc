// Writes the viewer with a run inside, in one file that opens from disk: docs/formats/view.md.
#include <absl/strings/escaping.h>
#include <absl/strings/str_replace.h>
#include <zlib.h>

#include <algorithm>

#include "analyzers/quantity.h"
#include "exporters/exporter.h"
#include "exporters/output/sink.h"
#include "exporters/view/details.h"
#include "exporters/view/findings.h"
#include "exporters/view/page.h"
#include "exporters/view/run.h"
#include "exporters/view/slices.h"
#include "profiler/store/origin.h"

namespace xlaprof {
namespace {

constexpr std::string_view kHeadElement = "<meta charset=\"utf-8\">";

// Compresses without zlib's header and checksum.
absl::StatusOr<std::string> Deflated(std::string_view bytes) {
  z_stream zlib = {};
  if (deflateInit2(&zlib, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return absl::ResourceExhaustedError("no memory to compress the timeline");
  std::string out;
  std::vector<char> buffer(1 << 18);
  // zlib counts input in 32 bits.
  constexpr size_t kPiece = size_t{1} << 30;
  int state = Z_OK;
  do {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    zlib.avail_in = uInt(piece.size());
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(buffer.data());
      zlib.avail_out = uInt(buffer.size());
      state = deflate(&zlib, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      out.append(buffer.data(), buffer.size() - zlib.avail_out);
    } while (zlib.avail_out == 0);
  } while (state != Z_STREAM_END);
  deflateEnd(&zlib);
  return out;
}

// Escapes JSON for a script element, so that nothing in it ends the element or begins a comment.
std::string ForScript(const std::string& json) {
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
}

absl::Status WriteElement(Sink& sink, std::string_view id, std::string_view type,
                          std::string_view text) {
  XP_TRY(sink.Write(fmt::format("<script id=\"{}\" type=\"{}\">", id, type)));
  XP_TRY(sink.Write(text));
  return sink.Write("</script>\n");
}

absl::Status WriteBlock(Sink& sink, std::string_view id, std::string_view bytes) {
  if (bytes.empty()) return WriteElement(sink, id, "text/plain", "");
  XP_TRY(std::string deflated, Deflated(bytes));
  return WriteElement(sink, id, "text/plain", absl::Base64Escape(deflated));
}

// Returns the length below which slices are merged so that at most `max_slices` are left: 0, or a
// power of two.
int64_t ResolutionFor(const ViewLanes& lanes, int64_t events, int64_t max_slices) {
  if (events <= max_slices) return 0;
  int64_t rows = 0;
  for (const ViewLane& lane : lanes.lanes()) rows += lane.rows;
  // Each cell of each row holds one merged slice and at most one longer slice.
  const int64_t cells = std::max<int64_t>(max_slices / (2 * std::max<int64_t>(rows, 1)), 1);
  int64_t resolution_ns = 1;
  while (lanes.end_ns() / resolution_ns > cells) resolution_ns *= 2;
  return resolution_ns;
}

absl::StatusOr<Exported> WriteHtml(const Run& run, const Findings& findings,
                                   const ExportOptions& options) {
  const Store& store = run.store();
  XP_TRY(ViewLanes lanes, ViewLanes::Make(store));
  XP_TRY(Report report, MakeReport(run, findings));
  Exported exported;
  SlicesAsked all{.to_ns = lanes.end_ns()};
  for (const ViewLane& lane : lanes.lanes()) {
    all.lanes.push_back(lane.id);
    if (lane.kind != TrackKind::kCounter) exported.event_count += lane.events;
  }
  all.resolution_ns = ResolutionFor(lanes, exported.event_count, options.max_page_slices);
  if (all.resolution_ns > 0)
    exported.left_out.push_back(fmt::format(
        "events shorter than {} are merged where they are close, because a page holds {} slices at "
        "most. Totals by name are exact. --from, --to and --steps choose a part; `xlaprof view` "
        "shows all events",
        DurationText(all.resolution_ns), options.max_page_slices));

  exported.LeaveOut(lanes.damaged_chunks(), "damaged chunk", " of events");
  XP_TRY(std::unique_ptr<Sink> sink, OpenSink(options.path, options.gzip));
  const ViewPage page = Page();
  XP_TRY(const Origin origin, OriginOf(store));
  const size_t head = page.before_data.find(kHeadElement) + kHeadElement.size();
  XP_TRY(sink->Write(page.before_data.substr(0, head)));
  XP_TRY(
      sink->Write(fmt::format("\n<meta name=\"xlaprof-origin\" content=\"{}\">", TextOf(origin))));
  XP_TRY(sink->Write(page.before_data.substr(head)));
  XP_TRY(std::string lanes_and_steps, RunJson(run, lanes));
  XP_TRY(WriteElement(*sink, "run", "application/json", ForScript(lanes_and_steps)));
  XP_TRY(std::string found, FindingsJson(run, lanes, report, options.source_roots));
  XP_TRY(WriteElement(*sink, "findings", "application/json", ForScript(found)));
  options.progress(0.2);
  XP_TRY(std::string slices, EncodeSlices(store, lanes, all));
  XP_TRY(WriteBlock(*sink, "slices", slices));
  slices = {};
  options.progress(0.6);
  EncodedArguments arguments;
  EncodedFlows flows;
  std::string totals;
  if (all.resolution_ns == 0) {
    XP_TRY(arguments, EncodeArguments(store, lanes));
    XP_TRY(flows, EncodeFlows(store));
  } else {
    XP_TRY(totals, EncodeTotals(store, lanes));
    exported.left_out.push_back("arguments of events and flows between them");
  }
  XP_TRY(WriteBlock(*sink, "totals", totals));
  XP_TRY(WriteBlock(*sink, "arguments", arguments.bytes));
  XP_TRY(WriteBlock(*sink, "flows", flows.bytes));
  exported.LeaveOut(arguments.damaged_chunks, "damaged chunk", " of arguments");
  if (flows.more) exported.left_out.push_back("flows behind the first millions");
  XP_TRY(sink->Write(page.after_data));
  XP_TRY(sink->Close());
  return exported;
}

}  // namespace

namespace exporters {
extern const Exporter html{"html", "the viewer and the run in one page for any browser",
                           "report.html", true, WriteHtml};
}  // namespace exporters

}  // namespace xlaprof
