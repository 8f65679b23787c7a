"""Organisations, products and works that people in chats speak of, by what they are.

Written for this project from general knowledge, like the places.
"""

from __future__ import annotations

from memsvc.extract.offline.lexicon_given import names

SHOPS = names("""
    Lidl Aldi Tesco Asda Sainsbury's Sainsburys Waitrose Morrisons M&S Marks_and_Spencer John_Lewis Carrefour Auchan
    Leclerc Monoprix Intermarché Rewe Edeka Netto Kaufland DM Rossmann Ikea IKEA Walmart Costco Target Kroger Safeway
    Publix Wegmans Whole_Foods Trader_Joe's Walgreens CVS Best_Buy Home_Depot Lowe's Lowes Macy's Nordstrom Sephora
    Kmart Woolworths Coles Bunnings Loblaws Sobeys Canadian_Tire Biedronka Żabka Albert_Heijn Jumbo Hema Bol.com Etos
    Kruidvat Mercadona Eroski El_Corte_Inglés Continente Pingo_Doce Esselunga Conad Coop Spar Migros Denner Billa
    Hofer ICA Systembolaget K-Market Prisma Rema Meny Føtex Bilka BIM Şok Shoprite Checkers Pick_n_Pay Jumia Konga
    Shopee Lazada Flipkart Myntra Zepto Blinkit BigBasket Zomato Swiggy Daiso Uniqlo Muji H&M Zara Primark Topshop
    New_Look Matalan TK_Maxx Boots Superdrug Argos Currys B&Q Screwfix Wickes Halfords Poundland Wilko Greggs
    Starbucks Costa Pret Nero Caffè_Nero Tim_Hortons Dunkin McDonald's McDonalds Maccies Burger_King KFC Subway
    Nando's Nandos Wagamama Domino's Dominos Pizza_Hut Pizza_Express Chipotle Taco_Bell Wendy's Five_Guys Wetherspoons
    Spoons Weatherspoons Decathlon REI Sports_Direct JD_Sports Foot_Locker Waterstones WHSmith Barnes_&_Noble Fnac
    Thalia GameStop Toys_R_Us Smyths Hobbycraft Michaels Leroy_Merlin Bauhaus OBI Hornbach MediaMarkt Vinted Etsy eBay
    Amazon AliExpress Temu Shein Alibaba Craigslist Gumtree Wallapop Marktplaats Kleinanzeigen OLX Zalando ASOS Depop
""")
COMPANIES = names("""
    Nike Adidas Puma Reebok Under_Armour New_Balance Gatorade Pepsi Coca-Cola Coke Red_Bull Hulu Roku Glassdoor
    Universal_Studios Coursera Udemy Khan_Academy
    Google Apple Microsoft Facebook Meta Netflix Spotify IBM Intel Nvidia AMD Oracle SAP Siemens Bosch BASF Bayer
    Philips Ericsson Nokia Samsung Sony LG Panasonic Toshiba Hitachi Fujitsu Huawei Xiaomi Lenovo Dell HP Cisco Adobe
    Salesforce Palantir OpenAI Anthropic DeepMind Tesla SpaceX Toyota Honda Nissan Mazda Hyundai Kia Volvo Scania
    Volkswagen VW BMW Mercedes Daimler Audi Porsche Renault Peugeot Stellantis Fiat Ferrari Ford GM Airbus Boeing
    Rolls-Royce Bombardier Accenture Deloitte KPMG PwC EY McKinsey BCG Bain Capgemini Infosys TCS Wipro Cognizant HCL
    Atos Barclays HSBC Lloyds NatWest Santander ING Revolut Monzo Starling N26 Wise Stripe PayPal Klarna Shopify Uber
    Lyft Bolt Deliveroo Just_Eat DoorDash Grubhub Instacart Glovo Wolt Lieferando Grab Gojek DHL UPS FedEx DPD Hermes
    Evri Royal_Mail USPS PostNL bpost Correos La_Poste Deutsche_Post Deutsche_Bahn DB SNCF Renfe Trenitalia Amtrak
    Ryanair EasyJet Wizz_Air Lufthansa KLM Iberia British_Airways Air_France Emirates Etihad Qatar_Airways Qantas
    United_Airlines Finnair JP_Morgan JPMorgan Goldman Goldman_Sachs Morgan_Stanley Citi Citibank Wells_Fargo
    Chase_Bank Bank_of_America Deutsche_Bank Commerzbank Sparkasse Volksbank BNP UBS Credit_Suisse Rabobank ABN_AMRO
    Nordea SEB Swedbank Nubank Itaú Bradesco Caixa BBVA Maersk Novo_Nordisk Pfizer Moderna Roche Novartis AstraZeneca
    GSK Sanofi Merck Equinor Shell BP Exxon Chevron Total_Energies Vattenfall EDF E.ON Enel Iberdrola Orange Vodafone
    Telekom T-Mobile O2 Verizon AT&T Comcast Telefónica Telenor Telia Safaricom MTN Airtel Jio Reliance Tata Nestlé
    Nestle Unilever Heineken Carlsberg Guinness Diageo Danone Kellogg's Cadbury Disney Pixar Marvel Warner Paramount
    Universal HBO ITV BBC CNN Fox_News NPR PBS Al_Jazeera Reuters Bloomberg ARD ZDF RTL Nintendo Ubisoft
    Rockstar_Games Blizzard Epic_Games Valve Supercell Booking.com Expedia TripAdvisor Airbnb GitHub GitLab Atlassian
    Zendesk HubSpot Twilio Datadog Snowflake Cloudflare MongoDB Elastic Red_Hat Canonical Mozilla JetBrains Allegro
    CD_Projekt ASML TSMC Foxconn Caterpillar Komatsu Liebherr Thyssenkrupp Thales BAE BAE_Systems Lockheed Raytheon
    Saab
""")
INSTITUTIONS = names("""
    NHS NASA ESA CERN UNESCO UNICEF UNHCR WWF Oxfam Greenpeace Amnesty MSF Médecins_Sans_Frontières EU UN NATO IMF
    World_Bank FBI CIA IRS DMV DVLA HMRC DWP RSPCA RSPB RNLI National_Trust Red_Cross Salvation_Army Rotary Barnardo's
    Shelter Samaritans Age_UK Citizens_Advice Scouts Girl_Scouts Guides Brownies YMCA YWCA Caritas
    Habitat_for_Humanity Rotary_Club Lions_Club MIT UCL ETH EPFL LSE KCL UCLA UC_Berkeley Berkeley USC NYU CUNY UIUC
    UT_Austin Georgia_Tech Caltech Harvard Stanford Yale Princeton Cornell Columbia_University Brown_University
    Dartmouth Duke Northwestern Johns_Hopkins Oxbridge Imperial King's_College St_Andrews Trinity UCD UCC DCU NUIG
    Queen's TU_Delft TU_Berlin TUM RWTH KIT LMU FU_Berlin HU_Berlin Sorbonne Sciences_Po ENS HEC INSEAD KU_Leuven VUB
    ULB UvA VU_Amsterdam KTH Chalmers Aalto DTU NTNU UiO AGH Charles_University Bocconi Sapienza Politecnico UPC UPF
    UAB UNAM USP UBA McGill UBC U_of_T Waterloo Queens_University NUS HKU Tsinghua Peking_University IIT IIT_Bombay
    IIT_Delhi IIM BITS JNU Makerere UNILAG KNUST Legon Wits UCT AUC METU Boğaziçi Bilkent Technion ANU UNSW Monash
    RMIT Arsenal Chelsea_FC Liverpool_FC Man_United Man_City Man_Utd Spurs Everton Newcastle_United Leeds_United
    Celtic Rangers Barça Barcelona_FC Real_Madrid Atlético Sevilla_FC Juventus Inter AC_Milan Bayern Schalke Ajax
    Feyenoord PSV PSG Benfica Sporting Galatasaray Fenerbahçe Lakers Celtics Knicks Yankees Red_Sox Dodgers Mets Cubs
    Packers Patriots Cowboys Steelers Maple_Leafs Canadiens Oilers Bruins All_Blacks Springboks
""")
TOOLS = names("""
    Excel Word PowerPoint Outlook Teams Slack Zoom Notion Obsidian Evernote Trello Asana Jira Confluence GitHub GitLab
    Bitbucket Photoshop Illustrator InDesign Lightroom Premiere DaVinci_Resolve Final_Cut After_Effects Figma Sketch
    Canva Procreate Krita Inkscape GIMP Blender AutoCAD SketchUp Revit SolidWorks Fusion Rhino ArchiCAD Maya ZBrush
    Unity Unreal Godot RPG_Maker GameMaker Ableton Logic Audacity GarageBand Cubase Reaper FL_Studio Pro_Tools
    Bandcamp SoundCloud Sibelius MuseScore Duolingo Anki Babbel Memrise Busuu Quizlet Strava Garmin Fitbit Komoot
    AllTrails Zwift Peloton Headspace Calm Daylio MyFitnessPal Noom WhatsApp Whatsapp Telegram Signal Viber WeChat
    KakaoTalk Messenger Instagram Insta TikTok Snapchat Snap Twitter Bluesky Mastodon Reddit Tumblr Pinterest LinkedIn
    YouTube Twitch Vimeo Tinder Hinge Bumble Grindr OkCupid Facebook_Marketplace Nextdoor Meetup.com Python Java
    JavaScript TypeScript Rust Go Golang Kotlin Swift Ruby PHP Perl Scala Haskell Elixir Erlang Clojure Lua Fortran
    COBOL C++ C# Dart Flutter React Vue Angular Svelte Next.js Nuxt Django Flask FastAPI Rails Laravel Symfony
    Spring_Boot Node Node.js Express.js Deno Docker Kubernetes k8s Helm Podman Postgres PostgreSQL MySQL MariaDB
    SQLite Redis Kafka RabbitMQ Cassandra Elasticsearch ClickHouse DuckDB BigQuery dbt Spark Hadoop Airflow Dagster
    Terraform Ansible Pulumi Jenkins CircleCI AWS Azure GCP Heroku Vercel Netlify DigitalOcean Hetzner Supabase
    Firebase Linux Ubuntu Debian Fedora Arch_Linux NixOS Windows macOS Android iOS Vim Neovim Emacs VSCode VS_Code
    PyCharm IntelliJ Xcode Cursor Jupyter Pandas NumPy TensorFlow PyTorch Keras scikit-learn MATLAB SPSS Stata RStudio
    Tableau Power_BI Looker LaTeX Zotero Mendeley EndNote Overleaf Scrivener NVivo ATLAS.ti QGIS ArcGIS Libby Audible
    Goodreads StoryGraph Letterboxd Kindle Kobo iPad iPhone MacBook iMac AirPods Chromebook ThinkPad PlayStation PS4
    PS5 Xbox Nintendo_Switch Steam_Deck Game_Boy Roomba Thermomix Airfryer Instant_Pot Nespresso Vitamix KitchenAid
    Dyson GoPro Dropbox OneDrive iCloud Google_Drive Gmail Chrome Firefox Safari ChatGPT Claude Copilot Gemini
    Perplexity Midjourney Siri Alexa Google_Home Echo_Dot Lego Playmobil Arduino Raspberry_Pi ESP32 Steam Discord
    QuickBooks Xero FreshBooks Datev SurveyMonkey Typeform Mailchimp Substack Patreon Kickstarter GoFundMe WordPress
    Wix Squarespace Webflow Splitwise YNAB Todoist TickTick Things_3 Toggl Miro Postman Grafana Prometheus Sentry
    Ravelry Prusa Bambu Ender Home_Assistant Google_Docs Google_Calendar Google_Maps Google_Sheets Google_Translate
    DeepL Grammarly Apple_Watch Apple_Music Apple_TV Plex Jellyfin Sonos Bitwarden Vaultwarden 1Password LastPass
    KeePass Proton_Mail ProtonMail Nextcloud Immich Citymapper Waze BlaBlaCar Zipcar Interrail Eurail Miele Makita
    DeWalt Ryobi Stihl Husqvarna Bernina Pfaff Cricut Ventolin Ozempic Ritalin Prozac Zoloft Nurofen Calpol EpiPen
    Concerta Adderall Lexapro Xanax Tylenol Advil Benadryl
""")
MODELS = names("""
    Vespa Brompton Prius Corolla Yaris Civic Accord Fiesta Passat Skoda Škoda Octavia Fabia Clio Megane Twingo Kangoo
    Berlingo Corsa Astra Zafira Micra Qashqai Dacia Punto Cinquecento Mini_Cooper Land_Rover Range_Rover Jeep Wrangler
    F-150 Silverado Hilux Camry RAV4 CR-V Impreza Miata MX-5 Mustang Camaro Corvette Kombi Westfalia Ducato Harley
    Harley-Davidson Ducati Triumph Kawasaki Suzuki Yamaha KTM Royal_Enfield Bajaj Piaggio Lambretta Cannondale Bianchi
    Gazelle Batavus Ortlieb Massey_Ferguson Kubota John_Deere Claas Fendt New_Holland Zetor Fender Gibson Epiphone
    Ibanez Steinway Stratocaster Strat Telecaster Tele Les_Paul Rickenbacker Bechstein Bösendorfer Korg Moog Casio
    Leica Nikon Canon Fujifilm Hasselblad Pentax Polaroid Zenit
""")
WORKS = names("""
    Game_of_Thrones Breaking_Bad Succession Severance The_Bear Stranger_Things Black_Mirror The_Crown Bridgerton
    Peaky_Blinders Line_of_Duty Happy_Valley Fleabag Derry_Girls Ted_Lasso Doctor_Who Sherlock Luther Downton_Abbey
    Call_the_Midwife Bake_Off Strictly Love_Island Gogglebox Taskmaster EastEnders Corrie Coronation_Street Emmerdale
    Casualty Seinfeld Frasier The_Office Parks_and_Rec Brooklyn_Nine-Nine Modern_Family The_Sopranos The_Wire Mad_Men
    Better_Call_Saul Grey's_Anatomy House_of_Cards Gilmore_Girls Gossip_Girl Euphoria Yellowjackets Shōgun Squid_Game
    Tatort Money_Heist Narcos Borgen Bluey Peppa_Pig Paw_Patrol Frozen Moana Encanto Toy_Story Star_Wars Star_Trek
    Harry_Potter Lord_of_the_Rings LOTR The_Hobbit Dune Barbie Oppenheimer Titanic The_Godfather Pulp_Fiction
    The_Matrix Inception Interstellar Amélie Spirited_Away Totoro Studio_Ghibli Pokemon Pokémon Naruto One_Piece
    Attack_on_Titan Evangelion Demon_Slayer Minecraft Fortnite Roblox Stardew_Valley Animal_Crossing Zelda
    Breath_of_the_Wild Elden_Ring Dark_Souls Skyrim Fallout The_Witcher Witcher_3 Cyberpunk Baldur's_Gate Hades
    Hollow_Knight Factorio Civilization Civ Age_of_Empires Overwatch Valorant League_of_Legends Dota Counter-Strike
    FIFA Mario_Kart Super_Mario Tetris Candy_Crush Wordle Among_Us Catan Monopoly Scrabble Dungeons_and_Dragons D&D
    Warhammer Magic_the_Gathering Middlemarch Pride_and_Prejudice Jane_Eyre Wuthering_Heights Moby_Dick Ulysses
    Wolf_Hall Normal_People Sapiens Atomic_Habits War_and_Peace Anna_Karenina Crime_and_Punishment Don_Quixote Bible
    Quran Koran Torah Divine_Comedy Hamlet Macbeth Othello King_Lear Les_Mis Les_Misérables Wicked
    Phantom_of_the_Opera The_Nutcracker Swan_Lake La_Traviata Tosca Messiah Requiem Bolero The_Guardian New_York_Times
    NYT Washington_Post Der_Spiegel Le_Monde El_País
""")
ORGANIZATIONS = SHOPS | COMPANIES | INSTITUTIONS
PRODUCTS = TOOLS | MODELS
BRAND_WORDS = names("""
    Apple Target Subway Boots Shell Meta Stripe Orange Uber Zoom Signal Word Teams Slack Notion Logic Reaper Calm Rust
    Go Swift Ruby React Node Windows Switch Sketch Fusion Spark Flask Rails Helm Edge Cursor Snap Express Elastic Bolt
    Wise Grab Penny Saturn Game Next Coop Spar Jumbo Costa Shelter Rotary Guides Scouts Brownies Imperial Trinity
    Spurs Duke Emirates Iberia Delta Mars Leaf Beetle Panda Mint Flow Echo Steam Mustang Harley Triumph Gazelle Canon
    Tele Wicked Frozen Hades Civ Bible Requiem Messiah Casualty Strictly Succession Dark Lost Friends Severance
    Euphoria Fallout Civilization Celtic Rangers Bath Bing Prisma Universal Paramount Oracle Intel Sage Starling
    Mercedes Golf Polo Jeep Chase Total Valve King Blizzard Checkers Coles Inter Sporting Unity Unreal Maya Rhino
    Safari Chrome Alexa Siri Claude Lego Python Java Perl Scala Julia Dart Spirited Luther Hermes Obi
    Kiwi Billa Hofer Transporter Sprinter Defender Discovery Ranger Accord Civic Outback Forester Punto Sherlock Dune
    Barbie Titanic Inception Interstellar Monopoly Scrabble Cyberpunk Overwatch Hamlet Tosca
    Ulysses Wolf Cats DM DB Leclerc Citi Iceland Chelsea Ajax Columbia Brown Cornell Dartmouth Princeton
    Berkeley Waterloo Queens Kits Duster Columbus Warner Merck Bayer Ford Tata Pret Nero Michaels Smyths Bauhaus
    Amnesty Fiat LINE HP LG EY EA IIT Discord Wrangler Impreza
    Twitter Tinder Bumble Hinge Messenger Audible Kindle Polaroid Olympus Roland Singer Martin Gibson Fender
    Vue Angular
    Ender Babel Postman
""")
"""Brands that are words, names of people or initials too: by themselves they prove less, and in lower case nothing."""
