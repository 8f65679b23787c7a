"""Words for what people feel, and for what they think of things; lemmas, in lower case."""

from __future__ import annotations

from memsvc.extract.offline.lexicon_things import words

EMOTIONS = words("""
    happy sad angry anxious nervous scared afraid excited thrilled proud jealous lonely bored tired exhausted stressed
    worried relieved grateful thankful guilty ashamed embarrassed frustrated annoyed upset hurt heartbroken devastated
    depressed down blue miserable furious livid mad irritated disappointed overwhelmed overwhelmed calm content
    peaceful relaxed hopeful hopeless optimistic pessimistic confident insecure confused curious surprised shocked
    stunned amazed terrified frightened panicked panicking homesick nostalgic sentimental melancholic melancholy moody
    gutted chuffed buzzing ecstatic elated overjoyed delighted pleased glad joyful cheerful blissful euphoric giddy
    fulfilled satisfied inspired motivated unmotivated energised energized drained shaken speechless burnt burned
    burnt-out burned-out fed-up apprehensive uneasy tense restless numb empty lost torn conflicted bitter resentful
    envious impatient mortified humiliated intimidated vulnerable wary sceptical skeptical discouraged demoralized
    demoralised heartbroken bereft grieving mournful touched moved humbled honoured honored blessed lucky loved
    appreciated stoked pumped psyched hyped jittery shaky flustered petrified freaked pissed cross grumpy cranky sulky
    crushed shattered knackered wiped broody smug refreshed rested energetic free uncomfortable unhappy unsettled
    distraught desperate helpless powerless trapped shook stuck ill-at-ease self-conscious awkward isolated alone
    rejected betrayed neglected unappreciated tearful weepy emotional teary fearful giddy pleased ambivalent frazzled
    low rough
""")
MOODS = words("""
    joy sadness anger anxiety fear stress excitement pride jealousy loneliness boredom exhaustion worry relief
    gratitude guilt shame embarrassment frustration annoyance grief despair depression misery fury rage disappointment
    calm peace hope confidence insecurity confusion curiosity surprise shock panic homesickness nostalgia happiness
    envy nerves dread regret remorse contentment satisfaction motivation burnout heartbreak
""")
NOT_MOODS = words("""
    down blue free lost alone cross mad moved lucky hurt empty touched torn stuck burnt burned wiped rested calm low
    rough
""")
"""Emotions only with "feel"."""
PRAISE = words("""
    amazing awesome brilliant great fantastic wonderful lovely gorgeous beautiful excellent superb perfect delicious
    incredible unreal magical fabulous stunning terrific adorable delightful fun hilarious outstanding phenomenal ace
    lush class divine heavenly heaven bliss glorious marvellous marvelous epic fab yummy tasty scrumptious addictive
    therapeutic relaxing sweet cute charming the-best best legendary genius spectacular sublime unbeatable fire lit
    soothing breathtaking captivating gripping rad wicked
""")
BLAME = words("""
    awful terrible horrible dreadful disgusting gross hideous boring rubbish crap shit shite garbage trash bad worst
    nasty vile miserable tedious dull annoying irritating unbearable insufferable atrocious abysmal appalling pants
    lousy pathetic overrated horrid nightmare torture hell pillock idiot prick jerk asshole arse twat bully tyrant
    useless toxic tyrannical smug revolting rank grim ghastly naff cringe infuriating obnoxious lame mediocre
    poisonous loathsome unreadable inedible undrinkable unwatchable
""")
FOND = words("""
    fond keen obsessed crazy mad addicted hooked passionate enthusiastic partial nuts bonkers enamoured enamored
    smitten devoted wild besotted excited hyped
""")
"""With a preposition and a thing: it is liked."""
AVERSE = words("""
    sick tired fed-up bored weary fed allergic averse disgusted scared afraid terrified frightened intolerant
""")
EAGER = words("eager keen determined desperate ready dying excited hoping itching set committed tempted willing")
"""With an infinitive: a wish."""
FANS = words("""
    fan lover enthusiast addict fanatic nerd geek buff aficionado devotee junkie nut person fiend supporter
""")
MAKES_GLAD = words("happy smile laugh relax calm feel-good giddy melt grin")
MAKES_SICK = words("gag sick cringe puke vomit heave ill itch sneeze shudder retch wince")
"""What something makes somebody do or be who likes it, or dislikes it."""
PHRASES = {
    ("over", "moon"): "over the moon", ("on", "edge"): "on edge", ("in", "bit"): "in bits",
    ("in", "piece"): "in pieces", ("at", "ease"): "at ease", ("in", "shock"): "in shock",
    ("in", "despair"): "in despair", ("on", "nine"): "on cloud nine", ("in", "tear"): "in tears",
    ("at", "peace"): "at peace", ("in", "mourning"): "in mourning", ("in", "pain"): "in pain",
    ("under", "stress"): "stressed", ("in", "dump"): "down in the dumps",
}  # fmt: skip
"""Feelings that a preposition and a noun say behind "be"."""
