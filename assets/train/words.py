"""The words the task generator draws from, and a maker of words nobody has seen."""

from __future__ import annotations

from random import Random

FIRST = """Ada Alan Amina Anders Anna Ari Aiko Bela Ben Bianca Bo Boris Carla Carlos Chen Chloe Clara Daniel Dana
Diego Dina Edgar Elena Eli Elif Emil Emma Erik Esther Eva Farid Fatima Felix Finn Frida Gabor Grace Greta Hana Hannah
Hugo Ibrahim Ida Igor Ines Ingrid Ivan Jack Jana Jasmin Joan John Jonas Jorge Julia Kai Karim Karl Katya Kenji Lars
Laura Layla Lea Leo Lena Lin Linus Liu Lucas Lucia Maja Marco Maria Marie Mark Marta Max Mei Mia Milan Mina Mohamed
Nadia Nina Noah Nora Olga Oliver Omar Oscar Paul Pedro Petra Pia Priya Rafael Ravi Rosa Ruth Sam Samir Sara Sofia Sven
Tara Theo Tim Tina Tom Uma Vera Victor Wei Yara Yuki Yusuf Zara Zoe""".split()
LAST = """Abbas Adams Almeida Andersen Baker Bauer Becker Berg Blanc Bianchi Brown Byron Carter Castro Chen Clark
Cohen Costa Cruz Curie Dahl Davis Diaz Dubois Eder Evans Fischer Foster Franco Garcia Gomez Green Gupta Haddad Hall
Hansen Hopper Huang Hughes Ito Ivanov Jansen Johnson Jones Kaya Keller Khan Kim Klein Kovacs Kumar Larsen Laurent Lee
Lewis Lopez Lovelace Marin Martin Mendes Meyer Moreau Moore Mori Nagy Nakamura Nguyen Nielsen Novak Okafor Olsen Ortiz
Owens Park Patel Perez Peters Petrov Popov Quinn Reyes Rivera Roberts Romano Rossi Roy Russo Sato Schmidt Silva Singh
Smith Sousa Stone Suzuki Tanaka Taylor Thomas Torres Turing Vega Wagner Walker Wang Weber White Wilson Wolf Wong
Wright Wu Yamada Yilmaz Young Zhang Ziegler""".split()
CITY = """Amsterdam Athens Auckland Austin Baku Bangkok Barcelona Basel Beijing Belgrade Bergen Berlin Bern Bogota
Bonn Boston Bremen Brussels Budapest Cairo Calgary Chicago Cork Dakar Dallas Delhi Denver Dublin Geneva Genoa Ghent
Glasgow Graz Hamburg Hanoi Havana Helsinki Houston Istanbul Jakarta Kyiv Kyoto Lagos Leeds Leipzig Lima Lisbon
Ljubljana London Lyon Madrid Malaga Manila Milan Montreal Mumbai Munich Nairobi Naples Nice Osaka Oslo Oxford Paris
Porto Prague Quito Riga Rome Salzburg Seoul Seville Sofia Stockholm Sydney Tallinn Tampere Tokyo Toronto Trieste Tunis
Turin Utrecht Valencia Vienna Vilnius Warsaw York Zagreb Zurich""".split()
JOB = """actor architect artist baker banker barber biologist builder butcher carpenter chemist clerk cook dancer
dentist designer doctor driver editor engineer farmer gardener geologist judge lawyer librarian mechanic miner nurse
painter pharmacist photographer pilot plumber poet potter printer professor sailor sculptor singer surgeon tailor
teacher translator vet waiter weaver welder writer""".split()
THING = """apple backpack ball basket bell bench bicycle blanket book bottle bowl box brush bucket button cable camera
candle card chair clock coat compass cup desk door drum fan flag flute fork glass glove guitar hammer hat jacket jar
kettle key knife ladder lamp lantern laptop lemon lens lock magnet map mirror mug needle notebook orange paddle pan
pear pen pencil phone piano pillow pipe plate plum pot radio ring rope ruler saddle scarf scissor shelf shirt shoe
shovel soap sofa spoon stamp stool stove table tent ticket torch towel tray umbrella vase violin wallet watch wheel
whistle""".split()
COLOR = "red blue green yellow black white brown grey orange purple pink silver golden".split()
TITLE = """River Winter Garden Silence Stone Shadow Letter Island Bridge Mirror Harbor Window Forest Night Summer Road
Map Tower Storm Desert Orchard Clock Violin Kingdom Journey Signal Lantern Memory Ocean Mountain""".split()
MONTH = "January February March April May June July August September October November December".split()
DOMAIN = "example mail post inbox acme globex initech umbra solar lunar orbit delta north harbor maple".split()
ENDING = ["com", "org", "net", "io", "dev"]
ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n: int) -> str:
    """A number below a thousand in words.

    >>> spell(342)
    'three hundred forty-two'
    """
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (f"-{ONES[n % 10]}" if n % 10 else "")
    return f"{ONES[n // 100]} hundred" + (f" {spell(n % 100)}" if n % 100 else "")


def ordinal(n: int) -> str:
    """The day of a month as people write it.

    >>> ordinal(3), ordinal(12), ordinal(21)
    ('3rd', '12th', '21st')
    """
    ending = "th" if n // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def invent(r: Random) -> str:
    """A capitalised word that is on no list, so that copying is learned and not the lists."""
    parts = [
        r.choice("bcdfghjklmnprstvwxz") + r.choice("aeiou") + r.choice(["", "", *"nrlskm"])
        for _ in range(r.choice([2, 2, 3]))
    ]
    return "".join(parts).capitalize()


def first(r: Random) -> str:
    return invent(r) if r.random() < 0.3 else r.choice(FIRST)


def person(r: Random) -> str:
    """A full name."""
    return f"{first(r)} {invent(r) if r.random() < 0.35 else r.choice(LAST)}"


def city(r: Random) -> str:
    return invent(r) if r.random() < 0.25 else r.choice(CITY)


def thing(r: Random) -> str:
    return invent(r).lower() if r.random() < 0.15 else r.choice(THING)


def plural(word: str, n: int = 2) -> str:
    """
    >>> plural("box"), plural("lamp"), plural("lamp", 1)
    ('boxes', 'lamps', 'lamp')
    """
    if n == 1:
        return word
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
