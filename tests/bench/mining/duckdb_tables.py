"""The aggregations of the jobs over all results in SQL, for DuckDB.

What the jobs add to aggregated rows (posteriors, splits after the first, exact tests, patterns) is left out, so the
comparison is in favour of DuckDB. `{occasions}` is at least the number of CI jobs.
"""

VIEWS = (
    "create view counted as from runs where left_out is null",
    "create view left_out as select run_id from runs where left_out is not null",
)
"""The runs that scores count, and the few others."""

QUERIES = {
    "flakiness": """
        with paired as (
          select test, target, backend, build, plan_hash, verdict, started_at, run_id,
            case verdict when 'violation' then 1 when 'pass' then 0 end failed,
            lag(case verdict when 'violation' then 1 when 'pass' then 0 end ignore nulls)
              over (partition by test, target, backend order by started_at, run_id) before
          from counted),
        plans as (
          select test, target, backend, build, plan_hash, count(failed) n, coalesce(sum(failed), 0) x,
            count(failed + before) pairs, count(*) filter (failed <> before) flips,
            count(*) filter (verdict = 'infrastructure') infrastructure,
            count(*) filter (verdict = 'inconclusive') inconclusive, max(started_at) last_at,
            max(run_id) filter (failed = 0) passed_run, max(run_id) filter (failed = 1) failed_run
          from paired group by all),
        builds as (
          select test, target, backend, build, sum(n) n, sum(x) x, sum(pairs) pairs, sum(flips) flips,
            sum(n * (n - 1) / 2) same_pairs, sum(x * (n - x)) same_differ, count(*) filter (x > 0 and x < n) unstable,
            max(last_at) last_at
          from plans group by all)
        select test, target, backend, sum(n) n, sum(x) x, sum(flips) / sum(pairs) flip_rate,
          sum(case when x > 0 and x < n then -n * (x / n * log2(x / n) + (1 - x / n) * log2(1 - x / n)) end) / sum(n) h,
          sum(same_differ) / nullif(sum(same_pairs), 0) same_plan,
          sum(x * (n - x) - same_differ) / nullif(sum(n * (n - 1) / 2 - same_pairs), 0) other_plan, sum(unstable)
        from builds group by all""",
    "halts": """
        select test, target, backend, date_trunc('week', started_at), count(*),
          count(*) filter (verdict = 'infrastructure'), count(*) filter (verdict = 'inconclusive')
        from counted group by all""",
    "change_points": """
        with ordered as (
          select target, build, row_number() over (partition by target order by min(started_at)) number
          from runs group by target, build),
        units as (
          select test, target, backend, build, count(*) n, count(*) filter (verdict = 'violation') x
          from counted where verdict in ('pass', 'violation') group by all),
        sides as (
          select *, sum(n) over before n1, sum(x) over before x1, sum(n) over whole n2, sum(x) over whole x2
          from units join ordered using (target, build)
          window before as (partition by test, target, backend order by number
                            rows between unbounded preceding and 1 preceding),
                 whole as (partition by test, target, backend)),
        gains as (
          select *, lgamma(x1 + .1) + lgamma(n1 - x1 + .1) - lgamma(n1 + .2) + lgamma(x2 - x1 + .1)
            + lgamma(n2 - n1 - x2 + x1 + .1) - lgamma(n2 - n1 + .2) - lgamma(x2 + .1) - lgamma(n2 - x2 + .1)
            + lgamma(n2 + .2) gain
          from sides where n1 > 0 and n2 > n1)
        select test, target, backend, max(gain), arg_max(build, gain) from gains group by all""",
    "slow_downs": """
        with timed as (
          select test, target, backend, timing, build, seconds from timings anti join left_out using (run_id)
          where seconds > 0 and verdict = 'pass'),
        ranked as (
          select *, rank() over up + count(*) over up twice_rank, count(*) over series size from timed
          window up as (partition by test, target, backend, timing order by seconds),
                 series as (partition by test, target, backend, timing))
        select test, target, backend, timing, build, count(*), sum(twice_rank / (size + 1)),
          sum((twice_rank / (size + 1)) ** 2), sum(ln(seconds))
        from ranked group by all""",
    "attribution": """
        with exploded as (
          select distinct run_id, unnest(['fault:' || kind, 'fault:' || kind || ' role:' || role, 'role:' || role,
            'fault:' || kind || ' node:' || node_state, 'state:' || cluster_state]) feature
          from faults
          union select run_id, unnest(['release:' || release, 'backend:' || backend]) from counted),
        judged as (
          select run_id, test, target, case verdict when 'violation' then 1 else 0 end failed
          from counted where verdict in ('pass', 'violation')),
        totals as (
          select test, target, count(*) n, sum(failed) x from judged group by all having x > 0 and x < n),
        counts as (
          select test, target, feature, count(*) n1, sum(failed) x1
          from exploded join judged using (run_id) join totals using (test, target) where feature is not null
          group by all)
        select feature, sum(n1), sum(x1), sum(n1 * x / n), sum(n1 * (n - n1) / n * x * (n - x) / n / (n - 1))
        from counts join totals using (test, target) where n1 < n group by all""",
    "signatures": """
        with shown as (
          select run_id, signature, masking, min(at_s) at_s, arg_min(masked, at_s) masked, arg_min(rule, at_s) rule,
            arg_min("check", at_s) "check", arg_min(test, at_s) test, min(started_at) started_at
          from findings where finding = 'violation' and part_of is null group by all),
        last as (
          select run_id, signature, arg_max(kind, ordered_s) kind, arg_max(cluster_state, ordered_s) state
          from shown join faults using (run_id) where ordered_s <= at_s group by all)
        select shown.signature, shown.rule, state, masked, count(*), min(shown.started_at), max(shown.started_at),
          arg_min(plan_hash, plan_steps), arg_max(run_id, shown.started_at), count(distinct shown.test)
        from shown left join last using (run_id, signature) join runs using (run_id) group by all""",
    "coverage": """
        select rule, target, backend, state, build, count(*), max(started_at), arg_max(run_id, started_at)
        from requirements anti join left_out using (run_id) group by all""",
    "reached": """
        select target, kind, role, cluster_state, count(distinct run_id),
          count(distinct run_id) filter (verdict = 'violation'), max(started_at)
        from faults anti join left_out using (run_id) group by all""",
    "times": """
        select target, backend, build, timing, fault_kind, count(*), approx_quantile(seconds, [0.5, 0.95]),
          max(seconds), arg_max(run_id, seconds)
        from timings anti join left_out using (run_id) group by all""",
    "outliers": """
        with shown as (
          select * from timings anti join left_out using (run_id) where seconds > 0),
        fences as (
          select test, target, backend, timing, approx_quantile(ln(seconds), [0.25, 0.5, 0.75]) q
          from shown group by all)
        select * from shown join fences using (test, target, backend, timing)
        where ln(seconds) > q[3] + 3 * (q[3] - q[1])
        qualify row_number() over (partition by test, target, backend, timing order by seconds desc) <= 5""",
    "together": """
        with failures as (
          select distinct target, test || ' on ' || backend as name, ci_url from counted
          where verdict = 'violation'),
        numbered as (select *, dense_rank() over (partition by target order by ci_url) - 1 as occasion from failures),
        tests as (
          select target, name, count(*) n, bitstring_agg(occasion, 0, {occasions}) as bits from numbered group by all
          having n >= 3),
        sets as (
          select target, bits, any_value(n) n, min(name) name, row_number() over () as number from tests group by all),
        pairs as (
          select a.target, a.bits one, b.bits other, bit_count(a.bits & b.bits) both_n, a.n n1, b.n n2
          from sets a join sets b on a.target = b.target and a.number <= b.number
            and a.n >= 0.5 * b.n and b.n >= 0.5 * a.n
          where bit_count(a.bits & b.bits) >= 3
            and bit_count(a.bits & b.bits) >= 0.5 * (a.n + b.n - bit_count(a.bits & b.bits)))
        select pairs.target, a.name, b.name, both_n, n1, n2
        from pairs join tests a on pairs.one = a.bits join tests b on pairs.other = b.bits where a.name < b.name""",
}
