"""hurray report: the page's structure, and its numbers against NumPy and the format's text."""

import fcntl
import itertools
import math
import os
import signal
import struct
import subprocess
import termios
import time
import unittest

import dense_layouts
import indexed_layouts
import numpy as np
import sections
import support
import wire
from report_page import Page

F32 = 0x03
ADVERSARIES = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "<!-- -->",
    "]]><![CDATA[",
    "&lt;b&gt;&amp;",
    "${alert(1)}`",
    "nul\0inside",
    "right\u202eto left\u202c\u2066",
    "mark\u200f\u061c\ufeff",
    "line\u2028end\u2029",
    "escape\x1b[31m\x07",
    "not a character \ufffe\uffff",
    "עברית/שלום",
    "",
    "..//..",
    "a" * 50_000,
    ".".join("abcdefghijklmnopqrstuvwxyz" * 40),
]
# What may not stand on a page as itself: controls, and characters that turn lines around.
ACTING = [chr(c) for c in [*range(0x20), 0x7F, *range(0x80, 0xA0), 0x61C, 0x200E, 0x200F, 0xFEFF, 0xFFFE, 0xFFFF,
                           *range(0x2028, 0x202F), *range(0x2066, 0x206A)] if c != 0x0A]


def stream_of(*tensors):
    """A stream: pairs of a descriptor and its buffers."""
    return b"".join(descriptor.encoded() + b"".join(buffers) for descriptor, *buffers in tensors)


def dense(shape, layout, values):
    """A float32 tensor of a layout, its elements put where the format says that they are."""
    descriptor = dense_layouts.dense(F32, shape, layout)
    memory = np.full(descriptor.buffers[0].byte_size // 4, -1e9, np.float32)
    for value, index in zip(values, dense_layouts.indices(shape)):
        memory[descriptor.byte_offset // 4 + layout.offset(shape, index)] = value
    return descriptor, memory.tobytes()


def area(rectangle):
    return float(rectangle["width"]) * float(rectangle["height"])


def box(rectangle):
    x, y, w, h = (float(rectangle[name]) for name in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


class ReportTest(support.CliTest):
    def page(self, data, *arguments, name="input.safetensors"):
        path = self.write(name, data)
        target = self.folder / "page.html"
        done = support.run("report", path, "-o", target, *arguments, check=support.GOOD)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted([name, "page.html"]))
        return Page(target.read_bytes())

    def page_of_arrays(self, arrays, *arguments, metadata=None):
        return self.page(support.safetensors({name: (tag, array.shape, array.tobytes()) for name, (tag, array) in arrays.items()},
                                             metadata), *arguments)


class StructureTest(ReportTest):
    def test_summary_tells_format_sizes_types_and_metadata(self):
        data = support.safetensors({"a.x": ("F32", (2, 3), [0, 1, 2, 3, 4, 5]), "a.y": ("F32", (4,), [1, 2, 3, 4]), "b": ("I8", (5,), [1, 2, 3, 4, 5])},
                                   {"made by": "hand", "licence": "none"})
        page = self.page(data)
        facts = {pair.children[0].text(): pair.children[1].text() for pair in page["summary"].one("dl", "facts").children}
        self.assertTrue(facts["Format"].startswith("safetensors"))
        self.assertIn(f"{len(data):,} bytes", facts["Size"])
        self.assertTrue(facts["Tensors"].startswith("3"))
        self.assertTrue(facts["Elements"].startswith("15"))
        self.assertIn("45 bytes", facts["Data"])
        self.assertTrue(facts["Everything else"].startswith(f"{len(data) - 45} B"))
        types = [[cell.get("data-value") for cell in row] for row in page.table("type-table")]
        self.assertEqual([row[1:4] for row in types], [["2", "10", "40"], ["1", "5", "5"]])
        self.assertEqual([row[0].text() for row in page.table("type-table")], ["float32", "int8"])
        self.assertEqual({row[0].text(): row[1].text() for row in page.table("metadata-table")}, {"made by": '"hand"', "licence": '"none"'})
        rows = page.table("tensor-table")
        self.assertEqual([[cell.text() for cell in row[1:5]] for row in rows],
                         [["a.x", "float32", "[2, 3]", "row_major"], ["a.y", "float32", "[4]", "row_major"], ["b", "int8", "[5]", "row_major"]])

    def test_page_reads_without_script(self):
        page = self.page(support.safetensors({"a.x": ("F32", (2, 3), [0, 1, 2, 3, 4, 5])}))
        for name in ("summary", "bytes", "order", "tensors", "details", "t0"):
            self.assertIn(name, page)
        self.assertEqual(page.root.one("html")["lang"], "en")
        self.assertEqual(len(list(page.root.all("h1"))), 1)
        levels = [int(e.tag[1]) for e in page.root.walk() if e.tag in ("h1", "h2", "h3", "h4")]
        for before, after in itertools.pairwise(levels):
            self.assertLessEqual(after, before + 1, "a level of headings is left out")
        for drawing in page.root.all("svg"):
            named = drawing.get("aria-labelledby") or drawing.get("aria-label") or drawing.get("aria-hidden") == "true"
            self.assertTrue(named, drawing.attributes)
        for table in page.root.all("table"):
            for cell in table.one("thead").all("th"):
                self.assertTrue(cell.get("scope") == "col" or cell.text() == "", cell.text())

    def test_names_and_metadata_of_strangers_are_text(self):
        tensors = {name: ("F32", (2,), [i, 1]) for i, name in enumerate(ADVERSARIES)}
        page = self.page(support.safetensors(tensors, {name: name[::-1] for name in ADVERSARIES}))
        for character in ACTING:
            self.assertNotIn(character, page.source, f"U+{ord(character):04X}")
        self.assertNotIn("alert(1)", page.root.one("script").text())
        shown = [row[1].text() for row in page.table("tensor-table")]
        self.assertEqual(len(shown), len(ADVERSARIES))
        for name, text in zip(ADVERSARIES, shown):
            if name.isprintable() and 0 < len(name) < 400:
                self.assertEqual(text, name)
        self.assertIn("nul\\x00inside", shown)
        self.assertIn("(empty)", shown)
        self.assertIn("right\\xe2\\x80\\xaeto left\\xe2\\x80\\xac\\xe2\\x81\\xa6", shown)
        self.assertEqual(max(len(text) for text in shown), 400)
        # The parser found no element that the program does not make.
        known = {"", "html", "head", "meta", "title", "style", "body", "a", "header", "div", "h1", "bdi", "p", "nav", "ul", "li", "main",
                 "section", "h2", "dl", "dt", "dd", "small", "h3", "h4", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "g", "text",
                 "tspan", "desc", "path", "line", "circle", "polygon", "figure", "figcaption", "strong", "span", "code", "details", "summary",
                 "footer", "script", "br"}
        self.assertLessEqual({element.tag for element in page.root.walk()}, known)

    def test_file_name_of_strangers_is_text(self):
        name = "<b>\"'&\u202e\n.safetensors"
        page = self.page(support.safetensors({"a": ("F32", (1,), [1])}), name=name)
        self.assertEqual(page.root.one("h1").text(), "<b>\"'&\\xe2\\x80\\xae\\x0a.safetensors")

    def test_no_tensors_no_elements_no_dimensions(self):
        page = self.page(support.safetensors({}))
        self.assertIn("There are no tensors", page["tensors"].text())
        page = self.page(support.safetensors({"scalar": ("F64", (), [2.5]), "none": ("F32", (3, 0), [])}))
        self.assertEqual(page.tensor(0).numbers()["Minimum"], 2.5)
        self.assertIn("There are no elements", page.tensor(1).text())
        page = self.page(support.safetensors({"none": ("F32", (0,), [])}))
        self.assertIn("No tensor has data", page["bytes"].text())

    def test_thousands_of_tensors_and_what_is_left_out_is_told(self):
        count = 7000
        data = support.safetensors({f"layer.{i // 100}.{i % 100}.w": ("F32", (1 + i % 3,), [i] * (1 + i % 3)) for i in range(count)})
        start = time.monotonic()
        page = self.page(data, "--limit", "3")
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual(len(list(page["details"].all("details", "tensor"))), 3)
        self.assertIn("The largest 3 of 7,000 tensors", page["detail-limit"].text())
        self.assertEqual(len(page.table("tensor-table")), 5000)
        self.assertIn("The first 5,000 of 7,000", page["row-limit"].text())
        self.assertLess(len(list(page["treemap"].all("g"))), 8000)
        self.assertLess(len(page.source), 6_000_000)
        # Nothing is lost in the treemap: what is too small is there as what is left.
        leaves = [int(g["data-bytes"]) for g in page["treemap"].all("g", "leaf")]
        self.assertEqual(sum(leaves), 4 * sum(1 + i % 3 for i in range(count)))

    def test_patterns_choose_tensors(self):
        data = support.safetensors({"a.x": ("F32", (1,), [1]), "a.y": ("F32", (1,), [1]), "b.x": ("F32", (1,), [1])})
        page = self.page(data, "--tensors", "a.*")
        self.assertEqual([row[1].text() for row in page.table("tensor-table")], ["a.x", "a.y"])
        page = self.page(data, "--tensors", "*.x", "--limit", "0")
        self.assertEqual([row[1].text() for row in page.table("tensor-table")], ["a.x", "b.x"])
        self.assertEqual(list(page["details"].all("details")), [])


class TreemapTest(ReportTest):
    def test_areas_are_bytes_and_groups_hold_their_tensors(self):
        sizes = {"m.l.0.a": 4000, "m.l.0.b": 1000, "m.l.1.a": 3000, "m.l.1.b": 800, "m/e": 6000, "top": 2500, "one.two.three": 700}
        page = self.page(support.safetensors({name: ("U8", (size,), bytes(size)) for name, size in sizes.items()}))
        treemap = page["treemap"]
        root = next(child for child in treemap.children if child.tag == "g")
        self.assertEqual(int(root["data-bytes"]), sum(sizes.values()))

        def rectangle(g):
            return next(child for child in g.children if child.tag == "rect")

        def inside(g):
            return [child for child in g.children if child.tag == "g"]

        # At the top nothing but the bytes counts.
        scale = area(rectangle(root)) / sum(sizes.values())
        for g in inside(root):
            self.assertAlmostEqual(area(rectangle(g)) / scale / int(g["data-bytes"]), 1, delta=0.01)
        checked = 0
        for g in [root, *root.all("g")]:
            parts = inside(g)
            if not parts:
                continue
            self.assertEqual(sum(int(part["data-bytes"]) for part in parts), int(g["data-bytes"]))
            self.assertEqual([int(part["data-bytes"]) for part in parts], sorted((int(part["data-bytes"]) for part in parts), reverse=True))
            outer = box(rectangle(g))
            # Those of a group share its room by their bytes.
            units = [area(rectangle(part)) / int(part["data-bytes"]) for part in parts]
            self.assertLess(max(units) / min(units), 1.05)
            for part in parts:
                x1, y1, x2, y2 = box(rectangle(part))
                self.assertTrue(outer[0] - 0.02 <= x1 <= x2 <= outer[2] + 0.02 and outer[1] - 0.02 <= y1 <= y2 <= outer[3] + 0.02)
                checked += 1
            for one, other in itertools.combinations([box(rectangle(part)) for part in parts], 2):
                width = min(one[2], other[2]) - max(one[0], other[0])
                height = min(one[3], other[3]) - max(one[1], other[1])
                self.assertLess(min(width, height), 0.03, "two rectangles overlap")
        self.assertGreater(checked, 8)
        labels = {g["data-label"] for g in root.all("g")}
        self.assertLessEqual({"m.l.", "0.", "1.", "a", "b", "top", "one.two.three", "m/e"}, labels)
        titles = [g.one("title").text() if not inside(g) else "" for g in root.all("g")]
        self.assertTrue(any(title.startswith("m.l.0.a uint8 [4000]") and "22.2%" in title for title in titles), titles)

    def test_squares_rather_than_strips(self):
        page = self.page(support.safetensors({f"t{i}": ("U8", (1000,), bytes(1000)) for i in range(60)}))
        ratios = []
        for g in page["treemap"].all("g", "leaf"):
            x1, y1, x2, y2 = box(g.one("rect"))
            ratios.append(max((x2 - x1) / (y2 - y1), (y2 - y1) / (x2 - x1)))
        self.assertEqual(len(ratios), 60)
        self.assertLess(max(ratios), 3)

    def test_a_name_that_is_a_tensor_and_a_group(self):
        page = self.page(support.safetensors({"a": ("U8", (10,), bytes(10)), "a.b": ("U8", (20,), bytes(20)), "a.c": ("U8", (30,), bytes(30))}))
        leaves = {g["data-tensor"]: int(g["data-bytes"]) for g in page["treemap"].all("g", "leaf")}
        self.assertEqual(leaves, {"t0": 10, "t1": 20, "t2": 30})


class HistogramTest(ReportTest):
    def assert_histogram(self, tensor, values):
        edges, counts = tensor.bins()
        finite = values[np.isfinite(values)]
        self.assertEqual(sum(counts), finite.size)
        expected, _ = np.histogram(finite, bins=edges)
        # An edge is rounded here and there: a value upon it may be counted on its other side.
        self.assertLessEqual(int(np.abs(np.array(counts) - expected).sum()), 2 * max(1, finite.size // 1000))

    def assert_statistics(self, numbers, values):
        for name, value in (("Minimum", values.min()), ("Maximum", values.max()), ("Mean", values.mean()), ("Standard deviation", values.std())):
            self.assertTrue(math.isclose(numbers[name], float(value), rel_tol=1e-9, abs_tol=1e-12), (name, numbers[name], value))
        self.assertAlmostEqual(numbers["Zeros"], float((values == 0).mean()), delta=1e-12)

    def test_numbers_are_those_of_numpy(self):
        random = np.random.default_rng(7)
        arrays = {
            "f64": ("F64", random.normal(3, 2, (40, 50))),
            "f32": ("F32", (random.standard_t(3, (100, 30)) * 0.02).astype(np.float32)),
            "f16": ("F16", random.normal(0, 1, (70, 11)).astype(np.float16)),
            "i64": ("I64", random.integers(-10**12, 10**12, (500,))),
            "i8": ("I8", random.integers(-128, 128, (64, 64)).astype(np.int8)),
            "u16": ("U16", random.integers(0, 65536, (1000,)).astype(np.uint16)),
            "few": ("I32", random.integers(-3, 5, (1000,)).astype(np.int32)),
            "constant": ("F32", np.full((10,), 2.5, np.float32)),
        }
        page = self.page_of_arrays(arrays)
        for i, (name, (_, array)) in enumerate(arrays.items()):
            with self.subTest(name):
                self.assert_statistics(page.tensor(i).numbers(), array.astype(np.float64))
                self.assert_histogram(page.tensor(i), array.astype(np.float64).ravel())
        edges, counts = page.tensor(6).bins()
        self.assertEqual(edges, [x - 0.5 for x in range(-3, 6)])
        self.assertEqual(counts, [int((arrays["few"][1] == x).sum()) for x in range(-3, 5)])

    def test_bfloat16_bool_and_small_floats(self):
        random = np.random.default_rng(8)
        exact = (random.normal(0, 1, 999).astype(np.float32).view(np.uint32) >> 16 << 16).view(np.float32)
        truth = random.random(1000) < 0.3
        e4m3 = np.array([0x00, 0x38, 0xB8, 0x7E, 0x7F, 0x08], np.uint8)
        page = self.page_of_arrays({"b": ("BF16", (exact.view(np.uint32) >> 16).astype(np.uint16)), "t": ("BOOL", truth.astype(np.uint8)),
                                    "e": ("F8_E4M3", e4m3)})
        self.assert_statistics(page.tensor(0).numbers(), exact.astype(np.float64))
        self.assert_histogram(page.tensor(0), exact.astype(np.float64))
        edges, counts = page.tensor(1).bins()
        self.assertEqual((edges, counts), ([-0.5, 0.5, 1.5], [int((~truth).sum()), int(truth.sum())]))
        numbers = page.tensor(2).numbers()
        self.assertEqual((numbers["Minimum"], numbers["Maximum"], numbers["NaN"]), (-1, 448, 1))

    def test_what_is_no_number_is_counted(self):
        values = np.array([0.0, -0.0, 1, np.nan, np.inf, -np.inf, np.nan, 5, -np.inf, -np.inf], np.float32)
        page = self.page_of_arrays({"x": ("F32", values), "all": ("F64", np.full(4, np.nan))})
        numbers = page.tensor(0).numbers()
        self.assertEqual((numbers["NaN"], numbers["+Infinity"], numbers["−Infinity"]), (2, 1, 3))
        self.assertEqual(numbers["Zeros"], 0.2)
        edges, counts = page.tensor(0).bins()
        self.assertEqual((edges[0], edges[-1], sum(counts), counts[0]), (0, 5, 4, 2))
        self.assertIn("No value is finite", page.tensor(1).text())

    def test_the_whole_range_of_float64(self):
        page = self.page_of_arrays({"x": ("F64", np.array([-1.7e308, 1.7e308, 0, 5e-324]))})
        edges, counts = page.tensor(0).bins()
        self.assertTrue(all(math.isfinite(edge) for edge in edges))
        self.assertEqual((sum(counts), counts[0], counts[-1]), (4, 1, 1))

    def test_large_tensors_are_sampled_and_the_page_says_so(self):
        values = np.random.default_rng(9).normal(0, 1, (4000, 32)).astype(np.float32)
        values[1234, 5] = 100
        page = self.page_of_arrays({"x": ("F32", values), "small": ("F32", values[:10])}, "--sample", "4096")
        tensor = page.tensor(0)
        self.assertIn("A sample: 4,096 of 128,000 elements, in 128 rows of 32, spread evenly", tensor.text())
        self.assertIn("The statistics are of all elements", tensor.text())
        self.assertEqual(tensor.numbers()["Maximum"], 100)
        edges, counts = tensor.bins()
        self.assertEqual((sum(counts), edges[-1]), (4096, 100))
        self.assertNotIn("A sample", page.tensor(1).text())
        # One long row is cut into pieces.
        page = self.page_of_arrays({"x": ("F32", values.ravel())}, "--sample", "4096")
        self.assertIn("A sample: 4,096 of 128,000 elements, in 16 pieces of 256", page.tensor(0).text())


class MemoryOrderTest(ReportTest):
    def order(self, page, number):
        """{(row, column): place in the order} of a picture."""
        figure = page[f"order{number}"]
        return {(int(r["data-row"]), int(r["data-column"])): int(r["data-order"]) for r in figure.all("rect") if r.get("data-order") is not None}

    def test_orders_are_those_of_the_format(self):
        layouts = [
            ((8, 8), dense_layouts.Hilbert(3, 2)),
            ((16, 16), dense_layouts.Hilbert(4, 2)),
            ((5, 13), dense_layouts.Morton((3, 4))),
            ((12, 12), dense_layouts.Tiles((4, 4))),
            ((12, 10), dense_layouts.Tiles((4, 4), outer=2, inner=2)),
            ((8, 8), dense_layouts.Tiles((4, 4), nested=dense_layouts.Tiles((2, 2)))),
            ((2, 4, 4), dense_layouts.Morton((1, 2, 2))),
        ]
        tensors = [dense(shape, layout, range(math.prod(shape))) for shape, layout in layouts]
        page = self.page(stream_of(*tensors), name="layouts")
        for number, (shape, layout) in enumerate(layouts):
            with self.subTest(layout=layout):
                shown = self.order(page, number)
                rows = 1 + max(row for row, _ in shown)
                columns = 1 + max(column for _, column in shown)
                self.assertEqual(len(shown), rows * columns)
                front = (0,) * (len(shape) - 2)
                places = {(row, column): layout.offset(shape, (*front, row, column)) for row in range(rows) for column in range(columns)}
                expected = {cell: place for place, cell in enumerate(sorted(places, key=places.get))}
                self.assertEqual(shown, expected)
                # Whatever the order, the values are the same.
                values = np.arange(math.prod(shape), dtype=np.float64)
                self.assertEqual(page.tensor(number).numbers()["Maximum"], values.max())
                self.assertTrue(math.isclose(page.tensor(number).numbers()["Mean"], values.mean()))
        self.assertIn("tiled 4x4", page["order3"].text())

    def test_rows_columns_and_strides(self):
        numbers = np.arange(48, dtype=np.float32)
        page = self.page(stream_of(
            (wire.Descriptor(F32, (6, 8), 1), numbers.tobytes()),
            (wire.Descriptor(F32, (6, 8), 2), numbers.tobytes()),
            (wire.Descriptor(F32, (4, 5), 3, strides=(-6, 1), byte_offset=72, buffers=(wire.Handle(92),)), numbers[:23].tobytes()),
            (wire.Descriptor(F32, (3, 4), 3, strides=(0, 1), buffers=(wire.Handle(16),)), numbers[:4].tobytes()),
            (wire.Descriptor(F32, (), 1), numbers[7:8].tobytes()),
        ), name="strides")
        self.assertEqual(self.order(page, 0), {(r, c): 8 * r + c for r in range(6) for c in range(8)})
        self.assertEqual(self.order(page, 1), {(r, c): 6 * c + r for r in range(6) for c in range(8)})
        self.assertEqual(self.order(page, 2), {(r, c): 5 * (3 - r) + c for r in range(4) for c in range(5)})
        self.assertIn("8 share their memory", page["order3"].text())
        self.assertIn("A single element", page["order4"].text())
        strided = [numbers[18 - 6 * r:18 - 6 * r + 5] for r in range(4)]
        self.assertTrue(math.isclose(page.tensor(2).numbers()["Mean"], float(np.mean(strided))))
        self.assertTrue(math.isclose(page.tensor(3).numbers()["Mean"], 1.5))

    def test_sparse_tensors_show_what_is_stored(self):
        mask = np.random.default_rng(3).random((10, 14)) < 0.2
        rows, columns = np.nonzero(mask)
        values = np.arange(1, len(rows) + 1, dtype=np.float32)
        turned = np.lexsort((rows, columns))
        whole = np.zeros(mask.shape)
        whole[mask] = values

        def pointers(counts):
            return np.concatenate([[0], np.cumsum(counts)]).astype("<u8").tobytes()

        page = self.page(stream_of(
            (indexed_layouts.indexed(F32, mask.shape, indexed_layouts.Coo(len(rows))), values.tobytes(),
             np.stack([rows, columns], 1).astype("<u8").tobytes()),
            (indexed_layouts.indexed(F32, mask.shape, indexed_layouts.csr(len(rows))), values.tobytes(), columns.astype("<u8").tobytes(),
             pointers(mask.sum(1))),
            (indexed_layouts.indexed(F32, mask.shape, indexed_layouts.csc(len(rows))), values[turned].tobytes(), rows[turned].astype("<u8").tobytes(),
             pointers(mask.sum(0))),
        ), name="sparse")
        stored = list(zip(rows.tolist(), columns.tolist()))
        for number in range(3):
            shown = self.order(page, number)
            self.assertEqual(set(shown), set(stored))
            gone = list(page[f"order{number}"].all("rect", "gone"))
            self.assertEqual(len(gone), mask.size - len(rows))
            expected = stored if number < 2 else [stored[i] for i in turned]
            self.assertEqual(sorted(shown, key=shown.get), expected)
            _, counts = page.tensor(number).bins()
            self.assertEqual(sum(counts), mask.size)
            self.assertTrue(math.isclose(page.tensor(number).numbers()["Mean"], whole.mean()))

    def test_pages_are_shown_with_their_numbers(self):
        pool = np.arange(6 * 4 * 2 * 3, dtype=np.float32).reshape(6, 4, 2, 3)
        paged = indexed_layouts.Paged(page_size=4, num_pages=6, num_seqs=2, entries=5)
        page = self.page(stream_of((indexed_layouts.indexed(F32, (20, 2, 3), paged), pool.tobytes(), struct.pack("<5I", 3, 0, 5, 1, 4),
                                    struct.pack("<3I", 0, 3, 5))), name="pages")
        figure = page["order0"]
        self.assertEqual([text.text() for text in figure.all("text", "page")], ["3", "0", "5", "1", "4"])
        shown = self.order(page, 0)
        slots = {(0, t): 4 * [3, 0, 5][t // 4] + t % 4 for t in range(12)} | {(1, t): 4 * [1, 4][t // 4] + t % 4 for t in range(8)}
        self.assertEqual(sorted(shown, key=shown.get), sorted(slots, key=slots.get))
        used = pool[[3, 0, 5, 1, 4]]
        self.assertTrue(math.isclose(page.tensor(0).numbers()["Mean"], used.mean(dtype=np.float64)))

    def test_layouts_of_small_tensors_are_shown_too(self):
        large = np.zeros((32, 32), np.float32)
        page = self.page(stream_of((wire.Descriptor(F32, (32, 32), 1), large.tobytes()), dense((4, 4), dense_layouts.Hilbert(2, 2), range(16))),
                         "--limit", "1", name="few")
        self.assertIn("hilbert", page["order1"].text())
        self.assertIn("The first 1 of 2", page["detail-limit"].text())


class QuantizationTest(ReportTest):
    def assert_cost(self, cost, bits, values, errors):
        self.assertAlmostEqual(cost[0], bits, delta=1e-9)
        self.assertTrue(math.isclose(cost[1], math.sqrt((errors**2).mean()), rel_tol=1e-4), (cost, math.sqrt((errors**2).mean())))
        self.assertTrue(math.isclose(cost[2], np.abs(errors).max(), rel_tol=1e-4))
        ratio = 10 * math.log10((values**2).sum() / (errors**2).sum())
        self.assertTrue(math.isclose(cost[3], ratio, rel_tol=1e-4))

    def test_errors_are_those_of_the_schemes(self):
        values = np.random.default_rng(5).normal(0, 0.05, (48, 128)).astype(np.float32)
        page = self.page_of_arrays({"w": ("F32", values)})
        costs = page.tensor(0).costs()
        exact = values.astype(np.float64)
        self.assertEqual(list(costs), ["int8, per channel", "int4, blocks of 32", "int4, blocks of 64", "NF4, blocks of 64", "MXFP4", "MXFP8"])

        # int8: a float32 scale for each row.
        scale = np.abs(exact).max(1, keepdims=True) / 127
        codes = np.round(exact / scale)
        self.assert_cost(costs["int8, per channel"], 8 + 32 / 128, exact, codes * scale - exact)
        # int4: a float16 scale for each block, rounded up.
        for size in (32, 64):
            blocks = exact.reshape(48, -1, size)
            need = np.abs(blocks).max(2, keepdims=True) / 7
            scale = need.astype(np.float16)
            scale = np.where(scale.astype(np.float64) < need, np.nextafter(scale, np.float16(np.inf)), scale).astype(np.float64)
            errors = np.clip(np.round(blocks / scale), -8, 7) * scale - blocks
            self.assert_cost(costs[f"int4, blocks of {size}"], 4 + 16 / size, exact, errors)
        # MXFP4: powers of two, and e2m1.
        blocks = exact.reshape(48, -1, 32)
        scale = 2.0 ** (np.floor(np.log2(np.abs(blocks).max(2, keepdims=True))) - 2)
        levels = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        scaled = np.minimum(np.abs(blocks) / scale, 6)
        nearest = levels[np.abs(scaled[..., None] - levels).argmin(-1)]
        self.assert_cost(costs["MXFP4"], 4 + 8 / 32, exact, np.sign(blocks) * nearest * scale - blocks)
        self.assertAlmostEqual(costs["MXFP8"][0], 8.25)
        self.assertAlmostEqual(costs["NF4, blocks of 64"][0], 4 + 32 / 64)
        self.assertGreater(costs["MXFP8"][3], costs["MXFP4"][3] + 6)
        self.assertGreater(costs["NF4, blocks of 64"][3], costs["int4, blocks of 64"][3])

    def test_all_tensors_together(self):
        random = np.random.default_rng(6)
        arrays = {"a": ("F32", random.normal(0, 1, (16, 64)).astype(np.float32)), "b": ("F16", random.normal(0, 1, (8, 64)).astype(np.float16)),
                  "c": ("I32", np.arange(64, dtype=np.int32))}
        page = self.page_of_arrays(arrays)
        row = page.table("cost-table")[0]
        self.assertEqual([row[1].text(), row[2]["data-value"]], ["2", str(16 * 64 + 16 * 4 + 8 * 64 + 8 * 4)])
        alone = [page.tensor(i).costs()["int8, per channel"] for i in range(2)]
        together = math.sqrt((alone[0][1] ** 2 * 1024 + alone[1][1] ** 2 * 512) / 1536)
        self.assertTrue(math.isclose(float(row[5]["data-value"]), together, rel_tol=1e-9))
        self.assertEqual(page.tensor(2).costs(), {})

    def test_what_cannot_be_quantized_says_why(self):
        values = np.ones((4, 64), np.float32)
        values[2, 3] = np.nan
        page = self.page_of_arrays({"nan": ("F32", values), "narrow": ("F32", np.ones((64, 3), np.float32)), "one": ("F32", np.array(2, np.float32))})
        costs = page.tensor(0).costs()
        self.assertEqual(len(costs), 6)
        for scheme, cost in costs.items():
            self.assertIn("not possible", cost, scheme)
        costs = page.tensor(1).costs()
        self.assertEqual(len(costs["int8, per channel"]), 4)
        self.assertIn("not possible", costs["int4, blocks of 32"])

    def test_steps_of_quantized_tensors(self):
        scales = np.array([0.5, 0.125, 0.25], np.float32)
        codes = np.array([[1, -2, 3, 127], [5, 6, 7, -8], [9, 0, 0, -128]], np.int8)
        channel = wire.Descriptor(0x10, (3, 4), 1, quantization=sections.per_channel(axis=0), buffers=(wire.Handle(12), wire.Handle(12)))
        tensor = wire.Descriptor(0x10, (3, 4), 1, quantization=sections.per_tensor(scale=0.75, zero_point=2))
        page = self.page(stream_of((channel, codes.tobytes(), scales.tobytes()), (tensor, codes.tobytes())), name="quantized")
        numbers = page.tensor(0).numbers()
        self.assertEqual((numbers["Smallest step"], numbers["Median step"], numbers["Largest step"]), (0.125, 0.25, 0.5))
        exact = codes.astype(np.float64) * scales[:, None]
        self.assertEqual((numbers["Minimum"], numbers["Maximum"]), (exact.min(), exact.max()))
        _, counts = page.tensor(0).bins()
        self.assertEqual(sum(counts), 12)
        self.assertIn("per_channel_affine", page.tensor(0).text())
        numbers = page.tensor(1).numbers()
        self.assertEqual(numbers["Step"], 0.75)
        self.assertEqual(numbers["Maximum"], (127 - 2) * 0.75)
        self.assertEqual(page.tensor(1).costs(), {})
        self.assertEqual([row[0].text() for row in page.table("type-table")], ["int8, per_channel_affine", "int8, per_tensor_affine"])


class CompositeTest(ReportTest):
    def test_parts_are_looked_at_together(self):
        head = indexed_layouts.indexed(F32, (4, 4), indexed_layouts.Composite(member_count=2))
        halves = [wire.Descriptor(F32, (2, 4), 1, parent_shape=(4, 4), shard_offset=(2 * i, 0)) for i in range(2)]
        numbers = np.arange(16, dtype=np.float32)
        page = self.page(stream_of((head,), (halves[0], numbers[:8].tobytes()), (halves[1], numbers[8:].tobytes())), name="parts")
        self.assertEqual(len(page.table("tensor-table")), 1)
        self.assertEqual(page.tensor(0).numbers()["Mean"], 7.5)
        self.assertIn("composite", page.table("tensor-table")[0][4].text())


class OutputTest(ReportTest):
    data = support.safetensors({"a": ("F32", (2,), [1, 2])})

    def test_same_page_to_standard_output_and_every_time(self):
        path = self.write("input.safetensors", self.data)
        first = support.run("report", path, "-o", "-", check=support.GOOD).stdout
        self.assertEqual(first, support.run("report", path, "-o", "-", check=support.GOOD).stdout)
        self.page(self.data)
        self.assertEqual((self.folder / "page.html").read_bytes(), first)

    def test_an_older_page_is_replaced_as_a_whole_or_not_at_all(self):
        path = self.write("input.safetensors", self.data)
        old = self.write("page.html", b"old")
        self.assert_fails(support.UNREADABLE, "report", self.folder / "no such file", "-o", old)
        self.assertEqual(old.read_bytes(), b"old")
        broken = self.write("broken.safetensors", self.data[:-4])
        self.assert_fails(support.UNREADABLE, "report", broken, "-o", old)
        self.assertEqual(old.read_bytes(), b"old")
        support.run("report", path, "-o", old, check=support.GOOD)
        Page(old.read_bytes())
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["broken.safetensors", "input.safetensors", "page.html"])

    def test_what_is_no_file_is_not_replaced(self):
        path = self.write("input.safetensors", self.data)
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        for name in ("folder", "pipe"):
            self.assert_fails(support.FAILED, "report", path, "-o", self.folder / name)
        self.assert_fails(support.FAILED, "report", path, "-o", self.folder / "no folder" / "page.html")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["folder", "input.safetensors", "pipe"])

    def test_the_page_may_take_the_place_of_its_input(self):
        path = self.write("input.safetensors", self.data)
        support.run("report", path, "-o", path, check=support.GOOD)
        Page(path.read_bytes())

    def test_interrupted_it_leaves_nothing(self):
        target = self.folder / "page.html"
        with subprocess.Popen([support.PROGRAM, "report", "-", "-o", str(target)], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=support.environment()) as process:
            process.stdin.write(self.data[:20])
            process.stdin.flush()
            # It has taken those, and wants more.
            while struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0] != 0:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
            process.stdin.close()
            self.assertEqual(process.wait(support.SECONDS), support.INTERRUPTED, process.stderr.read())
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_wrong_usage(self):
        path = self.write("input.safetensors", self.data)
        self.assert_fails(support.USAGE, "report", path)
        self.assert_fails(support.USAGE, "report", path, "-o", self.folder / "x", "--sample", "1")
        self.assert_fails(support.USAGE, "report", path, "-o", self.folder / "x", "--limit", "-1")
        alone = self.write("one.bin", wire.Descriptor(F32, (2,), 1).encoded())
        self.assert_fails(support.USAGE, "report", alone, "-o", self.folder / "x", says="descriptor alone")

    def test_from_standard_input(self):
        done = support.run("report", "-", "-o", "-", stdin=self.data, check=support.GOOD)
        self.assertEqual(Page(done.stdout).tensor(0).numbers()["Maximum"], 2)


if __name__ == "__main__":
    unittest.main()
