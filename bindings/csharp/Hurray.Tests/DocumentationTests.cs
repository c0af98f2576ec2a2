using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Xml.Linq;
using Xunit;

namespace Hurray.Tests;

/// <summary>The API reference is the XML documentation beside the assembly. The compiler refuses public members without any; this looks at
/// what came out.</summary>
public class DocumentationTests
{
    [Fact]
    public void Every_public_type_says_what_it_is_in_the_reference()
    {
        string file = Path.ChangeExtension(typeof(Tensor).Assembly.Location, ".xml");
        HashSet<string> documented = XDocument.Load(file).Descendants("member")
            .Where(member => !string.IsNullOrWhiteSpace(member.Element("summary")?.Value))
            .Select(member => member.Attribute("name")!.Value)
            .ToHashSet();
        Type[] types = typeof(Tensor).Assembly.GetExportedTypes();
        Assert.NotEmpty(types);
        Assert.All(types, type => Assert.Contains($"T:{type.FullName!.Replace('+', '.')}", documented));
    }

    [Fact]
    public void Nothing_in_the_reference_leads_nowhere()
    {
        // A cref that the compiler did not find starts with "!".
        string file = Path.ChangeExtension(typeof(Tensor).Assembly.Location, ".xml");
        Assert.All(XDocument.Load(file).Descendants().Attributes("cref"), cref => Assert.NotEqual('!', cref.Value[0]));
    }
}
