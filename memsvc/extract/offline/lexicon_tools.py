"""Words for what people use: tools and apps, games, aids, medicines, vehicles for hire; and what is no tool."""

from __future__ import annotations

import re

from memsvc.extract.offline.lexicon_things import words

PROGRAMMING = words("""
    python java javascript typescript kotlin rust go golang ruby elixir haskell scala swift php perl sql r matlab c
    c++ c# react vue angular django flask rails spring docker kubernetes postgres postgresql mysql sqlite redis git
    excel notion obsidian slack zoom teams figma photoshop blender unity godot vim emacs vscode trello asana todoist
    evernote spotify duolingo anki strava whatsapp telegram signal discord linux ubuntu windows android latex word
    onenote gmail terraform ansible aws azure gcp heroku hetzner openai chatgpt claude logseq zotero scrivener ableton
    logic garageband lightroom premiere canva quickbooks ynab goodreads letterboxd headspace calm garmin fitbit revit
    autocad solidworks facebook twitter instagram tiktok snapchat linkedin reddit pinterest tumblr mastodon bluesky
    messenger skype facetime viber wechat line netflix youtube audible tinder hinge bumble revolut paypal venmo monzo
    wise klarna etsy depop vinted ebay gumtree airbnb uber bolt deliveroo doordash chess.com lichess jira confluence
    sap salesforce xero dropbox icloud chrome firefox safari siri alexa copilot gemini myfitnesspal komoot alltrails
    nvivo spss stata obs davinci reaper cubase illustrator indesign procreate krita gimp powerpoint keynote onedrive
    minecraft roblox fortnite steam itch twitch patreon kickstarter substack wordpress shopify squarespace
""")
ORDINARY = words("""
    line messenger hinge bumble bolt wise steam itch safari chrome gemini obs reaper line illustrator monday windows
    teams go excel calm word signal notion r c swift rust spring react rails discord zoom slack premiere logic ansible
    oracle access outlook pages numbers ruby python java git perl azure strava unity
""")
"""These are tools only with a capital."""
GAMES = words("""
    football soccer tennis basketball hockey rugby cricket golf chess badminton volleyball squash baseball netball
    padel darts pool poker bridge handball lacrosse frisbee bowls snooker videogames d&d dungeons go
""")
WORN = words("""
    aid glasses glass contacts aids glasses spectacles lenses brace braces splint orthotics pacemaker prosthesis wig
    dentures
""")
AIDS = words("""
    cane stick crutches crutch walker rollator frame wheelchair scooter wheels zimmer planner diary notebook calendar
    phone oven wok pan chisel plane lathe loom wheel press knife torch pencils pastels watercolours watercolors oils
    acrylics pen pencil tablet keyboard typewriter
""")
"""Tools that one walks, writes or works with."""
ROOMS = words("""
    chair sofa couch bed mattress desk table wardrobe board bookcase bookshelf tub shed tent rug armchair pool
""")
DRUG = re.compile(
    r"\w{2,}(?:olol|pril|statin|mycin|cillin|azole|azepam|zolam|oxetine|traline|mab|sartan|formin|parin|profen|triptan"
    r"|gliptin|flozin|thyroxine|isone|olone|cycline|lukast|dipine|idone|apine|pidem|caine|tadine|rizine|fenac|xaban"
    r"|grel|glutide|pramine|tyline|lamine|gabalin|semide|thiazide)$"
)
"""The stems that international names of medicines end in."""
DOSES = words("""
    thinners thinner blockers blocker antidepressant antibiotic antihistamine painkiller contraceptive hrt vitamin
    vitamins inhalers sedatives sedative probiotics probiotic laxatives electrolytes
""")
"""Medicines by what they do."""
DRIVEN = words("""
    bus tram train lorry truck taxi cab forklift digger ambulance ferry coach minibus crane barge tractor
""")
RENTED = words("garage studio office room flat apartment house cottage field land stall plot desk workshop")
UNUSED = words("""
    word words phrase term time energy help hand hands head brain imagination money voice name excuse opportunity
    chance space toilet loo bathroom bit break power rest advice skills skill experience stairs lift elevator wish
    swear resource resources tool tools technique techniques tip tips strategy feature features item items swear photo
    photos picture pictures example quote link opportunity method approach
""")
