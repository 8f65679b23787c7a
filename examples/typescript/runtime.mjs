export class MemsvcError extends Error {
  constructor(code, message, { hint = "", status = 0, ...details } = {}) {
    super(`${code}: ${message}`);
    Object.assign(this, { name: "MemsvcError", code, hint, status, details });
  }
}

/** Operations that are done once for each Idempotency-Key. */
const ONCE = new Set([
  "addMessages", "createNote", "addNode", "writeChanges", "addUser", "makeKey", "locateNode", "annotateFact",
  "addDocuments",
]);

/** Operations besides GET that only read, or that change nothing more when repeated. */
const AGAIN = new Set([
  "recall", "buildContext", "answerQuestion", "askCypher", "addFact", "createLink", "giveFeedback",
]);

/** Codes of a busy service after which the call may have been done. The second comes from a proxy. */
const UNKNOWN = new Set(["outcome_unknown", "http_503"]);

/** Node's codes for a failed connection: nothing was sent. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

export class Memsvc {
  #url;
  #headers;
  #tries;
  #timeoutMs;
  #longestMs;

  constructor(url, { key, user, headers = {}, tries = 4, timeoutMs = 30_000, longestMs = 10_000 } = {}) {
    this.#url = url.replace(/\/$/, "");
    const own = { ...(key && { Authorization: `Bearer ${key}` }), ...(user && { "X-Memsvc-User": latin1(user) }) };
    this.#headers = { ...headers, ...own };
    this.#tries = tries;
    this.#timeoutMs = timeoutMs;
    this.#longestMs = longestMs;
  }

  async call(operation, { path = {}, query = {}, header = {}, body } = {}) {
    const [method, template] = OPERATIONS[operation];
    const address = new URL(this.#url + template.replace(/\{(\w+)[^}]*\}/g, (_, name) => encodeURIComponent(path[name])));
    for (const [name, given] of Object.entries(query))
      for (const value of [given].flat()) if (value != null) address.searchParams.append(name, value);
    const headers = { ...this.#headers, ...header };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    // With this key the request can be repeated if it may not have arrived.
    if (ONCE.has(operation)) headers["Idempotency-Key"] ??= crypto.randomUUID();
    const known = ONCE.has(operation) || body?.message_id != null; // a hook's message has its own id
    const repeatable = method === "GET" || known || AGAIN.has(operation) || query.preview === true;
    for (let tried = 1; ; tried++) {
      let answer, text;
      try {
        const signal = AbortSignal.timeout(this.#timeoutMs);
        answer = await fetch(address, { method, headers, body: body && JSON.stringify(body), signal });
        text = await answer.text();
      } catch (error) {
        answer = undefined;
        const harmless = repeatable || NOT_SENT.has(error.cause?.code);
        const hint = harmless ? "" : "It may have been done. Check before you repeat it.";
        if (!harmless || tried >= this.#tries) throw new MemsvcError("unreachable", error.message, { hint });
      }
      if (answer?.ok) return answer.headers.get("Content-Type")?.includes("json") ? read(text) : text;
      const wished = Number(answer?.headers.get("Retry-After")) * 1000 || 0;
      const error = answer && problem(answer.status, text);
      const safe = repeatable || !UNKNOWN.has(error?.code);
      const again = safe && tried < this.#tries && wished <= this.#longestMs;
      if (error && !([429, 503].includes(error.status) && again)) throw error;
      const pause = Math.random() * Math.min(this.#longestMs, 200 * 2 ** (tried - 1));
      await new Promise((next) => setTimeout(next, Math.max(wished, pause)));
    }
  }
}

for (const operation of Object.keys(OPERATIONS))
  Memsvc.prototype[operation] = function (input) {
    return this.call(operation, input);
  };

/** Headers carry bytes, so names are sent as UTF-8. */
function latin1(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MemsvcError("answer_invalid", error.message, { hint: "Check memsvc's address." });
  }
}

function problem(status, text) {
  try {
    const { code, detail, hint, ...details } = JSON.parse(text);
    if (code) return new MemsvcError(code, detail, { ...details, hint, status });
  } catch {
    // not from memsvc but from a proxy
  }
  return new MemsvcError(`http_${status}`, text.slice(0, 500), { status });
}
