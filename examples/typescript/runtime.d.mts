export interface Options {
  /** A key or a token. */
  key?: string;
  /** Id or external id of the user to act for. May be left out if the key belongs to one user. */
  user?: string;
  /** Further headers of each call. */
  headers?: Record<string, string>;
  /** The most tries of a call. Default: 4. */
  tries?: number;
  /** The longest wait for an answer, in milliseconds, for each try. Default: 30,000. */
  timeoutMs?: number;
  /** The longest wait before the next try, in milliseconds. If the service asks for more, the call fails. Default: 10,000. */
  longestMs?: number;
}
/** A call was refused, or the service did not answer. */
export class MemsvcError extends Error {
  constructor(code: string, message: string, more?: { hint?: string; status?: number } & Record<string, unknown>);
  /** Stable: match on it. */
  code: string;
  hint: string;
  /** The HTTP status of the answer; 0: there was no answer. */
  status: number;
  details: Record<string, unknown>;
}
