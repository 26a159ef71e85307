// Keys and values are bytes: a text if they are UTF-8, else an object with `base64`. What is shown of them is always text.

"use strict";

/** Characters that would be invisible, or change the order of others. */
const unseen = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Returns a text with what cannot be seen escaped. */
function plain(text) {
    return text.replace(unseen, (character) => {
        const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
        return short ?? `\\u{${character.codePointAt(0).toString(16)}}`;
    });
}

function bytesOf(base64) {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

const hex = (byte) => byte.toString(16).padStart(2, "0");

/** Returns what no other key has. */
function identity(key) {
    return typeof key === "string" ? `t${key}` : `b${key.base64}`;
}

/** Returns a key for a query. */
function encoded(key) {
    if (typeof key === "string") return encodeURIComponent(key);
    return Array.from(bytesOf(key.base64), (byte) => `%${hex(byte)}`).join("");
}

/** Returns a key for people; bytes that are no text as `\xff`. */
function shownKey(key) {
    if (typeof key === "string") return key === "" ? '""' : plain(key);
    const all = bytesOf(key.base64).subarray(0, 1000);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const text = [];
    for (let index = 0; index < all.length;) {
        let length = 1;
        for (; length <= 4; length++) {
            try {
                text.push(plain(decoder.decode(all.subarray(index, index + length))));
                break;
            } catch {
                // Not the end of a character; perhaps one byte more is.
            }
        }
        if (length > 4) text.push(`\\x${hex(all[index])}`);
        index += length > 4 ? 1 : length;
    }
    return text.join("");
}

/** Makes an element with a key in it, which a long one is cut off to fit; the whole one is its title. */
function keyElement(key) {
    const shown = shownKey(key);
    return make("bdi", { class: "key", title: shown.slice(0, 1000) }, shown.slice(0, 300));
}

/** Returns bytes as lines of sixteen, in hexadecimal and as text. */
function dump(bytes) {
    const lines = [];
    for (let from = 0; from < bytes.length; from += 16) {
        const part = [...bytes.subarray(from, from + 16)];
        const text = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
        lines.push(`${from.toString(16).padStart(5, "0")}  ${part.map(hex).join(" ").padEnd(47)}  ${text}`);
    }
    return lines.join("\n");
}
