"""perfetto_fields.py TRACE prints, one per line, the fields of a Perfetto trace that Perfetto's own messages do not know, and
texts that are not UTF-8. It prints nothing if there are none. The Python of `scripts/env judges` runs it."""
import collections
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2


def faults(message):
    for field in UnknownFieldSet(message):
        yield f"unknown field {field.field_number} of {message.DESCRIPTOR.full_name}"
    for field, value in message.ListFields():
        for each in value if isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes)) else [value]:
            if field.message_type is not None:
                yield from faults(each)
            elif isinstance(each, (str, bytes)):
                try:
                    each.encode() if isinstance(each, str) else each.decode()
                except UnicodeError:
                    yield f"text that is no UTF-8 in {field.full_name}"


def main(path):
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    if not trace.packet:
        print("a trace without packets")
    for fault, count in collections.Counter(faults(trace)).items():
        print(f"{fault}, {count} times")


if __name__ == "__main__":
    main(sys.argv[1])
