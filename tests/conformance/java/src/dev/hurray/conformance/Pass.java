package dev.hurray.conformance;

import dev.hurray.FileFormat;
import dev.hurray.HandleKind;
import dev.hurray.Hurray;
import dev.hurray.ModelFile;
import dev.hurray.ModelFileWriter;
import dev.hurray.StreamReader;
import dev.hurray.StreamWriter;
import dev.hurray.Tensor;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Tensors of any kind from files, streams and channels to files, streams and channels, many times in one process. */
final class Pass {
    /** What takes a tensor with its name. */
    private interface Taker {
        void take(String name, Tensor tensor) throws IOException;
    }

    /** Where tensors come from one by one; empty at their end. */
    private interface Source {
        Optional<Tensor> next() throws IOException;
    }

    private final List<String> names;
    private long tensors;

    private Pass(List<String> names) {
        this.names = names;
    }

    static void run(String namesFile) throws IOException {
        Pass pass = new Pass(Relay.readNames(namesFile));
        long before = Hurray.liveHandles(HandleKind.ANY).handles();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] ends = line.split("\t", -1);
            if (ends.length != 2) {
                throw new IllegalArgumentException("expected two ends with a tab between them, got " + line);
            }
            pass.tensors = 0;
            pass.passOn(ends[0], ends[1]);
            Hurray.drainReleases();
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("tensors", pass.tensors);
            answer.put("live_handles", Hurray.liveHandles(HandleKind.ANY).handles() - before);
            System.out.println(JsonLines.text(answer));
            System.out.flush();
        }
    }

    private void passOn(String from, String to) throws IOException {
        String where = to.substring(to.indexOf(':') + 1);
        if (to.startsWith("hrry:")) {
            try (ModelFileWriter writer = ModelFileWriter.create(Path.of(where), FileFormat.HRRY)) {
                readAll(from, writer::add);
                writer.finish();
            }
        } else if (to.startsWith("stream:")) {
            try (FileOutputStream stream = new FileOutputStream(where);
                    StreamWriter writer = StreamWriter.of(stream.getFD())) {
                readAll(from, (name, tensor) -> writer.write(tensor));
            }
        } else if (to.startsWith("channel:")) {
            OptionalInt fd = OptionalInt.of(Integer.parseInt(where));
            try (Transport transport = new Transport(new Transport.Sockets(OptionalInt.empty(), fd))) {
                readAll(from, (name, tensor) -> transport.put(tensor));
                transport.finish(new LinkedHashMap<>());
            }
        } else {
            throw new IllegalArgumentException("no such end: " + to);
        }
    }

    private void readAll(String from, Taker taker) throws IOException {
        String where = from.substring(from.indexOf(':') + 1);
        if (from.startsWith("hrry:")) {
            try (ModelFile file = ModelFile.open(Path.of(where))) {
                for (String name : file.names()) {
                    take(name, file.tensor(tensors), taker);
                }
            }
        } else if (from.startsWith("stream:")) {
            try (FileInputStream stream = new FileInputStream(where);
                    StreamReader reader = StreamReader.of(stream.getFD())) {
                takeEach(reader::next, taker);
            }
        } else if (from.startsWith("channel:")) {
            OptionalInt fd = OptionalInt.of(Integer.parseInt(where));
            try (Transport transport = new Transport(new Transport.Sockets(fd, OptionalInt.empty()))) {
                takeEach(transport::next, taker);
            }
        } else {
            throw new IllegalArgumentException("no such end: " + from);
        }
    }

    private void takeEach(Source source, Taker taker) throws IOException {
        for (Optional<Tensor> next = source.next(); next.isPresent(); next = source.next()) {
            take(names.get((int) tensors), next.get(), taker);
        }
    }

    private void take(String name, Tensor arrived, Taker taker) throws IOException {
        try (Tensor tensor = Relay.exchanged(arrived)) {
            taker.take(name, tensor);
        }
        ++tensors;
    }
}
