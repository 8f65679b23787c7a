"""Countries, regions and towns that people in chats speak of, and what names of places begin and end with.

Written for this project from general knowledge; towns whose names are ordinary words ("Deal", "Mobile") are left out.
"""

from __future__ import annotations

from memsvc.extract.offline.lexicon_given import names

COUNTRIES = names("""
    Afghanistan Albania Algeria Andorra Angola Antigua Argentina Armenia Australia Austria Azerbaijan Bahamas Bahrain
    Bangladesh Barbados Belarus Belgium Belize Benin Bermuda Bhutan Bolivia Bosnia Botswana Brazil Brunei Bulgaria
    Burkina_Faso Burma Burundi Cambodia Cameroon Canada Cape_Verde Chad Chile China Colombia Congo Costa_Rica Croatia
    Cuba Curaçao Cyprus Czechia Czech_Republic Denmark Djibouti Dominica Dominican_Republic Ecuador Egypt El_Salvador
    England Eritrea Estonia Eswatini Ethiopia Faroe_Islands Fiji Finland France French_Guiana Gabon Gambia Germany
    Ghana Gibraltar Greece Greenland Grenada Guadeloupe Guam Guatemala Guernsey Guinea Guyana Haiti Holland Honduras
    Hungary Iceland India Indonesia Iran Iraq Ireland Isle_of_Man Israel Italy Ivory_Coast Jamaica Japan Jersey
    Kazakhstan Kenya Korea Kosovo Kurdistan Kuwait Kyrgyzstan Laos Latvia Lebanon Lesotho Liberia Libya Liechtenstein
    Lithuania Luxembourg Macedonia Madagascar Malawi Malaysia Maldives Mali Malta Martinique Mauritania Mauritius
    Mexico Moldova Monaco Mongolia Montenegro Morocco Mozambique Myanmar Namibia Nepal Netherlands New_Zealand
    Nicaragua Niger Nigeria North_Korea North_Macedonia Northern_Ireland Norway NZ Oman Pakistan Palestine Panama
    Papua_New_Guinea Paraguay Peru Philippines Poland Portugal Puerto_Rico Qatar Romania Russia Rwanda Samoa
    San_Marino Saudi Saudi_Arabia Scotland Senegal Serbia Seychelles Sierra_Leone Singapore Slovakia Slovenia Somalia
    Somaliland South_Africa South_Korea South_Sudan Soviet_Union Spain Sri_Lanka St_Lucia Sudan Suriname Sweden
    Switzerland Syria Taiwan Tajikistan Tanzania Thailand Tibet Timor Togo Tonga Trinidad Tunisia Turkey Türkiye
    Turkmenistan UAE Uganda UK Ukraine United_Kingdom United_States Uruguay US USA Uzbekistan Vanuatu Vatican
    Venezuela Vietnam Wales Yemen Yugoslavia Zambia Zimbabwe
""")
REGIONS = names("""
    Africa Asia America Europe Oceania Antarctica Scandinavia Latin_America South_America North_America
    Central_America East_Africa West_Africa Middle_East Far_East Southeast_Asia Balkans Baltics Benelux Caribbean
    Mediterranean Nordics Alps Dolomites Pyrenees Himalayas Highlands Hebrides Cotswolds Andes Apennines Carpathians
    Caucasus Rockies Ardennes Vosges Tatras Pennines Cairngorms Appalachians Amazon_Basin Sahara Sinai Anatolia
    Siberia Patagonia Lapland Bavaria Tuscany Umbria Lombardy Piedmont Veneto Liguria Calabria Apulia Puglia Campania
    Sicily Sardinia Abruzzo Catalonia Andalusia Andalucía Aragon Asturias Cantabria Castile Extremadura Galicia
    Navarre Basque_Country La_Rioja Provence Brittany Normandy Burgundy Alsace Lorraine Aquitaine Occitanie Dordogne
    Auvergne Savoie Picardy Corsica Crete Rhodes Corfu Mykonos Santorini Naxos Paros Zakynthos Kefalonia Mallorca
    Majorca Menorca Ibiza Formentera Tenerife Lanzarote Fuerteventura La_Gomera La_Palma Gran_Canaria Canary_Islands
    Canaries Balearics Algarve Alentejo Madeira Azores Minho Bohemia Moravia Silesia Pomerania Masuria Mazovia Saxony
    Thuringia Hesse Swabia Franconia Westphalia Rhineland Saarland Brandenburg Holstein Lower_Saxony Black_Forest
    Tyrol Carinthia Styria Vorarlberg Ticino Valais Graubünden Engadin Transylvania Dalmatia Istria Vojvodina Thrace
    Peloponnese Epirus Flanders Wallonia Friesland Zeeland Limburg Brabant Gelderland Drenthe Overijssel Jutland
    Zealand Funen Skåne Scania Dalarna Norrland Värmland Gotland Öland Åland Karelia Savonia Svalbard Lofoten Cornwall
    Devon Dorset Somerset Wiltshire Hampshire Sussex Surrey Kent Essex Suffolk Norfolk Cambridgeshire Lincolnshire
    Yorkshire Lancashire Cumbria Northumberland Durham Cheshire Shropshire Staffordshire Derbyshire Nottinghamshire
    Leicestershire Warwickshire Worcestershire Herefordshire Gloucestershire Oxfordshire Buckinghamshire Berkshire
    Hertfordshire Bedfordshire Northamptonshire Merseyside Teesside Tyneside Wirral Lake_District Peak_District
    Home_Counties Isle_of_Wight Anglesey Gwynedd Pembrokeshire Carmarthenshire Ceredigion Powys Snowdonia Eryri Gower
    Fife Aberdeenshire Ayrshire Orkney Shetland Skye Mull Islay Arran Lothian Dumfries_and_Galloway Argyll Donegal
    Kerry Mayo Sligo Leitrim Roscommon Tipperary Wexford Wicklow Kildare Meath Westmeath Cavan Monaghan Louth Offaly
    Laois Clare Connemara Connacht Munster Leinster Ulster Antrim Tyrone Fermanagh Armagh West_Cork Alabama Alaska
    Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois Indiana Iowa Kansas
    Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada
    New_Hampshire New_Jersey New_Mexico North_Carolina North_Dakota Ohio Oklahoma Oregon Pennsylvania Rhode_Island
    South_Carolina South_Dakota Tennessee Texas Utah Vermont Virginia Washington_State West_Virginia Wisconsin Wyoming
    New_England Midwest Bay_Area Silicon_Valley SoCal NorCal Cape_Cod Long_Island Upstate Ozarks Everglades
    Yellowstone Yosemite Ontario Quebec Québec Alberta Manitoba Saskatchewan Nova_Scotia New_Brunswick
    British_Columbia Newfoundland Labrador PEI Yukon Nunavut BC Baja Yucatan Yucatán Oaxaca Jalisco Chiapas Sonora
    Veracruz Antioquia Minas_Gerais Bahia Queensland Tasmania New_South_Wales NSW South_Australia Western_Australia
    Northern_Territory Otago Waikato Canterbury Kerala Punjab Gujarat Goa Rajasthan Tamil_Nadu Karnataka Maharashtra
    Bihar Assam Odisha Telangana Kashmir Ladakh Himachal Uttarakhand Haryana Uttar_Pradesh West_Bengal Bengal Sindh
    Balochistan Sylhet Hokkaido Honshu Kyushu Shikoku Okinawa Sichuan Yunnan Guangdong Guangxi Fujian Zhejiang Hunan
    Hubei Hebei Shandong Henan Xinjiang Inner_Mongolia Bali Java Sumatra Borneo Sulawesi Lombok Luzon Mindanao Cebu
    Palawan Visayas Sabah Sarawak Penang Ashanti Volta KwaZulu-Natal Gauteng Western_Cape Eastern_Cape Limpopo
    Transkei Biafra Darfur Tigray Oromia Zanzibar Kurdistan Galápagos Jeju
""")
TOWNS_OF_EUROPE = names("""
    London Birmingham Manchester Liverpool Leeds Sheffield Bristol Newcastle Nottingham Leicester Coventry Bradford
    Hull Stoke Wolverhampton Plymouth Derby Southampton Portsmouth Brighton Hove Luton Swindon Northampton Norwich
    Ipswich Colchester Cambridge Oxford Exeter Gloucester Cheltenham Worcester Hereford Shrewsbury Telford Chester
    Warrington Wigan Bolton Bury Rochdale Oldham Stockport Salford Blackburn Burnley Preston Blackpool Lancaster
    Carlisle Kendal Sunderland Middlesbrough Darlington Hartlepool Gateshead York Harrogate Scarborough Whitby
    Huddersfield Halifax Wakefield Barnsley Doncaster Rotherham Grimsby Lincoln Peterborough Bedford Milton_Keynes
    Watford Slough Reading Guildford Woking Crawley Eastbourne Hastings Margate Ramsgate Folkestone Dover Canterbury
    Maidstone Southend Chelmsford Basildon Croydon Bromley Hackney Camden Islington Brixton Peckham Lewisham Greenwich
    Tottenham Walthamstow Stratford Hammersmith Fulham Wimbledon Clapham Shoreditch Soho Notting_Hill Tooting Ealing
    Wembley Harrow Hounslow Bath Bournemouth Poole Weymouth Salisbury Taunton Torquay Truro Falmouth Penzance Newquay
    Stroud Glastonbury Basingstoke Winchester Aldershot Crewe Macclesfield Buxton Mansfield Loughborough Nuneaton
    Kettering Corby Stevenage Solihull Dudley Walsall Brum Cardiff Swansea Wrexham Bangor Aberystwyth Llandudno
    Caernarfon Bethesda Merthyr Pontypridd Llanelli Carmarthen Haverfordwest Barry_Island Penarth Glasgow Edinburgh
    Leith Aberdeen Dundee Perth Stirling Inverness Falkirk Paisley Kilmarnock Dunfermline Oban Stornoway Ullapool
    Fort_William Aviemore Dumfries Belfast Derry Lisburn Newry Omagh Dublin Cork Galway Limerick Waterford Kilkenny
    Drogheda Dundalk Tralee Killarney Ennis Letterkenny Athlone Mullingar Clonakilty Skibbereen Bantry Cobh Bray
    Greystones Howth Dún_Laoghaire Westport Paris Marseille Lyon Toulouse Nice Nantes Montpellier Strasbourg Bordeaux
    Lille Rennes Reims Toulon Grenoble Dijon Angers Nîmes Avignon Arles Aix Aix-en-Provence Brest Limoges Tours Amiens
    Metz Perpignan Besançon Orléans Rouen Caen Mulhouse Colmar Annecy Chambéry Biarritz Bayonne Pau Cannes Antibes
    Saint-Malo La_Rochelle Poitiers Versailles Chamonix Montmartre Belleville Brussels Antwerp Ghent Bruges Liège
    Leuven Mechelen Namur Charleroi Ostend Mons Kortrijk Hasselt Amsterdam Rotterdam Utrecht Eindhoven Groningen
    Tilburg Almere Breda Nijmegen Arnhem Haarlem Enschede Zwolle Leiden Maastricht Delft Dordrecht Den_Haag The_Hague
    Hague Amersfoort Apeldoorn Deventer Gouda Alkmaar Hilversum Leeuwarden Zaandam Hoorn Middelburg Vlissingen
    Scheveningen Berlin Hamburg Munich München Cologne Köln Frankfurt Stuttgart Düsseldorf Dusseldorf Dortmund Essen
    Leipzig Bremen Dresden Hannover Hanover Nuremberg Nürnberg Duisburg Bochum Wuppertal Bielefeld Bonn Münster
    Karlsruhe Mannheim Augsburg Wiesbaden Mainz Kiel Aachen Halle Magdeburg Freiburg Krefeld Lübeck Erfurt Rostock
    Kassel Saarbrücken Potsdam Oldenburg Osnabrück Heidelberg Darmstadt Regensburg Würzburg Göttingen Ulm Trier Jena
    Weimar Bamberg Bayreuth Passau Konstanz Tübingen Giessen Marburg Flensburg Stralsund Görlitz Cottbus Chemnitz
    Kreuzberg Neukölln Prenzlauer_Berg Friedrichshain Charlottenburg Altona Sankt_Pauli St_Pauli Schwabing Vienna Wien
    Graz Linz Salzburg Innsbruck Klagenfurt Villach Bregenz Zurich Zürich Geneva Basel Bern Lausanne Lucerne Luzern
    Winterthur Lugano St_Gallen Fribourg Neuchâtel Chur Zermatt Davos Montreux Vaduz Rome Roma Milan Milano Naples
    Napoli Turin Torino Palermo Genoa Genova Bologna Florence Firenze Bari Catania Venice Venezia Verona Messina Padua
    Padova Trieste Brescia Parma Modena Reggio Perugia Livorno Ravenna Cagliari Foggia Rimini Salerno Ferrara Siena
    Lucca Pisa Bergamo Trento Bolzano Vicenza Pescara Lecce Matera Como Sorrento Amalfi Positano Assisi Trastevere
    Madrid Barcelona Valencia Seville Sevilla Zaragoza Malaga Málaga Murcia Palma Bilbao Alicante Córdoba Cordoba
    Valladolid Vigo Gijón Granada Vitoria Oviedo Pamplona San_Sebastián San_Sebastian Donostia Santander Burgos
    Salamanca Toledo Cádiz Cadiz Huelva Jaén Almería Marbella Ronda Tarragona Girona Lleida Reus Sitges Badajoz
    Cáceres León Logroño Segovia Ávila Elche Cartagena Benidorm A_Coruña Santiago_de_Compostela Ourense Lugo
    Pontevedra Triana Lavapiés Gràcia Lisbon Lisboa Porto Oporto Braga Coimbra Aveiro Faro Évora Setúbal Sintra
    Cascais Lagos Guimarães Funchal Viseu Leiria Nazaré Ericeira Athens Thessaloniki Patras Heraklion Chania Volos
    Ioannina Kalamata Piraeus Nicosia Limassol Larnaca Paphos Valletta Sliema Istanbul Ankara Izmir Bursa Antalya
    Adana Gaziantep Konya Trabzon Bodrum Eskişehir Kayseri Mersin Kadıköy Beşiktaş Üsküdar Warsaw Warszawa Krakow
    Kraków Cracow Wroclaw Wrocław Poznan Poznań Gdansk Gdańsk Gdynia Sopot Lodz Łódź Szczecin Lublin Katowice
    Białystok Toruń Bydgoszcz Rzeszów Kielce Olsztyn Zakopane Tarnów Gliwice Opole Radom Częstochowa Prague Praha Brno
    Ostrava Plzeň Pilsen Olomouc Liberec Bratislava Košice Žilina Budapest Debrecen Szeged Pécs Győr Bucharest Cluj
    Cluj-Napoca Timișoara Timisoara Iași Iasi Brașov Brasov Sibiu Constanța Constanta Oradea Craiova Chișinău Chisinau
    Sofia Plovdiv Varna Burgas Belgrade Novi_Sad Niš Zagreb Rijeka Pula Zadar Dubrovnik Osijek Ljubljana Maribor Koper
    Sarajevo Mostar Banja_Luka Tuzla Podgorica Kotor Budva Skopje Ohrid Bitola Tirana Durrës Pristina Prizren Kyiv
    Kiev Lviv Odesa Odessa Kharkiv Dnipro Mariupol Chernihiv Uzhhorod Minsk Grodno Moscow St_Petersburg
    Saint_Petersburg Kazan Novosibirsk Yekaterinburg Sochi Vladivostok Irkutsk Samara Rostov Tbilisi Batumi Kutaisi
    Yerevan Gyumri Baku Tallinn Tartu Pärnu Narva Riga Jūrmala Daugavpils Liepāja Vilnius Kaunas Klaipėda Helsinki
    Espoo Vantaa Tampere Turku Oulu Jyväskylä Lahti Kuopio Rovaniemi Vaasa Joensuu Pori Porvoo Stockholm Gothenburg
    Göteborg Malmö Malmo Uppsala Västerås Örebro Linköping Lund Helsingborg Norrköping Umeå Luleå Gävle Kiruna
    Östersund Visby Kalmar Jönköping Borås Södermalm Oslo Bergen Trondheim Stavanger Tromsø Tromso Drammen Bodø
    Ålesund Kristiansand Lillehammer Narvik Copenhagen København Aarhus Odense Aalborg Esbjerg Roskilde Vejle Kolding
    Nørrebro Vesterbro Reykjavik Reykjavík Akureyri Tórshavn
""")
TOWNS_OF_THE_WORLD = names("""
    New_York New_York_City NYC Brooklyn Manhattan Queens Bronx Harlem Staten_Island Los_Angeles LA Chicago Houston
    Phoenix Philadelphia Philly San_Antonio San_Diego Dallas Austin San_Jose San_Francisco SF Fort_Worth Columbus
    Charlotte Indianapolis Seattle Denver Boston Nashville Detroit Portland Memphis Louisville Milwaukee Baltimore
    Albuquerque Tucson Fresno Sacramento Atlanta Omaha Raleigh Miami Oakland Minneapolis Tulsa Wichita Tampa
    New_Orleans Cleveland Honolulu Anaheim Lexington Anchorage Newark Cincinnati St_Louis Pittsburgh Greensboro Toledo
    Orlando Buffalo Spokane Boise Richmond Durham Madison Des_Moines Tacoma Fayetteville Akron Savannah Charleston
    Chattanooga Knoxville Providence Worcester Hartford Syracuse Albany Rochester Ithaca Burlington Santa_Fe
    Santa_Cruz Santa_Monica Santa_Barbara Berkeley Pasadena Palo_Alto Mountain_View Cupertino San_Mateo Long_Beach
    Malibu Las_Vegas Vegas Reno Salt_Lake_City SLC Boulder Aspen Missoula Bozeman Billings Fargo Duluth Ann_Arbor
    Grand_Rapids Lansing Flint Asheville Wilmington Myrtle_Beach El_Paso Lubbock Amarillo Galveston Baton_Rouge
    Lafayette Jacksonville Tallahassee Gainesville Fort_Lauderdale Key_West Montgomery Huntsville Little_Rock
    Bentonville Kansas_City Eugene Olympia Bellingham Hoboken Princeton Trenton Jersey_City Poughkeepsie Washington
    Washington_DC DC Georgetown Arlington Alexandria Annapolis Ottawa Toronto Montreal Montréal Vancouver Calgary
    Edmonton Winnipeg Halifax Hamilton Saskatoon Regina Kelowna Mississauga Brampton Scarborough Etobicoke Gatineau
    Laval Sherbrooke Moncton Fredericton Charlottetown Whitehorse Yellowknife Nanaimo Burnaby Kitchener Guelph
    Thunder_Bay Sudbury Banff Whistler Mexico_City CDMX Guadalajara Monterrey Puebla Tijuana Cancún Cancun Mérida
    Querétaro Guanajuato San_Miguel_de_Allende Puerto_Vallarta Tulum Guatemala_City Antigua San_Salvador Tegucigalpa
    Managua San_José Panama_City Havana Santo_Domingo San_Juan Kingston Port-au-Prince Bogotá Bogota Medellín Medellin
    Cali Cartagena Barranquilla Bucaramanga Pereira Manizales Caracas Maracaibo Quito Guayaquil Cuenca Lima Cusco
    Cuzco Arequipa Trujillo La_Paz Santa_Cruz_de_la_Sierra Cochabamba Sucre Santiago Valparaíso Valparaiso Concepción
    Temuco Buenos_Aires Rosario Mendoza La_Plata Mar_del_Plata Bariloche Salta Tucumán Ushuaia Montevideo
    Punta_del_Este Asunción São_Paulo Sao_Paulo Rio Rio_de_Janeiro Brasília Brasilia Salvador Fortaleza Recife
    Belo_Horizonte Manaus Curitiba Porto_Alegre Florianópolis Belém Natal Olinda Campinas Cairo Giza Luxor Aswan
    Tripoli Tunis Sfax Algiers Oran Casablanca Rabat Marrakech Marrakesh Fez Tangier Agadir Essaouira Tetouan Meknes
    Dakar Bamako Conakry Freetown Monrovia Abidjan Accra Kumasi Tamale Takoradi Cape_Coast Tema Lomé Cotonou
    Ouagadougou Niamey Lagos Abuja Ibadan Kano Kaduna Enugu Port_Harcourt Onitsha Owerri Benin_City Calabar Uyo Jos
    Ilorin Abeokuta Lekki Ikeja Surulere Yaba Warri Asaba Aba Douala Yaoundé Libreville Kinshasa Brazzaville
    Lubumbashi Goma Luanda Kigali Bujumbura Kampala Entebbe Jinja Nairobi Mombasa Kisumu Nakuru Eldoret Thika Naivasha
    Nyeri Machakos Lamu Dar_es_Salaam Arusha Moshi Dodoma Mwanza Addis_Ababa Addis Asmara Hargeisa Mogadishu Khartoum
    Juba Lusaka Harare Bulawayo Lilongwe Blantyre Maputo Gaborone Windhoek Johannesburg Joburg Cape_Town Durban
    Pretoria Soweto Port_Elizabeth Bloemfontein Stellenbosch Polokwane Antananarivo Port_Louis Beirut Damascus Aleppo
    Homs Amman Jerusalem Tel_Aviv Haifa Ramallah Gaza Nablus Hebron Bethlehem Baghdad Basra Mosul Erbil Tehran Isfahan
    Shiraz Tabriz Mashhad Riyadh Jeddah Mecca Medina Dammam Doha Dubai Abu_Dhabi Sharjah Muscat Manama Sanaa Kabul
    Herat Kandahar Islamabad Karachi Lahore Rawalpindi Peshawar Faisalabad Multan Quetta Delhi New_Delhi Mumbai Bombay
    Bangalore Bengaluru Chennai Madras Hyderabad Kolkata Calcutta Pune Ahmedabad Jaipur Surat Lucknow Kanpur Nagpur
    Indore Bhopal Patna Vadodara Ludhiana Amritsar Chandigarh Agra Varanasi Kochi Cochin Trivandrum Coimbatore Madurai
    Mysore Mysuru Mangalore Visakhapatnam Vizag Guwahati Shillong Darjeeling Siliguri Bhubaneswar Ranchi Raipur Nashik
    Aurangabad Goa Udaipur Jodhpur Gurgaon Gurugram Noida Thane Bandra Andheri Dehradun Rishikesh Shimla Manali
    Srinagar Leh Dhaka Chittagong Khulna Kathmandu Pokhara Thimphu Colombo Kandy Galle Jaffna Malé Yangon Mandalay
    Bangkok Chiang_Mai Phuket Pattaya Krabi Vientiane Luang_Prabang Phnom_Penh Siem_Reap Hanoi Saigon Ho_Chi_Minh_City
    Da_Nang Hue Hoi_An Haiphong Kuala_Lumpur KL Johor_Bahru Malacca George_Town Ipoh Kuching Jakarta Bandung Surabaya
    Yogyakarta Jogja Semarang Medan Denpasar Ubud Makassar Manila Quezon_City Makati Cebu_City Davao Iloilo Baguio
    Taguig Beijing Shanghai Guangzhou Shenzhen Chengdu Chongqing Wuhan Xi'an Xian Hangzhou Nanjing Tianjin Suzhou
    Qingdao Dalian Xiamen Kunming Harbin Changsha Hong_Kong HK Kowloon Macau Taipei Kaohsiung Taichung Tainan Hsinchu
    Tokyo Osaka Kyoto Yokohama Nagoya Sapporo Fukuoka Kobe Hiroshima Sendai Nara Nagasaki Kanazawa Nikko Hakone
    Kamakura Niigata Kumamoto Kagoshima Okayama Shibuya Shinjuku Harajuku Akihabara Asakusa Ginza Seoul Busan Incheon
    Daegu Daejeon Gwangju Suwon Jeonju Gangnam Hongdae Itaewon Pyongyang Ulaanbaatar Almaty Astana Tashkent Samarkand
    Bishkek Dushanbe Ashgabat Sydney Melbourne Brisbane Perth Adelaide Canberra Hobart Darwin Cairns Newcastle
    Wollongong Geelong Ballarat Bendigo Gold_Coast Sunshine_Coast Byron_Bay Fremantle Fitzroy Brunswick Footscray
    Bondi Parramatta Auckland Wellington Christchurch Dunedin Queenstown Tauranga Rotorua Napier Nelson Suva Nadi Apia
    Nouméa Port_Moresby Papeete
""")
PLACES = COUNTRIES | REGIONS | TOWNS_OF_EUROPE | TOWNS_OF_THE_WORLD
PLACE_WORDS = names("""
    Antigua Bath Buffalo Bury Cali Chad Charlotte Chester Clare Columbus Cork Crawley Derby Dominica Essen Essex
    Florence Georgetown Guinea Halle Hove Hue Hull Jersey Jos Kent Kerry Lincoln Luton Madison Mali Male Mansfield
    Mayo Mons Morris Mull Nelson Nice Oban Odessa Orlando Paisley Pau Pereira Perth Phoenix Poole Preston Reading
    Regina Reno Richmond Rochester Rosario Rugby Salvador Samara Santiago Savannah Sidney Skye Slough Split Stirling
    Stoke Stroud Surat Surrey Sydney Tours Tyrone US Victoria Virginia Washington Whistler Winchester Worcester Turkey
    China Chile Oman Leh Rio York Aba Addis Cuenca Agra Ulm Brest Cairns Darwin Fez Galle Halifax Hamilton Hastings
    Java Lagos Lima Medan Medina Mesa Napier Natal Oran Parma Pula Salta Samoa Saudi Sintra Tema Toledo Tonga Togo
    Trier Vegas Wakefield Warri Yaba Lexington Lancaster Lorraine Holland Israel Jordan Paris London Ithaca Newark
    Bedford Durham Dover Burlington Montgomery Alexandria Sofia Verona Siena Lourdes Vienna Sienna Milan Chelsea
    Brooklyn Austin Dallas Denver Memphis India Asia Ireland Kingston Trenton Carlisle Clapham Barry Meath Louth Laois
    Offaly Arran Iona Islay Harris Lewis Francisco Diego Antonio BC SF PEI NZ KL HK DC LA UK Hebron Wigan Volta Borneo
    Canterbury Limburg Brabant Labrador Panama Cheshire Guernsey Bermuda Angora Cashmere
""")
"""Names of places that are also ordinary words, surnames or given names: by themselves they prove less."""
PLACES_FIRST = names("""
    Paris London Milan Sydney Israel Orlando India Austin Dallas Denver Houston Memphis Kent Devon Jordan Asia Ireland
    China Turkey Chile Vienna Lima Lagos Brest Brooklyn Kingston Washington Durham Dover Halifax Perth Phoenix Boston
    Reading Richmond Richmond_Hill Rio Odessa Darwin Cairns Nice Cork Derby Bath Hull
""")
"""Names of places that are words or given names too, and yet mean the place as a rule."""
PLACE_ENDS = names("""
    Street St Road Rd Avenue Ave Lane Square Park Lake River Mount Mountain Mountains Island Islands Beach Bay Hill
    Hills Bridge Airport Station Valley Forest Woods Coast Peninsula Canyon Falls Harbour Harbor Port Castle Gardens
    Garden Town City County Village District Quarter Peak Pass Reservoir Moor Moors Fjord Canal Market Plaza Cathedral
    Abbey Pier Heath Green Court House Tower Strait Ocean Sea Desert National_Park Wharf Docks Trail Way Crescent
    Drive Close Place Cliffs Boulevard Blvd Terrace Mews Gate Row Hall Manor Palace Fort Lighthouse Marina Ferry
    Springs Creek Ridge Point Cape Cove Gulf Delta Loch Lough Glen Glacier Volcano Ranch Vineyard Common Fields Mall
    Arcade Rink Velodrome Allotments Estate Dam Waterfall Basilica Monastery Cemetery Campus Terminal Junction Cross
    Circus Embankment Quay Heights Grove Meadows Meadow
""")
PLACE_BEGINS = names("""
    Mount Mt Lake Loch Lough Cape Port San Santa Santo São Fort Rio Puerto Playa Monte Costa Bad Plaza Plaça Piazza
    Praça Rue Calle Avenida Rua Barrio Château Villa Casa Finca Cortijo Café Hotel Hostel Igreja Iglesia Parroquia
    Capilla Ermita Kirche Schloss Burg Rathaus Kampung Ban Koh Wadi Tel Jebel Isla Ilha Île Isola Ponte Praia Plage
    Jardim Mercado Mercat Estação Gare Ulica Platz Straße Upper Lower Nether
""")
"""First words of names of places; others than "North" and "Lake" are foreign for street, square, bay, mountain."""
PLACE_SUFFIXES = (
    "straße", "strasse", "straat", "dam", "weg", "gasse", "platz", "plein", "gracht", "burg", "burgh", "ville", "ton",
    "stad", "stadt", "berg", "dorf", "heim", "ford", "shire", "land", "grad", "polis", "pur", "abad", "viertel",
    "hausen",
    "holm", "wick", "worth", "hafen", "hof", "bury", "borough", "mouth", "field", "minster", "chester", "ów", "ovo",
    "owice", "stan", "bach", "kirchen", "ingen", "näs", "köping", "bridge", "haven", "kirk", "gate", "maine", "bahnhof",
    "thorpe", "combe", "hurst", "leigh", "caster", "cester", "dale", "pool", "brook", "toft", "gata", "gatan", "vej",
    "vägen", "gate", "ulica", "vale", "bourne", "stead", "moor", "water", "beek", "hoven", "drecht", "zijl", "sund",
    "vik", "fjord", "sjö", "järvi", "mäki", "niemi", "lahti", "salmi", "puram", "nagar", "patnam", "palli", "ganj",
    "tepe", "köy", "hisar", "paşa", "mahalle",
)  # fmt: skip
