"""Verbs and set phrases by what they say of their subject and of the noun in one of their places.

One frame a line: verbs | place of the noun | flags. A place is "object", "subject" or a preposition; "spot+for" is the
preposition behind that noun or adjective ("have a soft spot for"). Flags: "denied" where the phrase needs a negation
("can't live without"), "able" where it may have "could" or "would", "now" where it tells it only in the present tense,
"ended" where the phrase ends what it says.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from memsvc.extract.offline.lexicon_things import words


class Frame(NamedTuple):
    """A verb, or set phrase, with the place of the noun that it is about."""

    verbs: frozenset[str]
    place: str
    """"object", "subject", or a preposition."""
    holder: str
    """Lemma of the noun or adjective before the preposition; empty: it belongs to the verb."""
    flags: frozenset[str]


@cache
def frames(text: str) -> tuple[Frame, ...]:
    """The frames of a table.

    >>> frames("have, get | spot+for | now")[0].holder
    'spot'
    """
    found = []
    for line in text.strip().splitlines():
        verbs, place, *flags = (part.strip() for part in line.split("|"))
        holder, _, prep = place.rpartition("+")
        found.append(Frame(frozenset(each.strip() for each in verbs.split(",")), prep, holder,
                           frozenset(flags[0].split() if flags else ())))  # fmt: skip
    return tuple(found)


LIKING = frames("""
    live | for
    live | without | denied able
    do, survive, function | without | denied able
    get, have | enough+of | denied able
    have, get | spot+for
    have, get | weakness+for
    have, get | passion+for
    have, get | thing+for
    have, get | love+for
    have, get | obsession+with
    have, develop, get | taste+for
    fall, be | love+with
    be | sucker+for
    geek out, nerd out | over
    geek out, nerd out | about
    rave | about
    swear | by
    go | crazy+for
    go | mad+for
    go | nuts+for
    miss | episode+of | denied
    be | big+on
""")
DISLIKING = frames("""
    go | off
    have | time+for | denied
    have | patience+for | denied
    have | aversion+to
    have | phobia+of
    have | fear+of
    have | hatred+for
    steer | clear+of
    see | point+of | denied able
    see | point+in | denied able
""")
PLEASING = frozenset({"delight", "fascinate", "soothe", "relax", "thrill", "charm", "intrigue"})
DISPLEASING = frozenset({
    "annoy", "irritate", "bore", "disgust", "terrify", "scare", "infuriate", "frighten", "freak out", "gross out",
    "creep out", "wind up", "stress out", "piss off", "put off", "turn off", "do in", "bug", "repulse", "enrage",
})  # fmt: skip
"""What does this to somebody is liked, or disliked."""
WISHING = frames("""
    be | after
    be | market+for
    do | with | able
    kill | for | able
    set | heart+on
    set | sights+on
    have | heart+on
    have | eye+on
    have | sights+on
    train, prepare, practise, practice | for
    work | toward
    work | towards
    hold out | for
    audition | for
    interview | for
    put in | for
    be | need+of
    be | hunt+for
    be | lookout+for
    be | list+for
""")
USING = frames("""
    switch, move, convert, migrate, upgrade, change | to
    rely, depend | on
    subscribe | to
    swear | by
    log, sign | into
    pay, bank | with
    walk, get around, get about, move | with
    walk, get around, get about | on
    commute, get around, get about | by
    commute | on
    be, sit | in
    be, go, get | on
    put | on
    work, code, program, write, build, develop, prototype, draw, design, edit, mix, record, model, animate, think | in
    work, write, build, edit, draw, cook, bake, bank, invoice, budget, cut, sew, paint, shoot, film, record | with
    work, read, draw, play, run, listen, watch, shoot, film, write, record, practise, practice, cook, post, sell | on
    track, log, store, keep, plan, organise, organize, manage, do, make, write, record, save, note | in
    track, log, plan, organise, organize, manage, do, make, edit, control, monitor | with
    track, log, post, sell, stream, book, order, do, follow | on
    book, order, pay, do, invoice, call, message, chat | through
    book, order, pay, do, invoice, call, message, chat | via
    be | fluent+in
    have | subscription+to
    have | account+on
    have | account+with
""")
NO_LONGER_USING = frames("""
    quit, delete, uninstall, ditch, drop, leave, cancel, abandon, deactivate, dump | object
    give up | object
    switch, move, migrate | from
    switch, move, migrate | off
    come, get, wean | off
    be, get | off
    switch, move | away+from
    go | off
""")
JOINING = frames("""
    belong | to
    join, rejoin | object
    play, sing, drum, row, skate, race, ride, perform, act, dance, compete, box, fundraise, captain | for
    play, sing, drum, row, perform, act, dance, march, serve, volunteer, sit, be, compete | in
    play, sing, perform, dance, volunteer, row, train, be, act, tour, record | with
    sit, serve, be, elect, vote | on
    get, accept, vote, elect, admit | into
    sign up, sign, try out, elect, appoint | to
    sign up, sign, try out | with
    be | part+of
    be | member+of
    be | captain+of
    run, lead, head, captain, coach, chair, manage | object
""")
TELLING = frames("""
    deal | with
    talk, tell, teach, speak, be, go | about
    tell | story+of
    focus, be, center, centre, concentrate, report | on
    cover, explore, discuss, describe, explain, depict, trace, examine, analyse, analyze, chronicle, follow | object
""")
NEEDING = frames("""
    depend, rely, hinge, run, build, base, host, power, operate | on
    depend, rely, hinge, base, build | upon
    write, code, build, implement, program, develop, rewrite, script | in
    build, make, power, run, code, drive | with
    power, drive, fuel, heat | by
    require | object
""")
RESULTING = frames("""
    come, stem, result, arise, originate, follow | from
    be | due+to
    be | because+of
    be | down+to
    be | fault+of
    cause, trigger, provoke, spark, worsen, inflame, aggravate | by
""")
CAUSING = frames("""
    cause, trigger, provoke, spark, worsen, bring on, set off, aggravate, give, inflame | object
    lead, contribute | to
    result, end | in
""")
TROUBLES = words("""
    ache aches allergy allergies anxiety asthma attack attacks backache bleeding blister blisters bloating breakdown
    bruise burn burnout cough cold concussion cramp cramps crash crack cut damage damp death delay depression
    diabetes diarrhoea dizziness eczema error errors exhaustion fall fatigue fever fire flare-up flood flooding flu
    fracture hangover headache headaches heartburn hives illness infection inflammation injury insomnia itch leak
    limp migraine migraines mould mold nausea nightmare nightmares noise numbness outage pain pains palpitations panic
    problem problems bug bugs rash reaction scar shutdown smell sneezing soreness sprain stain stress stroke swelling
    stutter tinnitus toothache trouble ulcer vertigo vomiting wound blackout layoff layoffs redundancy divorce breakup
    break-up split accident closure mistake mess failure loss debt cancellation trauma phobia condition wheeze
    wheezing stiffness sciatica seizure seizures tremor spasm spasms tantrum tantrums meltdown meltdowns
""")
"""What has a cause that one tells: ailments and mishaps."""
