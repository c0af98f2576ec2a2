"""Names of tests in every language; what is switched off or no test is none."""

import pathlib
import tempfile
import unittest

from contract import test_names


class TestNamesTest(unittest.TestCase):
    def names(self, file, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / file
            path.write_text(text, encoding="utf-8")
            return test_names.of_file(path)

    def test_cpp(self):
        self.assertEqual(self.names("a.cpp", """
TEST(Suite, One) {}
TEST_F(Fixture,
       Two) {}
  TEST_P(Values, Three) {}
// TEST(Suite, Comment) {}
TEST(Suite, DISABLED_Four) {}
TEST(DISABLED_Suite, Five) {}
EXPECT_TEST(Suite, Six)
"""), {"Suite.One", "Fixture.Two", "Values.Three"})

    def test_python(self):
        self.assertEqual(self.names("a.py", """
import unittest
class One(unittest.TestCase):
    def test_it(self): pass
    def helper(self): pass
    @unittest.skip("not now")
    def test_skipped(self): pass
    @unittest.skipUnless(True, "sometimes")
    def test_sometimes(self): pass
def test_function(): pass
"""), {"One.test_it", "One.test_sometimes"})

    def test_java(self):
        self.assertEqual(self.names("BoxTest.java", """
class BoxTest {
    @Test
    void opens() {}
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void opensTwice(int times) throws Exception {}
    @Test
    @Disabled
    void never() {}
    @Test
    @Disabled("why")
    void neverWithAReason() {}
    void helper() {}
}
"""), {"BoxTest.opens", "BoxTest.opensTwice"})

    def test_csharp(self):
        self.assertEqual(self.names("Box.cs", """
public sealed class BoxTests : Base
{
    [Fact]
    public void Opens() => Other();
    [Theory]
    [InlineData("a; {b}")]
    public async Task Opens_later(string text)
    {
    }
    private sealed class Helper
    {
        public void Help() {}
    }
    [Fact(Skip = "not now")]
    public void Never() {}
    [Fact]
    public void Shuts() {}
    private void Helper() {}
}
public unsafe class LidTests
{
    [Fact] public void Shuts() {}
}
"""), {"BoxTests.Opens", "BoxTests.Opens_later", "BoxTests.Shuts", "LidTests.Shuts"})

    def test_go(self):
        text = """
func TestOne(t *testing.T) {}
func TestMain(m *testing.M) {}
func ExampleBox() {}
func FuzzBox(f *testing.F) {}
func (b box) TestTwo(t *testing.T) {}
func testThree(t *testing.T) {}
// func TestFour(t *testing.T) {}
"""
        self.assertEqual(self.names("a_test.go", text), {"TestOne", "ExampleBox", "FuzzBox"})
        self.assertEqual(self.names("a.go", text), set(), "go test runs files that end with _test.go only")

    def test_zig(self):
        self.assertEqual(self.names("a.zig", """
test "one thing" {
}
test {
    _ = @import("b.zig");
}
// test "a comment" {
"""), {"one thing"})

    def test_zig_runs_what_it_imports(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "root.zig").write_text('test {\n    _ = @import("a.zig");\n    _ = @import("std");\n}\n', encoding="utf-8")
            (folder / "a.zig").write_text('const b = @import("b.zig");\nconst r = @import("root.zig");\n', encoding="utf-8")
            (folder / "b.zig").write_text('test "b" {\n}\n', encoding="utf-8")
            (folder / "c.zig").write_text('test "c" {\n}\n', encoding="utf-8")
            self.assertEqual([path.name for path in test_names.zig_files(folder / "root.zig")], ["root.zig", "a.zig", "b.zig"])

    def test_other_files_have_no_tests(self):
        self.assertEqual(self.names("a.sh", "TEST(Suite, One)"), set())


if __name__ == "__main__":
    unittest.main()
