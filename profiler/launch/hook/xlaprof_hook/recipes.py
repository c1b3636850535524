"""The variables that make each framework write what xlaprof reads.

They are set before the framework is imported. A variable that the user has set keeps its value. Each function returns the variables
that it has set."""
import os

from xlaprof_hook.jax_log import JaxLog


def _set(variables):
    missing = {name: value for name, value in variables.items() if not os.environ.get(name)}
    os.environ.update(missing)
    return missing


def _pytorch(recording):
    """PyTorch's profiler reports to standard error that it found no GPU, whether it was asked for one or not. Level 5 keeps it silent."""
    folder = os.path.join(recording.folder, "torch_trace")
    os.makedirs(folder, exist_ok=True)
    return _set({"TORCH_TRACE": folder, "KINETO_LOG_LEVEL": "5"})


def _pytorch_xla(recording):
    """The debug output names the line of each compilation and execution. With --full, the graphs are written with the stack of each
    operation, and each call of an operation without lowering with its own."""
    folder = recording.folder
    variables = {"PT_XLA_DEBUG_LEVEL": "2", "PT_XLA_DEBUG_FILE": os.path.join(folder, "pytorch_xla_debug.txt")}
    if recording.options.get("full"):
        variables |= {
            "XLA_IR_DEBUG": "1",
            "XLA_HLO_DEBUG": "1",
            "XLA_SAVE_TENSORS_FILE": os.path.join(folder, "pytorch_xla_graphs.txt"),
            "XLA_SAVE_TENSORS_FMT": "hlo",
            "XLA_FNTRACKER_FILE": os.path.join(folder, "pytorch_xla_fallbacks.txt"),
        }
    return _set(variables)


def _torchtpu(recording):
    """TorchTPU writes how long it compiles to standard error only, so that goes through a pipe that `xlaprof run` reads."""
    variables = _set({"TF_CPP_VMODULE": "compilation_cache=2"})
    if variables:
        pipe = os.open(os.path.join(recording.folder, "stderr.pipe"), os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(pipe, True)
        os.dup2(pipe, 2)
        os.close(pipe)
    return variables


def _jax(recording):
    """JAX logs its compilations and why its caches missed. The messages go to a file, and to the program's log only if the user asked for them."""
    variables = {"JAX_LOG_COMPILES": "1", "JAX_EXPLAIN_CACHE_MISSES": "1"}
    if recording.options.get("full"):
        variables["JAX_DUMP_IR_TO"] = os.path.join(recording.folder, "jax_ir")
    is_wanted = bool(os.environ.get("JAX_LOG_COMPILES") or os.environ.get("JAX_EXPLAIN_CACHE_MISSES"))
    recording.jax_log = JaxLog(os.path.join(recording.folder, f"jax_log.{os.getpid()}.txt"), is_wanted)
    recording.jax_log.open()
    return _set(variables)


FRAMEWORKS = {"torch": _pytorch, "torch_xla": _pytorch_xla, "torch_tpu": _torchtpu, "jax": _jax}
