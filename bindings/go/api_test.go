package hurray_test

import (
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// packageSources are the files of the package, without its tests, for this platform and the others.
func packageSources(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	files := token.NewFileSet()
	own := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	packages := value(parser.ParseDir(files, ".", own, parser.ParseComments))(t)
	if len(packages) != 1 || packages["hurray"] == nil {
		t.Fatalf("%v", packages)
	}
	var parsed []*ast.File
	for _, file := range packages["hurray"].Files {
		parsed = append(parsed, file)
	}
	return files, parsed
}

// begins reports whether a comment is that of a name as go doc wants it: a sentence that begins with it.
func begins(comment, name string) bool {
	for _, article := range []string{"", "A ", "An ", "The "} {
		if rest, is := strings.CutPrefix(comment, article+name); is && rest != "" && strings.ContainsRune(" :,.'(\n", rune(rest[0])) {
			return true
		}
	}
	return false
}

// Everything that is exported has a comment, which begins with its name; see begins for the form. Values of a group may
// share the comment of the group.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	files, parsed := packageSources(t)
	documentation := value(doc.NewFromFiles(files, parsed, "hurray.dev/go/hurray"))(t)
	if !begins(documentation.Doc, "Package hurray") {
		t.Errorf("the package's comment begins with %.40q", documentation.Doc)
	}
	checked := 0
	check := func(comment, name string) {
		checked++
		if last := name[strings.LastIndexByte(name, '.')+1:]; !begins(comment, last) {
			t.Errorf("%s: its comment begins with %.60q", name, comment)
		}
	}
	functions := func(found []*doc.Func, of string) {
		for _, f := range found {
			check(f.Doc, of+f.Name)
		}
	}
	values := func(found []*doc.Value) {
		for _, group := range found {
			for _, spec := range group.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				if !spec.Names[0].IsExported() {
					continue
				}
				if group.Decl.Lparen != 0 && spec.Doc == nil && group.Doc != "" {
					checked++
					continue
				}
				comment := group.Doc
				if spec.Doc != nil {
					comment = spec.Doc.Text()
				}
				check(comment, spec.Names[0].Name)
			}
		}
	}
	functions(documentation.Funcs, "")
	values(documentation.Consts)
	values(documentation.Vars)
	for _, kind := range documentation.Types {
		check(kind.Doc, kind.Name)
		functions(kind.Funcs, "")
		functions(kind.Methods, kind.Name+".")
		values(kind.Consts)
		values(kind.Vars)
	}
	if checked < 200 {
		t.Errorf("only %d names were checked", checked)
	}
}

func TestTheFormOfCommentsThatIsAskedFor(t *testing.T) {
	for comment, good := range map[string]bool{
		"Open opens.": true, "An Open is one.": true, "Open: opens.": true,
		"": false, "opens.": false, "Opens it.": false, "Open": false, "It is Open.": false,
	} {
		if begins(comment, "Open") != good {
			t.Errorf("%q", comment)
		}
	}
}

// exported are all names that a program can write: functions, types, and Type.Member for methods and fields.
func exported(t *testing.T) map[string]bool {
	names := map[string]bool{}
	_, parsed := packageSources(t)
	for _, file := range parsed {
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				names[receiver(declaration)+declaration.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					if spec, is := spec.(*ast.TypeSpec); is {
						names[spec.Name.Name] = true
						members(spec, names)
					}
				}
			}
		}
	}
	return names
}

func receiver(declaration *ast.FuncDecl) string {
	if declaration.Recv == nil {
		return ""
	}
	kind := declaration.Recv.List[0].Type
	if pointer, is := kind.(*ast.StarExpr); is {
		kind = pointer.X
	}
	if name, is := kind.(*ast.Ident); is {
		return name.Name + "."
	}
	return "?."
}

func members(spec *ast.TypeSpec, names map[string]bool) {
	var list []*ast.Field
	switch kind := spec.Type.(type) {
	case *ast.StructType:
		list = kind.Fields.List
	case *ast.InterfaceType:
		list = kind.Methods.List
	}
	for _, field := range list {
		for _, name := range field.Names {
			names[spec.Name.Name+"."+name.Name] = true
		}
	}
}

// coverage.json says through what each function of the C ABI is reached: all of that is there.
func TestCoverageNamesWhatIsThere(t *testing.T) {
	var table map[string]any
	ok(t, json.Unmarshal(value(os.ReadFile("coverage.json"))(t), &table))
	names := exported(t)
	for function, through := range table {
		if function == "-" {
			for function, why := range through.(map[string]any) {
				if text, is := why.(string); !is || text == "" || table[function] != nil {
					t.Errorf("%s: %v", function, why)
				}
			}
			continue
		}
		for _, name := range strings.Split(through.(string), ", ") {
			last := name[strings.LastIndexByte(name, '.')+1:]
			if !names[name] || !ast.IsExported(last) {
				t.Errorf("%s: there is no %s", function, name)
			}
		}
	}
}
