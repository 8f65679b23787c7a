"""What of a mail its sender wrote himself: without the mails that he answers or forwards.

Programs put older mails below "On … wrote:", "-----Original Message-----", a block of headers, or after ">" before each
line, each in the language of its user.
"""

from __future__ import annotations

import re
from typing import NamedTuple

QUOTED = re.compile(r"[ ]?>")
BEGINS = re.compile(
    r"""(?:
    -{2,}[ ]?(?:original[ ]message|original[ ]appointment|ursprüngliche[ ]nachricht|originalnachricht
      |original-nachricht|message[ ]d'origine|message[ ]original|mensaje[ ]original|mensagem[ ]original
      |messaggio[ ]originale|oorspronkelijk[ ]bericht|originalmeddelande|opprinnelig[ ]melding
      |oprindelig[ ]meddelelse|wiadomość[ ]oryginalna|исходное[ ]сообщение|原始邮件|原始郵件|元のメッセージ)[ ]?-{2,}
    |-{5,}[ ]?(?:forwarded[ ]message|weitergeleitete[ ]nachricht|message[ ]transféré|mensaje[ ]reenviado
      |mensagem[ ]encaminhada|messaggio[ ]inoltrato|doorgestuurd[ ]bericht|forwarded[ ]by[^\n]{0,80}
      |пересылаемое[ ]сообщение|转发的消息|轉寄的訊息)[ ]?-{3,}
    |(?:begin[ ]forwarded[ ]message|anfang[ ]der[ ]weitergeleiteten[ ](?:nachricht|e-mail)
      |début[ ]du[ ]message[ ]réexpédié|inizio[ ]messaggio[ ]inoltrato|inicio[ ]del[ ]mensaje[ ]reenviado
      |begin[ ]doorgestuurd[ ]bericht):
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A line after which everything is somebody else's."""
ATTRIBUTION = re.compile(
    r"""(?:
    (?:on|am|le|el|il|op|em|den|w[ ]dniu|dnia|dne|ons|tors|man|tir)\b[^\n]{3,300}?
      (?:wrote|schrieb[^:\n]{0,100}|a[ ]écrit|escribió|ha[ ]scritto|schreef[^:\n]{0,100}|escreveu|skrev[^:\n]{0,100}
        |napisał(?:\(a\)|a)?[^:\n]{0,100}|napsal(?:\(a\)|a)?[^:\n]{0,100})
    |[^\n]{3,300}?(?:\bwrote|\bschrieb|<[^<>\s]+@[^<>\s]+>[^:\n]{0,40}|написал\(?а?\)?|пишет|写道|寫道|のメール|작성)
    )[ ]?[:\uff1a]""",
    re.VERBOSE | re.IGNORECASE,
)
"""The line before a quotation: "On 1 February 2026 at 10:00, Mila <mila@example.org> wrote:"."""
DATED = re.compile(r"\d{1,2}[:.h]\d{2}|\d{4}|@")
HEADER = re.compile(
    r"(?P<name>from|von|de|da|van|fra|från|od|от|发件人|差出人|sent|gesendet|envoyé|enviado|inviato|verzonden|sendt"
    r"|skickat|wysłano|отправлено|date|datum|fecha|data|发送时间|送信日時|to|an|à|para|a|aan|til|till|do|кому|收件人|宛先"
    r"|cc|kopie|subject|betreff|objet|asunto|oggetto|assunto|onderwerp|emne|ämne|temat|тема|主题|件名)"
    r"[ *_]{0,5}[:\uff1a]",
    re.IGNORECASE,
)
SENDERS = frozenset({"from", "von", "de", "da", "van", "fra", "från", "od", "от", "发件人", "差出人"})
MARKS = " \t*_"
"""What makes a line bold or slanted in plain text."""
LEAST_HEADERS = 3
LOOKED_AT = 7
"""Lines in which the headers of an older mail must stand."""
MOST_WRAPPED = 3
"""Lines over which a long "On … wrote:" is broken."""


class Own(NamedTuple):
    """The sender's words, and how many lines were somebody else's."""

    text: str
    quoted_lines: int


def own_words(text: str) -> Own:
    """Return what the sender of a mail wrote himself.

    Lines with ">" are left out, with the line that says whose they are; what stands between them is kept. Below a mark
    of an older mail, or an "On … wrote:" with a date and no ">", nothing is kept.
    """
    lines = text.splitlines()
    kept: list[str] = []
    left_out = 0
    number = 0
    while number < len(lines):
        line = lines[number]
        if QUOTED.match(line):
            left_out += 1
            number += 1
            continue
        if line.strip() and (BEGINS.fullmatch(line.strip(MARKS)) or _is_header_block(lines, number)):
            return _own(kept, left_out + len(lines) - number)
        width = _attribution(lines, number)
        if width:
            following = next((one for one in lines[number + width :] if one.strip()), "")
            said = " ".join(lines[number : number + width])
            if QUOTED.match(following):
                left_out += width
                number += width
                continue
            if DATED.search(said):
                return _own(kept, left_out + len(lines) - number)
        kept.append(line)
        number += 1
    return _own(kept, left_out)


def _own(lines: list[str], left_out: int) -> Own:
    while lines and not lines[-1].strip("_- \t*"):
        lines.pop()
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")
    return Own(text, left_out)


def _attribution(lines: list[str], number: int) -> int:
    """Return over how many lines an attribution stands that begins here; 0: there is none."""
    joined = ""
    for width in range(1, MOST_WRAPPED + 1):
        if number + width > len(lines) or not lines[number + width - 1].strip():
            return 0
        joined = f"{joined} {lines[number + width - 1].strip(MARKS)}".strip()
        if len(joined) > 500:  # noqa: PLR2004 - no attribution is as long
            return 0
        if (
            joined.endswith((":", "\uff1a"))
            and ATTRIBUTION.fullmatch(joined)
            and (width == 1 or joined.lower().startswith(STARTS))
        ):
            return width
    return 0


STARTS = ("on ", "am ", "le ", "el ", "il ", "op ", "em ", "den ", "w dniu ", "dnia ", "dne ")
"""How an attribution begins that may be broken over lines; others would take a line of the sender's with them."""


def _is_header_block(lines: list[str], number: int) -> bool:
    """Return whether the headers of an older mail begin here, as Outlook shows them."""
    first = HEADER.match(lines[number].strip(MARKS))
    if first is None or first["name"].lower() not in SENDERS:
        return False
    found = [HEADER.match(line.strip(MARKS)) for line in lines[number : number + LOOKED_AT]]
    return len({one["name"].lower() for one in found if one is not None}) >= LEAST_HEADERS
