export class MemsvcError extends Error {
  constructor(code, message, { hint = "", status = 0, ...details } = {}) {
    super(`${code}: ${message}`);
    Object.assign(this, { name: "MemsvcError", code, hint, status, details });
  }
}

/** What is done once for each Idempotency-Key. */
const ONCE = new Set(["addMessages", "createNote", "addNode", "writeChanges", "addUser", "makeKey", "locateNode"]);

export class Memsvc {
  #url;
  #headers;
  #tries;
  #timeoutMs;

  constructor(url, { key, user, tries = 4, timeoutMs = 30_000 } = {}) {
    this.#url = url.replace(/\/$/, "");
    this.#headers = { ...(key && { Authorization: `Bearer ${key}` }), ...(user && { "X-Memsvc-User": latin1(user) }) };
    this.#tries = tries;
    this.#timeoutMs = timeoutMs;
  }

  async call(operation, { path = {}, query = {}, header = {}, body } = {}) {
    const [method, template] = OPERATIONS[operation];
    const address = new URL(this.#url + template.replace(/\{(\w+)[^}]*\}/g, (_, name) => encodeURIComponent(path[name])));
    for (const [name, given] of Object.entries(query))
      for (const value of [given].flat()) if (value != null) address.searchParams.append(name, value);
    const headers = { ...this.#headers, ...header };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    // With this key the same can be sent again where nobody knows whether it arrived.
    if (ONCE.has(operation)) headers["Idempotency-Key"] ??= crypto.randomUUID();
    const repeatable = method === "GET" || ONCE.has(operation);
    for (let tried = 1; ; tried++) {
      let answer;
      try {
        const signal = AbortSignal.timeout(this.#timeoutMs);
        answer = await fetch(address, { method, headers, body: body && JSON.stringify(body), signal });
      } catch (error) {
        if (!repeatable || tried >= this.#tries) throw new MemsvcError("unreachable", error.message);
      }
      if (answer?.ok) return answer.headers.get("Content-Type")?.includes("json") ? answer.json() : answer.text();
      if (answer && (![429, 503].includes(answer.status) || tried >= this.#tries)) throw await problem(answer);
      const wished = Number(answer?.headers.get("Retry-After") ?? 0) * 1000;
      await new Promise((next) => setTimeout(next, Math.max(wished, Math.random() * 200 * 2 ** (tried - 1))));
    }
  }
}

for (const operation of Object.keys(OPERATIONS))
  Memsvc.prototype[operation] = function (input) {
    return this.call(operation, input);
  };

/** Headers carry bytes; names of people are sent as those of UTF-8. */
function latin1(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

async function problem(answer) {
  const text = await answer.text();
  try {
    const { code, detail, hint, ...details } = JSON.parse(text);
    return new MemsvcError(code, detail, { ...details, hint, status: answer.status });
  } catch {
    return new MemsvcError(`http_${answer.status}`, text.slice(0, 500), { status: answer.status });
  }
}
