"""Formats are decided as Python's own readers of dates, addresses and identifiers decide them; JavaScript's regexes."""

import functools
import ipaddress
import re
import unicodedata
import uuid
from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.schema.patterns import to_python


@functools.cache
def machine(name):
    return gv.json_schema({"type": "string", "format": name})


def fits(name, text):
    return machine(name).accepts(f'"{text}"'.encode())


def reads(reader, text):
    try:
        reader(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "year", [1, 4, 100, 400, 1582, 1600, 1700, 1900, 1999, 2000, 2023, 2024, 2096, 2100, 9996, 9999]
)
def test_every_day_of_a_year_and_no_other(year):
    for month in range(15):
        for day in range(34):
            text = f"{year:04}-{month:02}-{day:02}"
            assert fits("date", text) == reads(date.fromisoformat, text), text


def test_every_minute_and_every_second_of_a_clock():
    for first in range(62):
        for second in range(62):
            pair = f"{first:02}:{second:02}"
            for text in (f"{pair}:00", f"00:{pair}"):
                assert fits("time", text + "Z") == reads(time.fromisoformat, text), text
            in_a_day = first < 24 and second < 60
            assert fits("time", f"00:00:00+{pair}") == in_a_day


moments = st.datetimes(timezones=st.timezones(no_cache=True))


@given(moments, st.booleans())
def test_what_python_writes_is_a_date_time(moment, with_z):
    text = moment.isoformat()
    whole_minutes = moment.utcoffset().total_seconds() % 60 == 0
    assert fits("date-time", text) == whole_minutes
    local = moment.replace(tzinfo=None).isoformat()
    assert fits("date-time", local + "Z")
    assert not fits("date-time", local)


@pytest.mark.parametrize(
    ("text", "legal"),
    [("1998-12-31T23:59:60Z", True), ("1998-12-31T23:58:60Z", False), ("1998-12-31t23:59:60.9z", True),
     ("2026-11-20 12:00:00Z", False), ("2026-11-20T12:00Z", False), ("2026-11-20T12:00:00.Z", False),
     ("2026-11-20T12:00:00+0100", False), ("2026-11-20T24:00:00Z", False), ("2026-11-20T12:00:00.123456789Z", True),
     ("2026-11-20T12:00:00-00:00", True), ("2026-11-20T12:00:00+24:00", False), ("02026-11-20T12:00:00Z", False)],
)  # fmt: skip
def test_a_date_time_is_that_of_rfc_3339(text, legal):
    assert fits("date-time", text) == legal


exploded = st.ip_addresses(v=6).map(lambda address: address.exploded)
addresses = st.ip_addresses().map(str) | exploded


def put_in(text, place, new):
    """The text with `new` at a place, in front of a character or in its place."""
    start = place % (len(text) + 1)
    return text[:start] + new + text[start + place % 2 :]


almost = st.builds(
    put_in,
    addresses
    | st.sampled_from(["::", "::1", "1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1.2.3.4"]),
    st.integers(0, 60),
    st.sampled_from(["", ":", "::", ".", "0", "f", "256", "1.2.3.4", ":0", "g", "00", "-"]),
)
joined = st.builds(lambda text, other: text[:6] + other[-9:], almost, almost)


@given(addresses | almost | joined)
def test_addresses_are_those_of_ipaddress(text):
    assert fits("ipv4", text) == reads(ipaddress.IPv4Address, text)
    assert fits("ipv6", text) == reads(ipaddress.IPv6Address, text)


identifiers = st.uuids().map(str)
faults = st.sampled_from(["", "-", "g", "A", "0"])


@given(identifiers, st.integers(0, 36), faults, st.booleans())
def test_identifiers_are_those_of_uuid(text, place, new, upper):
    text = text.upper() if upper else text
    assert fits("uuid", text)
    changed = text[:place] + new + text[place + 1 :]
    legal = reads(uuid.UUID, changed)
    if legal:
        legal = str(uuid.UUID(changed)) == changed.lower()
    assert fits("uuid", changed) == legal


@pytest.mark.parametrize(
    ("text", "legal"),
    [("a@b", True), ("joe.bloggs@example.com", True), ("a+b/c=d@x-y.example", True), ("te~st@example.com", True),
     (".a@b.c", False), ("a.@b.c", False), ("a..b@c.d", False), ("a@", False), ("@b", False), ("a@b@c", False),
     ("a@-b.c", False), ("a@b-.c", False), ("a@b..c", False), ("a b@c.d", False), ("é@c.d", False), ("a@b.c.", False)],
)  # fmt: skip
def test_an_email_is_dots_and_atoms(text, legal):
    assert fits("email", text) == legal


URIS = """
http://foo.bar/?baz=qux#quux http://foo.com/blah_(wikipedia)_blah#cite-1 http://user:pa%20ss@[::1]:8080/ urn:isbn:1
mailto:a@b.c file:///etc/hosts tel:+1-816-555-1212 ldap://[2001:db8::7]/c=GB?objectClass?one a: a:/ a://
http://223.255.255.254 http://a.b-c.de/%7e x+y.z-1:p/q//r http://[v1.a:b]/
""".split()
NO_URIS = """
//foo.bar/?baz=qux#quux /abc \\\\\\\\WINDOWS abc 1http://a bar,baz:x http://a/%2 http://[::1 http://a/<> http://a/{}
http://a#b#c http://é http://[1:2]/ http://a:b/ :
""".split()
NO_URIS += ["", "http:// a", ":// x", "http://a b"]


def those_that_fit(name, texts):
    return [text for text in texts if fits(name, text)]


def test_a_uri_is_that_of_rfc_3986():
    assert those_that_fit("uri", URIS) == URIS
    assert those_that_fit("uri", NO_URIS) == []


RELATIVE = ["", "/abc", "//foo.bar/?baz=qux#quux", "abc", "#frag", "a/b:c", "?q", "./a:b", "..", "a;b=1"]


def test_a_reference_needs_no_scheme():
    references = [*URIS, *RELATIVE]
    assert those_that_fit("uri-reference", references) == references
    assert those_that_fit("uri", RELATIVE) == []
    for text in (r"\\\\WINDOWS", "1http://a:b%", "a b", "#a#b", ":a", "http://[::1", "%zz", "é<"):
        assert not fits("uri-reference", text)


@pytest.mark.parametrize(("name", "rule"), [("uri", "URI"), ("uri-reference", "URI_reference")])
@given(st.data())
def test_a_uri_with_a_fault_is_decided_as_by_a_validator(name, rule, data):
    validator = pytest.importorskip("rfc3986_validator")
    text = data.draw(st.sampled_from([*URIS, *RELATIVE]))
    place = data.draw(st.integers(0, len(text)))
    new = data.draw(st.sampled_from(["", *"%:/?#[]@!$&'()*+,;=-._~ 0aZ<|^{é"]))
    text = text[:place] + new + text[place + 1 :]
    valid = bool(validator.validate_rfc3986(text, rule=rule))
    assert fits(name, text) == valid, text


OTHERS = {  # the cases of the standard's own suite
    "duration": ("P4DT12H30M5S P4Y PT0S P0D P1M PT1M PT36H P1DT12H P2W PT1H2M3S",
                 "PT1D P P1YT PT P2D1Y P1D2H P2S P1Y2W P1W2D P1 4DT12H PT1H2S P１Y"),
    "hostname": ("www.example.com xn--4gbwdl.xn--wgbh1c host-name h0stn4me 1host hostnam3 a " + "a" * 63,
                 "-a a- .a a. a..b a_b a.-b 例.jp " + "a" * 64),
    "json-pointer": ("/foo/bar~0/baz~1/%a /foo// /foo/bar~0~1 / /~0 /~1 /g|h /-",
                     "/foo/bar~ /~2 /~0~ /~-1 foo # #/ #a 0 a/a"),
    "byte": ("YQ== YWI= YWJj YWJjZA== +/+/", "Y YQ YQ= YQ=== YW=j YQ==YQ== Y-== é"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_formats_are_those_of_the_standard(name):
    good, bad = (texts.split() for texts in OTHERS[name])
    assert those_that_fit(name, good) == good
    assert those_that_fit(name, bad) == []


@pytest.mark.parametrize("name", ["regex", "idn-email", "iri"])
def test_a_format_that_is_not_enforced_is_noted(name):
    found = gv.json_schema({"type": "string", "format": name}, unknown="error")
    assert found.notes == (f"#/format: the format {name} is not enforced",)
    assert found.accepts(b'"(["')


# --- the regexes of JavaScript ---------------------------------------------------------------------------------------

POINTS = [*range(0x250), 0x661, 0x2028, 0x20AC, 0x4E2D, 0x1F600, 0x10FFFF]


@pytest.mark.parametrize("name", ["Lu", "Letter", "Decimal_Number", "Zs"])
@pytest.mark.parametrize("sign", ["p", "P"])
@pytest.mark.quick(every=4)
def test_a_category_has_the_characters_that_unicode_gives_it(name, sign):
    short = {"Letter": "L", "Decimal_Number": "Nd"}.get(name, name)
    alone = re.compile(to_python(rf"^\{sign}{{{name}}}$"))
    inside = re.compile(to_python(rf"^[\{sign}{{{name}}}]$"))
    for char in map(chr, POINTS):
        expected = unicodedata.category(char).startswith(short) == (sign == "p")
        assert bool(alone.search(char)) == expected
        assert bool(inside.search(char)) == expected


def test_a_pattern_with_categories_is_a_machine_of_utf8():
    machine = gv.json_schema({"type": "string", "pattern": r"^\p{Lu}[\p{Ll}\d]*$"})
    for text in ("Ärger", "Z", "Ωmega3", "Д"):
        assert machine.accepts(f'"{text}"'.encode()), text
    for text in ("ärger", "A-b", "", "AB", "中"):
        assert not machine.accepts(f'"{text}"'.encode()), text


@pytest.mark.parametrize(("pattern", "good", "bad"), [
    (r"^\u{1F600}$", "\U0001f600", "u"),
    (r"^\uD83D\uDE00$", "\U0001f600", "x"),
    (r"^(?<year>\d{4})$", "2026", "26"),
    (r"^a[^]b$", "a%b", "ab"),
    (r"^a{,2}$", "a{,2}", "a"),
    (r"^[[\]]$", "[", "x"),
    (r"^\/\w+$", "/a", "a"),
])  # fmt: skip
def test_what_javascript_writes_differently(pattern, good, bad):
    machine = gv.json_schema({"type": "string", "pattern": pattern})
    assert machine.accepts(f'"{good}"'.encode())
    assert not machine.accepts(f'"{bad}"'.encode())


def test_the_empty_class_and_unknown_properties_are_refused_with_their_place():
    with pytest.raises(gv.PatternError, match=r"#/pattern.*position 1.*Script=Greek.*general category"):
        gv.json_schema({"type": "string", "pattern": r"^\p{Script=Greek}$"})
    assert re.search(to_python("[]"), "abc") is None
