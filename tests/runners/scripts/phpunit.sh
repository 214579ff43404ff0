# PHPUnit of Debian.
version phpunit "$(phpunit --version | sed -n 's/^PHPUnit \([0-9.]*\).*/\1/p')"
project LogTest.php <<'PHP'
<?php

use PHPUnit\Framework\TestCase;

function note(string $test, string $outcome): void
{
    file_put_contents(getenv('RAN'), "$test $outcome\n", FILE_APPEND);
}

final class LogTest extends TestCase
{
    public function testPasses(): void
    {
        note('passes', 'P');
        $this->assertTrue(true);
    }

    public function testFails(): void
    {
        note('fails', 'F');
        $this->fail('17 records are gone');
    }

    public function testErrors(): void
    {
        note('errors', 'E');
        throw new RuntimeException('17 records are gone');
    }

    public function testSkips(): void
    {
        $this->markTestSkipped('no disk');
    }
}
PHP
runs "--log-junit" sh -c 'phpunit --log-junit "$REPORTS/r.xml" LogTest.php'
