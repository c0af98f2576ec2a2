"""The generated parts of docs/abi.md."""

import unittest

from contract import document, entries, exchange, ownership, versions

PAGE = "# Page\n\n<!-- generated: one -->\nold\n<!-- end generated: one -->\n\ntext\n"


def function(name, *params, **fields):
    return {"name": name, "source": "src/a.cpp", "since": 4, "thread": "any", "params": list(params), **fields}


def pointer(name, annotation, **fields):
    return {"name": name, "annotation": annotation, **fields}


PROFILE = {"sources": "src", "headers": [{"sections": [
    {"title": "Types", "sources": ["t.hpp"]}, {"title": "Boxes", "sources": ["a.cpp"]}]}]}


class SpliceTest(unittest.TestCase):
    def test_parts_are_replaced_and_the_rest_stays(self):
        page = document.splice(PAGE, {"one": "new\n"})
        self.assertEqual(page, PAGE.replace("old", "\nnew\n"))
        self.assertEqual(document.splice(page, {"one": "new"}), page)

    def test_markers_that_do_not_fit(self):
        for page, parts, says in (
            (PAGE, {}, "nothing generates the part one"),
            (PAGE, {"one": "", "two": ""}, "the part two once, found it 0 times"),
            (PAGE + PAGE, {"one": ""}, "the part one once, found it 2 times"),
            (PAGE + "<!-- end generated: two -->\n", {"one": ""}, "has no counterpart"),
            (PAGE.replace("end generated: one", "end generated: two"), {"one": ""}, "the part one once, found it 0 times"),
        ):
            with self.subTest(says), self.assertRaisesRegex(document.DocumentError, says):
                document.splice(page, parts)


class RequirementsTableTest(unittest.TestCase):
    def test_one_table_a_section_and_the_tests_of_a_target_together(self):
        proofs = tuple(entries.Proof.parse(text) for text in ("//t:a_test A.One", "//t:b_test", "//t:a_test A.Two|x"))
        first = entries.Entry("BOX-1", "Boxes", ("MUST", "SHOULD"), "0", "Opens | shuts.", proofs)
        second = entries.Entry("LID-1", "Lids", (), "1", "Blue.", proofs[:1])
        text = document.table(entries.Requirements("x", {"//t:b_test": "because"}, (first, second)))
        self.assertEqual(text, """
### Boxes

| id | strength | requirement | proven by |
|---|---|---|---|
| BOX-1 | MUST, SHOULD | Opens \\| shuts. | `//t:a_test`: A.One, A.Two\\|x<br>`//t:b_test` |

### Lids

| id | strength | requirement | proven by |
|---|---|---|---|
| LID-1 | states | Blue. | `//t:a_test`: A.One |

Targets that are a proof as a whole:

- `//t:b_test`: because
""")


class OwnershipTableTest(unittest.TestCase):
    def test_a_row_for_each_pointer_but_the_report(self):
        abi = {"functions": [
            function("box_new", pointer("out_box", "out_owned", destroy="box_destroy"), pointer("error", "error")),
            function("box_version", since=1),
            function("box_fill", {"name": "size"}, pointer("data", "kept", length="size"), pointer("box", "inout"),
                     thread="one | two"),
        ]}
        self.assertEqual(ownership.table(abi, PROFILE), """
### Boxes

| function | pointer | before | after success | after failure | thread | since |
|---|---|---|---|---|---|---|
| `box_new` | `out_box` | caller's variable | **new handle, the caller's**; ends with `box_destroy` | NULL | any | 4 |
| `box_version` | | | | | any | 1 |
| `box_fill` | `data` | caller's memory | **lent** until its release | caller's; no release runs | one \\| two | 4 |
|  | `box` | caller's | caller's; changed | caller's; unchanged |  |  |
""")

    def test_what_has_no_row_is_refused(self):
        with self.assertRaisesRegex(ownership.OwnershipError, "no row for the annotation thrown"):
            ownership.table({"functions": [function("box_throw", pointer("box", "thrown"))]}, PROFILE)
        with self.assertRaisesRegex(ownership.OwnershipError, "in no section of a header: box_lost"):
            ownership.table({"functions": [function("box_lost", source="src/b.cpp")]}, PROFILE)


class ExchangeTableTest(unittest.TestCase):
    SOURCE = """
#define OTHER(ENTRY) ENTRY(other, int)
#define HURRAY_EXCHANGE_FUNCTIONS(ENTRY)      \\
    ENTRY(box_open, HurrayBox*, HurrayError*) \\
    ENTRY(box_shut, HurrayBox*)
HURRAY_EXCHANGE_FUNCTIONS(FIELD)
"""
    ABI = {"functions": [{"name": "hurray_box_open"}, {"name": "hurray_box_shut"}]}

    def test_entries_in_their_order_behind_the_head(self):
        lines = exchange.table(self.SOURCE, self.ABI).splitlines()
        self.assertEqual([line.split(" | ")[0] for line in lines[2:]], ["| 0", "| 4", "| 8", "| 16", "| 24", "| 32"])
        self.assertEqual(lines[-2:], ["| 24 | `box_open` | `hurray_box_open` |", "| 32 | `box_shut` | `hurray_box_shut` |"])

    def test_what_is_no_public_function_or_no_list(self):
        with self.assertRaisesRegex(exchange.ExchangeError, "hurray_box_shut is no public function"):
            exchange.table(self.SOURCE, {"functions": self.ABI["functions"][:1]})
        with self.assertRaisesRegex(exchange.ExchangeError, "no HURRAY_EXCHANGE_FUNCTIONS"):
            exchange.table("", self.ABI)


class VersionsTableTest(unittest.TestCase):
    def test_a_row_a_version_and_the_latest_by_number(self):
        since = {"a": 1, "b": 3, "d": 1, "e": 3}
        abi = {"abi_version": 3, "functions": [function(name, since=version) for name, version in since.items()]}
        self.assertEqual(versions.table(abi).splitlines()[2:], ["| 1 | `a`, `d` |", "| 2 |  |", "| 3 | the 2 others |"])


if __name__ == "__main__":
    unittest.main()
