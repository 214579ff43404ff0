# RSpec of Debian, with rspec_junit_formatter.
version rspec "$(rspec --version | sed -n 's/.*rspec-core //p')"
version rspec-junit-formatter "$(dpkg-query -W -f '${Version}' ruby-rspec-junit-formatter | sed 's/-.*//')"
project log_spec.rb <<'RUBY'
def note(test, outcome)
  File.write(ENV['RAN'], "#{test} #{outcome}\n", mode: 'a')
end

RSpec.describe 'log' do
  it('passes') { note('passes', 'P') }

  it 'fails' do
    note('fails', 'F')
    expect('17 records are gone').to eq('none')
  end

  it 'errors' do
    note('errors', 'E')
    raise IOError, '17 records are gone'
  end

  xit('skips') {}
end
RUBY
runs "rspec_junit_formatter" sh -c 'rspec --format RspecJunitFormatter --out "$REPORTS/r.xml" log_spec.rb'
