"""Formats are decided as Python's own readers of dates, addresses and identifiers decide them; JavaScript's regexes."""

import functools
import ipaddress
import re
import unicodedata
from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.machines.schema.patterns import to_python
from tests.common import assert_reads
from tests.strategies import apply_edits, edits


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


@pytest.mark.parametrize("year", [1, 1900, 2000, 2024])
def test_every_day_of_a_year_and_no_other(year):
    for month in range(15):
        for day in range(34):
            text = f"{year:04}-{month:02}-{day:02}"
            assert fits("date", text) == reads(date.fromisoformat, text), text


@pytest.mark.parametrize("form", ["{:02}:59:00", "23:{:02}:00", "00:00:{:02}"])
def test_every_hour_minute_and_second_of_a_clock(form):
    for number in range(100):
        text = form.format(number)
        assert fits("time", text + "Z") == reads(time.fromisoformat, text), text


exploded = st.ip_addresses(v=6).map(lambda address: address.exploded)
some = st.sampled_from(["::", "::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1.2.3.4"])
addresses = st.ip_addresses().map(str) | exploded | some
faults_of_addresses = edits(["", ":", "::", ".", "0", "f", "256", "1.2.3.4", ":0", "g", "00", "-"])


@given(addresses, faults_of_addresses | st.just([]))
def test_addresses_are_those_of_ipaddress(text, faults):
    text = apply_edits(text, faults)
    assert fits("ipv4", text) == reads(ipaddress.IPv4Address, text)
    assert fits("ipv6", text) == reads(ipaddress.IPv6Address, text)


URIS = """
http://foo.bar/?baz=qux#quux http://foo.com/blah_(wikipedia)_blah#cite-1 http://user:pa%20ss@[::1]:8080/ urn:isbn:1
mailto:a@b.c file:///etc/hosts tel:+1-816-555-1212 ldap://[2001:db8::7]/c=GB?objectClass?one a: a:/ a://
http://223.255.255.254 http://a.b-c.de/%7e x+y.z-1:p/q//r http://[v1.a:b]/
""".split()
NO_URIS = """
//foo.bar/?baz=qux#quux /abc \\\\\\\\WINDOWS abc 1http://a bar,baz:x http://a/%2 http://[::1 http://a/<> http://a/{}
http://a#b#c http://é http://[1:2]/ http://a:b/ :
""".split()
RELATIVE = ["", *"/abc //foo.bar/?baz=qux#quux abc #frag a/b:c ?q ./a:b .. a;b=1".split()]


faults_of_uris = edits(["", *"%:/?#[]@!$&'()*+,;=-._~ 0aZ<|^{é"])


@pytest.mark.parametrize(("name", "rule"), [("uri", "URI"), ("uri-reference", "URI_reference")])
@given(st.data())
def test_a_uri_with_a_fault_is_decided_as_by_a_validator(name, rule, data):
    validator = pytest.importorskip("rfc3986_validator")
    text = apply_edits(data.draw(st.sampled_from([*URIS, *RELATIVE])), data.draw(faults_of_uris))
    valid = bool(validator.validate_rfc3986(text, rule=rule))
    assert fits(name, text) == valid, text


STANDARDS = {  # texts that have the format, texts that have not
    "date-time": ("1998-12-31T23:59:60Z 1998-12-31t23:59:60.9z 2026-11-20T12:00:00-00:00",
                  "1998-12-31T23:58:60Z 2026-11-20T12:00Z 2026-11-20T12:00:00.Z 2026-11-20T12:00:00+0100 "
                  "2026-11-20T24:00:00Z 2026-11-20T12:00:00+24:00 02026-11-20T12:00:00Z 2026-11-20T12:00:00"),
    "email": ("a@b joe.bloggs@example.com a+b/c=d@x-y.example te~st@example.com",
              ".a@b.c a.@b.c a..b@c.d a@ @b a@b@c a@-b.c a@b-.c a@b..c é@c.d a@b.c."),
    "uri": (" ".join(URIS), " ".join([*NO_URIS, *RELATIVE])),
    "uri-reference": (" ".join([*URIS, *RELATIVE]), r"\\\\WINDOWS 1http://a:b% #a#b :a http://[::1 %zz é<"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000 123E4567-E89B-12D3-A456-426614174000",
             "123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-42661417400 "
             "123e4567-e89b-12d3-a456-42661417400g "
             "{123e4567-e89b-12d3-a456-426614174000} 123e4567-e89b-12d3-a45-6426614174000"),
    "duration": ("P4DT12H30M5S P4Y PT0S P0D PT36H P2W PT1H2M3S",
                 "PT1D P P1YT PT P2D1Y P1D2H P2S P1Y2W P1W2D P1 4DT12H PT1H2S P１Y"),
    "hostname": ("www.example.com xn--4gbwdl.xn--wgbh1c h0stn4me 1host a " + "a" * 63,
                 "-a a- .a a. a..b a_b a.-b 例.jp " + "a" * 64),
    "json-pointer": ("/foo/bar~0/baz~1/%a /foo// / /~1 /g|h /-", "/foo/bar~ /~2 /~0~ foo # #/ 0 a/a"),
    "byte": ("YQ== YWI= YWJj YWJjZA== +/+/", "Y YQ YQ= YQ=== YW=j YQ==YQ== Y-== é"),
}  # fmt: skip


@pytest.mark.parametrize("name", STANDARDS)
def test_a_format_is_that_of_its_standard(name):
    good, bad = (texts.split() for texts in STANDARDS[name])
    assert [text for text in good if not fits(name, text)] == []
    assert [text for text in bad if fits(name, text)] == []


@pytest.mark.parametrize("name", ["regex", "idn-email", "iri"])
def test_a_format_that_is_not_enforced_is_noted(name):
    found = gv.json_schema({"type": "string", "format": name}, unknown="error")
    assert found.notes == (f"#/format: the format {name} is not enforced",)
    assert found.accepts(b'"(["')


# --- the regexes of JavaScript ---------------------------------------------------------------------------------------

POINTS = [*range(0x250), 0x661, 0x2028, 0x20AC, 0x4E2D, 0x1F600, 0x10FFFF]


@pytest.mark.parametrize("name", ["Lu", "Letter"])
@pytest.mark.parametrize("sign", ["p", "P"])
@pytest.mark.quick(every=3)
def test_a_category_has_the_characters_that_unicode_gives_it(name, sign):
    short = {"Letter": "L"}.get(name, name)
    inside = re.compile(to_python(rf"^[\{sign}{{{name}}}]$"))
    for char in map(chr, POINTS):
        expected = unicodedata.category(char).startswith(short) == (sign == "p")
        assert bool(inside.search(char)) == expected


@pytest.mark.parametrize(("pattern", "good", "bad"), [
    (r"^\p{Lu}[\p{Ll}\d]*$", ["Ärger", "Z", "Ωmega3", "Д"], ["ärger", "A-b", "", "AB", "中"]),
    (r"^\u{1F600}$", ["\U0001f600"], ["u"]),
    (r"^\uD83D\uDE00$", ["\U0001f600"], ["x"]),
    (r"^(?<year>\d{4})$", ["2026"], ["26"]),
    (r"^a[^]b$", ["a%b"], ["ab"]),
    (r"^a{,2}$", ["a{,2}"], ["a"]),
    (r"^[[\]]$", ["["], ["x"]),
    (r"^\/\w+$", ["/a"], ["a"]),
])  # fmt: skip
def test_a_pattern_is_one_of_javascript(pattern, good, bad):
    machine = gv.json_schema({"type": "string", "pattern": pattern})
    assert_reads(machine, map('"{}"'.format, good), map('"{}"'.format, bad))


def test_the_empty_class_and_unknown_properties_are_refused_with_their_place():
    with pytest.raises(gv.PatternError, match=r"#/pattern.*position 1.*Script=Greek.*general category"):
        gv.json_schema({"type": "string", "pattern": r"^\p{Script=Greek}$"})
    assert re.search(to_python("[]"), "abc") is None
