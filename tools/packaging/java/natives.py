"""The jar with the native code for one platform: a module that provides it as a service, so that it is found on the class path
and on the module path alike."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from tools.packaging.archives import Entry
from tools.packaging.java import jdk
from tools.packaging.metadata import Metadata

SERVICE = "dev.hurray.spi.NativeLibrary"
_MODULE = """/** The native code of Hurray for {classifier}. */
module {package} {{
    requires dev.hurray;

    provides {service} with {package}.Library;
}}
"""
_PROVIDER = """package {package};

import java.io.IOException;
import java.io.InputStream;

/** What the jar for {classifier} has. */
public final class Library implements {service} {{
    /** For the service loader. */
    public Library() {{}}

    @Override
    public String platform() {{
        return "{classifier}";
    }}

    @Override
    public String fileName() {{
        return "{file_name}";
    }}

    @Override
    public String sha256() {{
        return "{sha256}";
    }}

    @Override
    public InputStream open() throws IOException {{
        InputStream bytes = Library.class.getResourceAsStream("{file_name}");
        if (bytes == null) {{
            throw new IOException("the jar for {classifier} has no {file_name}");
        }}
        return bytes;
    }}
}}
"""


class NativesError(ValueError):
    """What is to be packed is not what the loader looks for. The message says what."""


def package_of(classifier: str) -> str:
    """The package and module of a classifier, such as dev.hurray.natives.linux_x86_64."""
    return "dev.hurray.natives." + classifier.replace("-", "_")


def file_name_of(classifier: str) -> str:
    """What the operating system calls a JNI library."""
    system = classifier.split("-")[0]
    if system not in ("linux", "osx", "windows") or not re.fullmatch(r"[a-z0-9_]+(-[a-z0-9_]+)+", classifier):
        raise NativesError(f"{classifier}: expected a classifier such as linux-x86_64")
    return {"linux": "libhurray_jni.so", "osx": "libhurray_jni.dylib", "windows": "hurray_jni.dll"}[system]


def entries(metadata: Metadata, classifier: str, library: bytes, main_jar: Path, scratch: Path, tools: jdk.Jdk) -> list[Entry]:
    """All files of the jar."""
    package = package_of(classifier)
    values = {
        "classifier": classifier,
        "package": package,
        "service": SERVICE,
        "file_name": file_name_of(classifier),
        "sha256": hashlib.sha256(library).hexdigest(),
    }
    folder = package.replace(".", "/")
    classes = tools.compile(
        {"module-info.java": _MODULE.format(**values), f"{folder}/Library.java": _PROVIDER.format(**values)},
        scratch / classifier,
        ["-p", str(main_jar)],
    )
    resources = {"resources": {"includes": [{"pattern": f"\\Q{folder}/{values['file_name']}\\E"}]}}
    metadata_folder = f"META-INF/native-image/{metadata.java_group}/hurray-{classifier}"
    return [
        Entry("META-INF/MANIFEST.MF", jdk.manifest({"Implementation-Title": package, "Implementation-Version": metadata.version})),
        Entry("META-INF/LICENSE", metadata.licence_text),
        Entry(f"META-INF/services/{SERVICE}", f"{package}.Library\n".encode()),
        Entry(f"{metadata_folder}/resource-config.json", json.dumps(resources, indent=2).encode() + b"\n"),
        Entry(f"{folder}/{values['file_name']}", library),
        *classes,
    ]
