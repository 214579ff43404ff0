# TestNG: its own reports, and those of Maven Surefire.
version testng 7.12.0
version "maven-surefire-plugin" "3.5.6, 3.6.1"
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
      <groupId>org.testng</groupId>
      <artifactId>testng</artifactId>
      <version>7.12.0</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>${surefire}</version>
        <configuration>
          <reportsDirectory>${env.REPORTS}</reportsDirectory>
          <properties>
            <property>
              <name>listener</name>
              <value>Retries</value>
            </property>
          </properties>
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
project src/test/java/Retries.java <<'JAVA'
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import org.testng.IAnnotationTransformer;
import org.testng.IRetryAnalyzer;
import org.testng.ITestResult;
import org.testng.annotations.ITestAnnotation;

public class Retries implements IAnnotationTransformer {
    public static class Twice implements IRetryAnalyzer {
        private int retries;

        @Override
        public boolean retry(ITestResult result) {
            return retries++ < 2;
        }
    }

    @Override
    public void transform(ITestAnnotation annotation, Class type, Constructor constructor, Method method) {
        annotation.setRetryAnalyzer(Twice.class);
    }
}
JAVA
project src/test/java/LogTest.java <<'JAVA'
import static org.testng.Assert.assertTrue;
import static org.testng.Assert.fail;

import org.testng.SkipException;
import org.testng.annotations.Test;

public class LogTest {
    @Test
    public void passes() throws Exception {
        Note.note("passes", "P");
    }

    @Test
    public void fails() throws Exception {
        Note.note("fails", "F");
        fail("17 records are gone");
    }

    @Test
    public void errors() throws Exception {
        Note.note("errors", "E");
        throw new IllegalStateException("17 records are gone");
    }

    @Test
    public void flaky() throws Exception {
        assertTrue(Note.again(), "17 records are gone");
    }

    @Test(enabled = false)
    public void skips() {}
}
JAVA
project own <<'SH'
mvn -B -q -ntp test -Dsurefire=3.5.6
mv "$REPORTS/junitreports" kept
find "$REPORTS" -name "*.xml" -delete
mv kept/* "$REPORTS"
SH
runs "Surefire 3.6.1, IRetryAnalyzer" mvn -B -q -ntp test -Dsurefire=3.6.1
runs "Surefire 3.5.6: junitreports alone, IRetryAnalyzer" sh own
