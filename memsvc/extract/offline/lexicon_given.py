"""Given names of many countries, and which of them are words too.

Written for this project from general knowledge: what a reader takes for somebody's name without context.
"""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """Names in lower case, one a word; "_" stands for a blank."""
    return frozenset(name.replace("_", " ") for name in text.lower().split())


SHE = names("""
    Abigail Ada Adele Agnes Agnieszka Aisha Aino Alejandra Alexandra Alice Alicia Alina Alison Amalia Amanda Amara
    Amelia Amelie Amina Amira Amy Ana Anaïs Andrea Angela Angelika Anika Anita Anja Ann Anna Anne Anneke Annika Anouk
    Antonia Anya Aoife Ashley Asha Astrid Audrey Aurora Ava Ayesha Aylin Barbara Beata Beatrice Beatriz Becky Bella
    Beth Bethany Betty Bianca Birgit Bridget Brigitte Britta Camila Camille Carla Carmen Carol Carolina Caroline
    Catarina Catherine Cecilia Celia Chantal Charlotte Chiara Chiamaka Chloe Christina Christine Ciara Claire Clara
    Clare Claudia Colette Cora Dagmar Daisy Dana Daniela Danielle Daphne Daria Deborah Debbie Denise Deepa Diana Diane
    Dolores Donna Dora Doris Dorota Edith Efua Eileen Elaine Eleanor Elena Elif Elisa Elise Eliza Elizabeth Ella Ellen
    Ellie Elsa Elsie Emily Emma Erika Erin Esme Esther Eun-ji Eva Eve Evelyn Ewa Fatima Fatou Faith Farah Fiona Flora
    Florence Freya Frida Gabriela Gabrielle Gemma Georgia Georgina Gerda Gina Giulia Gloria Grace Greta Gretchen
    Gudrun Gwen Hana Hannah Hanna Harriet Hazel Heather Heidi Helen Helena Helga Henrietta Holly Ida Ilse Imani Imogen
    Ines Inga Ingrid Irena Irene Iris Irina Isabel Isabella Isla Ivana Ivy Iwona Jacqueline Jade Jana Jane Janet
    Janine Jasmine Jean Jenna Jennifer Jenny Jess Jessica Jill Joan Joanna Joanne Jo Johanna Josephine Joyce Juanita
    Judith Judy Julia Juliana Julie Juliette June Justyna Kaisa Karen Karin Karolina Kasia Kate Katherine Kathleen
    Kathy Katie Katja Katrin Kavita Kayla Keira Kelly Kerry Keiko Kim Kirsten Kirsty Klara Kristin Luz Marisa Jacinta
    Kristina Lara Latoya Laura Lauren Layla Lea Leah Leila Lena Leonie Leticia Lidia Lilian Lily Lina Linda Lisa Liv
    Livia Liz Lola Lorna Lorraine Lotta Lotte Louise Lucia Lucie Lucy Luisa Lydia Lynn Mabel Maddie Madeleine Maeve
    Magda Magdalena Maggie Maja Malgorzata Mandy Manon Mara Margaret Margarita Margit Marguerite Maria Mariam Mariana
    Marie Marika Marina Marion Marisol Marjorie Marta Martha Martina Mary Matilda Maureen Maya Mei Melanie Melissa
    Mercedes Meredith Mia Michaela Michelle Mila Mina Miriam Moira Molly Mona Monica Monika Morag Nadia Nadine Nancy
    Naomi Natalia Natalie Natasha Neha Nell Nia Niamh Nicola Nicole Nina Noor Nora Norma Nuria Odile Olga Olive Olivia
    Orla Paige Pam Pamela Patience Patricia Paula Paulina Pauline Peggy Penelope Penny Petra Philippa Phoebe Phyllis
    Pia Pilar Polly Poppy Priya Prisca Rachel Rebecca Renata Renee Rhiannon Rita Roberta Robin Rocío Romy Rosa
    Rosalind Rose Rosie Rosemary Roxana Ruby Ruth Sabine Sabrina Sadia Sally Salma Samantha Samira Sandra Sanne Sara
    Sarah Saoirse Saskia Selma Shannon Sharon Sheila Shirin Shirley Shreya Sian Silvia Simone Sinéad Siobhan Sofia
    Sofie Solveig Sonia Sonja Sophia Sophie Stacey Stella Stephanie Sue Sunita Susan Susanne Suzanne Svenja Svetlana
    Sylvia Tabitha Tamara Tamsin Tania Tanya Tara Tatiana Teresa Tess Tessa Thea Theresa Tilda Tina Tova Tracy Trudy
    Uma Ursula Valentina Valeria Valerie Vanessa Vera Verena Veronica Victoria Vida Viktoria Violet Viola Virginia
    Vivian Wanda Wendy Wilhelmina Winifred Xenia Yasmin Yetunde Ylva Yoko Yolanda Yuki Yvonne Zainab Zara Zeynep Zoe
    Zofia Zosia Zuzana Róisín Ngozi Adaeze Folake Wanjiru Achieng Thandi Nomvula Amahle Lakshmi Anjali Pooja Divya
    Meera Radha Sunita Ayşe Emine Nur Aigerim Oksana Ludmila Halina Grażyna Bożena Jadwiga Mei-Ling Xiu Ying Linh Mai
    Thuy Siti Dewi Sakura Aiko Naoko Haruka Soo-jin Min-ji Rosalie Margot Agathe Elodie Solène Maëlle Inès Océane
    Giorgia Ginevra Federica Francesca Alessia Paola Raffaella Itziar Ainhoa Montserrat Guadalupe Ximena Fernanda
    Renata Luciana Tainá Caitlin Caitríona Gráinne Deirdre Eilidh Mhairi Catriona Bronwen Carys Aaliyah Aanya Aarti
    Abbie Abby Abena Abi Abimbola Adaobi Adela Adelaide Adjoa Adriana Adwoa Ae-ri Afia Agata Agustina Ah-young Aida
    Ailsa Aimee Aina Aine Aishwarya Aisling Akanksha Akinyi Akosua Akua Alana Alba Albena Aleksandra Alexa Alexis Alma
    Alva Alyssa Ama Amani Amarachi Amaya Amel Aminata Amparo Amrita Analyn Ananya Anaya Anca Andie Angelica Angharad
    Angie Ania Anisa Anjana Ankita Annabel Annabelle Annalise Anne-Marie Anneli Anneliese Annette Annie Antoinette
    Anuradha Anusha Aoibheann Aparna April Araba Araceli Archana Aria Ariadna Ariana Arlene Artemisia Asma Asya Athena
    Atieno Aubrey Audra Awino Aya Ayla Ayo Ayu Ayumi Azra Babs Barbra Basia Becca Belen Belén Benedetta Berit
    Bernadette Bernice Berta Bethan Beti Bev Beverley Beverly Bex Bhavna Bibi Biljana Binta Birgitta Bisi Blanca
    Blessing Bláthnaid Bo-ram Bodil Bogna Bola Bonnie Breda Brenda Briana Brianna Bronagh Brooke Bryony Bukola
    Busisiwe Cadi Caleigh Callie Cami Candela Candice Caoimhe Carina Carly Carolyn Carrie Cassandra Cassie Cat
    Catalina Cath Cathy Cecile Cecily Celeste Celina Cerys Chandni Chanel Charlene Charmaine Chelsea Cheryl Chidinma
    Chie Chika Chimamanda Chinwe Chioma Chitra Chiyo Chrissie Christa Christel Christelle Christy Cindy Citlali Citra
    Clarissa Claudette Clementine Clodagh Clémence Coco Conceição Connie Consuelo Cordelia Corinna Corinne Coumba
    Courtney Cristina Cynthia Cécile Dafne Dalia Damilola Danica Danni Darcy Darlene Dasha Davina Dayana Debra Dee
    Deepika Delia Delphine Delyth Demi Deolinda Derya Desiree Desislava Despina Devi Devika Dian Dilara Dina Divina
    Diya Dolly Dominika Dominique Doreen Dorothea Dorothy Dorte Dottie Dragana Dunja Duygu Ebele Ebony Ebun Ece Eda
    Edna Eeva Efa Effie Eirlys Ekaterina Ela Eleni Eleonora Elitsa Eliška Ellis Elma Eloise Elspeth Elvira Elżbieta
    Emi Emilia Emilie Encarna Encarni Enid Eri Erica Ernestine Esha Esi Esperanza Esra Estelle Etta Eugenia Eugénie
    Eun-ha Eunice Eunji Evangeline Evie Ezgi Ezinne Faiza Fang Farida Fatma Fatoumata Fay Faye Felicia Felicity Femke
    Fen Fenella Fenna Fern Ffion Fi Fikile Filipa Filomena Fionnuala Fitri Fleur Florrie Folasade Fran Franca Frances
    Francine Franzi Franziska Frauke Frederike Freja Friederike Froukje Fumiko Funke Funmi Fátima Gaby Gail Galina
    Gauri Gayatri Gayle Geeta Gem Genevieve Geneviève Georgie Geraldine Gergana Germaine Gertrude Ghislaine Gianna
    Gigi Gill Gillian Ginny Giovanna Girlie Gisela Gisele Gita Gladys Glenda Glenys Gosia Graciela Grainne Graça
    Gretel Griet Gro Gundula Gunilla Guðrún Gwendolyn Gwyneth Gül Gülşen Ha-eun Habiba Hadiza Hafsa Hanae Hania Hanne
    Hannelore Harini Harper Harpreet Harumi Hatice Hattie Haya Hayley Hedda Hedwig Heike Heledd Helle Helvi Hema
    Henriette Hermine Hermione Hilary Hilda Hilde Hilkka Hillary Hinata Hind Hitomi Hjördís Hoa Honoka Honor Honorata
    Huan Huda Hui Huong Hye-jin Hyejin Idil Ife Ifeoma Ifeyinwa Ila Ilaria Ilinca Ilka Ilona Imke Immaculata Indah
    India Indira Indu Inge Ingeborg Inmaculada Intan Ioana Iola Iona Iratxe Irma Isha Ishani Isobel Isra Itzel Iulia
    Ivanka Ivonne Izabela Izzy Jackie Jacqui Jagoda Jamila Jan Janelle Janice Janie Janina Jasleen Jasmin Jasmina Jaya
    Jayanti Jayne Jaz Jeanette Jeanne Jeannie Jelena Jemima Jen Jeni Jenni Jessie Ji-won Jia Jiayi Jiaying Jilly Jing
    Jiwon Jiyoung Joaninha Joann Jocelyn Jodie Jody Joelle Joely Jola Jolanda Jolanta Jolene Jordana Josefina Josie
    Jovana Joy Juan-mei Juana Judit Juhi Julianne Julieta Julita Junko Jutta Jyoti Kaia Kaisu Kajal Kalinda Kamala
    Kamila Kamini Kanchan Kaori Karima Karla Karola Kartika Kasey Kata Katalin Katarina Katarzyna Katarína Kateřina
    Katharina Katharine Kathi Kathrin Kathryn Kati Katia Katrina Katya Kaveri Kay Kaylee Kayleigh Kazuko Keeley
    Keerthi Kehinde Keisha Kelechi Kell Kemi Kendra Keren Khadija Khady Khushi Kiera Kimberley Kimberly Kinga Kira
    Kiran Kitty Komal Krishna Kristi Kristine Krisztina Kriti Krysia Krystyna Ksenia Kyoko Kyra Ladi Laia Laila
    Lakeisha Lalita Lan-Anh Lana Lani Lanying Larissa Lata Latifa Laurel Laurence Laurie Lavinia Layan Leanne Leela
    Lei Leigh Lelia Leni Lenka Lenuta Leona Leonora Lerato Lesedi Lesley Leslie Lestari Letizia Lettie Lexi Leyla
    Li-hua Lia Libby Lidija Lieke Lien Liesbeth Liesel Liezel Lihua Liisa Lila Lili Lilia Liliana Lilith Lillian Lilly
    Lindiwe Lindsay Lindsey Ling Linz Lioba Lior Liora Lisbeth Lisette Liza Lizzie Ljiljana Loes Lois Loretta Lori Lou
    Louisa Lourdes Lowri Lubna Lucinda Lucja Lucrezia Ludivine Luna Lupe Lupita Lurdes Luzviminda Lynda Lyndsey
    Lynette Lynne Lyra Lyuda Maaike Maame Maayan Macarena Mada Maddy Madelyn Madhavi Madhu Madison Magali Mags Mahira
    Maia Maike Maira Mairead Maisie Maite Makena Maki Malala Malathi Malika Malin Malina Malini Mallory Mami Mandisa
    Mandla Manisha Manju Manpreet Manuela Maren Margarida Margaux Margery Margherita Margie Margo Margrit Mariama
    Mariangela Marianne Maribel Maricel Mariella Marielle Marijke Mariko Marilyn Marisela Maristela Marites Maritza
    Marivic Marjatta Marlene Marlies Marly Masha Mathilde Maud Maude Mavis Maxine Mayu Mayumi Meadhbh Medina Meena Meg
    Megan Megha Meghan Megumi Mehwish Meihua Meiling Meiqi Melania Melek Melina Melinda Melody Menna Mercè Mererid
    Merve Meryem Mette Mi-kyung Michal Micheline Michiko Midori Mieke Migle Mihaela Miho Mika Miki Mildred Milica
    Millicent Millie Milly Mimi Min Mindy Minji Minna Mira Miranda Mireia Mireille Mirela Mireya Mirjam Mirka Mirta
    Misaki Misato Mitsuko Mitzi Miyuki Moana Mollie Momo Momoko Moni Monique Montse Morenike Morfydd Morgana Morita
    Morwenna Mpho Mridula Mrunal Mumbi Munira Muriel Muthoni Myfanwy Mylène Myra Myriam Myrna Máiréad Mădălina Nada
    Nadezhda Nadya Nahla Naima Najwa Naledi Nalini Namrata Nanami Nandi Nandini Nanette Naoise Narges Nasrin Nastya
    Natasa Natascha Nataša Nathalie Natsuki Navya Nayeli Nazanin Nazlı Ndeye Neelam Neema Neeraja Neeta Nel Nela Nelly
    Nena Nenita Nerys Neus Nga Ngoc Nguyet Nhung Nicki Nicky Nidhi Nieves Niharika Nika Niki Nikita Nikki Nilüfer
    Nimmi Ning Ningsih Nirmala Nisha Nita Njeri Nkechi Nneka Noa Noelia Noelle Noemi Noemí Nokuthula Nonhlanhla Nonna
    Norah Noreen Nosipho Noura Nozomi Noémie Noëlle Nuala Nura Nurul Nyambura Nyasha Nóirín Núria Oana Obioma Odette
    Ofelia Ogechi Oihana Olena Olha Olivera Oluchi Olya Omolara Onyinye Oona Oonagh Ophelia Oriana Orlagh Orlaith
    Ornella Ortrud Oumou Padma Padmini Palesa Pallavi Palmira Paloma Pamina Parvati Pat Patrice Patrycja Patsy Patti
    Patty Paulette Payal Pearl Pepa Perla Petronella Philomena Phuong Pip Pippa Pirkko Pnina Polina Poonam Prachi
    Pragya Pratibha Precious Preeta Preethi Preeti Prerna Priyanka Prudence Purity Purnima Putri Päivi Qian Qing Quinn
    Quynh Rabia Rachael Rachele Rachida Rachna Rae Raelynn Rahel Rahma Raija Raina Raisa Rajashree Rajni Raluca Ramona
    Rana Rani Rania Ranjana Raquel Rasha Rashida Rashmi Ratna Raven Rea Reem Reena Reese Refilwe Regan Regina Regine
    Reiko Reina Rekha Remedios Rena Renu Renuka Resi Revathi Rhea Rhoda Rhona Rhonda Ria Richa Rie Riet Riitta Rina
    Risa Ritika Ritu Ritva Riya Rochelle Rocio Roisin Rokhaya Romana Romina Rona Roni Ronja Ronke Roos Rosaleen
    Rosalia Rosalinda Rosalía Rosana Rosanna Rosaria Rosario Roseanne Rosemarie Roshni Rosário Rowena Roxanne Roya
    Ruchi Rukmini Runa Rupa Ruta Ruthie Rylee Saba Sabina Sabrine Sachiko Sade Sadhbh Sadie Saffron Safiya Sahar Saima
    Sakina Salome Samia Samina Sana Sanaa Sangeeta Sanja Sanjana Sanna Saori Sapna Saraswati Sari Sarika Sarina Sarita
    Saroja Sasha Satomi Savannah Savita Sayaka Scarlett Seema Sefora Selena Selin Selina Seo-yeon Serena Serwaa
    Setsuko Sevda Sevgi Shabnam Shaima Shalini Shan Shanaya Shanelle Shani Shania Shanice Shanta Shanti Sharmila
    Sharna Sharron Shauna Shayla Shaz Shazia Sheena Shelagh Shelby Shelley Shelly Shereen Sheri Sherri Sherry Shikha
    Shilpa Shira Shiv Shivani Shizuka Shobha Shona Shoshana Shraddha Shruti Shu Shweta Sibongile Sibyl Sidonie Siena
    Sienna Sigrid Sigríður Silke Silvana Simi Simona Simran Sindhu Sinead Sinem Siobhán Sioned Siri Sirpa Sissel Siv
    Skye Skylar Smaranda Smita Smriti Sneha Snezana Snežana Sofía Solange Soledad Somto Sona Sonal Sonali Sonam Soojin
    Soph Soraya Sorcha Soyeon Sri Stacy Stefania Stefanie Steffi Steph Sterre Subha Sudha Sujata Sujatha Sujin Sukanya
    Sukhi Suman Sumaya Sumi Sumiko Sumire Sumitra Summer Sunniva Supriya Surya Susana Sushma Susie Suzi Suzie Suzy
    Svea Swapna Swati Sybil Sydney Sylvie Synnøve Sytske Szilvia Tabea Tahira Taisiya Tali Talia Tallulah Tamar Tammy
    Tanisha Tanja Tansy Tanvi Tarana Tash Tasha Tatjana Tatum Tawny Tehmina Temi Temitope Teodora Teri Terri Terry
    Terttu Tesni Thandeka Thandie Thao Thelma Theodora Theresia Thu Thyra Thérèse Tia Tiana Tiffany Tijana Tilly
    Tineke Ting Titi Titilayo Tolu Tomoko Toni Tonya Tope Tori Tracey Trang Traudl Tricia Trina Trine Trisha Trixie
    Trupti Truus Tshepo Tuba Turid Tuti Tuula Tuva Tuyet Tuğba Tuğçe Twyla Tzipi Uchechi Uju Ula Ulla Ulrike Una
    Unathi Urmila Urvashi Uschi Usha Ute Uzma Uzoma Vaishali Vaishnavi Valarie Valentine Valérie Van-Anh Vanda Vandana
    Vani Vanja Varsha Vasiliki Vasudha Velma Vendela Venla Venus Vesna Vicki Vicky Victoire Vidya Vijaya Vikki Vilde
    Vilma Vimala Vinita Vittoria Viv Vivi Vivien Vivienne Vlasta Vy Wafa Wairimu Waleria Wambui Wangari Wanqing Warsan
    Wen Wenjing Whitney Wiebke Wieke Wilma Winnie Wiola Wren Wulan Xandra Xia Xiaoling Xiaomei Xiaowen Xiaoyan Xin
    Xinyi Xiomara Xochitl Yaa Yadira Yael Yaling Yamini Yan Yana Yanli Yanti Yara Yarden Yasemin Yasmine Yaz Yelena
    Yeon Yesenia Yewande Yifei Yiting Ylenia Yngrid Yoana Yoland Yolande Yoona Yoshiko Yue Yui Yukari Yukiko Yuko
    Yuleidy Yulia Yuliana Yuliya Yumi Yumiko Yun Yuna Yuriko Yusra Zadie Zahra Zaida Zaina Zandile Zanele Zdenka Zelda
    Zena Zenobia Zeyna Zhen Zina Zinhle Zinnia Ziva Zlata Zodwa Zohra Zola Zoya Zoé Zoë Zsuzsa Zsófia Zubaida Zuleika
    Zulema Zuleyha Zuri Zusanna Zuzanna Zyta Áine Özge Özlem Þóra Łucja Želja
""")
HE = names("""
    Aaron Abdul Abdullah Abel Adam Adrian Adriano Ahmed Aidan Aki Al Alan Alasdair Albert Alberto Alec Alejandro
    Aleksander Alessandro Alex Alexander Alf Alfie Alfred Ali Amadou Amir Anders Andre André Andreas Andrei Andrew
    Andrzej Andy Angelo Angus Anil Anthony Anton Antonio Archie Arjun Arne Arnold Arthur Arun Arvid Asif Axel Barry
    Bartek Bart Bashir Bastian Ben Benedict Benjamin Bernard Bernd Bert Bill Billy Björn Bob Bobby Boris Brad Brandon
    Brendan Brian Bruce Bruno Bryan Calvin Cameron Carl Carlo Carlos Casper Cathal Cedric Charles Charlie Chidi
    Chinedu Chris Christian Christoph Christopher Ciaran Clive Colin Conor Connor Craig Cristian Curtis Cyril Damian
    Damien Dan Daniel Daniele Danny Darius Darren Dave David Davide Dawid Dean Declan Denis Dennis Derek Desmond Dev
    Didier Diego Dieter Dimitri Dirk Dmitri Dominic Dominik Don Donald Doug Douglas Duncan Dylan Eamon Earl Ed Eddie
    Edgar Edmund Eduardo Edward Edwin Eero Egil Eirik Elias Elijah Eliot Elliot Emeka Emil Emilio Emmanuel Emre Enrico
    Enrique Enzo Eric Erik Ernest Ernst Eoin Esteban Ethan Eugene Evan Fabian Fabio Farid Felipe Felix Ferdinand
    Fergus Fernando Finn Fintan Florian Francesco Francis Francisco Franco Frank Franz Fraser Fred Freddie Frederic
    Frederick Fritz Gabriel Gareth Gary Gavin Geoff Geoffrey George Georg Gerald Gerard Gerhard Gianni Gilbert Giles
    Giorgio Giovanni Glen Gordon Graham Grant Greg Gregor Gregory Guido Guillaume Gunnar Gustav Guy Hakim Hamid Hamish
    Hank Hans Harald Harold Harry Hassan Hector Heinrich Hendrik Henri Henrik Henry Herbert Herman Hiroshi Horst
    Howard Hubert Hugh Hugo Hussein Iain Ian Ibrahim Igor Imran Isaac Ismail Ivan Ivar Ivo Jack Jacek Jacob Jacques
    Jake Jakob Jakub Jamal James Jamie Jan Janek Jared Jarek Jayden Hicham Lev Mischa Osian Ifor Jason Javier Jay
    Jean-Luc Jean-Pierre Jeff Jeffrey Jens Jeremy Jerome Jerry Jerzy Jesse Jim Jimmy Joachim João Joe Joel Johan
    Johannes John Johnny Jon Jonas Jonathan Jordan Jorge Jörg José Josef Joseph Josh Joshua Juan Juhani Julian Julien
    Jürgen Justin Kai Kamal Kareem Karim Karl Kaspar Keith Ken Kenji Kenneth Kenny Kevin Kieran Klaus Kofi Konrad Kris
    Kristian Kristof Krzysztof Kurt Kwame Kyle Lachlan Lars Lasse Laurence Lawrence Lee Leif Len Leo Leon Leonard
    Leonardo Leroy Leszek Liam Lionel Lloyd Lorenzo Louis Luc Luca Lucas Ludwig Luigi Luis Lukas Luke Maciej Magnus
    Mahmoud Malcolm Malik Manuel Marc Marcel Marcelo Marcin Marco Marcus Marek Mario Mark Markus Martin Marvin Massimo
    Mateo Mateusz Mats Matt Matteo Matthew Matthias Mattie Maurice Max Maxim Mehmet Michael Michał Michel Miguel Mihai
    Mikael Mike Mikkel Milan Milo Miro Mohamed Mohammed Moritz Moses Mustafa Nathan Neil Nelson Nick Nicholas Nico
    Nicolas Niels Nigel Niklas Nikolai Nils Noah Noel Norbert Norman Obinna Olaf Ole Oleg Oliver Ollie Olle Omar Oscar
    Oskar Otto Owen Pablo Paddy Paolo Pascal Pat Patrick Paul Paulo Paweł Pavel Pedro Pekka Per Percy Pete Peter Phil
    Philip Philippe Pierre Piotr Pieter Rafael Rafał Raj Rajesh Ralf Ralph Ramon Raoul Rashid Ravi Ray Raymond Reg
    Reggie Reinhard Remy Rene Reza Ricardo Richard Rick Rob Robbie Robert Roberto Rodrigo Roger Rohan Roland Rolf
    Roman Ronald Ronnie Rory Ross Roy Ruben Rudi Rudolf Rui Rupert Russell Ryan Said Salvatore Sam Sami Samir Samuel
    Sandeep Sandro Sanjay Santiago Saul Scott Sean Sebastian Sergei Sergio Seth Seamus Shane Shaun Sid Siddharth Simon
    Slawek Søren Stan Stanley Stefan Stefano Stephen Steve Steven Stewart Stig Stuart Sunil Sven Takashi Tariq Ted
    Teddy Terry Theo Theodore Thiago Thomas Thorsten Tim Timo Timothy Tobias Toby Todd Tom Tomas Tomasz Tommy Tony
    Torben Travis Trevor Tristan Tunde Tyler Uli Ulrich Umberto Uwe Vadim Valentin Viktor Victor Vijay Vikram Vince
    Vincent Vito Vladimir Wade Wallace Walter Warren Wayne Werner Wilfred Wilhelm Will William Wim Wojtek Wolfgang
    Yannick Yasin Yiannis Yiorgos Yosef Yuri Yusuf Zach Zachary Zane Zoltan Oluwaseun Babatunde Emeka Ikenna Obi
    Kwabena Otieno Kamau Sipho Thabo Amit Rahul Ashok Suresh Nikhil Karthik Hiro Kenta Taro Ming Wei Jun Hao Minh Duc
    Budi Agus Jin-woo Joon Tadhg Oisín Cillian Padraig Diarmuid Ruairi Callum Ewan Rhys Gethin Iestyn Jürg Beat Urs
    Gilles Thierry Yves Baptiste Gaspard Mathieu Gonçalo Tiago Nuno Rui Vasco Íñigo Xabier Iker Andoni Jordi Oriol
    Aakash Aamir Aarav Abbas Abdel Abdou Abdulrahman Abe Abhinav Abhishek Abraham Achim Addison Adebayo Adeel Adel
    Aden Adewale Adeyemi Adi Aditya Adnan Adolfo Adão Aeneas Agustin Agustín Ahmad Ahmet Aiden Ajay Akash Akihiro Akio
    Akira Akshay Alain Albrecht Aldo Aled Aleks Aleksandr Aleksei Alessio Alexandre Alexandros Alexei Alexey Alfonso
    Alfredo Alisdair Alistair Allan Allen Alois Alun Alvaro Alvin Aman Amar Amari Ambrose Amin Amine Amos Anand Ananda
    Anas Anatoly Anderson Andrea Andrej Andres Andrius Andriy András Andrés Aneurin Aniket Anirudh Ankit Anouar Ansel
    Anselm Ansh Antek Antero Anthonis Antoine Antoni Antonis Antti António Anupam Anwar Apostolos Aras Archer Ardian
    Ari Arian Arief Ariel Aristide Armand Armando Armin Arnab Arnau Arnaud Arnav Arnel Arnt Aron Arsène Artem Artjom
    Artur Arturo Arvind Asger Ash Asher Ashish Ashton Ashwin Asim Aslan Athanasios Atilla Atsushi Attila Aubin August
    Augustin Augusto Aurelio Aurélien Austin Avery Avi Ayman Ayo Ayodele Ayush Azad Aziz Bakary Baldur Balint Balázs
    Bambang Bao Baran Barasa Baris Barnabas Barnaby Barney Bartosz Barış Bas Basil Bastien Bauke Baxter Bayo Baz Beau
    Bela Benedikt Beni Benito Benji Benjie Benjy Benno Benny Benoit Benoît Bento Berk Bernardo Berndt Bernhard Bernie
    Berry Bertie Bertil Bertram Beto Bharat Bheki Bilal Binh Biodun Bjarke Bjarne Bjorn Björgvin Blaine Blake Bo
    Bo-wen Bodhi Bogdan Bojan Bongani Bora Borut Bosse Boyd Brady Branko Brayan Brayden Breandán Brecht Brent Bret
    Brett Brice Brock Brody Bronisław Bryce Bryn Burak Byron Byung Béla Błażej Caleb Cam Camilo Carey Carles Carlton
    Carsten Carter Cas Casimir Caspar Cassius Caue Cedrik Cem Cengiz Cesar Cesare Chad Chaim Chan-woo Chandler Chandra
    Chao Chas Cheikh Cheng Chester Chetan Chico Chidera Chiel Chike Chima Chirag Christiaan Christos Chuck Chukwu
    Chukwudi Chukwuma Chun Chuy Cian Ciarán Cillín Clark Claude Claudio Claus Clayton Clem Clemens Clement Cliff
    Clifford Clint Clinton Clément Cody Coen Colby Cole Colm Conall Conrad Constantin Corentin Corey Cormac Cornelis
    Cornelius Cory Cosimo Cosmin Costas Costel Costin Cristiano Cristobal Cristóbal Cuong Cyrille Cyrus Cédric César
    Daan Dae-jung Dafydd Dag Daichi Daiki Daisuke Dale Dalton Damir Damon Dancho Dani Danial Danijel Danil Danilo
    Dante Danylo Dara Dario Darragh Darrell Darryl Darshan Daryl Darío Dat Davey Davi Davor Davy Dawit Dayo Daz Deacon
    Debashish Dedi Deepak Deiniol Deivis Dejan Deji Dele Demba Demetrius Deniz Denny Denzel Deon Derick Dermot Derrick
    Deshawn Desi Detlef Devansh Devon Dewi Dexter Dhananjay Dhruv Diarmaid Dick Dilip Dillon Dima Dimitar Dimitris
    Dinesh Dino Diogo Dipak Djamel Dmitry Dmytro Do-yun Dodong Domenico Domingo Domino Donal Donato Dong Dong-hyun
    Donghyun Donnie Donovan Doron Dougal Dougie Douwe Dragan Drago Dragoș Duarte Dudley Dung Dusan Duy Dušan Dwayne
    Dwight Dónal Ebbe Ebenezer Eberhard Ebuka Eckhard Eden Edgardo Edin Edison Edsel Edson Edvard Edvin Eelco Eetu Efe
    Efrain Egon Ehsan Eiji Einar Eino Eitan Ekene Eko Ekow Eldar Eli Elia Eliott Elis Ellery Ellis Elmer Elon Eloy
    Elton Elvis Elyas Emanuel Emanuele Embla Emerson Emir Emlyn Emmet Emmett Emrys Emyr Endre Engin Ennio Enoch Enver
    Ephraim Ercan Erdem Eren Erez Erhan Erich Erkki Erlend Erling Ernesto Ernie Ersin Erwin Esa Esben Espen Etienne
    Euan Eugenio Eurig Eustace Evander Everett Evert Eyal Ezekiel Ezra Fabien Fabrice Fabrizio Fadi Fahad Faisal Faris
    Farouk Faruk Fatih Faustino Fausto Federico Fedor Femi Feng Ferdie Ferenc Ferhat Fermin Fermín Fernand Ferran
    Fidel Fiifi Filip Filippo Filippos Finbar Findlay Finian Finlay Finley Finnegan Firas Fitz Flavio Florin Floris
    Floyd Folke Forrest Foster Fran Francesc Franek Frans František François Frazer Fredrik Friedrich Fritjof Frode
    Fulvio Fumio Gabor Gaetano Galen Ganesh Gang Garrett Garth Gaurav Gavril Gaz Gaël Gbenga Genaro Gene Gennaro
    Geoffroy Geordie Georges Georgi Georgios Geraint Geraldo Gerardo Gerben Gergely Gerhardt Germain Germán Gernot
    Gero Gerrit Gerry Gert Gervase Ghassan Gheorghe Giacomo Giancarlo Giang Gianluca Gideon Gijs Gil Gino Girish
    Giuliano Giulio Giuseppe Glenn Glyn Gopal Gopi Goran Gord Gottfried Govind Grady Graeme Grahame Greer Griffin
    Griffith Grigor Grzegorz Grzesiek Grégoire Grégory Guang Guillem Guillermo Gunther Guo Gurpreet Gus Gustaf Gustavo
    Guus Gwilym Gwyn Gyula György Gábor Gérard Gökhan Göran Günter Günther Ha-joon Haakon Haavard Hadi Hafiz Hagen
    Haider Haitao Hajime Hakan Hakeem Hal Halil Hallvard Hamed Hamza Handre Hannes Hannibal Hanno Hannu Harish Harjit
    Harley Haroun Harri Harrison Harsh Harsha Haru Haruki Haruto Harvey Hasan Hasse Havard Hayato Hayden Haydn Heath
    Hefin Heikki Heiko Heiner Heinz Hemant Hendra Henning Henryk Herbie Hernan Hernán Hervé Hideaki Hideki Hideo Hieu
    Hikaru Hilario Himanshu Hirofumi Hiroki Hiroto Hisashi Hisham Hitesh Hjalmar Hoang Holger Homer Hong-wei Horace
    Horacio Horatio Hossein Hristo Hubertus Hudson Huey Huib Humberto Humphrey Huub Huw Huy Hyun Hyun-woo Hywel Håkan
    Håvard Hüseyin Iago Ianis Ichiro Idris Idrissa Idwal Ifan Ifeanyi Igal Ignacio Ignatius Ihor Ike Ilan Ilias Ilja
    Ilker Illia Iltud Ilya Imad Imre Inderjit Indra Ingmar Ingo Inigo Ioan Ioannis Iolo Ionut Ionuț Ira Irvin Irving
    Irwin Isaiah Isak Isamu Ishaan Ishmael Isidro Iskander Israel István Itai Itamar Ivica Iván Iwan Jaakko Jaap
    Jabari Jabu Jackson Jaco Jacopo Jaden Jae Jae-won Jaehyun Jagdish Jaime Jairo Jaka Jakov Jalal Jamil Jana Janne
    Jannik Janos Jari Jarl Jarmo Jarno Jaroslav Jarosław Jarrod Jaspal Jasper Jatin Jaume Javed Javi Javid Jayesh
    Jaylen Jaywant Jaś Jean Jean-Claude Jean-François Jean-Paul Jeb Jed Jedidiah Jeison Jelle Jelmer Jemal Jeppe
    Jerald Jere Jeremiah Jeremias Jermaine Jeroen Jerónimo Jethro Jett Ji-hoon Jian Jianguo Jide Jie Jignesh Jihoon
    Jin Jinhai Jiro Jitendra Jiří Joakim Joan Joaquim Joaquin Joaquín Jochen Jody Joey Johann Johnathan Johnnie Joko
    Jomar Jonah Jonno Jonny Joon-ho Joop Joost Joram Jordy Jorgen Joris Josep Josiah Josip Jost Jovan Juanjo Jude Juha
    Jukka Jules Julio Julius Jun-jun Junho Junichi Juraj Jurek Jurgen Juri Jussi Justus Justyn Jyrki János Jérôme
    Jørgen Jānis Kaan Kabelo Kacper Kadir Kahlil Kailash Kaito Kaj Kaleb Kalin Kalle Kalman Kamil Kaname Kang Kapil
    Karan Karel Kariuki Karsten Kaspars Kasper Katsu Katsuhiro Kaushik Kaveh Kazimierz Kazuki Kazuo Kazuya Keanu Kedar
    Keegan Kees Kei Keir Keisuke Keita Kell Kemal Ken-ichi Kenan Kendall Kendrick Kenichi Kent Kenzo Kerem Kerim
    Kermit Kerwin Keshav Ketan Ketil Kev Kevan Khaled Khalid Khalil Khanh Khoa Kian Kiefer Kimani Kipchoge Kiran
    Kishore Kit Kjell Kjetil Knud Knut Koen Kohei Koichi Koji Kojo Kola Kolyo Konstantin Konstantinos Korbinian
    Korneel Kosta Kostas Kosuke Kota Krish Krishna Kristaps Krister Kristijan Kristoffer Krystian Krzysiek Kuba Kumar
    Kun Kunal Kunle Kwadwo Kwaku Kwamena Kweku Kwesi Kyrylo Kyung Károly Laci Ladislav Lajos Lakshman Lam Lamar Lamine
    Lance Landon Lanre Larry Laszlo Laurens Laurent Lauri Laurits Lazar Leander Leandro Lech Leighton Leland Lemmy
    Lenard Lennart Lennie Lennox Lenny Leopold Leslie Lester Levente Levi Levin Lewie Lex Li-wei Liang Liban Lijun
    Lindani Lino Linus Lior Llew Lluís Llywelyn Logan Loic Lokesh Lonnie Lorcan Lothar Lou Louie Loukas Lowell Loïc
    Luan Luboš Lucian Luciano Lucien Lucio Ludo Ludovic Ludvig Luka Lukáš Lungelo Lutz Luís Lwazi Lyle Lyndon Lásló
    László Maarten Mac Macca Maceo Maciek Mack Macsen Madhav Madoc Mads Magomed Mahdi Mahendra Mahesh Maik Maina Makar
    Makoto Maks Maksim Malachy Malte Mamadou Mamoru Manabu Manav Mandla Manfred Mani Manish Manny Manoj Manolis Mansur
    Marcelino Marcell Marcello Marcellus Marcio Marcos Mariano Marijn Marino Marius Mariusz Marián Marko Marlon
    Marquis Mart Martijn Martim Martti Marty Marwan Masahiro Masaki Masao Masashi Masato Mason Massimiliano Mat Matei
    Matej Mateu Matheus Mathew Mathias Mathijs Mathis Matias Matija Matthijs Matti Mattia Mattis Matías Mauricio
    Maurizio Mauro Maverick Maxime Maximilian Maximus Maxwell Mayank Maykel Mayur Mehdi Meinrad Meir Meirion Melvin
    Melvyn Memo Menno Mert Mervyn Meurig Mial Micah Mick Mickey Miguelito Mihail Mihir Mihály Miikka Mika Mikhail
    Mikko Miklós Mikolaj Mikołaj Milad Milind Milos Miloš Milton Min-ho Minho Minjun Mircea Mirek Mirko Miroslav
    Mirosław Misha Mitch Mitchell Mitsuru Mladen Mo Modou Moe Mohamad Mohan Mohanlal Mohit Mohsen Moisés Mordechai
    Morgan Morris Mort Morten Mose Moshe Moussa Msizi Muhammad Muhammed Mukesh Mukund Munir Murad Murali Murat Murray
    Mustapha Mwangi Myles Myron Márton Nabil Nacho Nadeem Nader Naftali Nahum Naim Nakul Nam Nana_Yaw Naoki Naoto
    Narayan Naresh Nasir Nasser Nat Nataniel Nate Nath Nathaniel Naveed Naveen Navin Nazar Ndungu Ned Nedim Neel Neels
    Neeraj Nehemiah Nelu Nemanja Nenad Nestor Nev Neville Newton Neymar Nghia Niall Nicanor Niccolò Nicholai Nicolaas
    Nicolae Nicolai Niek Nihal Nii Nik Nikita Niko Nikola Nikolaj Nikolaos Nikos Nilesh Nils-Erik Nim Nimrod Nino
    Niran Nirav Nishant Nitin Njoroge Njuguna Nkosana Nnamdi Noam Noboru Nobu Nolan Nonoy Noor Norris Norton Noé Nuri
    Nurlan Nándor Néstor Ochieng Oded Odhiambo Odhran Odin Ofer Oguz Ogün Okan Okechukwu Okey Okoth Ola Olamide Olav
    Oleksandr Oleksiy Olivier Olli Olly Olof Olu Olumide Omari Omer Omid Omkar Omondi Onat Onni Onno Onur Onyango Oren
    Orest Orhan Orion Orlando Orson Orville Osama Osamu Osbert Osei Osman Osvaldo Oswald Oswin Othmane Otis Ousmane
    Ozan Ozzie Oğuz Paavo Paco Padraic Padraigh Pancho Pankaj Panos Paris Parker Parth Pasi Pasquale Patric Patrik Pau
    Pauli Paulinho Paulus Paxton Payton Peadar Pedr Pelle Peng Pepe Pepijn Pere Peredur Perry Petar Peteris Petko Petr
    Petri Petros Petru Petter Petteri Phelan Philipp Philippos Phillip Phineas Phong Phuc Piers Piet Pietro Pim Pinar
    Piotrek Piyush Plamen Poldi Prabhu Pradeep Prakash Pramod Pranav Prasad Prashant Pratik Praveen Pravin Prem
    Preston Primo Prosper Przemek Przemysław Punit Páidí Péter Qiang Quan Quang Quentin Quim Quincy Quinn Quinten
    Quintin Quique Radu Rafe Raffaele Rafi Raghav Raghu Rahim Raimund Raine Rainer Rainier Raivo Rajan Rajat Rajendra
    Rajiv Rajkumar Raju Rakesh Ram Raman Rameez Ramesh Ramin Ramiro Ramu Ramón Ranald Rand Randall Randolph Randy
    Ranjit Raphael Raphaël Rareș Rashad Rasmus Raul Rauno Ravindra Rayan Raymund Raúl Reece Reed Reid Reijo Rein
    Reinaldo Reinhold Reinier Remco Ren Renars Renato Renaud Renzo René Reuben Rex Rey Reyansh Reynaldo Rhodri Riad
    Ricky Rico Rigoberto Rik Riku Rinat Rishabh Rishi Ritchie Ritesh Rizal Robb Robbert Robbo Robby Rober Robin Rocco
    Rocky Rod Roddy Rodel Roderick Rodney Rodolfo Roel Roelof Rogelio Rogério Rohit Roi Rok Rokas Romain Romek Romeo
    Rommel Romuald Ron Ronan Ronen Ronny Roope Roque Roscoe Rosendo Roshan Roston Rotimi Rowan Royce Ruairí Ruaridh
    Rudy Rufus Rumen Rupesh Ruslan Russ Rusty Ruud Ryo Ryohei Ryota Ryszard Ryu Ryuji Régis Rémi Rémy Sacha Sachin
    Saeed Safa Sagar Saheed Sahil Sajid Sakari Salah Salih Salim Salman Salvador Samarth Sameer Sampo Samson Samu Samy
    Sander Sandile Sandor Sandy Sang Sang-woo Sanjeev Sanket Santi Santino Santos Sargis Sasa Sascha Satish Satoru
    Satoshi Sauli Saulius Saurabh Savas Saverio Savio Sayed Saša Sbu Schuyler Seb Sebas Sebastien Sebastião Sedat
    Segun Seif Seiji Selim Selwyn Sem Semih Semyon Senan Seojun Seok Sepp Sercan Serdar Serge Sergej Sergey Sergiu
    Serhat Serhiy Serkan Seun Seung Seung-ho Severin Seydou Seymour Seán Shahid Shahin Shahrukh Shai Shailesh Shaka
    Shakil Shamus Shankar Shant Shaoming Sharad Sharif Shashank Shawn Shay Shayne Shehzad Sheldon Shelton Shen Sheng
    Sherman Sherwin Shigeru Shin Shingo Shinji Shivaji Shivam Shlomo Shmuel Sho Shohei Shoji Shota Shreyas Shuai
    Shubham Shun Shunsuke Shyam Siddhesh Sigi Sigmund Sigurd Sigurður Silas Silvan Silvester Silvio Silviu Simen
    Simeon Simo Simão Sina Sinclair Sindre Sindri Sivert Siya Sizwe Siôn Sjaak Sjoerd Skander Slamet Slava Slavko
    Slobodan Snorri Soham Sola Solomon Sonny Sora Soren Sorin Sosuke Sotiris Souleymane Spencer Spike Spiros Srinivas
    Sriram Stamatis Stanislav Stanislaw Stanisław Stavros Staś Steen Stefanos Steffen Stein Stelian Stelios Stellan
    Stephan Stephane Stevan Stevie Stijn Stipe Stojan Stu Sture Stéphane Subhash Sudhir Sugeng Sujit Suleiman Suleyman
    Sullivan Sully Sumit Sung Sung-min Suraj Surya Sushant Susumu Svein Sverre Swen Sybren Sylvain Sylvester Szabolcs
    Szymon Sándor Sébastien Süleyman Sławek Tadas Tadashi Tadej Tadeusz Tae Taehyung Taha Taher Taichi Taiwo Taj
    Takahiro Takao Takeshi Takumi Tal Talal Tamas Tamás Taner Tanmay Tao Tapani Tapio Taras Tarek Tarkan Tarık Tatsuo
    Tatsuya Tatu Taylan Taylor Tayo Tebogo Teemu Tejas Tenzin Teo Teodor Teppo Terence Tetsuya Teun Thaddeus Thaddäus
    Thang Thanh Thatcher Thato Themba Theodor Theodoros Thibault Thibaut Thies Thijs Thom Thor Thorben Thore Thulani
    Théo Tian Tianyu Tibor Tien Tiernan Tijn Til Till Timon Timotej Timur Tino Tiziano Tjark Toan Tobi Tobin Tochukwu
    Todor Tofik Toivo Tolga Tomaž Tomek Tomer Tomi Tommaso Tomos Tomoya Tomás Tomáš Toni Tonino Toomas Tor Torbjörn
    Torbjørn Tord Tore Torkel Torquil Torstein Torsten Toru Toshi Toshiro Toño Trent Trenton Trev Trey Tri Troels Troy
    Truls Trung Tsubasa Tsuyoshi Tuan Tudor Tudur Tumelo Tuncay Tuomas Turgut Tushar Twan Ty Tymek Tymoteusz Tyrell
    Tyrese Tyrone Tyson Tzvi Uche Uday Udo Uffe Ufuk Ugo Ugochukwu Ugur Ujjwal Uku Ulf Ulises Ulric Umar Umesh Umut
    Unai Upton Urho Uri Uriah Uriel Usman Utkarsh Utku Uzi Uğur Vaibhav Valdis Valentino Valerio Valery Valtteri Vanja
    Varun Vasil Vasile Vasilis Vasily Vaughan Vaughn Vedant Veikko Veit Veli Venkat Venkatesh Ventsi Ventsislav Vergil
    Vern Vernon Vicente Vico Vidar Viet Vigo Vihaan Vikas Vikash Viking Viktoras Vilhelm Vili Viljami Ville Vinay
    Vineet Vinh Vinicius Vinnie Vinny Vinod Vinzenz Vipul Viraj Virgil Virgilio Vishal Vishnu Vitalii Vitaly Vitor
    Vivaan Vivek Vlad Vladislav Vlado Vojta Vojtěch Volkan Volker Volodymyr Vuk Vusi Vuyo Václav Väinö Wafula Wahyu
    Waldemar Wale Waleed Walid Wally Walt Wanjala Waqar Wasim Waweru Wayan Waylon Weiguo Weiming Wenbo Wendell Wes
    Wesley Weston Wiebe Wieland Wiktor Wilbert Wilbur Wilf Wilfried Wilhem Willem Willi Willie Willis Willy Wilmer
    Wilson Winfried Winston Witold Wojciech Wolf Woo Woojin Wout Wouter Wyatt Wyn Xander Xaver Xavi Xavier Xiang
    Xiaobo Xiaodong Xiaoming Yacine Yahya Yair Yakov Yakup Yan Yang Yanis Yann Yannis Yanto Yaroslav Yash Yashwant
    Yasir Yasser Yasuo Yaw Yehuda Yeison Yemi Yevgeny Yigit Yiğit Yoav Yogesh Yohan Yohannes Yonas Yonatan Yong Yoni
    Yoram Yoshi Yoshio Yosuke Young-ho Yousef Youssef Yu Yuan Yuchen Yuki Yunus Yuta Yuto Yuval Yuya Yvo Yvon Zac
    Zacharias Zack Zafer Zahid Zaid Zain Zakaria Zander Zayn Zaza Zbigniew Zbyszek Zdeněk Zdravko Zeb Zeke Zemin Zen
    Zev Zhao Zheng Zhi Zhiqiang Ziad Ziggy Zihao Zinedine Zlatan Zlatko Zoltán Zoran Zubair Zvonimir Zygmunt Álvaro
    Ángel Édouard Émile Étienne Ömer Özgür Ødegaard Øyvind Łukasz Željko Živko Ștefan
""")
EITHER = names("""
    Alex Andrea Ashley Charlie Jamie Jean Jo Jordan Kai Kerry Kim Lee Leslie Morgan Pat Robin Sam Sasha Taylor Jesse
    Jules Nico Noor Riley Casey Quinn Rowan Max Frankie Bobbie Jan Ariel Dana Nicola Simone Gabi Mika
""")
GIVEN = SHE | HE | EITHER
ALSO_WORDS = names("""
    Will Grace Faith Hope Joy Rose May June April Mark Bill Rob Pat Jack Frank Grant Art Dean Guy Ray Drew Chase Penny
    Ruby Daisy Ivy Poppy Olive Violet Holly Iris Max Sue Miles Rich Earl Duke Said Don Gene Bob Dale Heath Cliff
    Patience Mercedes Virginia Florence Georgia Victoria Sydney Paris Milan Lourdes Chelsea Jordan Israel Kelly Hank
    Al Per Beat Mini Nick Josh Christian Dusty Candy Crystal Amber Eve Dawn Summer Autumn Wade Robin Jay Wren Star
    Wanda Hazel Min Jun Mai Nur Mina Tim Urs Obi Viola Flora Aurora Gala Bart Ali Dan Mae Jin Ming Hao Asha Noel Carol
    Angel Nina Lee Jo Ed Sam Uma Percy Ole Linda Mona Kai Ken Jan Mats Nell Archer Aria Ash August Bas Beau Blessing
    Bo Bola Bonnie Cas Cat Chad Chandler Chico Clement Dat Deacon Dick Dolly Domino Dong Dung Ebony Ela Fang Fay Fen
    Fern Foster Gang Gill Girlie Griffin Harsh Hind Homer Honor Kit Kitty Kola Kota Lam Lance Laurel Lei Lex Lien Lyra
    Mac Mart Mat Maverick Medina Melody Mort Nada Neel Nestor Newton Nim Orion Pearl Pip Precious Primo Prosper
    Prudence Purity Ram Rand Randy Raven Reed Rein Rocky Rod Roman Rowan Rusty Saba Saffron Sander Sandy Sang Sari
    Shin Shun Sid Sola Sonny Spike Sung Tansy Tawny Till Ting Tope Tor Tore Tri Tuba Uzi Valentine Venus Viking Virgil
    Wale Wolf Woo Yang Yaw Yuan
""")
"""Given names that are words too: in lower case they are not read as names."""
