#!/usr/bin/env python3
"""generate_torch_trace.py OUT MEGABYTES writes a structured log of torch 2.15 (TORCH_TRACE) of about that size.

A program trains models of 2 to 24 layers under torch.compile with dynamic=False. Each of its functions is compiled for up to seven
batch sizes, each time forward and backward; every third function has a graph break, every fourth also gets a new number, and every
fifth program comes from the cache. Records, their order and sizes are those of real logs: two thirds of the bytes are payloads that
list the parts of cache keys. The same size gives the same bytes on every machine."""
import datetime
import hashlib
import json
import sys

BEGIN_US = 1_795_562_990_000_000  # 2026-11-24
PID = 10058
PROGRAM, TORCH = "/home/u/train/models.py", "/home/u/venv/lib/python3.12/site-packages/torch"
PRE_PASSES = ("group_batch_fusion_passes", "efficient_conv_bn_eval_pass", "apply_gumbel_max_trick_pass")
JOINT_PASSES = ("remove_noop_ops", "constant_fold_uniform_value", "pass_pattern_0", "pass_pattern_1")
POST_PASSES = ("remove_profiler_ops", "respecialize_current_device", "post_grad_custom_pre_pass", "remove_noop_ops", "remove_assert_ops",
               "pass_pattern_0", "pass_pattern_1", "pass_pattern_2", "stable_sort", "move_constructors_to_cuda",
               "slice_scatter_chunking", "reinplace_inplaceable_ops", "fix_auto_functionalized_dtype_views",
               "decompose_triton_kernel_wrapper_functional", "decompose_auto_functionalized", "decompose_scan_to_while_loop",
               "decompose_map_to_while_loop")
CONFIG = {kind: json.dumps({f"{kind}.option_{i}_of_the_compiler": (False, None, i, "value")[i % 4] for i in range(count)})
          for kind, count in (("dynamo", 120), ("inductor", 640), ("functorch", 60))}


class Random:
    """A generator of numbers that is the same in every version of Python."""

    def __init__(self):
        self.state = 1

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % limit


class Log:
    def __init__(self, out):
        self.out, self.size, self.now_us, self.random = out, 0, BEGIN_US, Random()
        self.envelope, self.breaks = {}, 0

    def record(self, header, payload=None, where="torch/_dynamo/utils.py:2473", envelope=True):
        self.now_us += 40 + self.random.below(900)
        told = dict(header, **(self.envelope if envelope else {}))
        text = None
        if payload is not None:
            text = payload if isinstance(payload, str) else json.dumps(payload, indent=0)
            told["has_payload"] = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        at = datetime.datetime.fromtimestamp(self.now_us // 1000 / 1000, datetime.timezone.utc)
        line = f"V{at:%m%d %H:%M:%S}.{self.now_us // 1000 % 1000:03}000 {PID} {where}] {json.dumps(told)}\n"
        if text is not None:
            line += "\t" + text.replace("\n", "\n\t") + "\n"
        self.out.write(line)
        self.size += len(line)

    def event(self, name, phase, **args):
        told = {"name": name, "ts": self.now_us + 0.5, "args": {**args, "compile_id": self.compile_id()}, "ph": phase,
                "cat": "dynamo_timed", "tid": 0, "pid": 0}
        self.record({"chromium_event": {}}, {**told, "s": "p"} if phase == "i" else told)

    def artifact(self, name, payload, encoding="string"):
        self.record({"artifact": {"name": name, "encoding": encoding}}, payload, "torch/_inductor/compile_fx.py:1449")

    def compile_id(self):
        return f"{self.envelope['frame_id']}/{self.envelope['frame_compile_id']}"

    def wait(self, us):
        self.now_us += us + self.random.below(us)

    def key(self):
        return "f" + hashlib.sha256(str(self.random.below(2 ** 31)).encode()).hexdigest()[:51]


class Scope:
    """A part of a compilation: an event that begins it and, at the end of the block, one that ends it. `length_us` is added to it."""

    def __init__(self, log, name, length_us=2_000, function=None):
        self.log, self.name, self.length_us, self.ending = log, name, length_us, {}
        self.args = {"fn_name": function} if function else {}

    def __enter__(self):
        self.begin_us = self.log.now_us
        self.log.event(self.name, "B", **self.args)
        return self

    def __exit__(self, *_):
        self.log.wait(self.length_us)
        self.log.event(self.name, "E", **self.args, **self.ending)
        self.took_us = self.log.now_us - self.begin_us


def passes(log, whole, names):
    with Scope(log, f"_recursive_{whole}_passes"):
        for name in names:
            with Scope(log, f"pass.{whole}_passes.{name}", 200):
                pass


def graph(function, layers, batch, times=1):
    """Returns a graph of torch.fx as text."""
    lines = ["class GraphModule(torch.nn.Module):", "    def forward(self, L_x_: \"f32[%d, 32][32, 1]cpu\"):" % batch]
    for layer in range(layers * times):
        lines += [f"        # File: {PROGRAM}:{function.line + 1 + layer % 7} in {function.name}, code: x = torch.relu(layer(x))",
                  f"        linear_{layer}: \"f32[{batch}, 32][32, 1]cpu\" = torch._C._nn.linear(x_{layer}, weight_{layer}, "
                  f"bias_{layer});  x_{layer} = weight_{layer} = bias_{layer} = None",
                  f"        x_{layer + 1}: \"f32[{batch}, 32][32, 1]cpu\" = torch.nn.functional.relu(linear_{layer});  "
                  f"linear_{layer} = None"]
    return "\n".join([*lines, f"        return (x_{layers * times},)", ""])


def parts_of_key(log, layers, batch, text):
    parts = [f"[{log.key()}] gm: GraphModule()\n\n{text}"]
    parts += [f"[{log.key()}] example_inputs[{i}]: TensorMetadata(dtype=torch.float32, shape=torch.Size([{batch}, 32]), stride=(32, 1), "
              "device=device(type='cpu'), layout=torch.strided, memory_format=torch.contiguous_format, storage_offset=0, "
              "is_quantized=False)"
              for i in range(2 * layers + 1)]
    return parts + [f"[{log.key()}] inductor_config[option_{i}_of_the_compiler]: {i % 3 == 0}" for i in range(670)]


def inductor(log, function, batch, is_backward):
    """Writes the part of Inductor and of the generated code. Returns their microseconds."""
    layers = function.layers
    key, text = log.key(), graph(function, layers, batch, 1 + is_backward)
    with Scope(log, "inductor_compile", 60_000, "compile_fx_inner") as whole:
        with Scope(log, "fx_codegen_and_compile"):
            log.artifact("fx_graph_runnable", "import torch\n" + text + "# repro\n" * 40)
            with Scope(log, "additional_fake_tensor_prop"):
                pass
            log.artifact("before_post_grad_graph", text)
            passes(log, "post_grad", POST_PASSES)
            log.artifact("inductor_post_grad_graph", text)
            with Scope(log, "GraphLowering.run", 30_000):
                pass
            with Scope(log, "GraphLowering.compile_to_fn"), Scope(log, "code_gen", 1_000, "GraphLowering.compile_to_module") as code:
                with Scope(log, "GraphLowering.codegen"):
                    for name in ("Scheduler.__init__", "Scheduler.codegen", "PythonWrapperCodegen.generate"):
                        with Scope(log, name, 4_000):
                            pass
                source = "".join(f"    auto tmp{i} = in_ptr{i % 9}[static_cast<int64_t>(x0 + {32 * batch}L*x1)];\n"
                                 for i in range(60 * layers))
                path = f"/home/u/cache/{key[1:3]}/{key}.py"
                log.record({"inductor_output_code": {"filename": path, "file_path": path}},
                           f"# AOT ID: ['{log.compile_id()}']\ncpp_fused = async_compile.cpp_pybinding('''\n{source}''')\n",
                           "torch/_inductor/graph.py:3189")
                with Scope(log, "PyCodeCache.load_by_key_path"), Scope(log, "async_compile.wait", 150_000 * layers):
                    pass
            told = {"cache_status_detailed": "full_miss", "key": key, "components": parts_of_key(log, layers, batch, text),
                    "cache_event_time": log.now_us * 1000, "cache_state": "miss", "time_taken_ns": 1000 * (log.now_us - whole.begin_us)}
            log.event("fx_graph_cache_miss", "i", **told)
            log.artifact("fx_graph_cache_miss", json.dumps(told), "json")
        whole.ending = {**told, "is_backward": is_backward}
    return whole.took_us, code.took_us


def describe_inputs(log, function, batch):
    for i in range(2 * function.layers + 1):
        source = f"L['self']._modules['{i // 2}']._parameters['{('weight', 'bias')[i % 2]}']" if i else "L['x']"
        log.record({"describe_storage": {"id": i, "describer_id": 0, "size": 128 * batch}},
                   where="torch/_subclasses/meta_utils.py:298")
        view = f"_CustomViewFunc(func=<built-in method _view_func_unsafe of Tensor object at {log.random.below(2 ** 31):#014x}>)"
        log.record({"describe_tensor": {"id": i, "ndim": 2, "dtype": "torch.float32", "device": "device(type='cpu')", "size": [batch, 32],
                                        "is_leaf": True, "stride": [32, 1], "storage": i, "describer_id": 0, "view_func": view}},
                   where="torch/_subclasses/meta_utils.py:537")
        log.record({"describe_source": {"describer_id": 0, "id": i, "source": source}}, where="torch/_subclasses/meta_utils.py:2385")


def guards(function, batch, number):
    lines = ["", "TREE_GUARD_MANAGER:", "+- RootGuardManager",
             "| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x')",
             f"| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, torch.float32, device=None, size=[{batch}, 32], stride=[32, 1])",
             "| +- GuardManager: source=L['times'], accessed_by=FrameLocalsGuardAccessor(key='times')",
             f"| | +- EQUALS_MATCH: L['times'] == {number}"]
    for i in range(2 * function.layers):
        source = f"L['self']._modules['{i // 2}']._parameters['{('weight', 'bias')[i % 2]}']"
        lines.append(f"| +- GuardManager: source={source}, accessed_by=DictGetItemGuardAccessor('{i}'), "
                     "type=<class 'torch.nn.parameter.Parameter'>")
        lines += [f"| | +- {check}({source})  # return F.linear(input, self.weight, self.bias)  # nn/modules/linear.py:134 in forward"
                  for check in ("TENSOR_MATCH: check_tensor", "DIMENSION_DYNAMIC_MARKING_GUARD: hasattr",
                                "NO_TENSOR_ALIASING: check_no_aliasing", "TYPE_MATCH: ___check_type_id", "NO_HASATTR: hasattr")]
    return "\n".join(lines)


def metrics(log, function, name, begin_us, times, reason, is_forward):
    us = log.now_us - begin_us
    aot, inductor_us, code = times
    told = {"compile_id": log.compile_id(), "frame_key": str(log.envelope["frame_id"]), "co_name": name if is_forward else None,
            "co_filename": PROGRAM if is_forward else None, "co_firstlineno": function.line if is_forward else None,
            "cache_size": log.envelope["frame_compile_id"], "guard_count": 12 * function.layers, "graph_op_count": 2 * function.layers,
            "start_time": begin_us / 1e6, "entire_frame_compile_time_s": us / 1e6 if is_forward else None, "fail_type": None,
            "has_guarded_code": True, "is_forward": is_forward, "start_time_us": begin_us, "end_time_us": log.now_us, "duration_us": us,
            "dynamo_cumulative_compile_time_us": us if is_forward else None, "aot_autograd_cumulative_compile_time_us": aot,
            "inductor_cumulative_compile_time_us": inductor_us, "inductor_code_gen_cumulative_compile_time_us": code,
            "backward_cumulative_compile_time_us": None if is_forward else us, "recompile_reason": reason, "num_graph_breaks": log.breaks,
            "graph_node_shapes": str({f"x_{i}": [64, 32] for i in range(function.layers)}), "log_format_version": 3,
            "dynamo_config": CONFIG["dynamo"], "inductor_config": CONFIG["inductor"], "functorch_config": CONFIG["functorch"],
            "pytorch_version": "2.15.0+cu132"}
    told.update({f"measure_{i}_that_this_compilation_lacks": None for i in range(55)})
    log.record({"compilation_metrics" if is_forward else "bwd_compilation_metrics": told}, where="torch/_dynamo/utils.py:2132")


def backend(log, function, batch, from_cache):
    """Writes the part of AOTAutograd. Returns the microseconds of AOTAutograd, Inductor and the generated code."""
    layers, key, text = function.layers, log.key(), graph(function, function.layers, batch)
    with Scope(log, "backend_compile", 5_000, "OutputGraph.call_user_compiler") as whole:
        found = {"cache_status_detailed": "hit" if from_cache else "full_miss", "key": key, "cache_state": "hit" if from_cache else "miss",
                 "components": []}
        if from_cache:
            found.update(forward_time_saved_ms=900.0, backward_time_saved_ms=600.0, time_saved_ms=1500.0)
        log.event("autograd_cache_" + found["cache_state"], "i", **found)
        for _ in range(2 if from_cache else 0):
            log.artifact("fx_graph_cache_hit", json.dumps(found), "json")
        log.artifact("aotautograd_cache_" + found["cache_state"], json.dumps({**found, "compile_id": log.compile_id()}), "json")
        if from_cache:
            return 10_000, 0, 0
        log.artifact("before_pre_grad_graph", text)
        passes(log, "pre_grad", PRE_PASSES)
        log.artifact("after_pre_grad_graph", text)
        with Scope(log, "create_aot_dispatcher_function"):
            for name in ("aot_collect_metadata", "aot_trace_joint_graph"):
                with Scope(log, name, 20_000):
                    pass
            log.record({"aot_joint_graph": {}}, graph(function, layers, batch, 3))
            passes(log, "joint_graph", JOINT_PASSES)
            log.artifact("torch._functorch.config", CONFIG["functorch"])
            log.artifact("aot_forward_graph_fw_metadata",
                         "ViewAndMutationMeta(" + "InputAliasInfo(is_leaf=True, mutates_data=False), " * 40 * layers)
            log.record({"aot_forward_graph": {}}, text)
            log.record({"aot_backward_graph": {}}, graph(function, layers, batch, 2))
            with Scope(log, "compile_fx.<locals>.fw_compiler_base"):
                inductor_us, code_us = inductor(log, function, batch, False)
            log.artifact("aot_autograd_runtime_wrappers", "def wrapper(args):\n" + "    args = convert(args)\n" * 140)
    return whole.took_us, inductor_us, code_us


class Function:
    def __init__(self, number):
        self.number, self.layers, self.line = number, (2, 4, 3, 8, 2, 6, 24, 2)[number % 8], 10 + 20 * number
        self.name, self.breaks = f"block_{number}", number % 3 == 1

    def programs(self):
        """Yields the batch size and the number of each compilation."""
        seen = [(64, 1)]
        seen += [(batch, 1) for batch in (48, 17, 33, 9, 25, 12)[:2 + self.number % 5]]
        return seen + [(64, 2)] if self.number % 4 == 0 else seen


def reasons(seen, batch, number):
    return [f"0/{i}: tensor 'x' size mismatch at index 0. expected {old}, actual {batch}" if old != batch else
            f"0/{i}: times == {n}  # for _ in range(times):  # train/models.py:12 in block" for i, (old, n) in enumerate(seen)
            if (old, n) != (batch, number)][::-1]


def break_reason(function):
    line = function.line + 5
    return (f"Graph break in user code at {PROGRAM}:{line}\nGraph Break Reason: Encountered graph break when attempting to trace CALL: "
            "a function call, e.g. f(x, y):\n\nUnsupported Tensor.item() call with capture_scalar_outputs=False\n  Explanation: Dynamo "
            "does not support it.\n  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`.\n\n  Developer debug context: "
            "call_method item\n\n For more details about this graph break, please visit: "
            "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0124.html\n\n"
            f"User code traceback:\n  File \"{PROGRAM}\", line 9, in <module>\n    train()\n  File \"{PROGRAM}\", line {line}, in "
            f"{function.name}\n    scale = x.abs().max().item()\n\nTraceback (most recent call last):\n"
            + "".join(f"  File \"{TORCH}/_dynamo/part_{i}.py\", line {100 + i}, in call\n    return inner(self, instruction)\n"
                      for i in range(14)))


def compile_frame(log, function, name, frame, index, batch, why, number, from_cache=False, is_broken=False):
    log.envelope = {"frame_id": frame, "frame_compile_id": index, "attempt": 0}
    with Scope(log, "dynamo", 500):
        begin_us = log.now_us
        with Scope(log, "entire_frame_compile", 1_000, "_compile.compile_inner"):
            if why:
                log.artifact("recompile_reasons", why[0] if len(why) == 1 else why, "json")
            log.record({"dynamo_start": {"stack": [{"line": function.line, "name": name, "filename": 1}]}},
                       where="torch/_dynamo/convert_frame.py:309")
            for attempt in range(1 + is_broken):
                log.envelope["attempt"] = attempt
                with Scope(log, f"compile_attempt_{attempt}"):
                    with Scope(log, "bytecode_tracing", 30_000):
                        describe_inputs(log, function, batch)
                        if is_broken and attempt == 0:
                            log.breaks += 1
                            log.artifact("dynamo_graph_break_reason", break_reason(function))
                    if attempt == is_broken:
                        log.record({"dynamo_output_graph": {"sizes": {f"x_{i}": [batch, 32] for i in range(function.layers)}}},
                                   graph(function, function.layers, batch), "torch/_dynamo/output_graph.py:2993")
                        times = backend(log, function, batch, from_cache)
            with Scope(log, "build_guards", 8_000):
                log.record({"dynamo_cpp_guards_str": {}}, guards(function, batch, number), "torch/_dynamo/guards.py:5383")
        metrics(log, function, name, begin_us, times, why[0] if why else None, True)
    if not from_cache:
        begin_us = log.now_us
        with Scope(log, "entire_backward_compile", 2_000, "backward._backward_impl"), \
                Scope(log, "compile_fx.<locals>.bw_compiler") as whole:
            inductor_us, code_us = inductor(log, function, batch, True)
        metrics(log, function, name, begin_us, (whole.took_us, inductor_us, code_us), None, False)
    log.wait(50_000)


def write(log, size):
    for index, name in enumerate((f"{TORCH}/_dynamo/convert_frame.py", PROGRAM)):
        log.record({"str": [name, index]}, where="torch/_logging/structured.py:28", envelope=False)
    log.record({"artifact": {"name": "torch_version", "encoding": "json"}}, {"pytorch_version": "2.15.0+cu132", "oss": True},
               "torch/_logging/_internal.py:1390", envelope=False)
    frame = compiled = 0
    while True:
        function = Function(frame)
        seen = []
        for index, (batch, number) in enumerate(function.programs()):
            why = [text.replace("0/", f"{frame}/", 1) for text in reasons(seen, batch, number)]
            compiled += 1
            compile_frame(log, function, function.name, frame, index, batch, why, number, compiled % 5 == 0, function.breaks)
            seen.append((batch, number))
            if log.size >= size:
                return
        frame += 1


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        write(Log(file), int(float(sys.argv[2]) * 1e6))
