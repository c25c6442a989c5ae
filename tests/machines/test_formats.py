"""Formats are decided as Python's own readers of dates, addresses and identifiers decide them."""

import calendar
import ipaddress
import uuid
from datetime import date, datetime, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guidedviz as gv


def machine(name):
    return gv.json_schema({"type": "string", "format": name})


MACHINES = {name: machine(name) for name in "date time date-time email uuid ipv4 ipv6 uri".split()}


def fits(name, text):
    return MACHINES[name].accepts(f'"{text}"'.encode())


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


def test_leap_years_are_those_of_the_calendar():
    assert [y for y in range(10_000) if fits("date", f"{y:04}-02-29")] == [
        y for y in range(10_000) if calendar.isleap(y)
    ]


def test_every_minute_and_every_second_of_a_clock():
    for first in range(62):
        for second in range(62):
            for text in (f"{first:02}:{second:02}:00", f"00:{first:02}:{second:02}"):
                assert fits("time", text + "Z") == reads(time.fromisoformat, text), text
            assert fits("time", f"00:00:00+{first:02}:{second:02}") == (first < 24 and second < 60)


@settings(deadline=None, max_examples=200)
@given(st.datetimes(timezones=st.timezones(no_cache=True)), st.booleans())
def test_what_python_writes_is_a_date_time(moment, with_z):
    text = moment.isoformat()
    whole_minutes = moment.utcoffset().total_seconds() % 60 == 0
    assert fits("date-time", text) == whole_minutes
    assert fits("date-time", datetime.isoformat(moment.replace(tzinfo=None)) + "Z")
    assert not fits("date-time", datetime.isoformat(moment.replace(tzinfo=None)))


@pytest.mark.parametrize(
    ("text", "legal"),
    [("1998-12-31T23:59:60Z", True), ("1998-12-31T23:58:60Z", False), ("1998-12-31t23:59:60.9z", True),
     ("2026-11-20 12:00:00Z", False), ("2026-11-20T12:00Z", False), ("2026-11-20T12:00:00.Z", False),
     ("2026-11-20T12:00:00+0100", False), ("2026-11-20T24:00:00Z", False), ("2026-11-20T12:00:00.123456789Z", True),
     ("2026-11-20T12:00:00-00:00", True), ("2026-11-20T12:00:00+24:00", False), ("02026-11-20T12:00:00Z", False)],
)  # fmt: skip
def test_a_date_time_is_that_of_rfc_3339(text, legal):
    assert fits("date-time", text) == legal


addresses = st.ip_addresses().map(str) | st.ip_addresses(v=6).map(lambda address: address.exploded)
almost = st.builds(
    lambda text, place, new: text[: place % (len(text) + 1)] + new + text[place % (len(text) + 1) + (place % 2) :],
    addresses
    | st.sampled_from(["::", "::1", "1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1.2.3.4"]),
    st.integers(0, 60),
    st.sampled_from(["", ":", "::", ".", "0", "f", "256", "1.2.3.4", ":0", "g", "00", "-"]),
)


@settings(deadline=None, max_examples=600)
@given(addresses | almost | almost.flatmap(lambda text: almost.map(lambda other: text[:6] + other[-9:])))
def test_addresses_are_those_of_ipaddress(text):
    assert fits("ipv4", text) == reads(ipaddress.IPv4Address, text)
    assert fits("ipv6", text) == reads(ipaddress.IPv6Address, text)


@settings(deadline=None, max_examples=200)
@given(st.uuids().map(str), st.integers(0, 36), st.sampled_from(["", "-", "g", "A", "0"]), st.booleans())
def test_identifiers_are_those_of_uuid(text, place, new, upper):
    text = text.upper() if upper else text
    assert fits("uuid", text)
    changed = text[:place] + new + text[place + 1 :]
    assert fits("uuid", changed) == (reads(uuid.UUID, changed) and str(uuid.UUID(changed)) == changed.lower())


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


def test_a_uri_is_that_of_rfc_3986():
    assert [text for text in URIS if not fits("uri", text)] == []
    assert [text for text in NO_URIS if fits("uri", text)] == []


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_uri_with_a_fault_is_decided_as_by_a_validator(data):
    validator = pytest.importorskip("rfc3986_validator")
    text = data.draw(st.sampled_from(URIS))
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + data.draw(st.sampled_from(["", *"%:/?#[]@!$&'()*+,;=-._~ 0aZ<|^{é"])) + text[place + 1 :]
    assert fits("uri", text) == bool(validator.validate_rfc3986(text, rule="URI")), text
