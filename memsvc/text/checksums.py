"""Numbers of cards, accounts and people that have a checksum: find them in text, and check them.

A number counts only if its form, its checksum and what stands around it agree: one in ten numbers of an order passes
the checksum of a card. Numbers of plain digits whose checksum lets one in ten pass also need their name beside them.
Identity numbers without a checksum, such as those of the USA and the United Kingdom, are not found.
Checksums: ISO/IEC 7812-1 (cards), ISO 13616 (IBAN), ISO/IEC 7064, and the rules of each country.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

GAP = "[ \u00a0\u2009\u202f.\u2010\u2011\u2013-]"
"""What stands between the groups of a number."""
CARD = re.compile(
    rf"(?<![A-Za-z0-9_-])(?<!\d)(?<!\d[ .,])(?:\d{{13,19}}|\d{{4}}(?P<gap>{GAP})\d{{4}}(?P=gap)\d{{4}}(?P=gap)\d{{4}}"
    rf"|\d{{4}}(?P<three>{GAP})\d{{6}}(?P=three)\d{{4,5}})(?![A-Za-z0-9_]|{GAP}?\d)"
)
BRANDS: tuple[tuple[re.Pattern[str], tuple[int, ...]], ...] = (
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"6011|64[4-9]|65"), (16, 19)),
    (re.compile(r"35(?:2[89]|[3-8])"), (16,)),
    (re.compile(r"30[0-5]|36|38"), (14,)),
    (re.compile(r"62"), (16, 17, 18, 19)),
    (re.compile(r"50(?:18|20|38)|5893|6304|6759|676[1-3]"), (13, 15, 16, 17, 18, 19)),
)
"""First digits and lengths of what issuers of cards use."""
OTHER_NUMBERS = re.compile(
    r"(?:order|invoice|tracking|imei|serial|ticket|parcel|shipment|booking|bestell\w*|auftrag\w*|rechnung\w*|sendung\w*"
    r"|commande|pedido)[\s-]*(?:number|num|no|nr|id|code|nummer)?[\s.:#]*(?:is|ist|lautet|:)?[\s#]*$",
    re.IGNORECASE,
)
"""What says, before a number without gaps, that it is not of a card."""
IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?=[ \u00a0]?[A-Za-z0-9])")
IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21,
    "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18,
    "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23,
    "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21,
    "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
"""Lengths in the registry of ISO 13616."""
NEAR = 40
"""Characters before a number in which its name is looked for."""


def cards(text: str) -> Iterator[tuple[int, int]]:
    """Yield where numbers of payment cards stand."""
    for match in CARD.finditer(text):
        digits = "".join(str(int(one)) for one in match[0] if one.isdecimal())
        bare = match["gap"] is None and match["three"] is None
        if (
            len(set(digits)) > 1
            and any(begin.match(digits) and len(digits) in lengths for begin, lengths in BRANDS)
            and luhn(digits)
            and not (bare and OTHER_NUMBERS.search(text, max(0, match.start() - NEAR), match.start()))
        ):
            yield match.span()


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where account numbers (IBAN) stand."""
    for match in IBAN.finditer(text):
        length = IBAN_LENGTHS.get(match[0][:2].upper())
        if length is None:
            continue
        end, found = match.start(), ""
        while end < len(text) and len(found) < length:
            one = text[end]
            if one.isascii() and one.isalnum():
                found += one.upper()
            elif one not in " \u00a0" or not (end + 1 < len(text) and text[end + 1].isalnum()):
                break
            end += 1
        followed = end < len(text) and text[end].isalnum()
        if (
            len(found) == length
            and not followed
            and int("".join(str(int(c, 36)) for c in found[4:] + found[:4])) % 97 == 1
        ):
            yield match.start(), end


def national_ids(text: str) -> Iterator[tuple[int, int]]:
    """Yield where identity and tax numbers of people stand."""
    for rule in RULES:
        for match in rule.form.finditer(text):
            written = re.sub(r"[\W_]", "", match[0]).upper()
            if rule.check(written) and (
                rule.name is None or rule.name.search(text, max(0, match.start() - NEAR), match.start())
            ):
                yield match.span()


def luhn(digits: str) -> bool:
    """Say whether the last digit is right by ISO/IEC 7812-1."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the sum of both digits
    return total % 10 == 0


def _is_one(written: str) -> bool:
    """Say whether a number is 1 modulo 97, with letters as two digits (ISO/IEC 7064 MOD 97-10)."""
    return int("".join(str(int(one, 36)) for one in written)) % 97 == 1


def _weighted(digits: str, weights: str, modulus: int) -> int:
    return sum(int(digit) * int(weight, 36) for digit, weight in zip(digits, weights, strict=False)) % modulus


def _german(digits: str) -> bool:
    """The tax number: ISO/IEC 7064 MOD 11,10; of the first ten digits one occurs twice or three times."""
    most = max(digits[:10].count(one) for one in digits[:10])
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return digits[0] != "0" and most in {2, 3} and (11 - product) % 10 == int(digits[10])


def _french(digits: str) -> bool:
    return digits[0] in "12" and int(digits[:13]) % 97 == 97 - int(digits[13:])


def _spanish(written: str) -> bool:
    number = str("XYZ".find(written[0])) + written[1:-1] if written[0] in "XYZ" else written[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == written[-1]


ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
         10, 22, 25, 24, 23],
        strict=True,
    )
)  # fmt: skip


def _italian(written: str) -> bool:
    values = (
        ODD[c] if place % 2 == 0 else int(c, 36) - (0 if c.isdigit() else 10) for place, c in enumerate(written[:-1])
    )
    return chr(65 + sum(values) % 26) == written[-1]


def _polish(digits: str) -> bool:
    return (10 - _weighted(digits, "1379137913", 10)) % 10 == int(digits[10])


def _dutch(digits: str) -> bool:
    return (_weighted(digits, "98765432", 11) - int(digits[8])) % 11 == 0


def _brazilian(digits: str) -> bool:
    def right(count: int) -> bool:
        rest = 11 - sum(int(digit) * (count + 1 - place) for place, digit in enumerate(digits[:count])) % 11
        return int(digits[count]) == (0 if rest > 9 else rest)  # noqa: PLR2004 - a digit

    return len(set(digits)) > 1 and right(9) and right(10)


def _swiss(digits: str) -> bool:
    return (10 - _weighted(digits, "131313131313", 10)) % 10 == int(digits[12])


def _belgian(digits: str) -> bool:
    rest = int(digits[9:])
    return 97 - int(digits[:9]) % 97 == rest or 97 - int("2" + digits[:9]) % 97 == rest


def _finnish(written: str) -> bool:
    number = written[:6] + written[-4:-1]
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(number) % 31] == written[-1]


VERHOEFF = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678", "5987604321", "6598710432", "7659821043",
    "8765932104", "9876543210",
)  # fmt: skip
TURNS = ("0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258")


def _indian(digits: str) -> bool:
    """Verhoeff's checksum, in the dihedral group of order ten."""
    found = 0
    for place, digit in enumerate(reversed(digits)):
        found = int(VERHOEFF[found][int(TURNS[place % 8][int(digit)])])
    return found == 0


class Rule(NamedTuple):
    """An identity number: its form, the check of its letters and digits, and the name it needs beside it."""

    form: re.Pattern[str]
    check: Callable[[str], bool]
    name: re.Pattern[str] | None = None


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?<!\d[ .,])(?:{pattern})(?!\w|[ -]?\d)", re.ASCII | re.IGNORECASE)


def _named(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})[^\n]{{0,{NEAR}}}$", re.IGNORECASE)


DAY = r"(?:0[1-9]|[12]\d|3[01])"
MONTH = r"(?:0[1-9]|1[0-2])"
RULES: tuple[Rule, ...] = (
    Rule(
        _form(r"\d{2} ?\d{3} ?\d{3} ?\d{3}"),
        _german,
        _named(r"steuer-?\s?id|steueridentifikation|idnr|tax[ -]?id|steuernummer"),
    ),
    Rule(_form(rf"[12] ?\d\d ?{MONTH} ?\d[\dAB] ?\d{{3}} ?\d{{3}} ?\d\d"), lambda w: w.isdigit() and _french(w)),
    Rule(_form(r"\d{8}[ -]?[A-Z]"), _spanish),
    Rule(_form(r"[XYZ]-?\d{7}-?[A-Z]"), _spanish),
    Rule(_form(rf"[A-Z]{{6}}\d\d[ABCDEHLMPRST](?:{DAY}|[4-6]\d|7[01])[A-Z]\d{{3}}[A-Z]"), _italian),
    Rule(_form(rf"\d\d(?:{MONTH}|[2468][1-9]|[2468][0-2]|[39][0-2]){DAY}\d{{5}}"), _polish, _named(r"pesel")),
    Rule(_form(r"\d{9}|\d{4}\.\d{2}\.\d{3}"), _dutch, _named(r"bsn|burgerservicenummer|sofinummer")),
    Rule(_form(rf"\d\d{MONTH}{DAY}[-+]\d{{4}}"), luhn),
    Rule(_form(r"\d{3}\.\d{3}\.\d{3}-\d\d"), _brazilian),
    Rule(_form(r"\d{11}"), _brazilian, _named(r"\bcpf\b")),
    Rule(_form(r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d"), _swiss),
    Rule(_form(rf"\d\d\.{MONTH}\.{DAY}-\d{{3}}[.-]\d\d"), _belgian),
    Rule(_form(rf"{DAY}{MONTH}\d\d[-+A-FU-Y]\d{{3}}[0-9A-Y]"), _finnish),
    Rule(_form(r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}"), _indian, _named(r"aadhaar|aadhar|आधार")),
)
"""Tax numbers of Germany; social security and identity numbers of France, Spain (citizens and foreigners), Italy,
Poland, the Netherlands, Sweden, Brazil (written with points, or named), Switzerland, Belgium, Finland and India."""
