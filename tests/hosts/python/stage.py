"""The stage of CPython: what the host calls, with addresses of its variables."""

import ctypes
import gc

import hurray


def _variable(address):
    return ctypes.c_void_p.from_address(address)


def _hand_on(tensor, list_variable, context_variable):
    buffers, context = tensor.export_pair()
    _variable(list_variable).value, _variable(context_variable).value = buffers, context


def pass_on(list_variable, context_variable, sum_variable):
    taken = hurray.Tensor.from_pair(_variable(list_variable).value, _variable(context_variable).value)
    with taken as tensor:
        with memoryview(tensor.raw_bytes()) as data, data.cast("f") as elements:
            ctypes.c_double.from_address(sum_variable).value = sum(elements)
        _hand_on(tensor, list_variable, context_variable)


def make(list_variable, context_variable):
    memory = bytearray(memoryview((ctypes.c_float * 12)(*range(12))).cast("B"))
    with hurray.Tensor.wrap(memory, "float32", (3, 4)) as tensor:
        _hand_on(tensor, list_variable, context_variable)


def settle():
    gc.collect()
    hurray.drain()
