"""What is capitalised and no name, and what names of organisations, events and works begin and end with."""

from __future__ import annotations

from memsvc.extract.offline.lexicon_given import names

NOT_NAMES = names("""
    Christmas Easter Ramadan Diwali Hanukkah Eid Thanksgiving Halloween Midsummer Passover Purim Valentine's Boxing
    I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays Jan Feb Mar
    Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun God Jesus Christ Lord OK Okay Yes No Yeah Yep
    Nope Nah Hi Hello Hey Thanks Thank Cheers Sorry Please Wow Omg Lol Haha Ha Hah Hehe Oh Ah Ugh Yay Well So And
    But Or Not Now Then Also Anyway Right True Good Great Nice Cool Sure Maybe Perhaps Really Just Only Even Still
    Today Tomorrow Yesterday Morning Evening Afternoon Night Tonight What When Where Who Why How Which That This
    These Those There Here It He She We They You My Your His Her Our Their Its A An The If As At By For From In Of
    On To With Without About After Before Because While Until Since Though Although English PS NB BTW FYI ASAP DIY
    TV PC CEO CTO HR PR IT AI UI UX TL DR AM PM GMT CET Dear Love Bye Congrats Congratulations Happy Merry New Year
    Sir Madam Damn Hell Shit Fuck Fun Fine Sound Grand Lovely Perfect Awesome Amazing Brilliant Excellent Wonderful
    Fantastic Fair Enough Exactly Absolutely Definitely Honestly Seriously Actually Basically Apparently Obviously
    Luckily Unfortunately Sadly Hopefully Finally Do Don't Did Does Is Are Was Were Be Been Have Has Had Can Could
    Will Would Should Shall Might Must Let Let's Get Got Go Going Gone Come Came Tell Say Said See Saw Look Know
    Think Guess Mean Want Need Make Made Take Took Give Gave Put Work Working Back Off Up Out Down Over Same Other
    Another Some Any All Both Each Every Most Many Much Few None One Two Three Four Five Six Seven Eight Nine Ten
    First Second Third Next Last Long Short Big Small Old Young Best Worst Mum Mom Dad Mam Mama Papa Grandma Grandpa
    Granny Nan Gran Nana Auntie Uncle Aunt Sis Bro Hubby Mummy Daddy Mommy Da Pa Ma Mr Mrs Ms Dr Prof Miss GP MRI ER
    ICU A&E BBQ ID PhD MA BA MSc BSc MBA GCSE GCSEs A-level A-levels PIN FAQ PDF CV Wifi Wi-Fi Internet Earth Euro
    Euros Dollars Covid COVID ADHD OCD PTSD IBS IVF BMI DNA Xmas Zone Step Part Chapter Note Edit Update Question
    Answer Option Day Week Month Type Level Point Idea Plan Total Also Except Instead Besides Meanwhile However
    Therefore Thus Hence Plus Minus Per Via Etc Eg Ie Vs Fyi Imo Imho Tbh Idk Brb Ikr Smh Ngl Lmao Lmfao Rofl Wtf
    Gracias Hola Bueno Vale Claro Oye Adiós Amigo Merhaba Guten Tag Danke Bitte Bonjour Merci Salut Ciao Grazie Prego
    Obrigada Obrigado Olá Oi Tak Hej Hei Moi Kiitos Dzięki Cześć Ahoj Namaste Shukran Salam Salaam Inshallah Mashallah
    Alhamdulillah Habibi Habibti Yalla Mija Mijo Ay Nein Ja Oui Si Ich Wir Und Aber Pero Entonces Mashaallah Wallah
    Ffs Jk Jfc Hmm Hm Mmm Um Uh Er Erm Eh Huh Aw Aww Phew Whoa Yikes Oops Ouch Yup Aye Nay Ta Gosh Blimey Bloody
    Crap
""")
"""Capitalised often, and never somebody's or something's own name by itself."""
TITLES = names("""
    Mr Mrs Ms Miss Mx Dr Doctor Prof Professor Sir Dame Lady Lord Father Fr Sister Brother Pastor Rev Reverend
    Captain Coach Auntie Aunt Uncle Granny Grandma Grandpa Nana Officer Chef Señor Señora Herr Frau Madame Monsieur
    Herr_Doktor Doktor Hofrat Padre Don Doña Dona Dom Signor Signora Signorina Mme Mlle Meneer Mevrouw Fru Pan Pani
    Sensei
    Sergeant Sgt Lieutenant Lt Major Colonel Inspector Detective Constable Councillor Cllr Bishop Deacon Chief Alhaji
    Mallam Engr Ustad Ustaz Mzee Mama Baba Nurse Matron
    Imam Rabbi Judge Mr. Mrs. Ms. Dr. Prof. Tante Onkel
""")
ORGANIZATION_ENDS = names("""
    University College School Academy Institute Hospital Clinic Bank Council Church Club FC United Ltd Inc LLC GmbH
    AG Plc Corp Corporation Company Co Group Foundation Trust Society Association Union League Party Agency Studio
    Studios Café Cafe Bakery Brewery Restaurant Bistro Bar Pub Hotel Library Museum Theatre Theater Orchestra Choir
    Band Partners Solutions Systems Technologies Labs Lab Consulting Logistics Airlines Press Publishing Records
    Pharmacy Surgery Dental Practice Shelter Charity Kindergarten Nursery Gymnasium Cooperative Co-op Insurance
    Motors Industries Services Ministry Department Committee Sons Joinery Bros Brothers Roofing Plumbing Electrical
    Construction Builders Interiors Architects Media Energy Health Care Vets Regional Infirmary Rovers Wanderers
    Rangers Athletic City_Council Yoga Fitness Gym Crossfit Books Bookshop Stores Supermarket Mosque Synagogue
    Temple Polytechnic
    Division Collective Quartet Trio Ensemble Philharmonic Daughters Conservatory
    Faculty Uni Elementary Primary Secondary High Grammar Töpferei Estates
""")
EVENT_ENDS = names("""
    Festival Marathon Half-Marathon Conference Cup Open Fair Summit Games Parade Regatta Championship Championships
    Tournament Race Run Carnival Biennale Expo Con Fest Concert Gala Ball Derby Olympics Prix Rally Ride Walk
    Wedding Retreat Camp Workshop Course Hackathon Meetup Bootcamp Convention Symposium Day Week Weekend Eve Swim
    Battle Triathlon Party Reunion Show Fayre Feis Fleadh Challenge Tour Fundraiser Fête Fete
""")
MEDIA_ENDS = names("Magazine Times Gazette Podcast Album Symphony Chronicles Trilogy Herald Weekly")
VENUES = names("""
    Museum Gallery Theatre Theater Library Café Cafe Restaurant Bistro Bar Pub Hotel Pool Stadium Arena Hall Centre
    Center Inn Arms Hospital Clinic Church Mosque Synagogue Temple Market Gym Cinema Bakery Club Hostel Campsite
    Farm Garden Gardens Zoo
""")
"""Places and organisations at once; where somebody works at one, it is the latter."""
HEADS = names(
    "Battle University College Lord Lords Guild Church Feast Isle Festival Museum Society House War Queen King"
)
"""Before "of the", these begin a name: "Battle of the Bands"."""
ORGANIZATION_SUFFIXES = (
    "corp",
    "soft",
    "tech",
    "works",
    "bank",
    "labs",
    "verein",
    "schule",
    "werke",
    "gesellschaft",
    "haus",
)
EXTENDING = (
    dict.fromkeys(
        names("""
    station pool library park beach bridge airport street road square river lake island market museum hall centre
    center studio café cafe pub bar hotel garden gardens church cathedral castle harbour campus stadium arena
    gallery theatre theater cemetery hills mountains valley forest coast area allotments cottage club
"""),
        "Place",
    )
    | dict.fromkeys(
        names("""
    school hospital council university uni college choir orchestra bakery clinic academy institute embassy
    foundation homebrewers branch
"""),
        "Organization",
    )
    | dict.fromkeys(
        names("""
    festival fest gig concert half fayre fete marathon conference carnival regatta derby parade tournament
    championship open triathlon half-marathon
"""),
        "Event",
    )
)
"""Nouns that belong to the name before them: "Coburg pool"."""
