// The page's half of its session. The other half is a cookie that no script can read (docs/adr/0061).
import { Memsvc, MemsvcError } from "@memsvc/client";

export interface Session {
  /** Sent in the header X-Memsvc-Page. */
  page: string;
  expires_at: string;
  /** For a key that may act for several users. */
  user?: string | null;
}
export interface SignIn {
  key?: string;
  user?: string;
  ticket?: string;
}
const KEPT = "memsvc.session";

export function keptSession(): Session | null {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT) ?? "null") as Session | null;
    return found?.page ? found : null;
  } catch {
    return null;
  }
}

export function dropSession(): void {
  localStorage.removeItem(KEPT);
}

async function call(method: string, headers: Record<string, string>, body?: SignIn): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch("/page/session", { method, headers, body: body ? JSON.stringify(body) : null });
  } catch (error) {
    throw new MemsvcError("unreachable", String(error));
  }
  const told: unknown = answer.status === 204 ? null : await answer.json();
  if (answer.ok) return told;
  const { code, detail, hint } = told as { code: string; detail: string; hint: string };
  throw new MemsvcError(code, detail, { hint, status: answer.status });
}

export async function signIn(given: SignIn): Promise<Session> {
  const session = (await call("POST", { "Content-Type": "application/json" }, given)) as Session;
  localStorage.setItem(KEPT, JSON.stringify(session));
  return session;
}

export async function signOut(session: Session): Promise<void> {
  dropSession();
  await call("DELETE", { "X-Memsvc-Page": session.page });
}

/** What a request needs that the client does not send, such as one with files. Headers carry bytes, so names are UTF-8. */
export function headersOf({ page, user }: Session): Record<string, string> {
  const named = user && { "X-Memsvc-User": String.fromCharCode(...new TextEncoder().encode(user)) };
  return { "X-Memsvc-Page": page, ...named };
}

export function clientOf(session: Session): Memsvc {
  const headers = { "X-Memsvc-Page": session.page };
  return new Memsvc(location.origin, { headers, tries: 2, ...(session.user && { user: session.user }) });
}

/** The ticket of a link, taken out of the address so that neither history nor a bookmark has it. */
export function takeTicket(): string | null {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (found) history.replaceState(null, "", "/#/ask");
  return found?.[1] ?? null;
}

/** Saves what an address answers as a file. Returns the status. */
export async function download(path: string, name: string): Promise<number> {
  const session = keptSession();
  const answer = await fetch(path, { headers: session ? headersOf(session) : {} });
  if (!answer.ok) return answer.status;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return answer.status;
}
