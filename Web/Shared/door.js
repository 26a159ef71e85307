// Questions to the server. The token goes into a header, and never into an address.

"use strict";

/** An answer other than the one asked for. */
class Refusal extends Error {
    constructor(status, sentence) {
        super(sentence);
        this.status = status;
    }
}

const door = {
    /** Called when the server asks for a token, or does not take the one that it got. */
    locked: () => {},

    get token() {
        return sessionStorage.getItem("token") ?? "";
    },

    set token(token) {
        if (token === "") sessionStorage.removeItem("token");
        else sessionStorage.setItem("token", token);
    },

    /** @param query Pairs of a name and a value; a value is a text, a number, or a key as it came. */
    address(path, query = []) {
        const text = (value) => (typeof value === "object" ? encoded(value) : encodeURIComponent(value));
        const parts = query.map(([name, value]) => `${name}=${text(value)}`);
        return `api/${path}${parts.length > 0 ? "?" : ""}${parts.join("&")}`;
    },

    async send(path, query, options = {}) {
        const headers = { ...options.headers };
        if (this.token !== "") headers.Authorization = `Bearer ${this.token}`;
        let response;
        try {
            response = await fetch(this.address(path, query), { cache: "no-store", ...options, headers });
        } catch (error) {
            if (error.name === "AbortError") throw error;
            throw new Refusal(0, "The server does not answer.");
        }
        if (response.ok) return response;
        let sentence = `The server answers with status ${response.status}.`;
        try {
            sentence = plain((await response.json()).error ?? sentence);
        } catch {
            // It is from a proxy, which has words of its own.
        }
        if (response.status === 401 || response.status === 403) this.locked(response.status, sentence, path);
        throw new Refusal(response.status, sentence);
    },

    async get(path, query, signal) {
        return (await this.send(path, query, { signal })).json();
    },

    /** Changes something. A form of another site could not set this header. */
    async post(path, query, body) {
        return (await this.send(path, query, { method: "POST", body, headers: { "Lull-Page": "1" } })).json();
    },
};
