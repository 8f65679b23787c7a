"""Frequent given names, places, organisations and products: what a reader knows without context."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    """Names in lower case, one a word; "_" stands for a blank."""
    return frozenset(name.replace("_", " ") for name in text.lower().split())


SHE = _names("""
    Abigail Ada Adele Agnes Agnieszka Aisha Aino Alejandra Alexandra Alice Alicia Alina Alison Amalia Amanda Amara
    Amelia Amelie Amina Amira Amy Ana Anaïs Andrea Angela Angelika Anika Anita Anja Ann Anna Anne Anneke Annika
    Anouk Antonia Anya Aoife Ashley Asha Astrid Audrey Aurora Ava Ayesha Aylin Barbara Beata Beatrice Beatriz Becky
    Bella Beth Bethany Betty Bianca Birgit Bridget Brigitte Britta Camila Camille Carla Carmen Carol Carolina
    Caroline Catarina Catherine Cecilia Celia Chantal Charlotte Chiara Chiamaka Chloe Christina Christine Ciara
    Claire Clara Clare Claudia Colette Cora Dagmar Daisy Dana Daniela Danielle Daphne Daria Deborah Debbie Denise
    Deepa Diana Diane Dolores Donna Dora Doris Dorota Edith Efua Eileen Elaine Eleanor Elena Elif Elisa Elise Eliza
    Elizabeth Ella Ellen Ellie Elsa Elsie Emily Emma Erika Erin Esme Esther Eun-ji Eva Eve Evelyn Ewa Fatima Fatou
    Faith Farah Fiona Flora Florence Freya Frida Gabriela Gabrielle Gemma Georgia Georgina Gerda Gina Giulia Gloria
    Grace Greta Gretchen Gudrun Gwen Hana Hannah Hanna Harriet Hazel Heather Heidi Helen Helena Helga Henrietta
    Holly Ida Ilse Imani Imogen Ines Inga Ingrid Irena Irene Iris Irina Isabel Isabella Isla Ivana Ivy Iwona
    Jacqueline Jade Jana Jane Janet Janine Jasmine Jean Jenna Jennifer Jenny Jess Jessica Jill Joan Joanna Joanne Jo
    Johanna Josephine Joyce Juanita Judith Judy Julia Juliana Julie Juliette June Justyna Kaisa Karen Karin Karolina
    Kasia Kate Katherine Kathleen Kathy Katie Katja Katrin Kavita Kayla Keira Kelly Kerry Keiko Kim Kirsten Kirsty
    Klara Kristin Luz Marisa Jacinta Kristina Lara Latoya Laura Lauren Layla Lea Leah Leila Lena Leonie Leticia
    Lidia Lilian Lily Lina Linda Lisa Liv Livia Liz Lola Lorna Lorraine Lotta Lotte Louise Lucia Lucie Lucy Luisa
    Lydia Lynn Mabel Maddie Madeleine Maeve Magda Magdalena Maggie Maja Malgorzata Mandy Manon Mara Margaret
    Margarita Margit Marguerite Maria Mariam Mariana Marie Marika Marina Marion Marisol Marjorie Marta Martha
    Martina Mary Matilda Maureen Maya Mei Melanie Melissa Mercedes Meredith Mia Michaela Michelle Mila Mina Miriam
    Moira Molly Mona Monica Monika Morag Nadia Nadine Nancy Naomi Natalia Natalie Natasha Neha Nell Nia Niamh Nicola
    Nicole Nina Noor Nora Norma Nuria Odile Olga Olive Olivia Orla Paige Pam Pamela Patience Patricia Paula Paulina
    Pauline Peggy Penelope Penny Petra Philippa Phoebe Phyllis Pia Pilar Polly Poppy Priya Prisca Rachel Rebecca
    Renata Renee Rhiannon Rita Roberta Robin Rocío Romy Rosa Rosalind Rose Rosie Rosemary Roxana Ruby Ruth Sabine
    Sabrina Sadia Sally Salma Samantha Samira Sandra Sanne Sara Sarah Saoirse Saskia Selma Shannon Sharon Sheila
    Shirin Shirley Shreya Sian Silvia Simone Sinéad Siobhan Sofia Sofie Solveig Sonia Sonja Sophia Sophie Stacey
    Stella Stephanie Sue Sunita Susan Susanne Suzanne Svenja Svetlana Sylvia Tabitha Tamara Tamsin Tania Tanya Tara
    Tatiana Teresa Tess Tessa Thea Theresa Tilda Tina Tova Tracy Trudy Uma Ursula Valentina Valeria Valerie Vanessa
    Vera Verena Veronica Victoria Vida Viktoria Violet Viola Virginia Vivian Wanda Wendy Wilhelmina Winifred Xenia
    Yasmin Yetunde Ylva Yoko Yolanda Yuki Yvonne Zainab Zara Zeynep Zoe Zofia Zosia Zuzana Róisín Ngozi Adaeze
    Folake Wanjiru Achieng Thandi Nomvula Amahle Lakshmi Anjali Pooja Divya Meera Radha Sunita Ayşe Emine Nur
    Aigerim Oksana Ludmila Halina Grażyna Bożena Jadwiga Mei-Ling Xiu Ying Linh Mai Thuy Siti Dewi Sakura Aiko Naoko
    Haruka Soo-jin Min-ji Rosalie Margot Agathe Elodie Solène Maëlle Inès Océane Giorgia Ginevra Federica Francesca
    Alessia Paola Raffaella Itziar Ainhoa Montserrat Guadalupe Ximena Fernanda Renata Luciana Tainá Caitlin
    Caitríona Gráinne Deirdre Eilidh Mhairi Catriona Bronwen Carys
""")
HE = _names("""
    Aaron Abdul Abdullah Abel Adam Adrian Adriano Ahmed Aidan Aki Al Alan Alasdair Albert Alberto Alec Alejandro
    Aleksander Alessandro Alex Alexander Alf Alfie Alfred Ali Amadou Amir Anders Andre André Andreas Andrei Andrew
    Andrzej Andy Angelo Angus Anil Anthony Anton Antonio Archie Arjun Arne Arnold Arthur Arun Arvid Asif Axel Barry
    Bartek Bart Bashir Bastian Ben Benedict Benjamin Bernard Bernd Bert Bill Billy Björn Bob Bobby Boris Brad
    Brandon Brendan Brian Bruce Bruno Bryan Calvin Cameron Carl Carlo Carlos Casper Cathal Cedric Charles Charlie
    Chidi Chinedu Chris Christian Christoph Christopher Ciaran Clive Colin Conor Connor Craig Cristian Curtis Cyril
    Damian Damien Dan Daniel Daniele Danny Darius Darren Dave David Davide Dawid Dean Declan Denis Dennis Derek
    Desmond Dev Didier Diego Dieter Dimitri Dirk Dmitri Dominic Dominik Don Donald Doug Douglas Duncan Dylan Eamon
    Earl Ed Eddie Edgar Edmund Eduardo Edward Edwin Eero Egil Eirik Elias Elijah Eliot Elliot Emeka Emil Emilio
    Emmanuel Emre Enrico Enrique Enzo Eric Erik Ernest Ernst Eoin Esteban Ethan Eugene Evan Fabian Fabio Farid
    Felipe Felix Ferdinand Fergus Fernando Finn Fintan Florian Francesco Francis Francisco Franco Frank Franz Fraser
    Fred Freddie Frederic Frederick Fritz Gabriel Gareth Gary Gavin Geoff Geoffrey George Georg Gerald Gerard
    Gerhard Gianni Gilbert Giles Giorgio Giovanni Glen Gordon Graham Grant Greg Gregor Gregory Guido Guillaume
    Gunnar Gustav Guy Hakim Hamid Hamish Hank Hans Harald Harold Harry Hassan Hector Heinrich Hendrik Henri Henrik
    Henry Herbert Herman Hiroshi Horst Howard Hubert Hugh Hugo Hussein Iain Ian Ibrahim Igor Imran Isaac Ismail Ivan
    Ivar Ivo Jack Jacek Jacob Jacques Jake Jakob Jakub Jamal James Jamie Jan Janek Jared Jarek Jayden Hicham Lev
    Mischa Osian Ifor Jason Javier Jay Jean-Luc Jean-Pierre Jeff Jeffrey Jens Jeremy Jerome Jerry Jerzy Jesse Jim
    Jimmy Joachim João Joe Joel Johan Johannes John Johnny Jon Jonas Jonathan Jordan Jorge Jörg José Josef Joseph
    Josh Joshua Juan Juhani Julian Julien Jürgen Justin Kai Kamal Kareem Karim Karl Kaspar Keith Ken Kenji Kenneth
    Kenny Kevin Kieran Klaus Kofi Konrad Kris Kristian Kristof Krzysztof Kurt Kwame Kyle Lachlan Lars Lasse Laurence
    Lawrence Lee Leif Len Leo Leon Leonard Leonardo Leroy Leszek Liam Lionel Lloyd Lorenzo Louis Luc Luca Lucas
    Ludwig Luigi Luis Lukas Luke Maciej Magnus Mahmoud Malcolm Malik Manuel Marc Marcel Marcelo Marcin Marco Marcus
    Marek Mario Mark Markus Martin Marvin Massimo Mateo Mateusz Mats Matt Matteo Matthew Matthias Mattie Maurice Max
    Maxim Mehmet Michael Michał Michel Miguel Mihai Mikael Mike Mikkel Milan Milo Miro Mohamed Mohammed Moritz Moses
    Mustafa Nathan Neil Nelson Nick Nicholas Nico Nicolas Niels Nigel Niklas Nikolai Nils Noah Noel Norbert Norman
    Obinna Olaf Ole Oleg Oliver Ollie Olle Omar Oscar Oskar Otto Owen Pablo Paddy Paolo Pascal Pat Patrick Paul
    Paulo Paweł Pavel Pedro Pekka Per Percy Pete Peter Phil Philip Philippe Pierre Piotr Pieter Rafael Rafał Raj
    Rajesh Ralf Ralph Ramon Raoul Rashid Ravi Ray Raymond Reg Reggie Reinhard Remy Rene Reza Ricardo Richard Rick
    Rob Robbie Robert Roberto Rodrigo Roger Rohan Roland Rolf Roman Ronald Ronnie Rory Ross Roy Ruben Rudi Rudolf
    Rui Rupert Russell Ryan Said Salvatore Sam Sami Samir Samuel Sandeep Sandro Sanjay Santiago Saul Scott Sean
    Sebastian Sergei Sergio Seth Seamus Shane Shaun Sid Siddharth Simon Slawek Søren Stan Stanley Stefan Stefano
    Stephen Steve Steven Stewart Stig Stuart Sunil Sven Takashi Tariq Ted Teddy Terry Theo Theodore Thiago Thomas
    Thorsten Tim Timo Timothy Tobias Toby Todd Tom Tomas Tomasz Tommy Tony Torben Travis Trevor Tristan Tunde Tyler
    Uli Ulrich Umberto Uwe Vadim Valentin Viktor Victor Vijay Vikram Vince Vincent Vito Vladimir Wade Wallace Walter
    Warren Wayne Werner Wilfred Wilhelm Will William Wim Wojtek Wolfgang Yannick Yasin Yiannis Yiorgos Yosef Yuri
    Yusuf Zach Zachary Zane Zoltan Oluwaseun Babatunde Emeka Ikenna Obi Kwabena Otieno Kamau Sipho Thabo Amit Rahul
    Ashok Suresh Nikhil Karthik Hiro Kenta Taro Ming Wei Jun Hao Minh Duc Budi Agus Jin-woo Joon Tadhg Oisín Cillian
    Padraig Diarmuid Ruairi Callum Ewan Rhys Gethin Iestyn Jürg Beat Urs Gilles Thierry Yves Baptiste Gaspard
    Mathieu Gonçalo Tiago Nuno Rui Vasco Íñigo Xabier Iker Andoni Jordi Oriol
""")
EITHER = _names("""
    Alex Andrea Ashley Charlie Jamie Jean Jo Jordan Kai Kerry Kim Lee Leslie Morgan Pat Robin Sam Sasha Taylor Jesse
    Jules Nico Noor Riley Casey Quinn Rowan Max Frankie Bobbie Jan Ariel Dana Nicola Simone Gabi Mika
""")
GIVEN = SHE | HE | EITHER
ALSO_WORDS = _names("""
    Will Grace Faith Hope Joy Rose May June April Mark Bill Rob Pat Jack Frank Grant Art Dean Guy Ray Drew Chase
    Penny Ruby Daisy Ivy Poppy Olive Violet Holly Iris Max Sue Miles Rich Earl Duke Said Don Gene Bob Dale Heath
    Cliff Patience Mercedes Virginia Florence Georgia Victoria Sydney Paris Milan Lourdes Chelsea Jordan Israel
    Kelly Hank Al Per Beat Mini Nick Josh Christian Dusty Candy Crystal Amber Eve Dawn Summer Autumn Wade Robin Jay
    Wren Star Wanda Hazel Min Jun Mai Nur Mina Tim Urs Obi Viola Flora Aurora Gala Bart Ali Dan Mae Jin Ming Hao
    Asha Noel Carol Angel Nina Lee Jo Ed Sam Uma Percy Ole Linda Mona Kai Ken Jan Mats Nell
""")
"""Given names that are words too: in lower case they are not read as names."""
PLACES = _names("""
    Afghanistan Albania Algeria Argentina Armenia Australia Austria Azerbaijan Bangladesh Belarus Belgium Bolivia
    Bosnia Botswana Brazil Bulgaria Cambodia Cameroon Canada Chile China Colombia Congo Costa_Rica Croatia Cuba
    Cyprus Czechia Denmark Ecuador Egypt England Estonia Ethiopia Europe Finland France Germany Ghana Greece
    Greenland Guatemala Haiti Honduras Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Jamaica Japan
    Kazakhstan Kenya Korea Kosovo Kuwait Laos Latvia Lebanon Liberia Libya Lithuania Luxembourg Madagascar Malawi
    Malaysia Mali Malta Mexico Moldova Mongolia Montenegro Morocco Mozambique Myanmar Namibia Nepal Netherlands
    New_Zealand Nicaragua Nigeria Norway Oman Pakistan Palestine Panama Paraguay Peru Philippines Poland Portugal
    Qatar Romania Russia Rwanda Scotland Senegal Serbia Singapore Slovakia Slovenia Somalia South_Africa South_Korea
    Spain Sri_Lanka Sudan Sweden Switzerland Syria Taiwan Tanzania Thailand Tunisia Turkey Uganda UK Ukraine Uruguay
    US USA Uzbekistan Venezuela Vietnam Wales Yemen Zambia Zimbabwe Africa Asia America Scandinavia Bavaria Tuscany
    Sicily Sardinia Catalonia Andalusia Provence Brittany Normandy Cornwall Devon Yorkshire Kent Sussex Norfolk
    Suffolk Galicia Algarve Madeira Azores Crete Corsica Mallorca Majorca Ibiza Tenerife Lanzarote Bali Java Hawaii
    California Texas Florida Oregon Arizona Colorado Utah Nevada Montana Ohio Michigan Illinois Wisconsin Minnesota
    Vermont Maine Massachusetts Connecticut Pennsylvania Tennessee Kentucky Alabama Louisiana Alaska Idaho Kansas
    Iowa Missouri Nebraska Oklahoma Ontario Quebec Alberta Manitoba Queensland Victoria Tasmania Kerala Punjab
    Gujarat Goa Transylvania Bohemia Moravia Silesia Lapland Patagonia Alps Dolomites Pyrenees Himalayas Highlands
    Hebrides Cotswolds Balkans Caribbean Amsterdam Athens Atlanta Auckland Austin Bangkok Barcelona Basel Beijing
    Beirut Belfast Belgrade Bergen Berlin Bern Bilbao Birmingham Bologna Bonn Bordeaux Boston Bratislava Bremen
    Brighton Brisbane Bristol Brno Brooklyn Bruges Brussels Bucharest Budapest Buenos_Aires Cairo Calgary Cambridge
    Canberra Cape_Town Cardiff Casablanca Chennai Chicago Christchurch Cologne Copenhagen Cork Dakar Dallas Delhi
    Denver Derby Detroit Dhaka Dortmund Dresden Dubai Dublin Durban Düsseldorf Edinburgh Eindhoven Essen Exeter
    Florence Frankfurt Galway Gdansk Gdańsk Gdynia Geneva Genoa Ghent Glasgow Gothenburg Granada Graz Groningen
    Hamburg Hannover Hanoi Haarlem Havana Helsinki Hong_Kong Houston Hull Innsbruck Istanbul Izmir Jakarta Jerusalem
    Johannesburg Kampala Karachi Katowice Kolkata Krakow Kraków Kuala_Lumpur Kyiv Kyoto Lagos Lausanne Leeds
    Leicester Leiden Leipzig Limerick Lisbon Liverpool Ljubljana Lodz Łódź London Los_Angeles Lucerne Lviv Lyon
    Madrid Malaga Malmo Malmö Manchester Manila Marrakech Marseille Medellin Melbourne Miami Milan Montreal Moscow
    Mumbai Munich Nairobi Nantes Naples New_York NYC New_Orleans Newcastle Nice Nottingham Nuremberg Odense Oslo
    Osaka Ottawa Oxford Palermo Paris Perth Philadelphia Phoenix Pittsburgh Plymouth Porto Portland Poznan Poznań
    Prague Pune Reykjavik Riga Rio Rome Rotterdam Salzburg San_Diego San_Francisco San_Jose Santiago Sarajevo
    Seattle Seoul Seville Shanghai Sheffield Sofia Southampton Split Stockholm Strasbourg Stuttgart Sydney Taipei
    Tallinn Tampere Tbilisi Tehran Tel_Aviv Thessaloniki Tirana Tokyo Toronto Toulouse Trieste Turin Turku Uppsala
    Utrecht Valencia Vancouver Venice Verona Vienna Vilnius Warsaw Washington Wellington Winnipeg Wroclaw Wrocław
    York Zagreb Zurich Zürich Aarhus Aberdeen Accra Adelaide Antwerp Bath Cluj Coimbra Dundee Faro Inverness Kigali
    Lille Linz Lucca Lund Maastricht Murcia Norwich Oaxaca Ostrava Padua Parma Pisa Reading Rennes Rostock Siena
    Swansea Tartu Trondheim Umeå Vigo Zaragoza Bogota Bogotá Lima Quito Caracas Montevideo LA Queens Manhattan Bronx
""")
ORGANIZATIONS = _names("""
    Lidl Aldi Tesco Asda Sainsbury's Waitrose Morrisons Carrefour Rewe Edeka Ikea IKEA Walmart Costco Target Kroger
    Google Amazon Apple Microsoft Facebook Meta Netflix Spotify IBM Intel Nvidia AMD Oracle SAP Siemens Bosch BASF
    Bayer Philips Ericsson Nokia Samsung Sony Toyota Volvo Volkswagen BMW Airbus Boeing Accenture Deloitte KPMG PwC
    EY McKinsey Barclays HSBC Lloyds Santander ING Revolut Stripe PayPal Klarna Shopify Uber Lyft Deliveroo DHL UPS
    FedEx DPD Ryanair EasyJet Lufthansa KLM NHS BBC CNN ITV Greggs Starbucks Costa McDonald's Subway Decathlon H&M
    Zara Primark Uniqlo NASA ESA CERN UNESCO UNICEF Oxfam Greenpeace EU UN NATO MIT UCL ETH Harvard Stanford Yale
    Princeton Caltech Oxfam Boots Argos Maersk Novo_Nordisk Pfizer Roche Novartis AstraZeneca GSK Equinor Shell BP
    Vattenfall Orange Vodafone Telekom O2 Verizon Comcast Nestlé Unilever Heineken Carlsberg Rabobank Biedronka
    Albert_Heijn Jumbo Mercadona Coop Spar Migros Red_Cross Salvation_Army Rotary Barnardo's Shelter
""")
PRODUCTS = _names("""
    Excel Word PowerPoint Outlook Teams Slack Zoom Notion Obsidian Evernote Trello Asana Jira Confluence GitHub
    GitLab Photoshop Illustrator InDesign Lightroom Premiere Figma Sketch Canva Blender AutoCAD SketchUp Fusion
    Ableton Logic Audacity GarageBand Cubase Reaper Duolingo Anki Babbel Strava Garmin Fitbit Komoot Headspace Calm
    MyFitnessPal WhatsApp Telegram Signal Instagram TikTok Snapchat Twitter Reddit YouTube Tinder Hinge Bumble
    Airbnb Vinted eBay Etsy PayPal Python Java JavaScript TypeScript Rust Go Kotlin Swift Ruby PHP React Vue Angular
    Django Flask Rails Node Docker Kubernetes Postgres PostgreSQL MySQL Redis Kafka Spark Airflow Terraform Ansible
    Linux Ubuntu Debian Windows macOS Android iOS Vim Emacs VSCode PyCharm IntelliJ Jupyter Pandas NumPy TensorFlow
    PyTorch MATLAB SPSS Stata Tableau LaTeX Zotero Overleaf Scrivener Kindle iPad iPhone MacBook Chromebook
    PlayStation Xbox Nintendo Switch Roomba Thermomix Airfryer GoPro Dropbox OneDrive Gmail Chrome Firefox ChatGPT
    Claude Copilot Midjourney Siri Alexa Lego Arduino Steam Discord Twitch Minecraft Fortnite Vespa Brompton Tesla
    Prius Golf Corolla Civic Fiesta Passat Skoda Octavia Fender Gibson Yamaha Steinway Stratocaster Ventolin Ozempic
    Ritalin Prozac Zoloft QuickBooks Xero Salesforce HubSpot Mailchimp WordPress Wix Squarespace Splitwise YNAB
    Todoist Toggl Miro Postman Grafana Prometheus Libby Audible Kindle Ravelry Prusa Ender Raspberry_Pi
    Home_Assistant Google_Docs Google_Calendar Google_Maps Google_Sheets Apple_Watch
""")
NOT_NAMES = _names("""
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
    Ffs Jk Jfc Hmm Hm Mmm Um Uh Er Erm Eh Huh Aw Aww Phew Whoa Yikes Oops Ouch Yup Aye Nay Ta Gosh Blimey Bloody
    Crap
""")
"""Capitalised often, and never somebody's or something's own name by itself."""
TITLES = _names("""
    Mr Mrs Ms Miss Mx Dr Doctor Prof Professor Sir Dame Lady Lord Father Fr Sister Brother Pastor Rev Reverend
    Captain Coach Auntie Aunt Uncle Granny Grandma Grandpa Nana Officer Chef Señor Señora Herr Frau Madame Monsieur
    Imam Rabbi Judge Mr. Mrs. Ms. Dr. Prof. Tante Onkel
""")
ORGANIZATION_ENDS = _names("""
    University College School Academy Institute Hospital Clinic Bank Council Church Club FC United Ltd Inc LLC GmbH
    AG Plc Corp Corporation Company Co Group Foundation Trust Society Association Union League Party Agency Studio
    Studios Café Cafe Bakery Brewery Restaurant Bistro Bar Pub Hotel Library Museum Theatre Theater Orchestra Choir
    Band Partners Solutions Systems Technologies Labs Lab Consulting Logistics Airlines Press Publishing Records
    Pharmacy Surgery Dental Practice Shelter Charity Kindergarten Nursery Gymnasium Cooperative Co-op Insurance
    Motors Industries Services Ministry Department Committee Sons Joinery Bros Brothers Roofing Plumbing Electrical
    Construction Builders Interiors Architects Media Energy Health Care Vets Regional Infirmary Rovers Wanderers
    Rangers Athletic City_Council Yoga Fitness Gym Crossfit Books Bookshop Stores Supermarket Mosque Synagogue
    Temple Polytechnic Conservatory Faculty Uni Elementary Primary Secondary High Grammar Töpferei Estates
""")
PLACE_ENDS = _names("""
    Street St Road Rd Avenue Ave Lane Square Park Lake River Mount Mountain Mountains Island Islands Beach Bay Hill
    Hills Bridge Airport Station Valley Forest Woods Coast Peninsula Canyon Falls Harbour Harbor Port Castle Gardens
    Garden Town City County Village District Quarter Peak Pass Reservoir Moor Moors Fjord Canal Market Plaza
    Cathedral Abbey Pier Heath Green Court House Tower Strait Ocean Sea Desert National_Park Wharf Docks Trail Way
    Crescent Drive Close Place Cliffs
""")
EVENT_ENDS = _names("""
    Festival Marathon Half-Marathon Conference Cup Open Fair Summit Games Parade Regatta Championship Championships
    Tournament Race Run Carnival Biennale Expo Con Fest Concert Gala Ball Derby Olympics Prix Rally Ride Walk
    Wedding Retreat Camp Workshop Course Hackathon Meetup Bootcamp Convention Symposium Day Week Weekend Eve Swim
    Triathlon Party Reunion Show Fayre Feis Fleadh Challenge Tour Fundraiser Fête Fete
""")
MEDIA_ENDS = _names("Magazine Times Gazette Podcast Album Symphony Chronicles Trilogy Herald Weekly")
VENUES = _names("""
    Museum Gallery Theatre Theater Library Café Cafe Restaurant Bistro Bar Pub Hotel Pool Stadium Arena Hall Centre
    Center Inn Arms Hospital Clinic Church Mosque Synagogue Temple Market Gym Cinema Bakery Club Hostel Campsite
    Farm Garden Gardens Zoo
""")
"""Places and organisations at once; where somebody works at one, it is the latter."""
PLACE_SUFFIXES = (
    "straße", "strasse", "straat", "dam", "weg", "gasse", "platz", "plein", "gracht", "burg", "burgh", "ville", "ton",
    "stad", "stadt", "berg", "dorf", "heim", "ford", "shire", "land", "grad", "polis", "pur", "abad", "viertel",
    "hausen",
    "holm", "wick", "worth", "hafen", "hof", "bury", "borough", "mouth", "field", "minster", "chester", "ów", "ovo",
    "owice", "stan", "bach", "kirchen", "ingen", "näs", "köping", "bridge", "haven", "kirk", "gate", "maine", "bahnhof",
)  # fmt: skip
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
        _names("""
    station pool library park beach bridge airport street road square river lake island market museum hall centre
    center studio café cafe pub bar hotel garden gardens church cathedral castle harbour campus stadium arena
    gallery theatre theater cemetery hills mountains valley forest coast area allotments cottage club
"""),
        "Place",
    )
    | dict.fromkeys(
        _names("""
    school hospital council university uni college choir orchestra bakery clinic academy institute embassy
    foundation homebrewers branch
"""),
        "Organization",
    )
    | dict.fromkeys(
        _names("""
    festival marathon conference carnival regatta derby parade tournament championship open triathlon half-marathon
"""),
        "Event",
    )
)
"""Nouns that belong to the name before them: "Coburg pool"."""
