"""Turns the bytes of an SGF file into text, whatever their encoding, and the values of its properties too."""

from __future__ import annotations

import codecs
import re

_CHARSET = re.compile(rb"\bCA\s*\[\s*([\w.:+-]+)\s*\]")
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "cp950": "big5hkscs", "shift_jis": "cp932"}
_WIDER |= {"euc_kr": "cp949", "iso8859-1": "cp1252"}
"""Files use more than the encoding that they name: the one that holds the same characters and more."""
_NO_TEXT = ("idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf-7", "utf-8")
_COMMON = {
    "cp932": ((0x81, 0x83), (0x88, 0x97), 0x40),
    "cp949": ((0xA1, 0xA3), (0xB0, 0xC8), 0xA1),
    "gb18030": ((0xA1, 0xA3), (0xB0, 0xD7), 0xA1),
    "euc_jp": ((0xA1, 0xA5), (0xB0, 0xCF), 0xA1),  # as gb18030, with kana
    "big5hkscs": ((0xA1, 0xA3), (0xA4, 0xC6), 0x40),
}
"""First bytes of the common signs, of the common characters, and the least second byte, by encoding. What people write
is almost all common in its own encoding and seldom in another; that tells names of two characters apart, for which the
detectors are not made: of 92 such texts chardet 7.7 knows the encoding of 82, charset-normalizer 3.5 of 49.
"""
_SYLLABLES = frozenset(
    "가간강개거것게결경계고공과관교구국그급기김까나내네년는능다단당대도돌동두둑둔들등라락로류를리림마만말"
    "면명모목무문미민바박반방배백변보부북분불비사산삼상생서석선성세소손송수숙순습승시식신실심십아안애약양"
    "어억엄여연영예오왕외요용우욱운원월위유육윤은을음의이인일임있자작장재전점정제조좋주준중지진집착찬창채"
    "천철최치칠컵타태팔패팽하한합해행허혁현형혜호홍화환황회효후훈흑희"
)
"""Of Hangul in names and in texts about games: bytes of common Chinese characters are Hangul too, but seldom these."""
_CYRILLIC = re.compile(r"\b[А-ЯЁ]?[а-яё]+\b|\b[А-ЯЁ]+\b")
_WORD = re.compile(r"[^\W\d_]+")
_CLOSED = re.compile(rb"\](?=\s*(?:[;()]|[A-Z]{1,2}\[))")
_HALF = re.compile(rb"[\x80-\xff]\\\]")  # the end of a character of two bytes, or an escape
_ENOUGH = 6  # bytes that are not ASCII, to know better than the file
_SAMPLE = 100_000  # bytes that an encoding is guessed from
_GUESSES = (*_COMMON, "cp1251", "koi8-r", "cp1252")


def decoded(data: bytes) -> tuple[str, str]:
    """(the text of a file, a remark or ""): by its byte order mark, as UTF-8, as the encoding that it names, or as the
    one in which most of its characters are common.
    """
    if data.startswith(codecs.BOM_UTF8):
        return data.decode("utf-8-sig", "replace"), ""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace"), ""
    if (zero := data[:64].find(b"\0")) >= 0 and data[:64].count(b"\0") > 16:
        return data.decode("utf-16-le" if zero % 2 else "utf-16-be", "replace"), ""
    if b"\x1b$" in data and (text := _strict(data, "iso2022_jp")):  # whose characters are made of ASCII, ] among it
        return text, ""
    named, label = _named(data)
    text = _strict(data, "utf-8")
    if text is not None and (max(text, default="") < "\u0800" and named in _COMMON):
        text = _strict(data, named) or text  # two bytes of a Chinese character may be one of UTF-8 by accident
    if text is None and named:
        text = _strict(data, named)
    if text is not None:
        return text, ""
    loose = data.decode("utf-8", "replace")
    wrong, right = loose.count("\ufffd"), sum(sign > "\x7f" for sign in loose)
    if right > 8 * wrong:
        return loose, f"{wrong} bytes that are no UTF-8 were replaced"
    codec = guessed(data)
    why = f"its CA, {label[:40]}, does not fit" if label else "the file names none"
    return data.decode(codec, "replace"), f"the encoding was taken for {codec}: {why}"


def _named(data: bytes) -> tuple[str, str]:
    """(the codec that CA names, CA as it is written); "" if there is none, or where the data do not fit it."""
    found = _CHARSET.search(data)
    if found is None:
        return "", ""
    label = found[1].decode("ascii", "replace")
    name = re.sub(r"^(?:windows|ms|cp)-?(?=\d)", "cp", label.lower().removeprefix("x-"))
    try:
        codec = codecs.lookup(name).name
        b"a".decode(codec)
    except (LookupError, UnicodeError):
        return "", label
    codec = _WIDER.get(codec, codec)
    if codec in _NO_TEXT or _strict(data, codec) is None:
        return "", label
    # it may be the default of the program that wrote the file: then the characters are odd in it, and common in another
    has_many = sum(byte > 0x7F for byte in data[:_SAMPLE]) >= _ENOUGH or _HALF.search(data)
    is_odd = has_many and codec in _GUESSES and _share(data, codec) <= 0.5 and _share(data, guessed(data)) > 0.9
    return ("" if is_odd else codec), label


def _strict(data: bytes, codec: str) -> str | None:
    """The text, None if the bytes are none in this encoding, or if it takes a bracket that closes a value for
    half of a character.
    """
    try:
        text = codecs.getincrementaldecoder(codec)().decode(data, final=len(data) != _SAMPLE)
    except UnicodeError:
        return None
    if codec in _COMMON and len(_CLOSED.findall(text.encode(errors="replace"))) < len(_CLOSED.findall(data)):
        return None
    return text


def guessed(data: bytes) -> str:
    """The encoding in which most of the characters that are not ASCII are common."""
    return max(_GUESSES, key=lambda codec: _share(data, codec))


def _share(data: bytes, codec: str) -> float:
    """Of the characters that are not ASCII, those that are common in this encoding; below 0 where it cannot be."""
    text = _strict(data[:_SAMPLE], codec)
    if text is None:
        return -1.0 if codec != "cp1252" else 0.0
    foreign = [sign for sign in text if sign > "\x7f"]
    if codec in ("cp1251", "koi8-r"):
        common = sum(map(len, _CYRILLIC.findall(text)))
    elif codec == "cp1252":  # a letter with an accent stands among plain ones
        signs = [[sign > "\x7f" for sign in word] for word in _WORD.findall(text)]
        common = sum(sum(word) for word in signs if 2 * sum(word) < len(word))
    else:
        *ranges, second = _COMMON[codec]
        # "ignore": big5hkscs reads two signs from some pairs, and has none for the second of them
        pairs = [pair for sign in foreign if len(pair := sign.encode(codec, "ignore")) == 2]
        common = sum(pair[1] >= second and any(low <= pair[0] <= high for low, high in ranges) for pair in pairs)
    share = common / max(1, len(foreign))
    if codec == "cp949":
        share *= 0.4 + sum(sign in _SYLLABLES for sign in foreign) / max(1, len(foreign))
    return share


def plain(value: str) -> str:
    """A value of a property without its escapes."""
    text = re.sub(r"\r\n|\n\r|\r", "\n", value)
    text = re.sub(r"\\(\n|.)", lambda found: "" if found[1] == "\n" else found[1], text, flags=re.DOTALL)
    return re.sub(r"[\t\f\v]", " ", text)


def line(value: str) -> str:
    """A value of a property in one line."""
    return writable(" ".join(plain(value).split()))


def escaped(text: str) -> str:
    """A text as the value of a property."""
    return writable(text).replace("\\", "\\\\").replace("]", "\\]")


def writable(text: str) -> str:
    """The text without halves of surrogate pairs, which no file can hold; they stand for bytes that were no UTF-8."""
    return text.encode(errors="replace").decode()
