"""Verbs by what they say of their subject, as lemmas; with a particle where it makes the sense ("sign up")."""

from __future__ import annotations

from functools import cache


@cache
def lemmas(text: str) -> frozenset[str]:
    """The lemmas of a list: commas part them, so that each may have a particle."""
    return frozenset(lemma.strip() for lemma in text.replace("\n", " ").split(",") if lemma.strip())


WORK = lemmas("""
    work, intern, volunteer, teach, lecture, study, train, apprentice, temp, moonlight, consult, practise, practice,
    research, tutor, serve, clerk, bartend, waitress, nurse, clean, cook, cashier, freelance, contract, work out of,
    employ, hire, recruit, enrol, enroll, matriculate, register, train up, teach part-time, do shifts, babysit, coach,
    nanny, sub, drive, deliver, code, program, manage, supervise
""")
"""Said with "at", "for", "with" or "in" and an organisation."""
WORK_PLAIN = lemmas("""
    work, intern, volunteer, teach, lecture, study, train, temp, freelance, consult, research, enrol, enroll
""")
"""So plain that any place of work may follow."""
BEGIN_WORK = lemmas("""
    start, begin, join, rejoin, sign on, onboard, get, land, take, accept, enter, enrol, enroll
""")
END_WORK = lemmas("""
    quit, leave, resign, retire, drop out, graduate, fire, sack, lay off, dismiss, let go, walk out, hand in, step
    down, make redundant, finish, finish up, get out, flunk out, transfer out
""")
RUN = lemmas("run, manage, own, head, lead, direct, chair, coach, co-own, operate, head up")

LIVE = lemmas("""
    live, reside, dwell, settle, settle down, settle in, lodge, board, room, rent, squat, house-sit, base, nest
""")
MOVE = lemmas("""
    move, relocate, emigrate, immigrate, migrate, resettle, transfer, move back, move over, move down, move up, move
    out, move in, settle, settle down
""")
GROW = lemmas("grow up, bear, raise, be raise, bring up, hail, originate, come from")

TRAVEL = lemmas("""
    go, travel, fly, drive, head, come, arrive, return, get, walk, cycle, bike, ride, sail, cruise, hike, trek,
    wander, commute, drop by, swing by, stop by, pop, pop in, pop over, pop by, nip, run, rush, hop, land, get
    back, go back, come back, be back, head back, head over, head out, head off, head down, head up, go over, go down,
    go up, go out, go away, go along, go off, come over, come down, come up, come along, come out, fly back, fly out,
    fly in, drive up, drive down, drive over, drive out, drive back, travel back, move on, set off, set out, leave,
    take off, road trip, backpack, hitchhike, ski, camp, holiday, vacation, jet off, roll, row, paddle, climb, swim,
    surf, jog, make it, make way, turn up, show up, check in, escape, stroll, stop, stop over, stop off, detour
""")
STAY = lemmas("""
    stay, stay over, remain, sit, stand, wait, sleep, crash, camp, hang, hang out, lie, park, be, spend, linger,
    chill, lounge, relax, rest, meet, eat, dine, lunch, shop, play, train, swim, park up, hole up, stop, land, pass
    through, explore, tour, wander, honeymoon, party, celebrate, perform, sing, speak, exhibit, display
""")
VISIT = lemmas("""
    visit, revisit, tour, explore, see, reach, leave, hit, check out, pass, enter, cross, frequent, try, discover
""")
HOLD_EVENT = lemmas("be, take place, happen, hold, host, start, occur, fall, run, open, go on, play")

TAKE_PART = lemmas("""
    attend, join, enter, participate, take part, compete, sign up, enrol, enroll, register, go, come, do, have, take,
    run, play, finish, complete, pass, fail, win, lose, host, hold, organise, organize, throw, celebrate, lead, give,
    perform, sing, speak, present, race, be, return, get back, come back, go back, be back, go along, come along,
    book, start, begin, plan, enjoy, survive, get, make, sit, retake, miss, crash, visit, catch, watch, see,
    volunteer, help, train, prepare, prep, practise, practice, rehearse, apply, attend, go out, go away, head, fly,
    travel, drive, hit, ace, nail, bomb, flunk, tackle, undergo, undertake, arrange, schedule, dance, swim, cycle,
    hike, walk, dj, cater, officiate, judge, coach, teach, chair, bring, show up, turn up, make it, sign on, get
    through, stop by, drop by, get into, invite, fight, box, arrive, leave, plan, qualify, be in, be at
""")
"""With a word for an event, these say that somebody takes part."""
NOT_TAKING_PART = lemmas("""
    cancel, skip, miss, avoid, quit, drop, refuse, decline, hear, read, remember, forget, mention, discuss, call off,
    postpone, want, need, wish, hope, love, like, hate, dislike, fear, dread, consider, think, imagine, wonder, ask,
    recommend, suggest, follow, stream, google, search, write, describe, imply, back out, pull out, sell, drop out
""")

BUY = lemmas("""
    buy, purchase, own, adopt, acquire, inherit, order, lease, get, score, snag, pick up, treat, rescue, foster, snap
    up, splash out, invest, collect, win, receive, keep, breed, save up, trade, swap, upgrade, bag, bring home, take
    in, take home, possess, bid, grab, shell out, mortgage, finance, unbox
""")
BUY_PLAIN = lemmas("""
    buy, purchase, own, adopt, acquire, inherit, rescue, foster, snap up, possess, collect, splash out, lease, order,
    upgrade, breed, take in
""")
"""What is bought so is owned, whatever it is."""
HAVE = lemmas("have, get, keep, own")
GIVE = lemmas("""
    give, gift, buy, lend, hand, get, hand down, pass down, pass on, leave, send, bring, bequeath, present, make
""")
LOSE = lemmas("""
    sell, lose, scrap, give away, give up, get rid, return, donate, throw out, throw away, total, crash, trade in,
    ditch, break, wreck, rehome, part, sell off, chuck, chuck out, bin, toss, get shot, dump, flog, write off, smash,
    misplace
""")
DIE = lemmas("die, pass, pass away, croak, pack in, conk out, give out, kick the bucket, perish")
STEAL = lemmas("steal, nick, pinch, tow, rob, wreck, total, sell, destroy, write off")

LIKE = lemmas("""
    love, like, enjoy, adore, dig, relish, treasure, cherish, prefer, worship, savour, savor, admire, heart, rate,
    geek out, nerd out, obsess, swear by, live for, fancy, vibe, ship, stan, delight, get into, fall for, warm, revel,
    idolise, idolize, miss
""")
DISLIKE = lemmas("""
    hate, dislike, loathe, detest, despise, abhor, dread, resent, regret, abominate, can not stand, mind, fear
""")
UNBEARABLE = lemmas("stand, bear, stomach, abide, tolerate, handle, take, deal")
"""With "can't": a dislike."""

WANT = lemmas("""
    want, wish, hope, need, desire, crave, fancy, long, yearn, aim, plan, intend, mean, dream, aspire, look, hunt,
    save, save up, consider, contemplate, think, try, decide, seek, covet, require, wanna, gonna, resolve, vow, die,
    look forward, apply, set out, shop, angle, work, research, toy, debate, be up for, be after, strive, attempt,
    determine, pray, search
""")
WANT_OBJECT = lemmas("""
    want, need, desire, crave, fancy, covet, require, seek, consider, contemplate, wanna, plan
""")
WANT_TO = lemmas("""
    want, wish, hope, need, desire, long, yearn, aim, plan, intend, mean, dream, aspire, look, try, decide, seek,
    wanna, resolve, vow, die, strive, attempt, determine, ache, itch, save, save up, love, like, prefer, vote, opt,
    choose, have
""")
WANT_PREP = frozenset(
    {
        ("wish", "for"),
        ("hope", "for"),
        ("long", "for"),
        ("yearn", "for"),
        ("aim", "for"),
        ("plan", "on"),
        ("dream", "of"),
        ("dream", "about"),
        ("look", "for"),
        ("hunt", "for"),
        ("save", "for"),
        ("save up", "for"),
        ("think", "of"),
        ("think", "about"),
        ("look", "into"),
        ("look forward", "to"),
        ("look", "at"),
        ("apply", "for"),
        ("apply", "to"),
        ("shop", "for"),
        ("search", "for"),
        ("toy", "with"),
        ("pray", "for"),
        ("strive", "for"),
        ("train", "for"),
        ("work", "towards"),
        ("work", "toward"),
        ("aspire", "to"),
        ("die", "for"),
        ("be", "after"),
        ("settle", "on"),
        ("push", "for"),
        ("ask", "for"),
        ("beg", "for"),
        ("set heart", "on"),
    }
)

CREATE = lemmas("""
    make, build, write, found, co-found, cofound, bake, paint, organise, organize, start, compose, record, knit, sew,
    crochet, design, develop, code, program, brew, cook, draw, sculpt, craft, publish, launch, create, invent,
    produce, direct, film, plant, grow, set up, put together, put on, weave, carve, illustrate, edit, draft, sketch,
    assemble, construct, whip up, come up, self-publish, release, establish, form, throw, host, embroider, quilt,
    forge, weld, solder, print, 3d print, stitch, hand-make, mix, blog, curate, coauthor, co-write, author,
    choreograph, author, prototype, refactor, rewrite, pot, throw together, glaze, ferment, pickle, roast, distil,
    can, jam, whittle, turn, animate, translate, arrange, plan, open, ship, deploy, upcycle, tailor, sculpt, mould,
    build out, storyboard, pen, rig, do up
""")
CREATE_PLAIN = lemmas("""
    build, write, found, co-found, cofound, bake, paint, compose, knit, sew, crochet, design, develop, code, program,
    brew, draw, sculpt, craft, publish, self-publish, launch, create, invent, produce, set up, put together, weave,
    carve, illustrate, sketch, embroider, quilt, forge, author, choreograph, prototype, construct, draft, establish,
    co-write, whittle, curate, film, animate
""")
"""What these have as object is made, whatever it is."""

USE_PREP = frozenset(
    {
        ("switch", "to"),
        ("rely", "on"),
        ("subscribe", "to"),
        ("swear", "by"),
        ("migrate", "to"),
        ("move", "to"),
        ("go", "with"),
        ("work", "with"),
        ("work", "in"),
        ("code", "in"),
        ("write", "in"),
        ("program", "in"),
        ("do", "in"),
        ("build", "in"),
        ("write", "with"),
        ("build", "with"),
        ("log", "in"),
        ("track", "with"),
        ("track", "in"),
        ("sign up", "for"),
        ("play", "on"),
        ("run", "on"),
        ("be", "on"),
        ("go", "on"),
        ("put", "on"),
        ("make", "with"),
        ("shoot", "with"),
        ("shoot", "on"),
        ("store", "in"),
        ("keep", "in"),
        ("study", "on"),
        ("talk", "on"),
        ("learn", "with"),
        ("edit", "in"),
        ("draw", "in"),
        ("practise", "on"),
        ("practice", "on"),
        ("plan", "with"),
        ("plan", "in"),
        ("cook", "with"),
    }
)
SPEAK = lemmas("speak, learn, study, practise, practice, teach, know, understand, pick up, brush up")
PLAY = lemmas("play, learn, practise, practice, strum, take up, pick up, teach, study, jam")
TAKE_MEDICINE = lemmas("take, be, use, prescribe, give, start, go, inject, need, put, swallow, pop, try")

KNOW = lemmas("""
    meet, know, befriend, meet up, catch up, hang out, hang, bump, run, chat, talk, work, share, collaborate, sit,
    study, train, play, date, see, call, text, phone, ring, email, invite, visit, thank, help, introduce, join, host,
    live, room, text, facetime, zoom, skype, stay, walk, jam, dance, ride, climb, run, go, come, get along, get on,
    fall out, argue, make up, click, bond, reconnect, team up, partner, bring, tell, ask, teach, coach, tutor, mentor,
    interview, message, dm
""")
WED = lemmas("marry, wed, remarry, elope, engage, propose, date, see, go out, court, partner, woo, move in")
PART = lemmas("divorce, split, split up, break up, separate, part, dump, leave, break off, call off")
END = lemmas("""
    stop, quit, give up, cease, end, finish, drop, ditch, abandon, cancel, leave, go off, swear off, pack in, jack in,
    kick, cut out, be over, be do, grow out, retire, sell, lose
""")
"""With a gerund or a thing: what was so ended."""
BEGIN = lemmas("""
    start, begin, take up, get into, pick up, commence, resume, continue, keep, keep on, go back, get back, carry on
""")
