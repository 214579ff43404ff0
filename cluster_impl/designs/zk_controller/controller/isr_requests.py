"""Carries out IsrChange: what `isr_change` decided is written, and everybody is told."""

from __future__ import annotations

from dataclasses import replace

from cluster_impl.coordination.steps import Done, SetData, Steps
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.core import Core
from cluster_impl.designs.zk_controller.controller.isr_change import decide
from cluster_impl.designs.zk_controller.controller.leadership import read_states
from cluster_impl.designs.zk_controller.controller.views import ContextView
from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m


def change_isr(core: Core, view: ContextView, request: m.IsrChangeRequest) -> Steps[m.IsrChangeResponse]:
    """Write what is granted, and answer.

    A write that fails met another one: the state is read again, and all of the request decided again. The leader epoch
    stays, so that the leader need not begin anew.
    """
    context = core.context
    changed: list[TopicPartition] = []
    while changes := (decision := decide(view, request)).changes:
        wanted = {
            each.partition: replace(
                context.leadership[each.partition], isr=each.isr, version=each.version, controller_epoch=context.epoch
            )
            for each in changes
        }
        outcomes = yield [
            SetData(znodes.state(partition), znodes.write_state(state), state.version)
            for partition, state in wanted.items()
        ]
        lost = []
        for (partition, state), outcome in zip(wanted.items(), outcomes, strict=True):
            if isinstance(outcome, Done):
                context.leadership[partition] = replace(state, version=outcome.version)
                changed.append(partition)
            else:
                lost.append(partition)
        yield from read_states(context, lost)
    if changed:
        core.batch.update_metadata(changed)
    return decision.response({})
