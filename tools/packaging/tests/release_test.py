"""tools/release: all packages of this machine into local registries, with one command; nothing goes out by halves."""

import os
import tempfile
import unittest
from pathlib import Path

from tools.packaging import release
from tools.packaging.metadata import load

DIST = Path(os.environ["HURRAY_DIST"])
VERSION = load().version


class Destinations(unittest.TestCase):
    def test_one_folder_holds_a_registry_for_each_language(self):
        self.assertEqual(
            release.destinations(["out"]),
            {"cpp": "out/archives", "csharp": "out/nuget", "go": "out/goproxy", "java": "out/maven", "python": "out"},
        )

    def test_a_language_may_go_elsewhere_whatever_the_order(self):
        for asked in (["out", "go=https://example.org/x.git"], ["go=https://example.org/x.git", "out"]):
            found = release.destinations(asked)
            self.assertEqual(found["go"], "https://example.org/x.git")
            self.assertEqual(found["java"], "out/maven")

    def test_only_what_is_named_is_published(self):
        self.assertEqual(release.destinations(["java=out"]), {"java": "out"})

    def test_a_url_for_all_is_refused(self):
        with self.assertRaisesRegex(release.ReleaseError, "which language"):
            release.destinations(["https://example.org/"])

    def test_a_language_without_a_place_is_refused(self):
        with self.assertRaisesRegex(release.ReleaseError, "behind the ="):
            release.destinations(["go="])


class Publishing(unittest.TestCase):
    def test_every_registry_has_its_community_s_form_and_a_second_time_changes_nothing(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            release.publish(DIST, release.destinations([scratch]))
            expected = {
                f"maven/dev/hurray/hurray/{VERSION}/hurray-{VERSION}.{end}" for end in ("jar", "pom", "pom.sha256")
            } | {"simple/index.html", "simple/hurray/index.html", "archives/SHA256SUMS"}
            files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
            self.assertEqual(expected - set(files), set())
            for pattern in ("nuget/*.nupkg", "nuget/*.snupkg", f"goproxy/**/@v/v{VERSION}.zip", "simple/hurray/*.whl", "archives/*.tar.gz"):
                self.assertTrue(list(root.glob(pattern)), pattern)
            release.publish(DIST, release.destinations([scratch]))
            again = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
            self.assertEqual(files, again)

    def test_nothing_is_published_when_a_language_is_missing(self):
        with tempfile.TemporaryDirectory() as scratch:
            built, out = Path(scratch) / "built", Path(scratch) / "out"
            (built / "cpp").mkdir(parents=True)
            (built / "cpp" / f"hurray-{VERSION}-linux-x86_64.tar.gz").write_bytes(b"")
            with self.assertRaisesRegex(release.ReleaseError, "csharp: no package"):
                release.publish(built, release.destinations([str(out)]))
            self.assertFalse(out.exists())
            self.assertEqual(release.main(["--from", str(built), "--publish-to", str(out)]), 1)


if __name__ == "__main__":
    unittest.main()
