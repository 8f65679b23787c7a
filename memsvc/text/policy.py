"""The policy on secrets in text: of each kind, whether it is kept, masked, or its text refused.

A service has a policy, an app may be stricter, a user stricter still (docs/privacy.md). Every door applies the owner's
policy once, before anything of the text is stored: the database, its vectors, jobs and events see only what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from memsvc import observe
from memsvc.errors import InvalidRequestError, TextRefusedError
from memsvc.text.secrets import KINDS, LABELS, Found, find, find_each, masked, merged

Treatment = Literal["keep", "mask", "refuse"]
TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)
ALL = "all"
NUMBERS = frozenset({"card", "iban", "national_id"})


@dataclass(frozen=True, slots=True)
class Policy:
    """What happens to secrets of each kind; those that are in neither set are kept."""

    masks: frozenset[str] = frozenset()
    refuses: frozenset[str] = frozenset()

    @property
    def is_off(self) -> bool:
        """True: text is stored as it came."""
        return not self.masks and not self.refuses

    def stricter(self, other: Policy) -> Policy:
        """Return the stricter treatment of each kind in two policies."""
        refuses = self.refuses | other.refuses
        return Policy((self.masks | other.masks) - refuses, refuses)

    def covers(self, other: Policy) -> bool:
        """Say whether this policy is at least as strict as another one, for each kind."""
        return self.stricter(other) == self

    def lenient(self) -> Policy:
        """Return the policy for background work, which has nobody to refuse: it masks."""
        return Policy(self.masks | self.refuses)

    def numbers(self) -> Policy:
        """Return the policy for what tools were given and gave back, where keys and passwords are always masked."""
        return Policy(self.masks & NUMBERS, self.refuses & NUMBERS)

    def told(self) -> dict[str, Treatment]:
        """Return the treatment of each kind."""
        return {kind: "refuse" if kind in self.refuses else "mask" if kind in self.masks else "keep" for kind in KINDS}

    def admit(self, text: str, field: str, counts: Counter[str] | None = None) -> str:
        """Return a text as it may be stored, with masks.

        Args:
            text: the text.
            field: its name, for the error.
            counts: counts what was masked, by kind.

        Raises:
            TextRefusedError: it has a secret of a kind that is refused; names the kind, not the secret.
        """
        found = self._found(text, field)
        if not found:
            return text
        for one in found:
            _count(one.kind, "mask", counts)
        return masked(text, found)

    def admit_all(self, value: Any, field: str, counts: Counter[str] | None = None) -> Any:
        """Return a JSON value with its texts as they may be stored. Raises: as ``admit``."""
        if self.is_off:
            return value
        if isinstance(value, str):
            return self.admit(value, field, counts)
        if isinstance(value, Mapping):
            return {
                self.admit(name, field, counts) if isinstance(name, str) else name: self.admit_all(inner, field, counts)
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.admit_all(inner, field, counts) for inner in value]
        return value

    def admit_pieces(self, pieces: Sequence[str], field: str, counts: Counter[str] | None = None) -> list[str]:
        """Return the pieces of one text as they may be stored; what goes from one into the next is masked in both.

        Raises:
            TextRefusedError: as ``admit``.
        """
        found = self._found("\n".join(pieces), field)
        if not found:
            return list(pieces)
        for one in found:
            _count(one.kind, "mask", counts)
        admitted: list[str] = []
        begin = 0
        for piece in pieces:
            end = begin + len(piece)
            inside = [
                Found(one.kind, max(one.begin, begin) - begin, min(one.end, end) - begin)
                for one in found
                if one.begin < end and one.end > begin
            ]
            admitted.append(masked(piece, inside))
            begin = end + 1
        return admitted

    def refused_in(self, text: str) -> str | None:
        """Return what of a text would be refused ("card number"); None: nothing."""
        found = find(text, self.refuses) if self.refuses else []
        return LABELS[found[0].kind] if found else None

    def refused_in_all(self, value: Any) -> str | None:
        """Return what of a JSON value's texts would be refused; None: nothing."""
        if not self.refuses:
            return None
        if isinstance(value, str):
            return self.refused_in(value)
        if isinstance(value, Mapping):
            value = [part for pair in value.items() for part in pair]
        inner = value if isinstance(value, list | tuple) else ()
        return next((refused for one in inner if (refused := self.refused_in_all(one)) is not None), None)

    def _found(self, text: str, field: str) -> list[Found]:
        if self.is_off:
            return []
        found = find_each(text, self.masks | self.refuses)
        for one in found:  # before they are merged: what is refused may be inside of what is masked
            if one.kind in self.refuses:
                _count(one.kind, "refuse", None)
                raise TextRefusedError(
                    f"{field} contains a secret of the kind {one.kind} ({LABELS[one.kind]}), which is not stored here.",
                    field=field,
                    kind=one.kind,
                )
        return merged(found)


OFF = Policy()


def policy_of(treatments: Mapping[str, str]) -> Policy:
    """Return the policy with these treatments of kinds; ``all`` stands for kinds that are not named.

    Raises:
        InvalidRequestError: there is no such kind or treatment.
    """
    for kind, treatment in treatments.items():
        if kind != ALL and kind not in KINDS:
            raise InvalidRequestError(
                f"{kind[:40]!r} is not a kind of secret.", hint=f"One of: {', '.join(KINDS)}, or all.", field="kinds"
            )
        if treatment not in TREATMENTS:
            raise InvalidRequestError(
                f"{treatment[:40]!r} is not done to secrets.", hint=f"One of: {', '.join(TREATMENTS)}.", field="kinds"
            )
    rest = treatments.get(ALL, "keep")
    chosen = {kind: treatments.get(kind, rest) for kind in KINDS}
    return Policy(
        frozenset(kind for kind in KINDS if chosen[kind] == "mask"),
        frozenset(kind for kind in KINDS if chosen[kind] == "refuse"),
    )


def read_policy(written: str) -> Policy:
    """Return the policy that is written as ``card=mask,password=refuse``; empty: all is kept.

    Raises:
        InvalidRequestError: it cannot be read.
    """
    pairs = [one.partition("=") for one in written.split(",") if one.strip()]
    return policy_of({kind.strip(): treatment.strip() for kind, _, treatment in pairs})


def _count(kind: str, treatment: str, counts: Counter[str] | None) -> None:
    observe.SECRETS.labels(kind=kind, treatment=treatment).inc()
    if counts is not None:
        counts[kind] += 1
