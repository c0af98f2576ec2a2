"""Reads the pages of hurray report: HTML into a tree, drawings as XML."""

import base64
import hashlib
import html.parser
import re
import xml.etree.ElementTree as xml

_VOID = {"meta", "input", "br", "img", "link", "hr", "base"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children, self.pieces = [], []

    def __getitem__(self, name):
        return self.attributes[name]

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, tag=None, css=None):
        """All elements inside of that tag and class."""
        for element in self.walk():
            if element is self or (tag is not None and element.tag != tag):
                continue
            if css is None or css in (element.get("class") or "").split():
                yield element

    def one(self, tag=None, css=None):
        found = list(self.all(tag, css))
        if len(found) != 1:
            raise AssertionError(f"{len(found)} elements {tag} {css}, not one")
        return found[0]

    def text(self):
        return "".join(piece if isinstance(piece, str) else piece.text() for piece in self.pieces)

    def rows(self):
        """Of a table: the cells of its body, row by row."""
        return [[cell for cell in row.children if cell.tag in ("td", "th")] for row in self.one("tbody").all("tr")]


class _Builder(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Element("", {}, None)
        self.at = self.root

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(set(names)) != len(names):
            raise AssertionError(f"<{tag}> has an attribute twice: {names}")
        element = Element(tag, dict(attrs), self.at)
        self.at.children.append(element)
        self.at.pieces.append(element)
        if tag not in _VOID:
            self.at = element

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.at = self.at.parent

    def handle_endtag(self, tag):
        if tag != self.at.tag:
            raise AssertionError(f"</{tag}> ends <{self.at.tag}> at line {self.getpos()[0]}")
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.pieces.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"there is a comment: {data[:80]!r}")

    def unknown_decl(self, data):
        raise AssertionError(f"there is a declaration: {data[:80]!r}")

    handle_pi = unknown_decl


class Page:
    """A page whose structure is right: tags end in order, ids are there once, references lead to something, nothing comes
    from elsewhere, and the content security policy allows the style and script that are there and no others."""

    def __init__(self, source):
        self.source = source.decode("utf-8") if isinstance(source, bytes) else source
        builder = _Builder()
        builder.feed(self.source)
        builder.close()
        if builder.at is not builder.root:
            raise AssertionError(f"<{builder.at.tag}> does not end")
        self.root = builder.root
        self.ids = {}
        for element in self.root.walk():
            name = element.get("id")
            if name is None:
                continue
            if name in self.ids:
                raise AssertionError(f"the id {name} is there twice")
            self.ids[name] = element
        self._check_references()
        self._check_alone()
        self.drawings = [xml.fromstring(text) for text in re.findall(r"<svg\b.*?</svg>", self.source, re.S)]

    def __getitem__(self, name):
        return self.ids[name]

    def __contains__(self, name):
        return name in self.ids

    def _check_references(self):
        for element in self.root.walk():
            for name in ("aria-labelledby", "aria-describedby", "for"):
                for target in (element.get(name) or "").split():
                    if target not in self.ids:
                        raise AssertionError(f"{name} of <{element.tag}> leads nowhere: {target}")
            href = element.get("href")
            if href is not None and (not href.startswith("#") or href[1:] not in self.ids):
                raise AssertionError(f"a link leads nowhere: {href}")
            tensor = element.get("data-tensor")
            if tensor is not None and tensor not in self.ids:
                raise AssertionError(f"a rectangle leads nowhere: {tensor}")

    def _check_alone(self):
        counts = {"script": 0, "style": 0}
        for element in self.root.walk():
            if element.tag in counts:
                counts[element.tag] += 1
            if element.tag in ("img", "iframe", "object", "embed", "link", "base", "form", "video", "audio", "source", "image", "use"):
                raise AssertionError(f"there is <{element.tag}>")
            for name in element.attributes:
                if name in ("src", "srcset", "style", "xlink:href", "action", "srcdoc") or name.startswith("on"):
                    raise AssertionError(f"<{element.tag}> has {name}")
        if counts != {"script": 1, "style": 1}:
            raise AssertionError(f"not one script and one style: {counts}")
        policy = next(e["content"] for e in self.root.all("meta") if e.get("http-equiv") == "Content-Security-Policy")
        for tag in counts:
            digest = base64.b64encode(hashlib.sha256(self.root.one(tag).text().encode()).digest()).decode()
            if f"{tag}-src 'sha256-{digest}'" not in policy:
                raise AssertionError(f"the policy is not that of the {tag}: {policy}")
        if "default-src 'none'" not in policy or "unsafe" in policy:
            raise AssertionError(policy)
        style = self.root.one("style").text()
        if "url(" in style or "@import" in style:
            raise AssertionError("the style loads something")

    def table(self, name):
        return self.ids[name].rows()

    def tensor(self, index):
        """What is said of a tensor that was looked at closely."""
        return Tensor(self.ids[f"t{index}"])


class Tensor:
    def __init__(self, element):
        self.element = element

    def numbers(self):
        """{"Minimum": -1.0}: the exact values of the facts."""
        found = {}
        for fact in self.element.all("dl"):
            for pair in fact.children:
                name, value = pair.children
                if value.get("data-value") is not None:
                    found[name.text()] = float(value["data-value"])
        return found

    def bins(self):
        """Edges, one more than counts, and counts."""
        rows = self.element.one("table", "bins").rows()
        cells = [[float(cell["data-value"]) for cell in row] for row in rows]
        return [row[0] for row in cells] + [cells[-1][1]], [int(row[2]) for row in cells]

    def costs(self):
        """{scheme: (bits, rms, largest, dB) or the words of a refusal}; none where nothing was tried."""
        found = {}
        for table in self.element.all("table", "costs"):
            for row in table.rows():
                cells = row[1:]
                found[row[0].text()] = cells[0].text() if len(cells) == 1 else tuple(float(c["data-value"]) for c in cells)
        return found

    def text(self):
        return self.element.text()
