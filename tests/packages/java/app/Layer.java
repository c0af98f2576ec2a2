package app;

import dev.hurray.ModelFile;
import dev.hurray.Tensor;
import java.nio.FloatBuffer;
import java.nio.file.Path;

/** One layer of a model: relu(weight x + bias), of the file and the numbers that the command line names. */
public final class Layer {
    private Layer() {}

    public static void main(String[] arguments) {
        float[] x = new float[arguments.length - 1];
        for (int i = 0; i < x.length; ++i) {
            x[i] = Float.parseFloat(arguments[i + 1]);
        }
        try (ModelFile file = ModelFile.open(Path.of(arguments[0]));
                Tensor weight = file.tensor("l\u00e4yer.weight");
                Tensor bias = file.tensor("l\u00e4yer.bias")) {
            FloatBuffer rows = weight.view().floats();
            FloatBuffer offsets = bias.view().floats();
            StringBuilder y = new StringBuilder();
            for (int row = 0; row < offsets.remaining(); ++row) {
                float sum = offsets.get(row);
                for (int column = 0; column < x.length; ++column) {
                    sum += rows.get(row * x.length + column) * x[column];
                }
                y.append(row == 0 ? "" : " ").append(Math.max(0, sum));
            }
            System.out.println(y);
        }
    }
}
