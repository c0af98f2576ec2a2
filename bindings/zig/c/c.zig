//! The C header as Zig sees it, and nothing else. A build may put `addTranslateC` of hurray.h in the place of this module.

/// The declarations of hurray.h. No function is called through them: the package finds those by name at run time.
pub const c = @cImport(@cInclude("hurray.h"));
