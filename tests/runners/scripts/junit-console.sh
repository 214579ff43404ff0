# The console of the JUnit Platform.
console=6.1.3
version junit-platform-console-standalone $console
mvn -B -q -ntp dependency:copy "-Dartifact=org.junit.platform:junit-platform-console-standalone:$console" -DoutputDirectory=. -Dmdep.stripVersion=true >>"$LOG" 2>&1
jar=junit-platform-console-standalone.jar
project Note.java <<'JAVA'
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

class Note {
    static final Path RAN = Path.of(System.getenv("RAN"));

    static void note(String test, String outcome) throws Exception {
        Files.writeString(RAN, test + " " + outcome + "\n", StandardOpenOption.APPEND);
    }

    static boolean again() throws Exception {
        boolean again = Files.readString(RAN).contains("flaky");
        note("flaky", again ? "P" : "F");
        return again;
    }
}
JAVA
project LogTest.java <<'JAVA'
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

class LogTest {
    @Test
    void passes() throws Exception {
        Note.note("passes", "P");
    }

    @Test
    void fails() throws Exception {
        Note.note("fails", "F");
        fail("17 records are gone");
    }

    @Test
    void errors() throws Exception {
        Note.note("errors", "E");
        throw new IllegalStateException("17 records are gone");
    }

    @Test
    void flaky() throws Exception {
        assertTrue(Note.again(), "17 records are gone");
    }

    @Test
    @Disabled("no disk")
    void skips() {}
}
JAVA
javac -cp $jar -d classes ./*.java >>"$LOG" 2>&1
runs "--reports-dir" sh -c 'java -jar junit-platform-console-standalone.jar execute --class-path classes --scan-class-path --reports-dir "$REPORTS"'
