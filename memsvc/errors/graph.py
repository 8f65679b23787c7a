"""Errors of the graph: its types, nodes, facts and changes, and decisions about them."""

from __future__ import annotations

from memsvc.errors.base import MemsvcError
from memsvc.errors.requests import InvalidRequestError, NotFoundError


class InvalidAliasError(InvalidRequestError):
    """The name is empty."""

    code = "invalid_alias"
    hint = "Send a name of 1 to 200 characters with at least one visible character."


class TypeUnknownError(InvalidRequestError):
    """The ontology has no such type."""

    code = "type_unknown"
    hint = "'memsvc ontology' and GET /v1/ontology list the types. You can propose new ones."


class TypeProposedError(MemsvcError):
    """The type is a proposal that waits for approval."""

    code, status, exit_code = "type_proposed", 409, 3
    hint = "Let a person approve it ('memsvc ontology approve'), or use a type of the core."


class TypeDeprecatedError(MemsvcError):
    """The type is deprecated, so nothing new can have it."""

    code, status, exit_code = "type_deprecated", 409, 3
    hint = "Use another type, or approve it again."


class TypeStateError(MemsvcError):
    """The type's status does not allow this decision."""

    code, status, exit_code = "type_state", 409, 3
    hint = "Proposals can be approved or rejected, and approved types deprecated. 'memsvc ontology' lists them."


class EndpointForbiddenError(InvalidRequestError):
    """The ontology does not allow an edge of this type between these nodes."""

    code = "endpoint_forbidden"
    hint = "Check from_types and to_types of the edge's type, or change the node's type first."


class NodeUnknownError(NotFoundError):
    """No node has this id or name."""

    code = "node_unknown"


class NodeAmbiguousError(MemsvcError):
    """Several nodes have this name."""

    code, status, exit_code = "node_ambiguous", 409, 3
    hint = "Use the id of the one you mean; candidates lists them. If they are the same, merge them."


class FactUnknownError(NotFoundError):
    """No fact or version has this id."""

    code = "fact_unknown"


class ChangeUnknownError(NotFoundError):
    """No change has this id."""

    code = "change_unknown"


class ReviewUnknownError(NotFoundError):
    """No fact under review has this id."""

    code = "review_unknown"
    hint = "'memsvc review list' and GET /v1/reviews list them."


class ReviewDecidedError(MemsvcError):
    """A decision on this fact was already made."""

    code, status, exit_code = "review_decided", 409, 3
    hint = "Change the fact itself. 'memsvc review list --state all' shows the decisions."


class VersionSupersededError(MemsvcError):
    """This version was superseded or retracted."""

    code, status, exit_code = "version_superseded", 409, 3
    hint = "Read the current version and correct that one."


class ChangeBuiltUponError(MemsvcError):
    """A later change builds on this one."""

    code, status, exit_code = "change_built_upon", 409, 3
    hint = "Undo the later changes first, or assert the right fact."


class MergeCycleError(MemsvcError):
    """The merge would make a node represent itself."""

    code, status, exit_code = "merge_cycle", 409, 3
    hint = "The two nodes are already merged, perhaps in the other direction. To reverse it, unmerge them first."


class AlreadyMergedError(MemsvcError):
    """The node is already merged into another one."""

    code, status, exit_code = "already_merged", 409, 3
    hint = "Unmerge it first, or merge the node that represents it."


class PairUnknownError(MemsvcError):
    """These two nodes are not a recorded pair of possible duplicates."""

    code, status, exit_code = "pair_unknown", 404, 3
    hint = "GET /v1/duplicates lists the pairs. 'memsvc merge' merges any two nodes."


class PairDecidedError(MemsvcError):
    """A different decision on this pair was already made."""

    code, status, exit_code = "pair_decided", 409, 3
    hint = "A rejected pair stays rejected, but 'memsvc merge' can still merge the two. Split a pair that was merged."


class ProposalUnknownError(MemsvcError):
    """There is no proposal with this id."""

    code, status, exit_code = "proposal_unknown", 404, 3
    hint = "GET /v1/proposals and 'memsvc proposals list' list them."


class ProposalDecidedError(MemsvcError):
    """This proposal was decided otherwise."""

    code, status, exit_code = "proposal_decided", 409, 3
    hint = "What is rejected stays so. You can still write the link or the name yourself."


class NothingToSplitError(MemsvcError):
    """The node cannot be split by these sources."""

    code, status, exit_code = "nothing_to_split", 409, 3
    hint = "Name some, but not all, of the sources that mention it."
