# Maven Surefire with JUnit Jupiter.
version "maven-surefire-plugin" "3.5.6, 3.6.1"
version "junit-jupiter" 5.14.4
project pom.xml <<'XML'
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>log</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.14.4</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>${surefire}</version>
        <configuration>
          <reportsDirectory>${env.REPORTS}</reportsDirectory>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
XML
project src/test/java/Note.java <<'JAVA'
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
project src/test/java/LogTest.java <<'JAVA'
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
for surefire in 3.5.6 3.6.1; do
    runs "Surefire $surefire, rerunFailingTestsCount 2" mvn -B -q -ntp test -Dsurefire="$surefire" -Dsurefire.rerunFailingTestsCount=2
done
