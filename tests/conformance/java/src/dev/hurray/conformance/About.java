package dev.hurray.conformance;

import dev.hurray.Hurray;
import dev.hurray.RuntimeInfo;
import java.util.LinkedHashMap;
import java.util.Map;

/** What runs here. */
final class About {
    private About() {}

    static Map<String, Object> runtime() {
        RuntimeInfo info = Hurray.runtimeInfo();
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("runtime", "java");
        facts.put("version", System.getProperty("java.version"));
        facts.put("abi_version", info.abiVersion());
        facts.put("build_id", info.buildId());
        facts.put("library_path", info.libraryPath());
        facts.put("channels", true);
        return facts;
    }
}
