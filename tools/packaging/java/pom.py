"""The POM: what Maven, Gradle and others read of the package."""

from __future__ import annotations

from xml.sax.saxutils import escape

from tools.packaging.metadata import Metadata

ARTIFACT = "hurray"


def pom(metadata: Metadata) -> bytes:
    """As it lies beside the jar, and inside of it."""
    developers = "".join(
        f"    <developer>\n      <name>{escape(author)}</name>\n    </developer>\n" for author in metadata.authors
    )
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{escape(metadata.java_group)}</groupId>
  <artifactId>{ARTIFACT}</artifactId>
  <version>{metadata.version}</version>
  <packaging>jar</packaging>
  <name>{escape(metadata.title)}</name>
  <description>{escape(metadata.description)}</description>
  <url>{escape(metadata.url)}</url>
  <licenses>
    <license>
      <name>{escape(metadata.licence)}</name>
      <url>{escape(metadata.licence_url)}</url>
    </license>
  </licenses>
  <developers>
{developers}  </developers>
  <scm>
    <url>{escape(metadata.url)}</url>
  </scm>
</project>
"""
    return text.encode()
