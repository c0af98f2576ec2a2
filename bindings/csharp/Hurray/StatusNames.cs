using System;
using System.Text;

namespace Hurray;

/// <summary>Names of status codes without asking the library: an error may be that there is none.</summary>
internal static class StatusNames
{
    /// <summary>InvalidLayout as INVALID_LAYOUT; UNKNOWN for a code without a name.</summary>
    public static string Of(HurrayStatus code)
    {
        string? name = Enum.GetName(code);
        if (name is null)
        {
            return "UNKNOWN";
        }

        var spelled = new StringBuilder();
        foreach (char c in name)
        {
            if (char.IsAsciiLetterUpper(c) && spelled.Length != 0)
            {
                spelled.Append('_');
            }

            spelled.Append(char.ToUpperInvariant(c));
        }

        return spelled.ToString();
    }
}
