export interface Options {
  /** A key or a token. */
  key?: string;
  /** Id or external id of the user to act for; may be left out where the key is one user's. */
  user?: string;
  /** How often a call is tried; 4. */
  tries?: number;
  /** Longest wait for an answer, in milliseconds, for each try; 30,000. */
  timeoutMs?: number;
  /** Longest wait before the next try, in milliseconds; where the service asks for more, the call ends with its error. 10,000. */
  longestMs?: number;
}
/** A call was refused, or nobody answered. */
export class MemsvcError extends Error {
  /** Stable: match on it. */
  code: string;
  hint: string;
  /** Of the answer; 0: there was none. */
  status: number;
  details: Record<string, unknown>;
}
