"""Pages of hurray report in a browser: nothing is asked of the network, nothing goes wrong, and the script does its work."""

import json
import math

import report_test
import support
from chromium import Browser

SIZES = {"m.l.0.a": 4000, "m.l.0.b": 1000, "m.l.1.a": 3000, "m.l.1.b": 800, "top": 2500, "other.x": 1200, "other.y": 1100}


class BrowserTest(support.CliTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def page(self, data, *arguments):
        path = self.write("input.safetensors", data)
        target = self.folder / "page.html"
        support.run("report", path, "-o", target, *arguments, check=support.GOOD)
        return target

    def model(self):
        return self.page(support.safetensors({name: ("U8", (size,), (bytes(range(250)) * 20)[:size]) for name, size in SIZES.items()}))

    def open(self, path, fragment=""):
        """Opens a page. At its end, and before the next one, it is to have been quiet."""
        self.assert_page_was_quiet()
        self.browser.open(path, fragment)
        self.address = path.absolute().as_uri()

    def assert_page_was_quiet(self):
        address, self.address = getattr(self, "address", None), None
        if address:
            self.assert_quiet(address)

    def tearDown(self):
        self.assert_page_was_quiet()

    def assert_quiet(self, address):
        """No errors, no words on the console, and no address but the page's own."""
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([url for url in self.browser.requests() if url.split("#")[0] != address], [])

    def visible(self):
        """Labels of the rectangles that are seen, with their boxes; in the drawing's units."""
        return self.browser.run("""Array.from(document.querySelectorAll("#treemap g")).filter((g) => {
            const rect = g.querySelector(":scope > rect");
            return rect.getBoundingClientRect().width > 0;
        }).map((g) => {
            const rect = g.querySelector(":scope > rect");
            return [g.id, g.dataset.label, ...["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)))];
        })""")

    def id_of(self, label):
        return self.browser.run(f"document.querySelector('#treemap g[data-label={json.dumps(label)}]').id")

    def crumbs(self):
        return self.browser.run('Array.from(document.querySelectorAll("#crumbs button")).map((button) => button.textContent)')

    def zoomed(self):
        return self.browser.run('document.getElementById("treemap").dataset.zoom')

    def test_quiet_with_names_of_strangers(self):
        tensors = {name: ("F32", (2,), [i, 1]) for i, name in enumerate(report_test.ADVERSARIES)}
        path = self.page(support.safetensors(tensors, {name: name for name in report_test.ADVERSARIES}))
        self.open(path)
        self.assertEqual(self.browser.run("document.scripts.length"), 1)
        self.assertEqual(self.browser.run('document.querySelectorAll("img, iframe, object, embed, link").length'), 0)
        names = self.browser.run('Array.from(document.querySelectorAll("#tensor-table tbody th")).map((cell) => cell.textContent)')
        self.assertEqual(names[0], report_test.ADVERSARIES[0])
        self.assertIn(report_test.ADVERSARIES[1], names)
        # Every group can be shown, and nothing comes of it.
        for identifier in self.browser.run('Array.from(document.querySelectorAll("#treemap g.group")).map((g) => g.id)')[:20]:
            self.browser.run(f"location.hash = '#{identifier}'; new Promise((done) => setTimeout(done, 0))")
            self.assertEqual(self.zoomed(), identifier)

    def test_the_policy_stops_scripts_of_others(self):
        self.browser.open(self.model())
        self.browser.run("""(() => {
            const script = document.createElement("script");
            script.textContent = "window.stranger = 1";
            document.body.append(script);
            document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.stranger = 2'>");
            return new Promise((done) => setTimeout(done, 100));
        })()""")
        self.assertIsNone(self.browser.run("window.stranger"))
        self.assertTrue(self.browser.complaints())

    def test_a_click_shows_a_group_alone(self):
        self.open(self.model())
        self.assertEqual(self.crumbs(), ["All tensors"])
        everything = {label for _, label, *_ in self.visible()}
        self.assertLessEqual({"m.l.", "other.", "top", "0.", "1."}, everything)
        group = self.id_of("m.l.")
        self.browser.click(f"#{group} > rect")
        self.assertEqual(self.zoomed(), group)
        self.assertEqual(self.crumbs(), ["All tensors", "m.l."])
        self.assertEqual(self.browser.run("location.hash"), f"#{group}")
        seen = self.visible()
        self.assertEqual({label for _, label, *_ in seen}, {"m.l.", "0.", "1.", "a", "b"})
        # It takes the whole drawing, and its parts share that by their bytes.
        boxes = {identifier: box for identifier, _, *box in seen}
        self.assertEqual(boxes[group], [0, 0, 1200, 560])
        areas = {label: box[2] * box[3] for _, label, *box in seen if label in ("0.", "1.")}
        self.assertAlmostEqual(areas["0."] + areas["1."], 1200 * 560, delta=1)
        self.assertTrue(math.isclose(areas["0."] / areas["1."], 5000 / 3800, rel_tol=1e-6), areas)
        # And back.
        self.browser.click("#crumbs button")
        self.assertEqual({label for _, label, *_ in self.visible()}, everything)
        self.browser.run("history.back(); new Promise((done) => setTimeout(done, 200))")
        self.assertEqual(self.zoomed(), group)

    def test_the_script_lays_out_as_the_program_did(self):
        path = self.model()
        source = report_test.Page(path.read_bytes())
        drawn = {g["id"]: [float(g.children[1][name]) for name in ("x", "y", "width", "height")] for g in source["treemap"].all("g")}
        self.open(path)
        for identifier, _, *box in self.visible():
            for number, other in zip(box, drawn[identifier]):
                self.assertAlmostEqual(number, other, delta=0.02)

    def test_a_fragment_opens_what_it_names(self):
        path = self.model()
        self.browser.open(path)
        group = self.id_of("other.")
        self.open(path, f"#{group}")
        self.assertEqual(self.zoomed(), group)
        self.open(path, "#t4")
        self.assertTrue(self.browser.run('document.getElementById("t4").open'))
        self.open(path, "#m999999")
        self.assertEqual(self.zoomed(), "m0")

    def test_the_keyboard_alone(self):
        self.open(self.model())
        for _ in range(60):
            self.browser.press("Tab")
            if self.browser.run('document.activeElement.closest("#treemap") !== null'):
                break
        self.assertEqual(self.browser.run("document.activeElement.dataset.label"), "m.l.")
        self.assertEqual(self.browser.run('document.activeElement.getAttribute("role")'), "button")
        self.assertEqual(self.browser.run('document.activeElement.getAttribute("aria-label")'), "m.l.: 4 tensors, 8.6 KiB (64.7%)")
        self.browser.press("Enter", text="\r")
        self.assertEqual(self.crumbs(), ["All tensors", "m.l."])
        self.assertEqual(self.browser.run("document.activeElement.dataset.label"), "0.")
        self.browser.press("Escape")
        self.assertEqual(self.crumbs(), ["All tensors"])
        self.assertEqual(self.browser.run("document.activeElement.dataset.label"), "m.l.")

    def test_a_tensor_of_the_treemap_leads_to_what_is_said_of_it(self):
        self.open(self.model())
        self.browser.click(f"#{self.id_of('top')} > rect")
        self.browser.run("new Promise((done) => setTimeout(done, 100))")
        place = list(SIZES).index("top")
        self.assertEqual(self.browser.run("location.hash"), f"#t{place}")
        self.assertTrue(self.browser.run(f'document.getElementById("t{place}").open'))

    def test_the_table_is_filtered_and_sorted(self):
        self.open(self.model())
        names = '(() => Array.from(document.querySelectorAll("#tensor-table tbody tr")).filter((row) => !row.hidden).map((row) => row.cells[1].textContent))()'
        self.assertEqual(self.browser.run(names), list(SIZES))
        self.browser.run("""(() => {
            const input = document.querySelector(".tools input");
            input.value = "L.1 uint8";
            input.dispatchEvent(new Event("input"));
        })()""")
        self.assertEqual(self.browser.run(names), ["m.l.1.a", "m.l.1.b"])
        self.assertEqual(self.browser.run('document.querySelector(".tools [role=status]").textContent'), "2 of 7")
        self.browser.run('(() => { const input = document.querySelector(".tools input"); input.value = ""; input.dispatchEvent(new Event("input")); })()')
        size = "#tensor-table th:nth-child(7) button"
        self.browser.click(size)
        self.assertEqual(self.browser.run(names), sorted(SIZES, key=SIZES.get, reverse=True))
        self.assertEqual(self.browser.run(f'document.querySelector("{size}").parentElement.getAttribute("aria-sort")'), "descending")
        self.browser.click(size)
        self.assertEqual(self.browser.run(names), sorted(SIZES, key=SIZES.get))

    def test_text_is_readable_in_light_and_dark(self):
        """Contrast of text against what is behind it: WCAG's 4.5."""
        path = self.model()
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                self.open(path)
                worst = self.browser.run("""(() => {
                    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
                    const light = (rgb) => {
                        const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                    };
                    const contrast = (a, b) => {
                        const [x, y] = [light(numbers(a).slice(0, 3)), light(numbers(b).slice(0, 3))].sort((p, q) => q - p);
                        return (x + 0.05) / (y + 0.05);
                    };
                    const behind = (element) => {
                        for (; element; element = element.parentElement) {
                            const colour = getComputedStyle(element).backgroundColor;
                            if (numbers(colour)[3] !== 0) return colour;
                        }
                        return "rgb(255, 255, 255)";
                    };
                    let worst = [99, ""];
                    const note = (ratio, what) => { if (ratio < worst[0]) worst = [ratio, what]; };
                    for (const element of document.querySelectorAll("h1, h2, h3, p, a, td, th, dt, dd, small, button, summary, figcaption span")) {
                        note(contrast(getComputedStyle(element).color, behind(element)), element.outerHTML.slice(0, 80));
                    }
                    for (let i = 0; i < 10; ++i) {
                        const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
                        rect.setAttribute("class", "c" + i);
                        document.getElementById("treemap").append(rect);
                        const text = document.querySelector("#treemap .leaf text");
                        note(contrast(getComputedStyle(text).fill, getComputedStyle(rect).fill), "c" + i);
                        rect.remove();
                    }
                    return worst;
                })()""")
                self.assertGreaterEqual(worst[0], 4.5, worst)
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def test_paper_shows_all_tensors(self):
        self.open(self.model())
        pdf = self.browser.call("Page.printToPDF", preferCSSPageSize=False)["data"]
        self.assertGreater(len(pdf), 10_000)
        self.assertTrue(self.browser.run('Array.from(document.querySelectorAll("details.tensor")).every((one) => one.open)'))

    def test_no_wider_than_a_narrow_window(self):
        self.browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        try:
            self.open(self.model())
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 400)
        finally:
            self.browser.call("Emulation.clearDeviceMetricsOverride")

    def test_without_script_all_is_there(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            path = self.model()
            self.browser.open(path)
            text = self.browser.run("document.body.innerText")
            for name in SIZES:
                self.assertIn(name, text)
            self.assertEqual(self.browser.run('getComputedStyle(document.getElementById("crumbs")).display'), "none")
            self.assertEqual(self.browser.complaints(), [])
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled", value=False)

    def test_thousands_of_rectangles(self):
        path = self.page(support.safetensors({f"layer.{i // 50}.{i % 50}.w": ("U8", (10 + i % 7,), bytes(10 + i % 7)) for i in range(4000)}), "--limit", "20")
        self.open(path)
        milliseconds = self.browser.run("""(() => {
            const start = performance.now();
            location.hash = "#m1";
            return new Promise((done) => setTimeout(() => done(performance.now() - start), 0));
        })()""")
        self.assertLess(milliseconds, 5000)
        self.assertEqual(self.zoomed(), "m1")
