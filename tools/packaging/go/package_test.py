"""The Go module: what is in it, the same bytes twice, and how it is published."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from tools.packaging.archives import Entry, write_zip
from tools.packaging.go.package import PLATFORMS, PackageError, entries, main, root_of
from tools.packaging.metadata import load
from tools.packaging.publish.go import PublishError, publish


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, data: bytes = b"x") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def inputs(self) -> dict[str, object]:
        names = [
            "README.md",
            "doc.go",
            "file_test.go",
            "example_test.go",
            "samples/layer/main.go",
            "samples/layer/main_test.go",
            "internal/native/native.c",
            "testdata/incomplete.c",
            "coverage.json",
            "_package/internal/native/package.go",
        ]
        return {
            "sources": [self.file("bindings/go/" + name) for name in names]
            + [self.file("bindings/go/go.mod", f"module {load().go_module}\n\ngo 1.23\n".encode())],
            "headers": [self.file("abi/include/hurray.h"), self.file("abi/include/hurray/abi.h")],
            "archives": {"linux-x86_64": self.file("libhurray.a", b"!<arch>\n")},
        }


class Contents(Case):
    def test_what_is_in_the_module(self) -> None:
        found = {entry.name: entry.data for entry in entries(load(), **self.inputs())}
        root = root_of(load()) + "/"
        self.assertEqual(
            sorted(name.removeprefix(root) for name in found),
            [
                "LICENSE",
                "README.md",
                "doc.go",
                "example_test.go",
                "go.mod",
                "internal/archive/archive.go",
                "internal/archive/libhurray-linux-x86_64.a",
                "internal/archive/unsupported.go",
                "internal/include/hurray.h",
                "internal/include/hurray/abi.h",
                "internal/native/native.c",
                "internal/native/package.go",
                "samples/layer/main.go",
            ],
        )
        self.assertIn(
            "// #cgo linux,amd64,!musl LDFLAGS: ${SRCDIR}/libhurray-linux-x86_64.a -l", found[root + "internal/archive/archive.go"].decode()
        )
        self.assertIn("//go:build !hurray_pkgconfig && !(linux && amd64 && !musl)\n", found[root + "internal/archive/unsupported.go"].decode())

    def test_every_platform_has_an_archive_of_its_own(self) -> None:
        inputs = self.inputs()
        inputs["archives"] = {name: self.file(name, b"!<arch>\n" + name.encode()) for name in PLATFORMS}
        found = {entry.name: entry.data for entry in entries(load(), **inputs)}
        for name in PLATFORMS:
            self.assertTrue(found[f"{root_of(load())}/internal/archive/libhurray-{name}.a"].endswith(name.encode()))
        linking = found[f"{root_of(load())}/internal/archive/archive.go"].decode()
        self.assertEqual(linking.count("// #cgo "), len(PLATFORMS))

    def test_what_go_would_refuse_or_miss_is_refused(self) -> None:
        def refuses(message: str, **changed: object) -> None:
            with self.assertRaisesRegex(PackageError, message):
                entries(load(), **{**self.inputs(), **changed})

        refuses("without any archive", archives={})
        refuses("expected one of", archives={"plan9-x86_64": self.file("x.a", b"!<arch>\n")})
        refuses("is no static archive", archives={"linux-x86_64": self.file("x.so", b"\x7fELF")})
        refuses("hurray.h is missing", headers=[self.file("include/hurray/abi.h")])
        refuses("does not lie below include/", headers=[self.file("elsewhere/hurray.h")])
        sources = self.inputs()["sources"]
        refuses("README.md is missing", sources=sources[1:])
        refuses("is there twice", sources=[*sources, self.file("other/bindings/go/doc.go")])
        refuses("capital letters", sources=[*sources, self.file("bindings/go/Doc.go")])
        refuses("leaves that out", sources=[*sources, self.file("bindings/go/vendor/a.go")])
        refuses("leaves that out", sources=[*sources, self.file("bindings/go/samples/go.mod")])
        refuses("expected module", sources=[*sources[:-1], self.file("foreign/bindings/go/go.mod", b"module example.org/x\n")])
        other = f"module {load().go_module}\nreplace a => ../a\n".encode()
        refuses("no replacements", sources=[*sources[:-1], self.file("foreign/bindings/go/go.mod", other)])

    def test_the_same_bytes_twice_whatever_the_order_and_the_times(self) -> None:
        inputs = self.inputs()
        sources = [str(source) for source in inputs["sources"]]
        outs = []
        for number, order in enumerate((sources, sources[::-1])):
            out = self.folder / f"{number}.zip"
            for file in self.folder.rglob("*"):
                os.utime(file, (10**9 * (number + 1),) * 2)
            arguments = [word for source in order for word in ("--source", source)]
            arguments += [word for header in inputs["headers"] for word in ("--header", str(header))]
            self.assertEqual(main([*arguments, "--archive", f"linux-x86_64={inputs['archives']['linux-x86_64']}", "--out", str(out)]), 0)
            outs.append(out.read_bytes())
        self.assertEqual(outs[0], outs[1])


class Publishing(Case):
    def package(self, version: str = "v0.1.0", data: bytes = b"one", module: str = "example.org/a/module") -> Path:
        out = self.folder / f"{version}-{data.decode()}.zip"
        names = {"go.mod": f"module {module}\n".encode(), "doc.go": b"package module\n", "folder/data": data}
        write_zip(out, [Entry(f"{module}@{version}/{name}", bytes_) for name, bytes_ in names.items()])
        return out

    def test_a_folder_is_laid_out_as_a_proxy(self) -> None:
        proxy = self.folder / "proxy"
        for version in ("v0.10.0", "v0.9.0"):
            publish([self.package(version)], proxy)
        publish([self.package("v0.9.0")], proxy)
        folder = proxy / "example.org/a/module/@v"
        self.assertEqual((folder / "list").read_text(), "v0.9.0\nv0.10.0\n")
        self.assertEqual(json.loads((folder / "v0.9.0.info").read_text())["Version"], "v0.9.0")
        self.assertEqual((folder / "v0.9.0.mod").read_text(), "module example.org/a/module\n")
        self.assertEqual((folder / "v0.9.0.zip").read_bytes(), self.package("v0.9.0").read_bytes())

    def test_what_is_published_stays_as_it_is(self) -> None:
        proxy = self.folder / "proxy"
        publish([self.package()], proxy)
        with self.assertRaisesRegex(PublishError, "published already, with other bytes"):
            publish([self.package(data=b"other")], proxy)
        self.assertEqual((proxy / "example.org/a/module/@v/v0.1.0.zip").read_bytes(), self.package().read_bytes())

    def test_what_is_no_module_is_refused(self) -> None:
        plain = self.folder / "plain.zip"
        with zipfile.ZipFile(plain, "w") as archive:
            archive.writestr("go.mod", "module x\n")
        for file in (plain, self.file("text.zip"), self.package("v1"), self.package(module="example.org/Module")):
            with self.assertRaises(PublishError):
                publish([file], self.folder / "proxy")

    def git(self, *arguments: str, at: Path | None = None) -> str:
        return subprocess.run(["git", *arguments], cwd=at or self.folder, check=True, capture_output=True, text=True).stdout

    def repository(self) -> tuple[Path, str]:
        bare = self.folder / "upstream.git"
        self.git("init", "--quiet", "--bare", str(bare))
        return bare, f"file://{bare}"

    def identity(self) -> mock._patch_dict:
        words = {f"GIT_{who}_{what}": f"{what.lower()}@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return mock.patch.dict(os.environ, {**words, "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"})

    def test_a_repository_gets_a_commit_and_a_tag(self) -> None:
        with self.identity():
            bare, url = self.repository()
            publish([self.package("v0.1.0")], url)
            publish([self.package("v0.2.0", b"two")], url)
            self.assertEqual(self.git("tag", at=bare).split(), ["v0.1.0", "v0.2.0"])
            self.assertEqual(self.git("show", "v0.1.0:folder/data", at=bare), "one")
            self.assertEqual(self.git("show", "v0.2.0:folder/data", at=bare), "two")
            self.assertEqual(self.git("ls-tree", "-r", "--name-only", "v0.2.0", at=bare).split(), ["doc.go", "folder/data", "go.mod"])
            # The same once more changes nothing, other bytes are refused.
            publish([self.package("v0.1.0")], url)
            with self.assertRaisesRegex(PublishError, "published already, with other bytes"):
                publish([self.package("v0.1.0", b"other")], url)
            self.assertEqual(len(self.git("rev-list", "--all", at=bare).split()), 2)

    def test_without_git_or_a_repository_nothing_is_published(self) -> None:
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(PublishError, "git is not installed"):
            publish([self.package()], "https://example.org/module.git")
        with self.identity(), self.assertRaisesRegex(PublishError, "git clone: "):
            publish([self.package()], f"file://{self.folder}/none.git")


if __name__ == "__main__":
    unittest.main()
