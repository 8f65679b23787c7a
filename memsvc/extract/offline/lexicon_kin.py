"""Nouns for what somebody is to somebody: relatives, partners, acquaintances, animals that are kept."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHE = _words("""
    mother mom mum mam mama mamma mommy mummy ma sister sis daughter wife girlfriend fiancée fiancee bride aunt
    auntie grandmother grandma granny gran nan nana nanna niece granddaughter stepmother stepmom stepmum stepsister
    stepdaughter godmother goddaughter missus widow girl lady woman landlady waitress abuela oma babushka
    nonna lola tita abuelita tía mamá mami mutti mamaw meemaw gramma yaya yiayia amma dadi nani dida ammi didi bua masi
    mausi khala baachan obaachan obasan halmoni babcia babka ciocia baka teyze abla mormor farmor moster bestemor tante
    nain mamgu maw bibi shangazi mammy maman babaanne anneanne
    mother-in-law sister-in-law daughter-in-law half-sister ex-wife ex-girlfriend great-grandmother great-aunt
""")
HE = _words("""
    father dad da daddy papa pa pop brother bro son husband hubby boyfriend fiancé fiance groom uncle grandfather
    grandpa grandad granddad gramps nephew grandson stepfather stepdad stepbrother stepson godfather godson widower
    boy gentleman man guy bloke landlord waiter opa dziadek father-in-law brother-in-law son-in-law half-brother
    nonno lolo tito kuya abuelo abuelito tío papá papi vati pops papaw grampa pappou appa abbu bhai bhaiya chacha bapu
    jiichan ojiisan harabeoji wujek deda dede amca dayi morfar farfar onkel taid tadcu tatko tato baba bestefar
    ex-husband ex-boyfriend great-grandfather great-uncle
""")
CHILDREN = {"boy": "son", "girl": "daughter", "lad": "son", "lass": "daughter", "little one": "child"}
"""With "my" or "our" these are one's own."""
ANYBODY = _words("girl lady woman landlady waitress boy gentleman man guy bloke landlord waiter")
FAMILY = ((SHE | HE) - ANYBODY) | _words("""
    partner spouse cousin sibling parent child kid baby twin toddler grandparent grandchild grandkid fiancé fiancee
    stepparent stepchild stepkid godparent godchild in-law relative ex triplet foster-child better-half ex-partner
    half-sibling great-grandparent fella eldest youngest oldest step-dad step-mom step-mum step-sister step-brother
    step-son step-daughter
""")
ACQUAINTANCE = _words("""
    friend mate buddy pal bestie bff best-friend pen-pal acquaintance neighbour neighbor roommate flatmate housemate
    colleague coworker co-worker workmate boss manager supervisor employee assistant intern apprentice trainee
    mentor mentee teacher tutor professor lecturer student pupil classmate schoolmate teammate coach trainer
    instructor therapist counsellor counselor psychologist psychiatrist doctor gp dentist physio physiotherapist
    nurse midwife surgeon oncologist cardiologist vet lawyer solicitor accountant landlord landlady tenant lodger
    client customer co-founder cofounder business-partner bandmate bassist drummer singer guitarist babysitter nanny
    au-pair childminder cleaner hairdresser barber plumber electrician builder carpenter mechanic gardener priest
    pastor vicar rabbi imam godparent fellow roomie team-mate gym-buddy running-partner dance-partner crush supplier
    pi ta hod line-manager agent editor publisher captain team-leader foreman principal headteacher headmaster
    headmistress supervisor
    advisor adviser carer caregiver guest host hostess sponsor penfriend playmate groomsman bridesmaid
""")
PARTNERS = _words("""
    husband wife partner girlfriend boyfriend fiancé fiancée fiance fiancee spouse hubby
""")
KIN = FAMILY | ACQUAINTANCE
BARE = _words("""
    mom mum mam mama mommy mummy dad da daddy papa grandma granny gran nan nana nanna grandpa grandad granddad gramps
    auntie hubby missus nonna nonno lola lolo abuela abuelita abuelo mami papi mamá papá mutti vati pops mamaw papaw
    meemaw gramma grampa yiayia pappou amma appa dadi nani didi bhai ammi abbu baachan obaachan halmoni babcia mormor
    farmor morfar farfar oma opa nain taid mamgu tadcu tatko tato bapu kuya mammy maman mamma baba babaanne anneanne
""")
"""Stand without "my" when they are the speaker's own."""
NOT_BARE = _words("""
    guest host fellow doctor captain client customer student crush sponsor agent editor assistant pupil ex twin relative
    baby child kid mate buddy pal bro sis ma pa pop man woman lady
""")
"""As a subject without article these may be anybody's, or are only an address."""
ARTICLED = _words("wife husband missus hubby boss kid kids girls boys parents in-laws folks mrs")
"""The speaker's own with "the": "the wife", "the girls"."""
ORDERS = _words("sister brother father mother")
"""With a capital before a name, these are what nuns, nurses, monks and priests are called."""
TITLED = _words("uncle aunt auntie aunty cousin tío tía tito tita tante")
"""Before a name in lower case: "uncle rob"."""
FORMER = _words("ex former late old previous ex- first deceased dead")
"""Before a relation: "my old boss" (for a friend "old" means long, see ``NOT_OVER``)."""
NOT_OVER = _words("""
    friend mate buddy pal dad mum mom mother father man woman granny grandmother grandfather
""")
TWO_WORDS = {
    ("young", "man"): "boyfriend", ("other", "half"): "partner", ("better", "half"): "partner",
    ("significant", "other"): "partner", ("old", "man"): "father", ("old", "lady"): "wife",
}  # fmt: skip
SOCIAL = _words("""
    friend mate buddy pal neighbour neighbor roommate flatmate housemate colleague coworker boss manager landlord
    landlady teacher tutor coach vet doctor gp dentist physio therapist lawyer accountant classmate teammate
    apprentice lodger tenant supervisor mentor instructor nanny babysitter childminder cleaner hairdresser client
    customer
""")
"""With an article and a name, in the mouth of one who speaks of himself, these are his own: "the vet, Catrin"."""
PLURALS = {
    "kids": "kid", "children": "child", "parents": "parent", "grandparents": "grandparent", "girls": "daughter",
    "boys": "son", "folks": "parent", "in-laws": "in-law", "mates": "mate", "grandkids": "grandkid",
    "grandchildren": "grandchild", "wives": "wife",
}  # fmt: skip
ANIMALS = _words("""
    dog puppy pup cat kitten kitty hamster rabbit bunny parrot budgie parakeet canary cockatiel bird horse pony mare
    gelding goldfish fish tortoise turtle lizard gecko iguana snake python rat mouse gerbil guinea-pig guinea ferret
    chicken hen rooster duck goose goat sheep lamb cow calf pig donkey llama alpaca bee hedgehog chinchilla heeler
    cockapoo labradoodle goldendoodle frenchie rottweiler doberman dalmatian setter malinois akita shiba schnauzer
    chihuahua pomeranian bichon westie lurcher kelpie hound sheepdog mastiff staffie newfie pooch hen bantam stallion
    foal colt filly ram ewe tom cattle heifer bullock quail peacock swan emu raccoon skunk crab shrimp betta koi
    tarantula pet labrador lab retriever poodle terrier spaniel collie dachshund beagle husky pug bulldog shepherd
    greyhound whippet corgi mutt mongrel tabby siamese cockerel pigeon axolotl frog chameleon tomcat doggo pupper
    rescue
""")

PERSONS = _words("lady woman guy bloke man lad lass girl boy kid chap fella dude gentleman")
PUBLIC = _words("""
    singer actor actress author writer president minister politician artist composer painter musician drummer guitarist
    pianist poet historian philosopher journalist filmmaker producer comedian dj photographer economist member staff
    lead head officer judge animator
""")
"""Of whom people speak whom they have not met: "the singer Nina Simone"."""
