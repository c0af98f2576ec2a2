"""Declarations to the dictionary that becomes abi.json, and every rule that a single declaration can break."""

from __future__ import annotations

from . import docs, source, types
from .annotations import MEANINGS
from .convert import Converter
from .problems import Problems
from .profile import Profile
from .source import Declaration, Sources

_OWNER_NEEDED = {"out_owned", "out_borrowed", "kept", "consumed", "consumed_var"}


class Builder:
    def __init__(self, cindex, profile: Profile, problems: Problems, sources: Sources):
        self.ci = cindex
        self.profile = profile
        self.problems = problems
        self.sources = sources
        self.converter = Converter(cindex, profile, problems)
        self.header_of = {}
        self.padded: list[str] = []  # verbatim structs with a hole
        for header in profile.headers:
            for section in header.sections:
                for file in section.sources:
                    self.header_of[f"{profile.sources}/{file}"] = header.path

    def build(self) -> dict:
        declarations = self._types_first()
        abi = {
            "library": self.profile.name,
            "abi_version": None,
            "generation": self.profile.generation,
            "version_function": self.profile.version_function,
            "status_type": self.profile.status_type,
            "error_type": self.profile.error_type,
            "headers": [h.path for h in self.profile.headers],
            "umbrella": (self.profile.umbrella or {"path": self.profile.headers[0].path})["path"],
            "import_macro": self.profile.import_macro,
            "version_nodes": self.profile.version_nodes,
            "gen": self.profile.gen,
            "groups": [], "constants": [], "typedefs": [], "callbacks": [], "handles": [], "structs": [], "functions": [],
        }
        for file, group in self.sources.groups:
            if any(g["name"] == group.name for g in abi["groups"]):
                self.problems.add((file, group.line), "doc", f"the group {group.name} is opened twice")
                continue
            abi["groups"].append({"name": group.name, "title": group.title.rstrip("."), "doc": group.doc, "type": None,
                                  "header": self.header_of[file], "source": file, "constants": []})
        for d in declarations:
            getattr(self, f"_{d.kind}")(abi, d)
        abi["groups"] = [g for g in abi["groups"] if g["constants"]]
        self._relations(abi)
        version = next((c["value"] for c in abi["constants"] if c["name"] == self.profile.version_constant), None)
        if version is None:
            self.problems.add((self.profile.file, 1), "profile", f"no constant {self.profile.version_constant}")
        abi["abi_version"] = version
        return abi

    # --- Names and documentation -----------------------------------------------------------------------------

    def _types_first(self) -> list[Declaration]:
        """Makes every public name known before types are converted; drops forward declarations of full structs."""
        full = {d.name for d in self.sources.declarations if d.kind == "struct"}
        result = []
        seen: dict[str, Declaration] = {}
        for d in self.sources.declarations:
            if d.kind == "handle" and d.name in full:
                continue
            if d.name in seen:
                first = seen[d.name].where
                self.problems.add(d.where, "twice", f"{d.name} is declared twice, first at {first[0]}:{first[1]}")
                continue
            seen[d.name] = d
            result.append(d)
            if d.kind in ("handle", "struct"):
                self.converter.known[d.name] = {"kind": d.kind, "name": d.name}
            elif d.kind == "typedef" and self._function_type(d) is not None:
                self.converter.known[d.name] = {"kind": "callback", "name": d.name}
        for d in result:
            if d.kind == "typedef" and d.name not in self.converter.known:
                to = self.converter.convert(d.cursor.underlying_typedef_type, d.where, d.name)
                if to is not None:
                    if to["kind"] not in ("int", "float", "alias"):
                        self.problems.add(d.where, "public-type", f"{d.name}: a typedef names a fixed-width number or a callback")
                        continue
                    self.converter.known[d.name] = {"kind": "alias", "name": d.name, "to": types.strip_alias(to)}
        return result

    def _function_type(self, d: Declaration):
        """The function type behind a callback's typedef, as it was written: int32_t stays int32_t."""
        target = d.cursor.underlying_typedef_type
        if target.kind != self.ci.TypeKind.POINTER:
            return None
        pointee = target.get_pointee()
        return pointee if pointee.get_canonical().kind == self.ci.TypeKind.FUNCTIONPROTO else None

    def _name(self, d: Declaration, prefixes: list[str]) -> None:
        if not d.name.startswith(tuple(prefixes)):
            self.problems.add(d.where, "name", f"{d.name}: expected a name that starts with {' or '.join(prefixes)}")

    def _doc(self, d: Declaration, what: str = "") -> None:
        if not d.doc.summary:
            self.problems.add(d.where, "doc", f"{what or d.name}: no documentation comment (///) above it")
        for word in d.doc.unknown:
            self.problems.add(d.where, "doc", f"{what or d.name}: unknown tag @{word}")

    def _since(self, d: Declaration, required: bool) -> int:
        text = d.doc.tags.get("since")
        if text is None:
            if required:
                self.problems.add(d.where, "since", f"{d.name}: @since is missing")
            return self.profile.default_since
        if not text.isdigit() or int(text) < 1:
            self.problems.add(d.where, "since", f"{d.name}: @since: expected a version of the C ABI, got {text!r}")
            return self.profile.default_since
        return int(text)

    def _common(self, d: Declaration, required_since: bool = False) -> dict:
        entry = {"name": d.name, "header": self.header_of[d.source], "source": d.source, "doc": d.doc.text,
                 "summary": d.doc.summary, "_line": d.where[1], "since": self._since(d, required_since)}
        for tag in ("owner", "thread", "errors", "spec", "note", "return"):
            if tag in d.doc.tags:
                entry["return_doc" if tag == "return" else tag] = d.doc.tags[tag]
        return entry

    # --- Kinds of declarations -------------------------------------------------------------------------------

    def _handle(self, abi: dict, d: Declaration) -> None:
        self._name(d, self.profile.type_prefixes)
        self._doc(d)
        abi["handles"].append({**self._common(d), "destroy": None, "destroy_deferred": None, "created_by": [],
                               "borrowed_from": []})

    def _typedef(self, abi: dict, d: Declaration) -> None:
        self._name(d, self.profile.type_prefixes)
        self._doc(d)
        function = self._function_type(d)
        if function is None:
            known = self.converter.known.get(d.name)
            if known:
                abi["typedefs"].append({**self._common(d), "type": known["to"]})
            return
        returned = self.converter.convert(function.get_result(), d.where, f"{d.name}: return")
        parameters = []
        cursors = [c for c in d.cursor.get_children() if c.kind == self.ci.CursorKind.PARM_DECL]
        for cursor in cursors:
            if not cursor.spelling:
                self.problems.add(d.where, "callback", f"{d.name}: a parameter has no name")
            converted = self.converter.convert(cursor.type, d.where, f"{d.name}: parameter {cursor.spelling}")
            if converted is None:
                continue
            self._mode(cursor.spelling, converted, d.where, f"{d.name}: parameter {cursor.spelling}")
            parameters.append({"name": cursor.spelling, "type": converted, "c": types.spell(converted, cursor.spelling)})
        if returned is None:
            return
        abi["callbacks"].append({**self._common(d), "return": returned, "c_return": types.spell(returned),
                                 "params": parameters})

    def _constant(self, abi: dict, d: Declaration) -> None:
        self._name(d, self.profile.constant_prefixes)
        self._doc(d)
        T = self.ci.TypeKind
        canonical = d.cursor.type.get_canonical()
        if canonical.kind == T.CONSTANTARRAY and canonical.element_type.kind in (T.CHAR_S, T.CHAR_U):
            converted = {"kind": "pointer", "const": True, "to": {"kind": "char"}}
        else:
            converted = self.converter.convert(d.cursor.type, d.where, d.name)
        if converted is None:
            return
        if d.value is None:
            self.problems.add(d.where, "constant", f"{d.name}: its value cannot be determined; expected a constexpr")
            return
        group = next((g for g in abi["groups"] if d.group and g["name"] == d.group.name), None)
        if group is None and converted["kind"] == "alias":
            group = next((g for g in abi["groups"] if g["name"] == converted["name"]), None)
            if group is None:
                group = {"name": converted["name"], "title": converted["name"], "doc": "", "type": converted,
                         "header": self.header_of[d.source], "source": d.source, "constants": []}
                abi["groups"].append(group)
        if group is None:
            self.problems.add(d.where, "group", f"{d.name}: stands in no group; open one with `/// @group HurrayName Title`")
            return
        if group["type"] is None:
            group["type"] = converted
        elif group["type"] != converted:
            group["type"] = {"kind": "mixed"}
        group["constants"].append(d.name)
        abi["constants"].append({**self._common(d), "group": group["name"], "type": converted, "value": d.value,
                                 "text": self._constant_text(d, converted)})

    def _constant_text(self, d: Declaration, converted: dict) -> str:
        """The value as the #define spells it: hexadecimal where the source is, with the suffix that its width needs."""
        scalar = types.strip_alias(converted)
        if scalar["kind"] == "pointer":
            return f'"{d.value}"'
        if scalar["kind"] == "float":
            return repr(float(d.value))
        hexadecimal = any(t.spelling.lower().startswith("0x") for t in d.cursor.get_tokens())
        digits = f"0x{d.value:0{scalar['bits'] // 4}X}" if hexadecimal and d.value >= 0 else str(d.value)
        if scalar["bits"] == 64:
            if d.value == -(1 << 63):
                return "INT64_MIN"
            return f"{'INT64_C' if scalar['signed'] else 'UINT64_C'}({digits})"
        if scalar["bits"] == 32 and not scalar["signed"] and d.value > 0x7FFFFFFF:
            return digits + "u"
        return digits

    def _struct(self, abi: dict, d: Declaration) -> None:
        self._name(d, self.profile.type_prefixes)
        self._doc(d)
        K = self.ci.CursorKind
        fields = []
        holes: list[tuple[tuple[str, int], str]] = []
        allowed = {K.FIELD_DECL, K.ANNOTATE_ATTR, K.TYPE_REF, K.STATIC_ASSERT}
        for cursor in d.cursor.get_children():
            if cursor.kind not in allowed:
                self.problems.add((d.where[0], cursor.location.line), "public-type",
                                  f"{d.name}: {cursor.spelling or cursor.kind.name}: a public struct has plain fields only")
        end = 0
        for cursor in d.cursor.type.get_fields():
            where = (d.where[0], cursor.location.line)
            what = f"{d.name}.{cursor.spelling}"
            field = Declaration("field", cursor.spelling, where, cursor, docs.parse(cursor.raw_comment), d.source)
            self._doc(field, what)
            if cursor.is_bitfield():
                self.problems.add(where, "public-type", f"{what}: bit fields have no fixed form")
                continue
            converted = self.converter.convert(cursor.type, where, what, in_struct=True)
            if converted is None:
                continue
            self._mode(cursor.spelling, converted, where, what)
            offset = d.cursor.type.get_offset(cursor.spelling) // 8
            if offset != end:
                holes.append((where, f"{what}: {offset - end} bytes of padding before it"))
            size = cursor.type.get_size()
            end = offset + size
            fields.append({"name": cursor.spelling, "type": converted, "c": types.spell(converted, cursor.spelling),
                           "offset": offset, "size": size, "doc": field.doc.text})
        size = d.cursor.type.get_size()
        if fields and end != size:
            holes.append((d.where, f"{d.name}: {size - end} bytes of padding at its end"))
        if d.name in self.profile.verbatim_structs:
            self.padded += [d.name] if holes else []
        else:
            for where, hole in holes:
                self.problems.add(where, "padding", f"{hole}; name them in a reserved field, or the struct in the profile's "
                                                    "verbatim_structs when the contract fixes its fields")
        if not fields:
            self.problems.add(d.where, "public-type", f"{d.name}: a public struct needs a field")
        abi["structs"].append({**self._common(d), "size": size, "align": d.cursor.type.get_align(),
                               "sized": bool(fields) and fields[0]["name"] == "struct_size", "fields": fields})

    def _mode(self, name: str, converted: dict, where, what: str) -> None:
        """Refuses a second copy of the sync mode: in a struct, as a parameter, behind a pointer, or in a callback."""
        scalar = types.strip_alias(types.target(converted))
        octet = scalar["kind"] == "int" and scalar["bits"] == 8
        if "sync_mode" in name or (octet and (name == "mode" or name.endswith("_mode"))):
            self.problems.add(where, "mode", f"{what}: the mode stands in the 16-byte buffer handle and is never duplicated "
                                             "in the ABI")

    # --- Functions -------------------------------------------------------------------------------------------

    def _function(self, abi: dict, d: Declaration) -> None:
        self._name(d, self.profile.function_prefixes)
        self._doc(d)
        cursor = d.cursor
        noexcept = self.ci.ExceptionSpecificationKind.BASIC_NOEXCEPT
        if cursor.exception_specification_kind != noexcept:
            self.problems.add(d.where, "noexcept", f"{d.name}: not noexcept")
        returned = self.converter.convert(cursor.result_type, d.where, f"{d.name}: return", behind_pointer=False)
        infallible = "infallible" in d.annotations
        is_status = returned is not None and returned.get("name") == self.profile.status_type
        if is_status and infallible:
            self.problems.add(d.where, "fallible", f"{d.name}: returns {self.profile.status_type} and is marked HG_INFALLIBLE")
        if returned is not None and not is_status and not infallible:
            self.problems.add(d.where, "fallible", f"{d.name}: a function that can fail returns {self.profile.status_type}; one "
                                                   "that cannot is marked HG_INFALLIBLE")
        parameters = [p for p in (self._parameter(d, c) for c in cursor.get_arguments()) if p is not None]
        entry = {**self._common(d, "since" in self.profile.required_tags), "return": returned,
                 "c_return": types.spell(returned) if returned else "", "fallible": not infallible, "params": parameters}
        self._tags(d, entry)
        self._error(d, entry)
        self._references(d, entry)
        if infallible and any(p.get("nullable") in ("no", "when_zero") for p in parameters):
            self.problems.add(d.where, "fallible", f"{d.name}: has a required pointer, so it can fail with a status")
        if returned is not None:
            abi["functions"].append(entry)

    def _parameter(self, d: Declaration, cursor) -> dict | None:
        name = cursor.spelling
        what = f"{d.name}: parameter {name}"
        if not name:
            self.problems.add(d.where, "name", f"{d.name}: a parameter has no name")
            return None
        where = (d.where[0], cursor.location.line)
        converted = self.converter.convert(cursor.type, where, what)
        if converted is None:
            return None
        self._mode(name, converted, where, what)
        marks = source.annotations(self.ci, cursor)
        entry = {"name": name, "type": converted, "c": types.spell(converted, name)}
        if name in d.doc.params:
            entry["doc"] = d.doc.params[name]
        if not types.is_pointer_like(converted):
            if marks:
                self.problems.add(where, "annotation", f"{what}: only pointers carry an annotation")
            return entry
        if len(marks) != 1:
            count = "no annotation" if not marks else f"{len(marks)} annotations"
            self.problems.add(where, "annotation", f"{what}: {count}; a pointer carries exactly one (HG_IN, HG_OUT, ...)")
            return entry
        word, _, argument = marks[0].partition(":")
        meaning = MEANINGS.get(word)
        if meaning is None:
            self.problems.add(where, "annotation", f"{what}: unknown annotation {word!r}")
            return entry
        entry.update(annotation=word, direction=meaning.direction, nullable=meaning.nullable, ownership=meaning.ownership)
        if meaning.argument and meaning.argument != "kept_length":
            entry[meaning.argument] = argument
        self._shape(where, what, entry, meaning)
        return entry

    def _shape(self, where, what: str, entry: dict, meaning) -> None:
        t = entry["type"]
        annotation = entry["annotation"]

        def refuse(expected: str) -> None:
            self.problems.add(where, "annotation", f"{what}: `{annotation}` expects {expected}, got `{types.spell(t)}`")

        if meaning.shape == "callback":
            if t["kind"] != "callback":
                refuse("a callback type")
            return
        if t["kind"] == "callback":
            self.problems.add(where, "annotation", f"{what}: a callback carries HG_CALLBACK or HG_CALLBACK_OPT")
            return
        to = t["to"]
        if meaning.shape == "void" and to["kind"] != "void":
            refuse("void *")
        elif meaning.shape == "var" and to["kind"] != "pointer":
            refuse("a pointer to a pointer")
        elif meaning.shape == "string" and to["kind"] != "char":
            refuse("const char *")
        elif meaning.shape == "error" and to.get("name") != self.profile.error_type:
            refuse(f"{self.profile.error_type} *")
        elif annotation in ("consumed", "destroyed", "destroyed_opt") and to["kind"] not in ("handle", "struct"):
            refuse("a handle or a struct that the library made")
        elif annotation in ("consumed_var", "destroyed_var") and to["to"]["kind"] != "handle":
            refuse("the address of a handle variable")
        elif meaning.points_to_const is True and not t["const"]:
            refuse("a pointer to const")
        elif meaning.points_to_const is False and t["const"]:
            refuse("a pointer to what is not const")
        elif annotation in ("in", "in_opt", "out", "out_opt") and to["kind"] == "void":
            refuse("a pointer to a public type (void * only with a length, as an opaque word, or kept)")

    def _tags(self, d: Declaration, entry: dict) -> None:
        required = self.profile.required_tags
        if "thread" in required and "thread" not in d.doc.tags:
            self.problems.add(d.where, "thread", f"{d.name}: @thread is missing")
        moves = any(p.get("annotation") in _OWNER_NEEDED for p in entry["params"])
        returns_pointer = entry["return"] is not None and types.is_pointer_like(entry["return"])
        if "owner" in required and (moves or returns_pointer) and "owner" not in d.doc.tags:
            self.problems.add(d.where, "owner", f"{d.name}: hands over or lends memory, but @owner is missing")
        for name in d.doc.params:
            if not any(c.spelling == name for c in d.cursor.get_arguments()):
                self.problems.add(d.where, "doc", f"{d.name}: @param {name}: there is no such parameter")

    def _error(self, d: Declaration, entry: dict) -> None:
        errors = [p for p in entry["params"] if p.get("annotation") == "error"]
        last = entry["params"][-1] if entry["params"] else None
        destroyer = d.name.endswith("_destroy") and len(entry["params"]) == 1 \
            and entry["params"][0].get("ownership") == "destroyed"
        verbatim = d.name in self.profile.without_error
        if not self.profile.error_type:
            return
        if verbatim and errors:
            self.problems.add(d.where, "error", f"{d.name}: the profile says its signature has no {self.profile.error_type}")
        elif not entry["fallible"] and errors:
            self.problems.add(d.where, "error", f"{d.name}: cannot fail, but takes a {self.profile.error_type}")
        elif entry["fallible"] and not verbatim and not destroyer and (not last or last.get("annotation") != "error"):
            self.problems.add(d.where, "error", f"{d.name}: its last parameter must be HG_ERROR {self.profile.error_type} *")
        elif errors and (len(errors) > 1 or last.get("annotation") != "error"):
            self.problems.add(d.where, "error", f"{d.name}: HG_ERROR must be the last parameter")

    def _references(self, d: Declaration, entry: dict) -> None:
        by_name = {p["name"]: p for p in entry["params"]}
        for index, p in enumerate(entry["params"]):
            annotation = p.get("annotation")
            if annotation == "kept":
                following = next((q["name"] for q in entry["params"][index + 1:index + 2] if types.is_integer(q["type"])), None)
                if following:
                    p["length"] = following
                else:
                    p["nullable"] = "no"
            length = p.get("length")
            if length is not None and annotation != "kept":
                target = by_name.get(length)
                if target is None:
                    self.problems.add(d.where, "annotation", f"{d.name}: parameter {p['name']}: names `{length}`, which is no "
                                                             "parameter")
                elif not types.is_integer(target["type"]):
                    self.problems.add(d.where, "annotation", f"{d.name}: parameter {p['name']}: its length `{length}` is no "
                                                             "integer")
            owner = p.get("owner")
            if owner is not None and owner not in by_name:
                self.problems.add(d.where, "annotation", f"{d.name}: parameter {p['name']}: names `{owner}`, which is no "
                                                         "parameter")

    # --- What only the whole can tell -------------------------------------------------------------------------

    def _relations(self, abi: dict) -> None:
        functions = {f["name"]: f for f in abi["functions"]}
        handles = {h["name"]: h for h in abi["handles"]}
        lines = {d.name: d.where for d in self.sources.declarations}
        for f in abi["functions"]:
            for p in f["params"]:
                where = lines[f["name"]]
                if "destroy" in p:
                    target = functions.get(p["destroy"])
                    ended = next((q for q in target["params"] if q.get("ownership") == "destroyed"), None) if target else None
                    if target is None:
                        self.problems.add(where, "annotation", f"{f['name']}: parameter {p['name']}: names `{p['destroy']}`, "
                                                               "which is no public function")
                    elif ended is None or _ended_name(ended) != _var_target(p):
                        self.problems.add(where, "annotation", f"{f['name']}: parameter {p['name']}: `{p['destroy']}` does not "
                                                               f"end a {_var_target(p)}")
                    if _var_target(p) in handles:
                        handles[_var_target(p)]["created_by"].append(f["name"])
                if p.get("annotation") == "out_borrowed" and _var_target(p) in handles:
                    handles[_var_target(p)]["borrowed_from"].append(f["name"])
                if p.get("ownership") == "destroyed" and _ended_name(p) in handles:
                    handle = handles[_ended_name(p)]
                    style = "variable" if p["annotation"] == "destroyed_var" else "value"
                    key = "destroy_deferred" if f["name"].endswith("_deferred") else "destroy"
                    if handle[key] is not None:
                        self.problems.add(where, "handle", f"{f['name']}: {handle['name']} already ends with "
                                                           f"{handle[key]['function']}")
                    handle[key] = {"function": f["name"], "style": style}
        for name, handle in handles.items():
            if handle["destroy"] is None and handle["created_by"]:
                self.problems.add(lines[name], "handle", f"{name}: no function destroys it")
        for name in self.profile.without_error:
            if name not in functions:
                self.problems.add((self.profile.file, 1), "profile", f"without_error names {name}, which is no public function")
        for name in self.profile.verbatim_structs:
            if name not in self.padded:
                self.problems.add((self.profile.file, 1), "profile", f"verbatim_structs names {name}, which is no struct with a hole")
        if self.profile.version_function not in functions:
            self.problems.add((self.profile.file, 1), "profile", f"no function {self.profile.version_function}")


def _ended_name(p: dict) -> str | None:
    t = p["type"]["to"]
    return (t["to"] if t["kind"] == "pointer" else t).get("name")


def _var_target(p: dict) -> str | None:
    """Name of what a `T **` parameter receives."""
    to = p["type"].get("to", {})
    return to.get("to", {}).get("name") if to.get("kind") == "pointer" else None
