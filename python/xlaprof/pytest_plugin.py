"""The plugin for pytest, which pytest loads by itself. It has the fixture and the marker `no_recompiles`."""
import pytest

import xlaprof


@pytest.fixture
def no_recompiles():
    """xlaprof.no_recompiles, for `with no_recompiles(after=2) as steps:` in a test."""
    return xlaprof.no_recompiles


def pytest_configure(config):
    config.addinivalue_line("markers", "no_recompiles(after=2): fails the test if something is compiled after its first steps")


def pytest_collection_finish(session):
    if any(map(_may_check, session.items)):
        from xlaprof._recompiles.torch_xla import debug_output

        debug_output.set_early()
        session.config.add_cleanup(debug_output.unset_early)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker("no_recompiles")
    if marker is None:
        yield
        return
    check = xlaprof.no_recompiles(*marker.args, **marker.kwargs)
    check.__enter__()
    outcome = yield
    try:
        check.__exit__(*(outcome.excinfo or (None, None, None)))
    except Exception as error:
        outcome.force_exception(pytest.fail.Exception(str(error), pytrace=False))


def _may_check(item):
    """Returns whether a test uses the marker or the fixture, or lies in a module that imports xlaprof."""
    if item.get_closest_marker("no_recompiles") is not None or "no_recompiles" in getattr(item, "fixturenames", ()):
        return True
    values = vars(getattr(item, "module", None) or object).values()
    return any(value is xlaprof or type(value) is type and value.__module__ == "xlaprof" for value in list(values))
