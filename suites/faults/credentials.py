"""Certificates that are not trusted or are renewed, and users whose passwords change or that are removed."""

from __future__ import annotations

from typing import Any, Final

from fencepost.suites import vocabulary as v

SECURED = frozenset({v.Dialect.KIP_631, v.Dialect.KRAFT})
"""The targets whose listeners are secured here."""
USER: Final = "alice"
OLD, NEW = "alice-password", "rotated"
NO_LOGIN = "error:58"
PREFERRED = 0
METADATA, WITHOUT_CREATION = {"topics": [], "allow_auto_topic_creation": False}, 4
"""A request that every user may make, and the first version of it that creates nothing."""


@v.fault_scenario(
    "expired-certificate", "A leader whose certificate has expired is followed by none", seconds=25, dialects=SECURED
)
def expired(draft: v.Draft) -> v.Plan:
    return _untrusted(draft, v.inject("untrusted", v.ExpiredCertificateParameters(node=draft.leader)))


@v.fault_scenario(
    "foreign-certificate",
    "A leader with a certificate of another authority is followed by none",
    seconds=25,
    dialects=SECURED,
)
def foreign(draft: v.Draft) -> v.Plan:
    return _untrusted(draft, v.inject("untrusted", v.ForeignCertificateParameters(node=draft.leader)))


def _untrusted(draft: v.Draft, fault: v.Step) -> v.Plan:
    """The leader is started with the certificate: another leads, and followers do not follow it when it leads again.

    It trusts the others, so it follows and joins the ISR. A broker of Apache Kafka does not start.
    """
    leader, follower, _ = draft.roles
    steps: list[v.Step] = [
        fault,
        v.LeaderIs(as_="another", partition="t-0", is_not=leader, expect=v.must("LIVE-01")),
    ]
    if draft.target.dialect is v.Dialect.KRAFT:
        steps.append(v.NodeExited(as_="refused", node=leader, expect=v.must("SEC-08")))
    else:
        election = {
            "election_type": PREFERRED,
            "topic_partitions": [{"topic": "t", "partitions": [0]}],
            "timeout": v.LIVENESS_TIMEOUT_MS,
        }
        steps += [
            v.ask("refused", leader, "metadata", METADATA, v.answers("SEC-08", "refused"), version=WITHOUT_CREATION),
            v.IsrIs(as_="follows", partition="t-0", has=leader, expect=v.must("LIVE-01")),
            v.ask_until("elect", follower, "elect_leaders", election),
            v.LeaderIs(as_="leads", partition="t-0", is_=leader, expect=v.must("LIVE-01")),
            v.IsrIs(as_="alone", partition="t-0", is_=leader, expect=v.must("SEC-08")),
        ]
    steps.append(v.Heal(as_="trusted", fault="untrusted"))
    return draft.plan(steps, v.acknowledged("trusted.ended"), security="tls-scram")


@v.fault_scenario(
    "renewed-certificate",
    "A leader whose certificate is renewed serves those that connect anew",
    seconds=20,
    dialects=SECURED,
)
def renewed(draft: v.Draft) -> v.Plan:
    """While the leader has another certificate, a follower is killed, and follows it again over a new connection.

    Another broker may lead for a while on a busy machine, so the listener for peers is asked as well.
    """
    leader, follower, _ = draft.roles
    steps: list[v.Step] = [
        v.inject("renewed", v.RenewedCertificateParameters(node=leader)),
        v.ask("served", leader, "metadata", METADATA, v.serves("SEC-09"), version=WITHOUT_CREATION),
        v.ask("peers", leader, "metadata", METADATA, v.serves("SEC-09"), version=WITHOUT_CREATION, to_peers=True),
        v.inject("crash", v.KillParameters(nodes=follower)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("ISR-05")),
        v.Heal(as_="restart", fault="crash"),
        v.IsrIs(as_="followed", partition="t-0", has=follower, expect=v.must("SEC-09")),
        v.LeaderIs(as_="still", partition="t-0", is_=leader, expect=v.must("SEC-09")),
        v.Heal(as_="as-before", fault="renewed"),
    ]
    return draft.plan(steps, v.acknowledged("renewed.proven"), "still", security="tls-scram")


@v.fault_scenario(
    "changed-password",
    "A password that was changed lets none in, after a failover neither",
    seconds=25,
    dialects=SECURED,
)
def changed_password(draft: v.Draft) -> v.Plan:
    """The user's new password is good and the old one is not: at once, at the next leader, and after a restart."""
    return _credentials(draft, v.inject("credentials", v.ChangedPasswordParameters(user=USER, password=NEW)), NEW)


@v.fault_scenario(
    "removed-user", "A user that was removed is not let in, after a failover neither", seconds=25, dialects=SECURED
)
def removed_user(draft: v.Draft) -> v.Plan:
    return _credentials(draft, v.inject("credentials", v.RemovedUserParameters(user=USER)), None)


def _credentials(draft: v.Draft, fault: v.Step, new: str | None) -> v.Plan:
    """Log in at all brokers before the fault, under it, with a leader that was killed and restarted, and afterwards."""
    leader, *_ = brokers = draft.roles

    def login(when: str, broker: str, outcome: str, password: str, **more: Any) -> v.Step:
        values: dict[str, Any] = {"version": WITHOUT_CREATION, "user": USER, "password": password, **more}
        expect = v.answers("SEC-10", outcome)
        return v.ask(f"{when}-{broker}", broker, "metadata", METADATA, expect, **values)

    def changed(when: str, *among: str) -> list[v.Step]:
        """A broker that was restarted has to learn of the change first; from then on it holds."""
        within = {"within_ms": v.LIVENESS_TIMEOUT_MS}
        first = [login(f"{when}-new", each, "served", new, **within) for each in among] if new else []
        return [*first, *(login(f"{when}-old", each, NO_LOGIN, OLD, **({} if new else within)) for each in among)]

    steps: list[v.Step] = [
        *(login("before", each, "served", OLD) for each in brokers),
        fault,
        *changed("changed", *brokers),
        v.inject("crash", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="another", partition="t-0", is_not=leader, expect=v.must("LIVE-01")),
        *changed("meanwhile", *brokers[1:]),
        v.Heal(as_="restart", fault="crash"),
        *changed("again", *brokers),
        v.Heal(as_="given-back", fault="credentials"),
        *(login("back", each, "served", OLD) for each in brokers),
    ]
    return draft.plan(steps, v.acknowledged("given-back.ended"), security="tls-scram")
