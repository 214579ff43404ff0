# prove of Perl, with TAP::Formatter::JUnit of Debian.
version prove "$(prove --version | sed -n 's/.*v\([0-9.]*\) and.*/\1/p')"
version TAP-Formatter-JUnit "$(dpkg-query -W -f '${Version}' libtap-formatter-junit-perl | sed 's/-.*//')"
project log.t <<'PERL'
use Test::More;

sub note_run {
    open my $ran, '>>', $ENV{RAN};
    print $ran "@_\n";
}

note_run 'passes', 'P';
ok 1, 'passes';
note_run 'fails', 'F';
is '17 records are gone', 'none', 'fails';
SKIP: {
    skip 'skips', 1;
}
done_testing;
PERL
runs "TAP::Formatter::JUnit" sh -c 'prove --formatter TAP::Formatter::JUnit log.t >"$REPORTS/r.xml"'
