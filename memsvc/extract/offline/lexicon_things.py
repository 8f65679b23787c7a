"""Nouns by what their things are: events, animals, vehicles, homes, groups; lemmas, in lower case, heads of phrases."""

from __future__ import annotations

from functools import cache


@cache
def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


TRIPS = words("""
    trip holiday vacation getaway cruise honeymoon road-trip roadtrip journey tour excursion outing weekend retreat
    pilgrimage safari expedition staycation flight citybreak break trek hike camping voyage visit
""")
COURSES = words("""
    course class lesson workshop seminar training bootcamp lecture programme program apprenticeship internship
    placement tutorial residency webinar evening-class lessons classes
""")
CONTESTS = words("""
    marathon half-marathon race tournament match game competition contest championship triathlon duathlon ironman 5k
    10k parkrun regatta final semifinal derby cup league playoff hackathon quiz relay duel ultra rally open heat gala
""")
GATHERINGS = words("""
    wedding party birthday concert gig festival funeral ceremony conference meeting meetup meet-up reunion barbecue
    bbq dinner brunch picnic exhibition exhibit show play performance recital parade march protest demonstration demo
    rally fair market expo convention summit camp fundraiser gala prom ball graduation baptism christening shower hen
    stag anniversary potluck housewarming celebration feast opera musical screening premiere opening launch vigil
    memorial wake service mass session sleepover date panel talk reading retreat raffle auction bake-off carnival rave
    concert symposium hen-do stag-do hen-night stag-night quinceañera bachelorette bachelor engagement kickoff
    demo-day open-mic jam assembly interview audition rehearsal appointment checkup check-up consultation surgery
    operation procedure exam test finals midterm scan ultrasound biopsy therapy session hearing trial election
    inspection viewing driving-test homecoming bonfire bingo karaoke gathering event reception graduation
    defence defense viva assessment showcase ceilidh bonspiel gymkhana rodeo jamboree cookout iftar seder
    communion confirmation convocation transplant replacement chemo chemotherapy radiotherapy dialysis mri x-ray
    accident stroke miscarriage hearing induction pride mot biennale hackathon
    orientation induction thanksgiving christmas easter eid diwali hanukkah halloween labour delivery
    bar-mitzvah 20th 30th 40th 50th
    60th 70th 80th 90th 18th 21st
""")
PASTIMES = words("yoga pilates boxing karate judo zumba crossfit spin aerobics ballet practice rehearsal")
EVENTS = TRIPS | COURSES | CONTESTS | GATHERINGS
WEAK_EVENTS = words("""
    workshop show play game date talk market open class weekend break visit session season program programme service
    launch reading mass event move test heat tour flight meeting final module degree semester dinner cup ball camp hen
    stag fair demo jam trial wake operation delivery labour procedure opening session band practice
    assessment
""")
"""These need a verb or a word beside them that says it."""

PETS = words("""
    dog cat puppy kitten rabbit bunny hamster guinea-pig pig goldfish fish parrot budgie canary cockatiel tortoise
    turtle snake lizard gecko horse pony donkey goat sheep hen chicken duck goose ferret rat mouse gerbil bird cow
    llama alpaca bee bees beehive labrador lab poodle spaniel terrier beagle retriever collie corgi dachshund
    greyhound husky pug bulldog shepherd whippet mutt tabby siamese ragdoll rottweiler chihuahua pup doggo pooch kitty
    tarantula axolotl iguana hedgehog mare foal gelding lamb rooster quail chinchilla hound cockapoo labradoodle
    goldendoodle
""")
VEHICLES = words("""
    car van truck bike bicycle motorbike motorcycle moped scooter e-bike ebike boat kayak canoe sailboat yacht dinghy
    campervan camper caravan motorhome rv trailer tractor lorry pickup suv jeep minivan estate hatchback convertible
    tandem skateboard longboard surfboard snowboard skis paddleboard rowboat narrowboat cargo-bike unicycle vespa
    toyota honda ford volvo vw volkswagen bmw audi mercedes fiat renault peugeot skoda mazda nissan kia hyundai subaru
    tesla corsa polo golf fiesta clio yaris civic corolla prius mini passat beetle transit raleigh brompton yamaha
""")
INSTRUMENTS = words("""
    guitar piano violin cello drums drum flute trumpet saxophone sax clarinet ukulele banjo bass accordion harmonica
    keyboard organ harp viola oboe trombone tuba mandolin synth synthesizer fiddle bagpipes recorder double-bass lute
    oud djembe cajon bodhran concertina sitar erhu kalimba bongos tabla bassoon horn cornet
""")
DEVICES = words("""
    laptop computer pc macbook mac ipad tablet phone iphone smartphone camera printer monitor console playstation xbox
    switch tv television telescope microscope drone watch smartwatch garmin fitbit kindle headphones headset speaker
    speakers router server nas pi raspberry mixer amp turntable projector lens tripod gopro vr keyboard mic microphone
    dishwasher fridge freezer oven cooker airfryer fryer blender thermomix kettle toaster espresso-machine machine
    grinder washer dryer vacuum hoover lawnmower mower chainsaw drill saw lathe loom sewing-machine kiln wheel
    greenhouse shed tent hammock barbecue grill smoker pan skillet wok rifle bow desk chair sofa couch bed mattress
    bookcase bookshelf wardrobe table lamp rug armchair piano stove treadmill dumbbells rower trampoline sauna hot-tub
    tub pool backpack rucksack suitcase tool-box hammer boots skates helmet wetsuit binoculars necklace ring bracelet
    earrings tattoo watch dress coat jacket suit collection stamp stamps coins vinyl records record-player sled board
    racket racquet clubs rod generator 3d-printer aquarium terrarium hive allotment
""")
HOMES = words("""
    house flat apartment condo cottage cabin bungalow studio farmhouse townhouse maisonette villa home place loft
    chalet farm houseboat bedsit basement room dorm penthouse duplex holding homestead land plot field orchard barn
    allotment garden workshop garage shop restaurant cafe café bakery business company salon pub bar bookshop
    bookstore store startup vineyard
""")
DWELLINGS = words("""
    house flat apartment condo cottage cabin bungalow farmhouse townhouse maisonette villa home place loft
    chalet farm houseboat bedsit basement dorm penthouse duplex digs bedroom room sublet homestead flatshare
    houseshare
""")
OWNED = PETS | VEHICLES | INSTRUMENTS | DEVICES | (HOMES - words("room home place land field dorm studio"))
OWNED_STRONG = PETS | VEHICLES | INSTRUMENTS
NOT_OWNED = words("""
    job idea plan question problem time day week weekend month year issue chance feeling feelings headache cold flu
    cough fever kid kids child children son daughter brother sister friend friends boss mum mom dad mother father wife
    husband partner girlfriend boyfriend baby aunt uncle cousin nephew niece grandma grandpa colleague neighbour
    neighbor lot bit thing things something anything nothing everything one ones couple few some money fun luck look
    word lunch dinner breakfast coffee tea drink beer talk chat break shower nap sleep rest appointment meeting exam
    class lesson interview trip holiday vacation party test call way point reason doubt choice option access part
    experience hope hopes fear respect degree news memory memories dream dreams goal plans love pain trouble
    difficulty sense help support advice feedback result results answer time times energy patience room space place
    side effect surgery shift deadline event game match session blast ball good great life career background knowledge
    habit routine connection conversation opportunity impact influence effect vibe mood attitude allergy allergies
    diabetes asthma anxiety adhd cancer injury surgery pizza food snack cake meal ticket tickets message email text
    letter bug error crush hang hold tan haircut promotion raise permission passport visa licence license number back
    day-off off sort type kind stuff rain snow weather sun night morning evening hour hours minute minutes second
    seconds blue moment while marriage relationship date role position offer contract interest hobby passion skill
    skills taste preference favourite favorite visitor visitors guest guests people family parents siblings team group
    member members mark grade score project deal agreement budget loan mortgage debt savings income salary pension
    rent
""")

GROUPS = words("""
    team band choir club orchestra society group league union association committee board chorus quartet trio troupe
    squad crew gang co-op cooperative collective guild church congregation parish ensemble academy clan charity
    volunteer-group network party board council troop scouts guides side
""")
WORKPLACES = words("""
    company firm startup agency hospital clinic school university uni college bakery shop store restaurant cafe café
    bar pub hotel bank library museum factory warehouse office lab laboratory practice surgery studio theatre theater
    gym nursery kindergarten supermarket pharmacy farm garage salon council ministry bureau department institute
    charity ngo foundation newspaper magazine publisher shelter zoo airport station brewery vineyard call-centre plant
    conservatory academy dealership brasserie bookshop bookstore hospice daycare kitchen mill yard shipyard workshop
    primary secondary high-school middle-school elementary-school garden centre center co-op cooperative embassy
    courthouse court prison army navy police force railway railways post depot dispensary vet vets dentist's dentist
    greenhouse terminal refinery quarry foodbank food-bank florist butcher butchers grocer diner bistro consultancy
    nursing-home care-home retirement-home funeral-home law-firm faculty barbershop
    barber hairdresser hairdressers spa resort
""")
JOBS = words("""
    job shift shifts position role post internship placement apprenticeship gig contract work career traineeship
    residency fellowship scholarship studies degree phd masters master's bachelor's bachelor doctorate postdoc course
    semester year class training lectureship professorship secondment gap-year freshman sophomore junior senior finals
    thesis dissertation place spot day week night colleague colleagues boss manager coworker coworkers supervisor
""")
ROLES = words("""
    smoker nonsmoker non-smoker teetotaller insomniac
    aide orderly carer caretaker janitor medic
    nurse doctor teacher welder plumber carpenter electrician engineer developer programmer designer architect lawyer
    solicitor barrister accountant manager supervisor director consultant analyst scientist researcher professor
    lecturer student apprentice intern trainee chef cook baker butcher waiter waitress barista bartender driver pilot
    mechanic farmer gardener florist hairdresser barber writer author journalist editor photographer musician singer
    actor actress dancer painter artist sculptor illustrator librarian archivist curator translator interpreter
    therapist psychologist psychiatrist counsellor counselor physio physiotherapist dentist vet veterinarian
    pharmacist paramedic midwife surgeon radiographer optician carer caregiver nanny childminder cleaner janitor
    caretaker cashier clerk receptionist secretary assistant administrator coordinator officer policeman policewoman
    firefighter soldier sailor captain judge economist banker trader broker realtor agent salesman saleswoman
    salesperson seller buyer builder bricklayer roofer plasterer tiler joiner machinist technician operator foreman
    logger miner fisherman fisher shepherd beekeeper brewer tailor seamstress potter weaver jeweller jeweler
    blacksmith guard steward stewardess conductor courier postman mailman trucker coach trainer instructor tutor
    principal headteacher headmaster dean priest pastor vicar rabbi imam nun monk politician mayor councillor founder
    ceo cto cfo vp president chairman chairwoman chairperson treasurer volunteer freelancer contractor entrepreneur
    pensioner retiree biologist chemist physicist geologist historian mathematician statistician astronomer
    archaeologist meteorologist ecologist botanist sysadmin devops tester recruiter marketer copywriter strategist
    planner surveyor inspector auditor paralegal notary producer filmmaker animator composer drummer guitarist pianist
    violinist cellist bassist dj stylist make-up-artist beautician tattooist sommelier winemaker cheesemaker zookeeper
    ranger lifeguard postdoc undergrad undergraduate freshman sophomore electrician glazier decorator upholsterer
    framer printer bookbinder bookseller shopkeeper stallholder grocer caterer dishwasher porter lead head staff
    member backend frontend temp warden superintendent orthodontist dermatologist cardiologist oncologist neurologist
    paediatrician pediatrician anesthetist anaesthetist dietitian nutritionist sonographer phlebotomist toolmaker
    locksmith stonemason thatcher arborist landscaper lumberjack chandler cobbler shoemaker luthier goldsmith
    silversmith glassblower
""")
"""What people are by trade or at school."""
MEDIA = words("""
    book novel film movie series show documentary podcast album song essay article thesis dissertation paper poem blog
    memoir biography play musical story report post talk lecture exhibition comic manga anime game audiobook
    presentation newsletter column video
""")
LANGUAGES = words("""
    english french spanish german italian portuguese dutch swedish norwegian danish finnish icelandic polish czech
    slovak hungarian romanian bulgarian greek turkish russian ukrainian serbian croatian slovene arabic hebrew persian
    farsi urdu hindi bengali punjabi tamil telugu mandarin cantonese chinese japanese korean vietnamese thai
    indonesian malay tagalog swahili yoruba igbo hausa zulu afrikaans amharic welsh irish gaelic scots basque catalan
    galician latin esperanto estonian latvian lithuanian albanian georgian armenian mongolian nepali sinhala marathi
    gujarati kannada malayalam quechua bsl asl sign-language breton luxembourgish maltese
""")
MEDICINES = words("""
    ibuprofen paracetamol aspirin insulin metformin sertraline prozac lexapro zoloft fluoxetine citalopram antibiotics
    antihistamines antidepressants statins statin inhaler melatonin ritalin adderall concerta methotrexate prednisone
    steroids levothyroxine omeprazole amoxicillin pill pills medication meds vitamins supplements beta-blockers
    warfarin ozempic wegovy gabapentin naproxen codeine morphine painkillers tablets drops iron magnesium creatine
    antacids lithium xanax valium propranolol amlodipine ramipril lisinopril atorvastatin tramadol eyedrops epipen
    patch
""")
EMPTY = words("""
    lot bit thing things something anything nothing everything stuff one ones way time times kind sort part rest
    couple few some much many people person guy guys day days week weeks month months year years today tomorrow
    yesterday moment while minute minutes hour hours second fact case point idea bunch ton tons loads plenty question
    questions place someone somebody anyone anybody everyone everybody nobody none all both each that this it these
    those them reason chance here there where what who which mess morning evening night afternoon tonight number
    amount whole half yep yeah yes blast love ride end start beginning middle side front back top bottom good bad look
    try go luck sense difference
""")
"""Words that name nothing that one could remember."""
PLACES = words("""
    park beach museum gym pool lake river mountain mountains sea seaside coast island village town city forest woods
    airport station cafe café restaurant pub bar shop market supermarket library church mosque temple synagogue
    cathedral castle garden gardens zoo theatre theater cinema stadium arena hospital clinic hotel hostel campsite
    school university uni campus office studio square street road avenue lane bridge harbour harbor marina port pier
    farm barn field valley canyon desert waterfall volcano glacier reef trail mall centre center hall club rink spa
    sauna lodge resort vineyard winery brewery bakery gallery aquarium planetarium observatory cemetery graveyard
    monastery abbey ranch countryside suburb suburbs neighbourhood neighborhood district region county country abroad
    dentist doctor's vet barbershop salon cabin cottage wall allotment playground track courthouse prison jail embassy
    consulate border hill hills peak summit canal bay cove cape peninsula oasis jungle rainforest lakeside
""")
TIMES = words("""
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday spring summer autumn fall winter christmas easter morning afternoon evening night
    noon midnight weekend weekends weekdays term future past end beginning middle meantime minute hour day week month
    year decade century moment age while days weeks months years hours minutes thanksgiving halloween eid diwali
    mornings evenings nights afternoons lunchtime dawn dusk sunrise sunset xmas half-term
""")
BELIEFS = words("""
    vegan vegetarian veggie pescatarian coeliac celiac diabetic asthmatic dyslexic autistic deaf blind catholic muslim
    jewish buddhist atheist methodist adventist baptist lutheran anglican presbyterian protestant quaker mormon sikh
    hindu pentecostal retired sober teetotal dyspraxic colourblind colorblind left-handed pregnant
""")
"""What people are by belief, diet or condition: "she is vegan"."""
