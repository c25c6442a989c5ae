"""The formats of JSON Schema as regexes: what is counted (months, leap years, hours, octets) is exact.

- date, time, date-time: RFC 3339; a leap second only as 23:59:60Z, since any other zone would have to be subtracted.
- email: the dot-atom form of RFC 5321, without quoted names and address literals.
- uuid: RFC 9562 · ipv4: four decimal octets, no leading zero · ipv6: RFC 4291, no zone · uri: RFC 3986.
"""

from __future__ import annotations

DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)|23:59:60(?:\.\d+)?[Zz])"

ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"

OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"{OCTET}(?:\.{OCTET}){{3}}"
GROUP = "[0-9A-Fa-f]{1,4}"
LAST_TWO = f"(?:{GROUP}:{GROUP}|{IPV4})"
# Eight groups; or `::` in the place of one and more of them, with at most so many before it as there is room for.
BEFORE = [f"(?:{GROUP}(?::{GROUP}){{0,{more}}})?::" for more in range(7)]
IPV6 = "|".join([
    f"(?:{GROUP}:){{6}}{LAST_TWO}",
    f"::(?:{GROUP}:){{5}}{LAST_TWO}",
    *(f"{BEFORE[4 - after]}(?:{GROUP}:){{{after}}}{LAST_TWO}" for after in (4, 3, 2, 1, 0)),
    f"{BEFORE[5]}{GROUP}",
    BEFORE[6],
])  # fmt: skip

PERCENT = "%[0-9A-Fa-f]{2}"
NAMED = rf"(?:[A-Za-z0-9._~!$&'()*+,;=-]|{PERCENT})"  # what a host's name may hold
INSIDE = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|{PERCENT})"  # what a segment of a path may hold
AUTHORITY = rf"(?:(?:{NAMED}|:)*@)?(?:\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]|{NAMED}*)(?::\d*)?"
AFTER = rf"(?:\?(?:{INSIDE}|[/?])*)?(?:#(?:{INSIDE}|[/?])*)?"

FORMATS = {
    "date": DATE,
    "time": TIME,
    "date-time": f"{DATE}[Tt]{TIME}",
    "email": rf"{ATOM}(?:\.{ATOM})*@{LABEL}(?:\.{LABEL})*",
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "ipv4": IPV4,
    "ipv6": IPV6,
    "uri": rf"[A-Za-z][A-Za-z0-9+.-]*:(?://{AUTHORITY}(?:/{INSIDE}*)*|/?(?:{INSIDE}+(?:/{INSIDE}*)*)?){AFTER}",
}
