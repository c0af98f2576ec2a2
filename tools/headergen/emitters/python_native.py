"""The C part of the Python binding: the table of calls, conversions of structs, and the mechanical wrappers.

A function is mechanical when what its parameters mean follows from their annotations alone. The others are in
HAND_WRITTEN or NOT_OFFERED, with the reason; a function that is nowhere stops the generator, so that none is forgotten.
"""

from __future__ import annotations

from hg import header

from . import common

HAND_WRITTEN = {
    "hurray_buffer_from_ptr": "keeps memory",
    "hurray_buffer_from_host": "keeps memory",
    "hurray_tensor_from_host": "keeps memory",
    "hurray_tensor_context_new": "keeps an owner",
    "hurray_reader_from_memory": "keeps memory",
    "hurray_tensor_view": "feeds the buffer protocol",
    "hurray_descriptor_encode": "fills memory of a length that another call tells",
    "hurray_buffer_handoff": "keeps memory and callbacks",
    "hurray_buffer_event": "gives opaque pointers",
    "hurray_buffer_event_release": "calls back, also for a part of another handle, which is busy meanwhile",
    "hurray_buffer_stream": "gives opaque pointers",
    "hurray_producer_request": "calls back",
    "hurray_producer_release": "calls back",
    "hurray_log_callback_set": "keeps a callback",
    "hurray_reader_from_callback": "calls back",
    "hurray_writer_to_callback": "calls back",
    "hurray_file_writer_to_callback": "calls back",
    "hurray_file_writer_add_source": "calls back",
    "hurray_file_writer_set_array": "takes an array of structs",
    "hurray_reader_read": "fills memory of the caller",
}

# Functions that the binding does not call, with the reason: nobody writes a wrapper for them.
NOT_OFFERED = {
    "hurray_tensor_to_dlpack": "native/dlpack.c makes the capsules, which count as views of the Python object",
    "hurray_tensor_to_dlpack_unversioned": "native/dlpack.c makes the capsules, which count as views of the Python object",
    "hurray_tensor_from_dlpack": "native/dlpack.c takes the capsules",
    "hurray_tensor_from_dlpack_unversioned": "native/dlpack.c takes the capsules",
}

# Calls that may wait for a disk or a peer, or move many bytes: made without the GIL.
BLOCKING = {
    "hurray_file_open", "hurray_file_open_buffer", "hurray_file_writer_create",
    "hurray_file_writer_create_with", "hurray_file_writer_add", "hurray_file_writer_add_composite", "hurray_file_writer_finish",
    "hurray_reader_next", "hurray_writer_write",
    "hurray_tensor_copy", "hurray_reader_next_item", "hurray_writer_write_composite", "hurray_reader_begin", "hurray_reader_skip",
    "hurray_channel_accept", "hurray_channel_connect", "hurray_channel_send", "hurray_channel_receive", "hurray_channel_finish",
}

# Options of long work, which carry a callback: native/work.h converts them. Calls that take them are made without the GIL.
_WORK = "HurrayWorkOptions"

# The length of what a pointer in a struct leads to. char pointers that are not here are NUL-terminated.
_LENGTHS = {
    ("HurrayDescriptorInfo", "shape"): "rank",
    ("HurrayDescriptorInfo", "strides"): "rank",
    ("HurrayDescriptorInfo", "parent_shape"): "rank",
    ("HurrayDescriptorInfo", "shard_offset"): "rank",
    ("HurrayDescriptorInfo", "trailing"): "trailing_length",
    ("HurrayLayoutFields", "strides"): "rank",
    ("HurrayLayoutFields", "morton_bits"): "rank",
    ("HurrayLayoutFields", "mode_order"): "rank",
    ("HurrayLayoutFields", "private_data"): "private_length",
    ("HurrayTileLevel", "tile_shape"): "rank",
    ("HurrayTileLevel", "outer_strides"): "rank",
    ("HurrayTileLevel", "inner_strides"): "rank",
    ("HurrayQuantization", "private_data"): "private_length",
    ("HurrayQuantization", "payload"): "payload_length",
    ("HurrayTranscodeSpec", "token_counts"): "token_counts_length",
    ("HurrayFileTensorInfo", "name"): "name_length",
    ("HurrayFileTensorInfo", "shape"): "rank",
    ("HurrayFileTensorInfo", "stored_type"): "stored_type_length",
    ("HurrayFileMetadata", "key"): "key_length",
    ("HurrayFileMetadata", "value"): "value_length",
}


def emit(abi: dict) -> dict[str, str]:
    return {
        "calls.h": _calls_header(abi),
        "calls.c": _calls(abi),
        "structs.h": _structs_header(abi),
        "structs.c": _structs(abi),
        "wrappers.h": _wrappers_header(),
        "wrappers.c": _wrappers(abi),
        "_calls.pyi": _stub(abi),
    }


def mechanical(abi: dict) -> list[dict]:
    """The functions that get a generated wrapper."""
    ends = {h[key]["function"] for h in abi["handles"] for key in ("destroy", "destroy_deferred") if h[key]}
    named = HAND_WRITTEN | NOT_OFFERED
    for name in named:
        if not any(f["name"] == name for f in abi["functions"]):
            raise ValueError(f"python: HAND_WRITTEN or NOT_OFFERED names {name}, which is no function")
    found = [f for f in abi["functions"] if f["name"] not in named and f["name"] not in ends]
    for f in found:
        for p in f["params"]:
            if p.get("annotation") in ("kept", "opaque", "callback", "callback_opt", "out_array"):
                raise ValueError(f"python: {f['name']}: `{p['annotation']}` needs a wrapper by hand; write it and add the "
                                 "function to HAND_WRITTEN")
    return found


# --- The table of calls -----------------------------------------------------------------------------------------


def _calls_header(abi: dict) -> str:
    out = [common.banner(),
           "// The functions of the library, found by name when it is loaded.\n"
           "#ifndef HPY_GEN_CALLS_H_\n#define HPY_GEN_CALLS_H_\n\n#include <hurray.h>\n#include <stdbool.h>\n\n"
           "typedef struct HpyCalls {\n"]
    for f in abi["functions"]:
        # header.prototype writes `HURRAY_API type name(parameters)`: the one spelling of a parameter list.
        prototype = " ".join(header.prototype(f).replace("HURRAY_API ", "", 1).split())
        before, _, parameters = prototype.partition(f["name"] + "(")
        parameters = parameters.rstrip(")").strip() or "void"
        out.append(f"    {before}(*{f['name']})({parameters});\n")
    out.append("} HpyCalls;\n\n"
               "// Fills the table from a library that dlopen returned; false, with its name, when a function is missing.\n"
               "bool hpy_calls_resolve(void *library, HpyCalls *out, const char **missing);\n\n#endif\n")
    return "".join(out)


def _calls(abi: dict) -> str:
    out = [common.banner(), '#include "bindings/python/gen/calls.h"\n\n#include <dlfcn.h>\n#include <stddef.h>\n#include <string.h>\n\n'
           "static const struct {\n    const char *name;\n    size_t offset;\n} functions[] = {\n"]
    out += [f'    {{"{f["name"]}", offsetof(HpyCalls, {f["name"]})}},\n' for f in abi["functions"]]
    out.append("};\n\nbool hpy_calls_resolve(void *library, HpyCalls *out, const char **missing) {\n"
               "    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {\n"
               "        void *found = dlsym(library, functions[i].name);\n"
               "        if (found == NULL) {\n            *missing = functions[i].name;\n            return false;\n        }\n"
               "        // POSIX: an object pointer that dlsym returned has the bytes of the function pointer.\n"
               "        memcpy((char *)out + functions[i].offset, &found, sizeof found);\n    }\n    return true;\n}\n")
    return "".join(out)


# --- Structs ----------------------------------------------------------------------------------------------------


def _struct(abi: dict, name: str) -> dict:
    return next(s for s in abi["structs"] if s["name"] == name)


def _is_bytes(struct: dict) -> bool:
    """A struct that is nothing but bytes."""
    fields = struct["fields"]
    return len(fields) == 1 and fields[0]["type"]["kind"] == "array" and fields[0]["type"]["of"].get("bits") == 8


def _parameters(abi: dict, annotations: tuple[str, ...]) -> list[str]:
    names = {common.target(p["type"])["name"] for f in mechanical(abi) for p in f["params"]
             if p.get("annotation") in annotations and common.target(p["type"])["kind"] == "struct"} - {_WORK}
    return [s["name"] for s in abi["structs"] if s["name"] in names and not _is_bytes(s)]


def input_structs(abi: dict) -> list[str]:
    """Structs that Python passes in."""
    return _parameters(abi, ("in", "in_opt"))


def output_structs(abi: dict) -> list[str]:
    """Structs that Python gets."""
    return _parameters(abi, ("out", "out_opt"))


def converted_structs(abi: dict) -> list[dict]:
    names = set(input_structs(abi)) | set(output_structs(abi))
    return [s for s in abi["structs"] if s["name"] in names]


def visible_fields(struct: dict) -> list[dict]:
    """Without the size, the padding, and lengths that the tuple of the pointer tells anyway (but for rank)."""
    lengths = {length for (name, _), length in _LENGTHS.items() if name == struct["name"] and length != "rank"}
    return [f for f in struct["fields"] if f["name"] != "struct_size" and not f["name"].startswith("reserved")
            and f["name"] not in lengths]


def python_type(struct: dict, field: dict) -> str:
    t = common.strip_alias(field["type"])
    if t["kind"] == "pointer":
        to = common.strip_alias(t["to"])
        if to["kind"] == "char":
            return "bytes" if (struct["name"], field["name"]) in _LENGTHS else "str"
        if to.get("bits") == 8:
            return "bytes"
        return "int" if to["kind"] == "void" else "tuple[int, ...] | None"
    if t["kind"] == "array":
        return "str" if t["of"]["kind"] == "char" else "bytes"
    return "float" if t["kind"] == "float" else "int"


def python_default(struct: dict, field: dict) -> str:
    """What a field of a struct that is passed in is when it is left out."""
    kind = python_type(struct, field)
    return {"int": " = 0", "float": " = 0.0", "bytes": ' = b""'}.get(kind, " = None")


def _arrays(struct: dict) -> list[dict]:
    return [f for f in struct["fields"] if common.strip_alias(f["type"])["kind"] == "pointer"]


def _memory(name: str) -> str:
    return f"Hpy{common.strip_prefix(name, 'Hurray')}Memory"


def _structs_header(abi: dict) -> str:
    out = [common.banner(), "// Structs from and to tuples.\n#ifndef HPY_GEN_STRUCTS_H_\n#define HPY_GEN_STRUCTS_H_\n\n"
           '#include "bindings/python/native/convert.h"\n#include "bindings/python/native/hpy.h"\n\n']
    out += [f"PyObject *hpy_from_{n}(const {n} *value);\n" for n in output_structs(abi)]
    out.append("\n// A tuple of the visible fields, or None: all 0. struct_size is set. Arrays lie in memory that lasts until\n"
               "// hpy_free, which ends what was made of it in any case.\n")
    for name in input_structs(abi):
        arrays = _arrays(_struct(abi, name))
        if not arrays:
            out.append(f"bool hpy_to_{name}(PyObject *object, {name} *out);\n")
            continue
        kinds = [("HpyBytes" if _is_octets(f) else "HpyNumbers") + f" {f['name']};" for f in arrays]
        out.append(f"typedef struct {_memory(name)} {{\n" + "".join(f"    {k}\n" for k in kinds) + f"}} {_memory(name)};\n"
                   f"bool hpy_to_{name}(PyObject *object, {name} *out, {_memory(name)} *memory);\n"
                   f"void hpy_free_{name}({_memory(name)} *memory);\n")
    out.append("\n#endif\n")
    return "".join(out)


def _structs(abi: dict) -> str:
    out = [common.banner(), '#include "bindings/python/gen/structs.h"\n\n#include <string.h>\n\n'
           '#include "bindings/python/native/convert.h"\n']
    for name in output_structs(abi):
        struct = _struct(abi, name)
        fields = visible_fields(struct)
        items = ",\n                     ".join(_field_to_python(struct, f) for f in fields)
        out.append(f"\nPyObject *hpy_from_{name}(const {name} *value) {{\n    return hpy_tuple({len(fields)},\n"
                   f"                     {items});\n}}\n")
    for name in input_structs(abi):
        out.append(_struct_from_python(_struct(abi, name)))
    return "".join(out)


def _field_to_python(struct: dict, field: dict) -> str:
    t = common.strip_alias(field["type"])
    value = f"value->{field['name']}"
    if t["kind"] == "int":
        return f"PyLong_FromLongLong({value})" if t["signed"] else f"PyLong_FromUnsignedLongLong({value})"
    if t["kind"] == "float":
        return f"PyFloat_FromDouble({value})"
    if t["kind"] == "array":
        if t["of"]["kind"] == "char":
            return f"hpy_text_of({value}, sizeof {value})"
        return f"hpy_bytes_or_empty({value}, sizeof {value})"
    to = common.strip_alias(t["to"])
    length = _LENGTHS.get((struct["name"], field["name"]))
    if to["kind"] == "void":
        return f"PyLong_FromVoidPtr({value})"
    if to["kind"] == "char":
        return f"hpy_bytes_or_empty({value}, value->{length})" if length else f"hpy_text({value})"
    if length is None:
        raise ValueError(f"python: {struct['name']}.{field['name']}: how many elements? Add it to _LENGTHS")
    if to["bits"] == 8:
        return f"hpy_bytes_or_empty({value}, value->{length})"
    return f"hpy_tuple_{'i64' if to['signed'] else 'u64'}({value}, value->{length})"


def _struct_from_python(struct: dict) -> str:
    name = struct["name"]
    fields = visible_fields(struct)
    short = common.strip_prefix(name, "Hurray")
    arrays = _arrays(struct)
    memory = f", {_memory(name)} *memory" if arrays else ""
    out = [f"\nbool hpy_to_{name}(PyObject *object, {name} *out{memory}) {{\n    memset(out, 0, sizeof *out);\n"]
    if arrays:
        out.append("    memset(memory, 0, sizeof *memory);\n")
    if struct["sized"]:
        out.append("    out->struct_size = sizeof *out;\n")
    out.append("    if (object == Py_None) return true;\n"
               f"    if (!PyTuple_Check(object) || PyTuple_Size(object) != {len(fields)}) {{\n"
               f'        PyErr_SetString(PyExc_TypeError, "expected None or {short}");\n        return false;\n    }}\n')
    kinds = [common.strip_alias(f["type"]) for f in fields]
    if any(t["kind"] == "int" and not t["signed"] for t in kinds):
        out.append("    uint64_t number = 0;\n")
    if any(t["kind"] == "int" and t["signed"] for t in kinds):
        out.append("    int64_t signed_number = 0;\n")
    for index, field in enumerate(fields):
        out.append(_field_from_python(name, short, index, field))
    out.append("    return true;\n}\n")
    if arrays:
        out.append(f"\nvoid hpy_free_{name}({_memory(name)} *memory) {{\n")
        out += [f"    hpy_{'bytes' if _is_octets(f) else 'numbers'}_release(&memory->{f['name']});\n" for f in arrays]
        out.append("}\n")
    return "".join(out)


def _is_octets(field: dict) -> bool:
    to = common.strip_alias(common.strip_alias(field["type"])["to"])
    return to["kind"] == "char" or to.get("bits") == 8


def _field_from_python(name: str, short: str, index: int, field: dict) -> str:
    t = common.strip_alias(field["type"])
    item = f"PyTuple_GetItem(object, {index})"
    label, target = f'"{short}.{field["name"]}"', f"out->{field['name']}"
    if t["kind"] == "int" and not t["signed"]:
        return f"    if (!hpy_unsigned({item}, {_most(t)}, {label}, &number)) return false;\n    {target} = ({t['name']})number;\n"
    if t["kind"] == "int":
        return (f"    if (!hpy_signed({item}, INT{t['bits']}_MIN, INT{t['bits']}_MAX, {label}, &signed_number)) return false;\n"
                f"    {target} = ({t['name']})signed_number;\n")
    if t["kind"] == "float":
        return f"    {target} = ({t['name']})PyFloat_AsDouble({item});\n    if (PyErr_Occurred() != NULL) return false;\n"
    if t["kind"] != "pointer":
        raise ValueError(f"python: {name}.{field['name']}: no conversion")
    length = _LENGTHS.get((name, field["name"]))
    if length is None:
        raise ValueError(f"python: {name}.{field['name']}: how many elements? Add it to _LENGTHS")
    memory = f"memory->{field['name']}"
    to = common.strip_alias(t["to"])
    if _is_octets(field):
        convert = f"hpy_bytes({item}, {label}, &{memory})"
    elif to["bits"] == 64:
        convert = f"hpy_{'i64' if to['signed'] else 'u64'}_numbers({item}, {label}, &{memory})"
    else:
        raise ValueError(f"python: {name}.{field['name']}: no conversion")
    # The array itself tells its length, but for rank, which several share.
    told = (f"        if (!hpy_same_length(out->rank, {memory}.length, \"{short}.rank and {field['name']}\")) return false;\n"
            if length == "rank" else f"        out->{length} = {memory}.length;\n")
    return (f"    if ({item} != Py_None) {{\n        if (!{convert}) return false;\n{told}"
            f"        {target} = {memory}.data;\n    }}\n")


def _most(t: dict) -> str:
    return f"UINT{t['bits']}_MAX"


# --- Wrappers ---------------------------------------------------------------------------------------------------


def _takes_work(function: dict) -> bool:
    return any(common.target(p["type"]).get("name") == _WORK for p in function["params"] if p.get("annotation"))


def _kind(handle: str) -> str:
    return "HURRAY_HANDLE_" + common.screaming(common.strip_prefix(handle, "Hurray"))


def _wrappers_header() -> str:
    return (common.banner() + "#ifndef HPY_GEN_WRAPPERS_H_\n#define HPY_GEN_WRAPPERS_H_\n\n"
            '#include "bindings/python/native/hpy.h"\n\nextern PyMethodDef hpy_generated_methods[];\n\n#endif\n')


class _Wrapper:
    """One function: each parameter adds to these pieces."""

    def __init__(self, abi: dict, function: dict):
        self.abi = abi
        self.f = function
        self.locals: list[str] = []
        self.before: list[str] = []     # lines that may `goto done`
        # Handles are taken last: converting the other arguments may run code that closes one.
        self.takes: list[str] = []
        self.arguments: list[str] = []  # of the call
        self.after: list[str] = []      # once it succeeded
        self.results: list[str] = []    # expressions of new references
        self.cleanup: list[str] = []
        self.python: list[str] = []     # names of the Python arguments
        self.hints: list[str] = []
        self.returns: list[str] = []    # type hints
        self.lengths: dict[str, str] = {}
        self.busy: list[str] = []
        self.creates = False
        self.blocking = function["name"] in BLOCKING or _takes_work(function)
        self.work: str | None = None
        self.has_error = False
        for p in function["params"]:
            self._parameter(p)

    def _argument(self, p: dict, hint: str) -> str:
        self.python.append(p["name"])
        self.hints.append(hint)
        return f"args[{len(self.python) - 1}]"

    def _check(self, condition: str) -> None:
        self.before.append(f"    if (!{condition}) goto done;\n")

    def _parameter(self, p: dict) -> None:
        name = p["name"]
        annotation = p.get("annotation")
        if annotation is None:
            if any(q.get("length") == name and q.get("annotation") == "in_array" for q in self.f["params"]):
                self.arguments.append(f"({p['type']['name']}){name}")
                return
            self._integer(p)
            return
        getattr(self, "_" + annotation)(p)

    def _integer(self, p: dict) -> None:
        name, t = p["name"], common.strip_alias(p["type"])
        argument = self._argument(p, "int")
        if t["signed"]:
            self.locals.append(f"    int64_t {name} = 0;\n")
            self._check(f'hpy_signed({argument}, INT{t["bits"]}_MIN, INT{t["bits"]}_MAX, "{name}", &{name})')
        else:
            self.locals.append(f"    uint64_t {name} = 0;\n")
            self._check(f'hpy_unsigned({argument}, {_most(t)}, "{name}", &{name})')
        self.arguments.append(f"({p['type']['name']}){name}")

    def _handle(self, p: dict, taker: str = "hpy_handle_take") -> str:
        name, handle = p["name"], common.target(p["type"])["name"]
        optional = p.get("annotation") == "in_opt"
        argument = self._argument(p, common.strip_prefix(handle, "Hurray") + (" | None" if optional else ""))
        self.locals.append(f"    HpyHandle *{name} = NULL;\n")
        take = f'{name} = {taker}({argument}, {_kind(handle)}, "{name}");\n    '
        if optional:
            self.takes.append(f"    if ({argument} != Py_None) {{\n        {take}    if ({name} == NULL) goto done;\n    }}\n")
        else:
            self.takes.append(f"    {take}if ({name} == NULL) goto done;\n")
        return name

    def _in(self, p: dict) -> None:
        target = common.target(p["type"])
        name = p["name"]
        if target["kind"] == "handle":
            self._handle(p)
            if self.blocking and target["name"] == "HurrayTensor":
                # Others may use the tensor meanwhile: the call works on a share of its own.
                self.locals.append(f"    HurrayTensor *{name}_share = NULL;\n")
                self.takes.append(f"    status = calls->hurray_tensor_share({name}->pointer, &{name}_share, &error);\n"
                                   "    if (status != HURRAY_OK) {\n"
                                   '        hpy_raise(status, &error, "hurray_tensor_share");\n        goto done;\n    }\n')
                self.cleanup.append(f"    (void)calls->hurray_tensor_destroy(&{name}_share);\n")
                self.arguments.append(f"{name}_share")
                return
            if self.blocking:
                self.busy.append(f"if ({name} != NULL) {name}" if p["annotation"] == "in_opt" else name)
            if p["annotation"] == "in_opt":
                self.arguments.append(f"{name} == NULL ? NULL : {name}->pointer")
                return
            self.arguments.append(f"{name}->pointer")
        elif target["kind"] == "struct":
            self._struct_in(p, target["name"])
        else:
            raise ValueError(f"python: {self.f['name']}: no conversion for {p['c']}")

    _in_opt = _in

    def _struct_in(self, p: dict, struct: str) -> None:
        name = p["name"]
        self.locals.append(f"    {struct} {name};\n")
        if struct == _WORK:
            argument = self._argument(p, "tuple[int, Callable[[int, int], bool] | None] | None")
            self.work = f"{name}_work"
            self.locals.append(f"    HpyWork {self.work} = {{0}};\n")
            self._check(f"hpy_work_options({argument}, &{name}, &{self.work})")
            self.cleanup.append(f"    hpy_work_end(&{self.work});\n")
            self.arguments.append(f"&{name}")
            return
        if _is_bytes(_struct(self.abi, struct)):
            argument = self._argument(p, "bytes")
            field = _struct(self.abi, struct)["fields"][0]["name"]
            self.locals.append(f"    HpyBytes {name}_bytes = {{0}};\n")
            self._check(f'hpy_bytes({argument}, "{name}", &{name}_bytes)')
            self._check(f'hpy_same_length({name}_bytes.length, sizeof {name}.{field}, "{name} and its {_struct(self.abi, struct)["size"]} bytes")')
            self.before.append(f"    memcpy({name}.{field}, {name}_bytes.data, sizeof {name}.{field});\n")
            self.cleanup.append(f"    hpy_bytes_release(&{name}_bytes);\n")
            self.arguments.append(f"&{name}")
            return
        argument = self._argument(p, f"{common.strip_prefix(struct, 'Hurray')} | None")
        if _arrays(_struct(self.abi, struct)):
            self.locals.append(f"    {_memory(struct)} {name}_memory = {{0}};\n")
            self._check(f"hpy_to_{struct}({argument}, &{name}, &{name}_memory)")
            self.cleanup.append(f"    hpy_free_{struct}(&{name}_memory);\n")
        else:
            self._check(f"hpy_to_{struct}({argument}, &{name})")
        self.arguments.append(f"{argument} == Py_None ? NULL : &{name}" if p["annotation"] == "in_opt" else f"&{name}")

    def _inout(self, p: dict) -> None:
        name = self._handle(p)
        if self.blocking:
            self.busy.append(name)
        self.arguments.append(f"{name}->pointer")

    def _in_string(self, p: dict) -> None:
        name = p["name"]
        argument = self._argument(p, "str | bytes | os.PathLike[str]")
        self.locals.append(f"    PyObject *{name} = NULL;\n")
        self._check(f"hpy_path({argument}, &{name})")
        self.cleanup.append(f"    Py_XDECREF({name});\n")
        self.arguments.append(f"PyBytes_AsString({name})")

    def _in_array(self, p: dict) -> None:
        name, element = p["name"], common.strip_alias(common.target(p["type"]))
        length = next(q for q in self.f["params"] if q["name"] == p["length"])
        octets = element["kind"] in ("char", "void") or element.get("bits") == 8
        if octets:
            argument = self._argument(p, "ReadableBuffer | str")
            self.locals.append(f"    HpyBytes {name} = {{0}};\n")
            self._check(f'hpy_bytes({argument}, "{name}", &{name})')
            self.cleanup.append(f"    hpy_bytes_release(&{name});\n")
        elif element.get("bits") == 64:
            argument = self._argument(p, "Iterable[int]")
            self.locals.append(f"    HpyNumbers {name} = {{NULL, 0}};\n")
            self._check(f'hpy_{"i64" if element["signed"] else "u64"}_numbers({argument}, "{name}", &{name})')
            self.cleanup.append(f"    hpy_numbers_release(&{name});\n")
        else:
            raise ValueError(f"python: {self.f['name']}: no conversion for {p['c']}")
        if common.strip_alias(length["type"])["bits"] == 32:
            self._check(f'hpy_length32({name}.length, "{name}")')
        if length["name"] in self.lengths:
            first = self.lengths[length["name"]]
            self._check(f'hpy_same_length({first}.length, {name}.length, "{first} and {name}")')
        else:
            self.lengths[length["name"]] = name
            self.locals.append(f"    uint64_t {length['name']} = 0;\n")
            self.before.append(f"    {length['name']} = {name}.length;\n")
        self.arguments.append(f"{name}.data")

    def _out(self, p: dict) -> None:
        name, target = p["name"], common.target(p["type"])
        scalar = common.strip_alias(target)
        if scalar["kind"] == "int":
            self.locals.append(f"    {scalar['name']} {name} = 0;\n")
            self.results.append(f"PyLong_From{'' if scalar['signed'] else 'Unsigned'}LongLong({name})")
            self.returns.append("int")
        elif scalar["kind"] == "float":
            self.locals.append(f"    {scalar['name']} {name} = 0;\n")
            self.results.append(f"PyFloat_FromDouble({name})")
            self.returns.append("float")
        elif scalar["kind"] == "struct":
            struct = _struct(self.abi, scalar["name"])
            self.locals.append(f"    {scalar['name']} {name};\n")
            self.before.append(f"    memset(&{name}, 0, sizeof {name});\n")
            if struct["sized"]:
                self.before.append(f"    {name}.struct_size = sizeof {name};\n")
            if _is_bytes(struct):
                field = f"{name}.{struct['fields'][0]['name']}"
                self.results.append(f"hpy_bytes_or_empty({field}, sizeof {field})")
                self.returns.append("bytes")
            else:
                self.results.append(f"hpy_from_{scalar['name']}(&{name})")
                fields = [python_type(struct, f) for f in visible_fields(struct)]
                self.returns.append(f"tuple[{', '.join(fields)}]")
        else:
            raise ValueError(f"python: {self.f['name']}: no conversion for {p['c']}")
        self.arguments.append(f"&{name}")

    def _out_owned(self, p: dict) -> None:
        name, handle = p["name"], common.target(p["type"])["name"]
        self.creates = True
        self.locals.append(f"    {handle} *{name} = NULL;\n")
        self.arguments.append(f"&{name}")
        self.results.append(f"hpy_handle_new({_kind(handle)}, {name})")
        short = common.strip_prefix(handle, "Hurray")
        # At the end of a stream there is none, and of two handles one is.
        several = sum(q.get("annotation") == "out_owned" for q in self.f["params"]) > 1 and not self.f["name"].endswith("_export")
        self.returns.append(f"{short} | None" if several or self.f["name"].endswith(("_next", "_begin", "_receive")) else short)

    def _out_borrowed(self, p: dict) -> None:
        name, target = p["name"], common.target(p["type"])
        self.arguments.append(f"&{name}")
        if target["kind"] == "handle":
            self.locals.append(f"    {'const ' if p['type']['to']['const'] else ''}{target['name']} *{name} = NULL;\n")
            self.results.append(f"hpy_handle_borrow({_kind(target['name'])}, (void *){name}, (PyObject *){p['owner']})")
            self.returns.append(common.strip_prefix(target["name"], "Hurray"))
            return
        # Bytes and, behind them, how many: copied, as nothing keeps a bytes object from outliving the owner.
        following = self.f["params"][self.f["params"].index(p) + 1]
        if following.get("annotation") != "out" or common.strip_alias(target).get("bits") != 8:
            raise ValueError(f"python: {self.f['name']}: no conversion for {p['c']}")
        self.locals.append(f"    const uint8_t *{name} = NULL;\n")
        self.results.append(f"hpy_bytes_or_empty({name}, {following['name']})")
        self.returns.append("bytes")

    def _consumed(self, p: dict) -> None:
        name = self._handle(p, "hpy_handle_take_owned")
        self.arguments.append(f"{name}->pointer")
        self.after.append(f"    {name}->pointer = NULL;\n")

    def _consumed_var(self, p: dict) -> None:
        name = self._handle(p, "hpy_handle_take_owned")
        target = common.target(p["type"])["name"]
        self.locals.append(f"    {target} *{name}_variable = NULL;\n")
        self.takes.append(f"    {name}_variable = {name}->pointer;\n")
        self.arguments.append(f"&{name}_variable")
        self.after.append(f"    {name}->pointer = {name}_variable;\n")

    def _error(self, p: dict) -> None:
        del p
        self.has_error = True
        self.arguments.append("&error")

    @property
    def name(self) -> str:
        return common.strip_prefix(self.f["name"], "hurray_")

    @property
    def shown(self) -> list[str]:
        """Results that the caller sees: not the length of bytes."""
        hidden = {q["name"] for p in self.f["params"] if p.get("annotation") == "out_borrowed"
                  and common.target(p["type"])["kind"] != "handle"
                  for q in [self.f["params"][self.f["params"].index(p) + 1]]}
        outs = [p for p in self.f["params"] if p.get("annotation") in ("out", "out_owned", "out_borrowed")]
        return [r for p, r in zip(outs, self.results, strict=True) if p["name"] not in hidden]

    def text(self) -> str:
        """The C function."""
        name = self.f["name"]
        signature = f"{self.name}({', '.join(self.python)})"
        out = [f"\nstatic PyObject *py_{self.name}(PyObject *module, PyObject *const *args, Py_ssize_t count) {{\n"
               "    (void)module;\n    (void)args;\n    const HpyCalls *calls = hpy_calls();\n"
               f'    if (calls == NULL || !hpy_expect(count, {len(self.python)}, "{signature}")) return NULL;\n']
        if not self.f["fallible"]:
            return "".join(out) + self._infallible()
        out.append("    PyObject *result = NULL;\n    HurrayStatus status = HURRAY_OK;\n")
        if self.has_error:
            out.append("    HurrayError error;\n")
        out += self.locals
        if self.creates:
            out.append("    hpy_drain(calls);\n")
        out += self.before + self.takes
        call = f"status = calls->{name}({', '.join(self.arguments)});\n"
        if self.blocking:
            out += [f"    {h}->busy = true;\n" for h in self.busy]
            out.append(f"    Py_BEGIN_ALLOW_THREADS\n    {call}    Py_END_ALLOW_THREADS\n")
            out += [f"    {h}->busy = false;\n" for h in self.busy]
        else:
            out.append(f"    {call}")
        error = "&error" if self.has_error else "NULL"
        unless = f"if (!hpy_work_raise(&{self.work})) " if self.work else ""
        out.append(f'    if (status != HURRAY_OK) {{\n        {unless}hpy_raise(status, {error}, "{name}");\n        goto done;\n    }}\n')
        out += self.after
        shown = self.shown
        if not shown:
            out.append("    Py_INCREF(Py_None);\n    result = Py_None;\n")
        elif len(shown) == 1:
            out.append(f"    result = {shown[0]};\n")
        else:
            out.append(f"    result = hpy_tuple({len(shown)}, {', '.join(shown)});\n")
        out.append("done:\n")
        out += self.cleanup
        out.append("    return result;\n}\n")
        return "".join(out)

    def _infallible(self) -> str:
        """These take plain integers only."""
        body = "".join(self.locals) + "".join(self.before).replace("goto done", "return NULL")
        call = f"calls->{self.f['name']}({', '.join(self.arguments)})"
        returned = common.strip_alias(self.f["return"])
        if returned["kind"] == "pointer":
            return f"{body}    return hpy_text({call});\n}}\n"
        sign = "" if returned["signed"] else "Unsigned"
        return f"{body}    return PyLong_From{sign}LongLong({call});\n}}\n"

    def stub(self) -> str:
        """The signature for type checkers. All arguments are positional."""
        if not self.f["fallible"]:
            returned = "str" if common.strip_alias(self.f["return"])["kind"] == "pointer" else "int"
        else:
            shown = [h for r, h in zip(self.results, self.returns, strict=True) if r in self.shown]
            returned = "None" if not shown else shown[0] if len(shown) == 1 else f"tuple[{', '.join(shown)}]"
        parameters = ", ".join(f"{n}: {h}" for n, h in zip(self.python, self.hints, strict=True))
        return f"def {self.name}({parameters}{', /' if parameters else ''}) -> {returned}: ...\n"


def _wrappers(abi: dict) -> str:
    wrappers = [_Wrapper(abi, f) for f in mechanical(abi)]
    out = [common.banner(), '#include "bindings/python/gen/wrappers.h"\n\n#include <string.h>\n\n'
           '#include "bindings/python/gen/structs.h"\n#include "bindings/python/native/convert.h"\n'
           '#include "bindings/python/native/errors.h"\n#include "bindings/python/native/handle.h"\n'
           '#include "bindings/python/native/library.h"\n#include "bindings/python/native/work.h"\n']
    out += [w.text() for w in wrappers]
    out.append(_destroy(abi))
    out.append("\nPyMethodDef hpy_generated_methods[] = {\n")
    for w in wrappers:
        summary = w.f["summary"].replace("\\", "\\\\").replace('"', '\\"')
        out.append(f'    {{"{w.name}", (PyCFunction)(void (*)(void))py_{w.name}, METH_FASTCALL,\n     "{summary}"}},\n')
    out.append("    {NULL, NULL, 0, NULL},\n};\n")
    return "".join(out)


def _destroy(abi: dict) -> str:
    out = ["\nHurrayStatus hpy_destroy(const HpyCalls *calls, uint32_t kind, void *pointer, bool deferred) {\n"
           "    switch (kind) {\n"]
    functions = {f["name"]: f for f in abi["functions"]}
    for handle in abi["handles"]:
        if handle["destroy"] is None:
            continue
        name = handle["name"]
        at_once = _destroy_call(handle["destroy"], functions)
        out.append(f"        case {_kind(name)}: {{\n            {name} *handle = pointer;\n")
        if handle["destroy_deferred"]:
            out.append(f"            if (deferred) return {_destroy_call(handle['destroy_deferred'], functions)};\n")
        out.append(f"            return {at_once};\n        }}\n")
    out.append("        default: return HURRAY_ERR_INVALID_ARGUMENT;\n    }\n}\n")
    return "".join(out)


def _destroy_call(destroy: dict, functions: dict) -> str:
    error = any(p.get("annotation") == "error" for p in functions[destroy["function"]]["params"])
    return f"calls->{destroy['function']}({'&' if destroy['style'] == 'variable' else ''}handle{', NULL' if error else ''})"


def _stub(abi: dict) -> str:
    wrappers = [_Wrapper(abi, f) for f in mechanical(abi)]
    handles = sorted(common.strip_prefix(h["name"], "Hurray") for h in abi["handles"])
    structs = sorted(common.strip_prefix(n, "Hurray") for n in input_structs(abi))
    out = [common.banner("#"), '"""Type hints of the generated functions of hurray._native."""\n\nimport os\n'
           "from collections.abc import Callable, Iterable\nfrom typing import Any, TypeAlias\n\n"
           f"from . import {', '.join(handles)}\nfrom ._structs import {', '.join(structs)}\n\n"
           "ReadableBuffer: TypeAlias = Any\n\n"]
    out += [w.stub() for w in wrappers]
    return "".join(out)
