"""CreateAcls, DescribeAcls and DeleteAcls: one record for each entry that is new or goes (decision 0069)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.acl_records import created, deleted, fields_of
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.features import ACCESS_CONTROL, METADATA_FORMAT
from fencepost.cluster_impl.security.entries import AccessControlEntry, EntryFilter
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

Created = m.CreateAclsResponse.AclCreationResult
Deleted = m.DeleteAclsResponse.DeleteAclsFilterResult
Match = m.DeleteAclsResponse.DeleteAclsMatchingAcl


def create_acls(state: ControllerState, request: m.CreateAclsRequest) -> ControllerResult[m.CreateAclsResponse]:
    """Decide a whole request. An entry that exists is created again without a record."""
    results, new = [], dict[AccessControlEntry, None]()
    for creation in request.creations:
        entry = AccessControlEntry(
            creation.resource_type,
            creation.resource_name,
            creation.resource_pattern_type,
            creation.principal,
            creation.host,
            creation.operation,
            creation.permission_type,
        )
        if state.image.level_of(METADATA_FORMAT) < ACCESS_CONTROL:
            why = f"Entries need {METADATA_FORMAT} {ACCESS_CONTROL}: raise its level by UpdateFeatures."
            results.append(Created(error_code=Error.UNSUPPORTED_VERSION, error_message=why))
        elif problem := entry.problem():
            results.append(Created(error_code=Error.INVALID_REQUEST, error_message=problem))
        else:
            results.append(Created())
            if entry not in state.image.acls:
                new[entry] = None
    return ControllerResult(m.CreateAclsResponse(results=results), [created(entry) for entry in new])


def delete_acls(state: ControllerState, request: m.DeleteAclsRequest) -> ControllerResult[m.DeleteAclsResponse]:
    """Delete every entry that a filter of the request matches."""
    results, gone = [], dict[AccessControlEntry, None]()
    for each in request.filters:
        wanted = filter_of(each)
        if problem := wanted.problem():
            results.append(Deleted(error_code=Error.INVALID_REQUEST, error_message=problem))
            continue
        entries = [entry for entry in state.image.acls if wanted.matches(entry)]
        gone |= dict.fromkeys(entries)
        results.append(Deleted(matching_acls=[Match(**fields_of(entry)) for entry in entries]))
    return ControllerResult(m.DeleteAclsResponse(filter_results=results), [deleted(entry) for entry in gone])


def describe_acls(state: ControllerState, request: m.DescribeAclsRequest) -> ControllerResult[m.DescribeAclsResponse]:
    """Describe the entries that the filter matches, by resource pattern."""
    wanted = filter_of(request)
    if problem := wanted.problem():
        return ControllerResult(m.DescribeAclsResponse(error_code=Error.INVALID_REQUEST, error_message=problem))
    resources: dict[tuple[int, str, int], m.DescribeAclsResponse.DescribeAclsResource] = {}
    for entry in state.image.acls:
        if wanted.matches(entry):
            pattern = (entry.resource_type, entry.resource_name, entry.pattern_type)
            if pattern not in resources:
                resources[pattern] = m.DescribeAclsResponse.DescribeAclsResource(
                    resource_type=entry.resource_type,
                    resource_name=entry.resource_name,
                    pattern_type=entry.pattern_type,
                )
            resources[pattern].acls.append(
                m.DescribeAclsResponse.AclDescription(
                    principal=entry.principal,
                    host=entry.host,
                    operation=entry.operation,
                    permission_type=entry.permission,
                )
            )
    return ControllerResult(m.DescribeAclsResponse(resources=list(resources.values())))


def filter_of(asked: m.DescribeAclsRequest | m.DeleteAclsRequest.DeleteAclsFilter) -> EntryFilter:
    return EntryFilter(
        asked.resource_type_filter,
        asked.resource_name_filter,
        asked.pattern_type_filter,
        asked.principal_filter,
        asked.host_filter,
        asked.operation,
        asked.permission_type,
    )
