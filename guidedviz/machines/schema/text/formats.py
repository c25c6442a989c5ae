"""The formats of JSON Schema as regexes. Numbers (months, leap years, hours, octets) are exact.

- date, time, date-time: RFC 3339; a leap second only as 23:59:60Z, since other zones would need subtraction.
- email: the dot-atom form of RFC 5321, without quoted names and address literals.
- hostname: RFC 1123, labels of at most 63 characters · ipv4: four decimal octets, no leading zero · ipv6: RFC 4291, no
  zone · uuid: RFC 9562 · uri, uri-reference: RFC 3986 · iri, iri-reference: RFC 3987 · uri-template: RFC 6570.
- json-pointer: RFC 6901 · relative-json-pointer: its draft · duration: RFC 3339, appendix A · byte: base64, RFC 4648.

The formats of NOT_REGULAR have no exact regular definition; they are not enforced.
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
# Eight groups, or fewer with one `::` that stands for one or more groups.
BEFORE = [f"(?:{GROUP}(?::{GROUP}){{0,{more}}})?::" for more in range(7)]
IPV6 = "|".join([
    f"(?:{GROUP}:){{6}}{LAST_TWO}",
    f"::(?:{GROUP}:){{5}}{LAST_TWO}",
    *(f"{BEFORE[4 - after]}(?:{GROUP}:){{{after}}}{LAST_TWO}" for after in (4, 3, 2, 1, 0)),
    f"{BEFORE[5]}{GROUP}",
    BEFORE[6],
])  # fmt: skip

PERCENT = "%[0-9A-Fa-f]{2}"
PLAIN = r"\-A-Za-z0-9._~!$&'()*+,;="  # characters of a host name
WIDE = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(  # ucschar of RFC 3987
    f"{chr(plane * 0x10000 + (0x1000 if plane == 14 else 0))}-{chr(plane * 0x10000 + 0xFFFD)}" for plane in range(1, 15)
)
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"  # iprivate, in a query


def write_uri(more: str = "", private: str = "", relative: bool = False) -> str:
    """A URI, with more characters an IRI; also without a scheme if `relative`."""
    named, inside = (f"(?:[{PLAIN}{extra}{more}]|{PERCENT})" for extra in ("", ":@"))
    first = f"(?:[{PLAIN}@{more}]|{PERCENT})+"  # a first segment without a colon
    address = rf"\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[{PLAIN}:]+)\]"
    authority = rf"(?:(?:{named}|:)*@)?(?:{address}|{named}*)(?::\d*)?"
    after = rf"(?:\?(?:{inside}|[/?{private}])*)?(?:#(?:{inside}|[/?])*)?"
    rooted = f"//{authority}(?:/{inside}*)*"
    uri = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{rooted}|/?(?:{inside}+(?:/{inside}*)*)?){after}"
    path = f"(?:{rooted}|/(?:{inside}+(?:/{inside}*)*)?|(?:{first}(?:/{inside}*)*)?)"
    return f"(?:{uri}|{path}{after})" if relative else uri


SECONDS = r"\d+S"
MINUTES = rf"\d+M(?:{SECONDS})?"
HOURS = rf"\d+H(?:{MINUTES})?"
CLOCK = f"T(?:{HOURS}|{MINUTES}|{SECONDS})"
DAYS = r"\d+D"
MONTHS = rf"\d+M(?:{DAYS})?"
YEARS = rf"\d+Y(?:{MONTHS})?"

POINTER = "(?:/(?:[^~/]|~[01])*)*"
VARIABLE = rf"(?:[A-Za-z0-9_]|{PERCENT})(?:\.?(?:[A-Za-z0-9_]|{PERCENT}))*(?::[1-9]\d{{0,3}}|\*)?"
LITERAL = rf"[!#$&()*+,./0-9:;=?@A-Z\[\]_a-z~{WIDE}{PRIVATE}-]|{PERCENT}"
BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
HOST_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

FORMATS = {
    "date": DATE,
    "time": TIME,
    "date-time": f"{DATE}[Tt]{TIME}",
    "duration": rf"P(?:(?:{YEARS}|{MONTHS}|{DAYS})(?:{CLOCK})?|{CLOCK}|\d+W)",
    "email": rf"{ATOM}(?:\.{ATOM})*@{LABEL}(?:\.{LABEL})*",
    "hostname": rf"{HOST_LABEL}(?:\.{HOST_LABEL})*",
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "ipv4": IPV4,
    "ipv6": IPV6,
    "uri": write_uri(),
    "uri-reference": write_uri(relative=True),
    "iri": write_uri(WIDE, PRIVATE),
    "iri-reference": write_uri(WIDE, PRIVATE, relative=True),
    "uri-template": rf"(?:{LITERAL}|\{{[+#./;?&=,!@|]?{VARIABLE}(?:,{VARIABLE})*\}})*",
    "json-pointer": POINTER,
    "relative-json-pointer": rf"(?:0|[1-9]\d*)(?:#|{POINTER})",
    "byte": BASE64,
}
NOT_REGULAR = ("regex", "idn-email", "idn-hostname")
