"""Reads the most frequent times in Chinese or Japanese text, which has no spaces between words.

It uses two patterns, each tried where one of its first characters is; their repetitions have small bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import islice

from memsvc.times.calendar import DAYS_A_WEEK, Calendar, Span, months_from
from memsvc.times.dates import Found, day_of

SIGNS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
DAYS = {
    "大前天": -3, "前天": -2, "一昨日": -2, "おととい": -2, "昨天": -1, "昨日": -1, "きのう": -1,
    "昨晚": -1, "昨夜": -1,    "今天": 0, "今日": 0, "きょう": 0, "今晚": 0, "今夜": 0,
    "明天": 1, "明日": 1, "あした": 1, "后天": 2, "後天": 2, "明後日": 2,
}  # fmt: skip
YEARS = {"前年": -2, "一昨年": -2, "おととし": -2, "去年": -1, "昨年": -1, "今年": 0, "明年": 1, "来年": 1}
STEPS = {"上": -1, "先": -1, "这": 0, "這": 0, "本": 0, "今": 0, "下": 1, "来": 1, "來": 1}
UNITS = {
    "天": "day", "日": "day", "周": "week", "週": "week", "週間": "week", "星期": "week", "礼拜": "week", "月": "month",
    "年": "year", "小时": "hour", "小時": "hour", "時間": "hour", "分钟": "minute", "分鐘": "minute", "分": "minute",
}  # fmt: skip
WEEKDAYS = {sign: number % DAYS_A_WEEK for number, sign in enumerate("一二三四五六日")} | {"天": 6}
WEEKDAYS |= {sign: number for number, sign in enumerate("月火水木金土")}
SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
NUMBERS = {sign: (number, number) for number, sign in enumerate("一二三四五六七八九十", start=1)}
NUMBERS |= {"两": (2, 2), "兩": (2, 2), "几": (2, 8), "幾": (2, 8), "数": (2, 8), "半": (1, 1)}
RECENT, MAX_TRIED = 30, 600
_DAYS = "|".join(sorted([*DAYS, *YEARS], key=len, reverse=True))
_COUNT = r"(?P<count>[0-9]{1,4}|[一二三四五六七八九十两兩几幾数]) ?"
_UNIT = r"(?:个|個|か|ヶ|カ|箇|ヵ)?(?P<unit>小时|小時|時間|分钟|分鐘|星期|礼拜|週間|[天日周週月年])"
DATE = re.compile(
    r"(?<![0-9])(?:(?P<year>(?:19|20)[0-9]{2}) ?年(?: ?(?P<season>[春夏秋冬])[天季]?)?)?"
    r"(?: ?(?P<month>1[0-2]|0?[1-9]) ?月(?!間)(?: ?(?P<day>3[01]|[12][0-9]|0?[1-9]) ?[日号號])?)?"
)
RELATIVE = re.compile(
    rf"(?P<day>{_DAYS})"
    rf"|(?P<past>最近|过去|過去|近|ここ)(?:的|の)?{_COUNT}{_UNIT}"
    rf"|{_COUNT.replace('count', 'many')}{_UNIT.replace('unit', 'size')}(?:之前|以前|前)"
    r"|(?P<step>[上这這本下])(?:个|個)?(?P<noun>周末|週末|周|週|星期|礼拜|禮拜|月)(?P<weekday>[一二三四五六日天](?![个個月年天]))?"
    r"|(?P<jstep>[先今来])(?P<jnoun>週末|週|月)(?:の(?P<jweekday>[月火水木金土日])曜日?)?"
    r"|(?P<recent>最近|近来|近頃|前几天|前幾天|这几天|這幾天|この間|この前)"
)
PART_OF_YEAR = re.compile(
    r"[的の]?(?:(?P<season>[春夏秋冬])[天季]?"
    r"|(?P<month>1[0-2]|0?[1-9]) ?月(?: ?(?P<day>3[01]|[12][0-9]|0?[1-9]) ?[日号號])?)"
)
STARTS = re.compile(r"[0-9大前一お昨き今明あ后後去来來最过過近こ上这這本下先二三四五六七八九十两兩几幾数]")


def read_all(text: str, calendar: Calendar) -> Iterator[tuple[int, Found]]:
    """Yield each phrase with the offset at which it begins."""
    stop = 0
    for start in islice(STARTS.finditer(text), MAX_TRIED):
        at = start.start()
        if at < stop:
            continue
        try:
            found = read_date(text, at, calendar) or read_relative(text, at, calendar)
        except (ValueError, OverflowError):  # 30 February, 9999 years ago
            continue
        if found:
            stop = found.stop
            yield at, found


def read_date(text: str, at: int, calendar: Calendar) -> Found | None:
    """Read 2023年5月7日, 2023年5月, 2023年, 2023年夏天, 5月7日, or a month alone ("5月")."""
    match = DATE.match(text, at)
    if match is None or match.end() == at:
        return None
    month = int(match["month"]) if match["month"] else SEASONS.get(match["season"] or "", 0)
    day = int(match["day"]) if match["day"] else None
    if match["year"]:
        begin = date(int(match["year"]), month or 1, day or 1)
    else:
        days = (day_of(calendar.today.year - back, month, day or 1) for back in range(9))
        latest = next((first for first in days if first and first <= calendar.today), None)
        if latest is None:
            raise ValueError("no year has this day")
        begin = latest
    if day:
        span = calendar.day(begin)
    else:
        span = calendar.days(
            begin, months_from(begin, 12 if not month else 3 if match["season"] and not match["month"] else 1)
        )
    return Found((span,), match.end(), "explicit")


def read_relative(text: str, at: int, calendar: Calendar) -> Found | None:
    match = RELATIVE.match(text, at)
    if match is None:
        return None
    group, today = match.groupdict(), calendar.today
    if group["day"]:
        word = group["day"]
        if word in YEARS:
            return in_year(text, match.end(), calendar, today.year + YEARS[word])
        span = calendar.day(today + timedelta(DAYS[word]))
    elif group["past"]:
        span = calendar.past(UNITS[group["unit"]], number_of(group["count"])[1])
    elif group["many"]:
        if text[match.end() : match.end() + 1] in {"年", "月", "日"}:
            return None
        span = calendar.ago(UNITS[group["size"]], *number_of(group["many"]))
    elif group["recent"]:
        span = calendar.past("day", RECENT)
    else:
        step, noun = STEPS[group["step"] or group["jstep"]], group["noun"] or group["jnoun"]
        span = stepped(calendar, step, noun, group["weekday"] or group["jweekday"])
    return Found((span,), match.end(), "relative", vague=bool(group["recent"]))


def in_year(text: str, at: int, calendar: Calendar, year: int) -> Found:
    """Read 去年, 去年夏天, 去年5月, 去年5月7日."""
    match = PART_OF_YEAR.match(text, at)
    if match is None:
        return Found((calendar.unit("year", date(year, 1, 1)),), at, "relative")
    month = int(match["month"]) if match["month"] else SEASONS[match["season"]]
    begin = date(year, month, int(match["day"] or 1))
    span = calendar.day(begin) if match["day"] else calendar.days(begin, months_from(begin, 1 if match["month"] else 3))
    return Found((span,), match.end(), "relative")


def stepped(calendar: Calendar, step: int, noun: str, weekday: str | None) -> Span:
    """Read 上周, 先月, 今週末, 上周三."""
    if noun in {"周末", "週末"}:
        return calendar.unit("weekend", calendar.today, step)
    if noun == "月":
        return calendar.unit("month", calendar.today, step)
    week = calendar.unit("week", calendar.today, step)
    return calendar.day(week.begin.date() + timedelta(WEEKDAYS[weekday])) if weekday else week


def number_of(word: str) -> tuple[int, int]:
    """Return the least and the greatest number that a word means."""
    return (int(word), int(word)) if word.isdigit() else NUMBERS[word]
