"""What the annotations of abi/src/api/annotations.hpp mean for a caller."""

from __future__ import annotations

from dataclasses import dataclass

# nullable: "no", "yes", or "when_zero" (only when the length parameter is 0)
# argument: what the annotation names: a length or owner parameter, a destroying function, or nothing


@dataclass(frozen=True)
class Meaning:
    direction: str   # in, out, inout
    nullable: str
    ownership: str
    sentence: str    # {length}, {destroy} and {owner} are filled in
    argument: str = ""
    shape: str = "pointer"  # what the parameter must be: pointer, var (pointer to pointer), void, callback, error, string
    points_to_const: bool | None = None  # None: either


MEANINGS = {
    "in": Meaning("in", "no", "borrowed", "Required. Read during the call only; stays the caller's.",
                  points_to_const=True),
    "in_opt": Meaning("in", "yes", "borrowed", "May be NULL. Read during the call only; stays the caller's.",
                      points_to_const=True),
    "in_array": Meaning("in", "when_zero", "borrowed",
                        "`{length}` elements, read during the call only; NULL only when `{length}` is 0.",
                        "length", points_to_const=True),
    "in_string": Meaning("in", "no", "borrowed",
                         "Required. NUL-terminated UTF-8, read during the call only.", shape="string",
                         points_to_const=True),
    "inout": Meaning("inout", "no", "borrowed",
                     "Required. The call may change it; it stays the caller's.", points_to_const=False),
    "out": Meaning("out", "no", "value", "Required. Receives the result; zeroed before anything else.",
                   points_to_const=False),
    "out_opt": Meaning("out", "yes", "value", "May be NULL. Receives the result; zeroed before anything else.",
                       points_to_const=False),
    "out_array": Meaning("out", "when_zero", "value",
                         "Receives up to `{length}` elements; NULL only when `{length}` is 0.", "length",
                         points_to_const=False),
    "out_owned": Meaning("out", "no", "owned",
                         "Required. Receives a new handle that the caller owns and ends with {destroy}; NULL before "
                         "anything else.", "destroy", shape="var"),
    "out_borrowed": Meaning("out", "no", "borrowed",
                            "Required. Receives a pointer that belongs to `{owner}` and is valid as long as that lives; "
                            "NULL before anything else.", "owner", shape="var"),
    "consumed": Meaning("in", "no", "consumed", "Required. Ownership moves to the callee, on success only."),
    "consumed_var": Meaning("inout", "no", "consumed",
                            "Required, and so is the handle in it. Ownership of the handle moves to the callee and the "
                            "variable becomes NULL, on success only.", shape="var"),
    "destroyed": Meaning("in", "no", "destroyed", "Required. Ended by the call.", points_to_const=False),
    "destroyed_opt": Meaning("in", "yes", "destroyed", "Ended by the call; NULL is a no-op.", points_to_const=False),
    "destroyed_var": Meaning("inout", "yes", "destroyed",
                             "Address of the caller's variable: its handle is ended and the variable becomes NULL. A NULL "
                             "variable, or NULL itself, is a no-op.", shape="var"),
    "kept": Meaning("in", "when_zero", "kept",
                    "The callee keeps the pointer and uses it until its release; NULL only when `{length}` is 0.",
                    "kept_length"),
    "opaque": Meaning("in", "yes", "opaque",
                      "May be NULL. Handed back to the callback as it is, never looked at.", shape="void"),
    "callback": Meaning("in", "no", "callback", "Required.", shape="callback"),
    "callback_opt": Meaning("in", "yes", "callback", "May be NULL.", shape="callback"),
    "error": Meaning("out", "yes", "error",
                     "May be NULL. Receives what is wrong, where, and what was expected; cleared on success.",
                     shape="error", points_to_const=False),
}

KEPT_WITHOUT_LENGTH = "Required. The callee keeps the pointer and uses it until its release."


def sentence(parameter: dict) -> str:
    """What the header says about a parameter of abi.json."""
    meaning = MEANINGS[parameter["annotation"]]
    if parameter["annotation"] == "kept" and not parameter.get("length"):
        return KEPT_WITHOUT_LENGTH
    return meaning.sentence.format(length=parameter.get("length"), destroy=parameter.get("destroy"),
                                   owner=parameter.get("owner"))
