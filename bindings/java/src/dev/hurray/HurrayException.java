package dev.hurray;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A failed operation: its code, and a message that says what is wrong, where, and what was expected. */
public class HurrayException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Pattern PLACE = Pattern.compile(" \\[byte ([0-9]{1,20})\\]$");

    /** The code, as far as this version knows it. */
    private final StatusCode code;

    /** The number of the code. */
    private final int status;

    /**
     * Makes an exception of a status code of the C ABI.
     *
     * @param status the number, also one that this version does not know
     * @param message what is wrong
     */
    public HurrayException(int status, String message) {
        super(message);
        this.code = StatusCode.of(status);
        this.status = status;
    }

    /** Makes an exception for a failure that the binding itself found. */
    HurrayException(StatusCode code, String message) {
        this(code.value(), message);
    }

    /** The kind of failure; {@link StatusCode#UNKNOWN} for a code that this version does not know. */
    public StatusCode code() {
        return code;
    }

    /** The number behind {@link #code()}, as the library returned it. */
    public int status() {
        return status;
    }

    /** Where in the input the fault lies, in bytes from its start, when it has such a place. */
    public OptionalLong byteOffset() {
        Matcher place = PLACE.matcher(getMessage());
        if (!place.find()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(place.group(1)));
        } catch (NumberFormatException tooLarge) {
            return OptionalLong.empty();
        }
    }
}
