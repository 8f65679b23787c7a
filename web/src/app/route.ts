// Addresses of screens are behind '#', so questions and names never reach a server's log.
import { useSyncExternalStore } from "react";

export interface Route {
  path: readonly string[];
  query: URLSearchParams;
}
type Query = Record<string, string | null | undefined>;

let seen = "";
let route: Route = { path: [], query: new URLSearchParams() };

function current(): Route {
  if (location.hash !== seen || !route.path.length) {
    seen = location.hash;
    const [, path = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(seen) ?? [];
    route = { path: (path || "ask").split("/").map(decode), query: new URLSearchParams(query) };
  }
  return route;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function listen(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

export const useRoute = (): Route => useSyncExternalStore(listen, current);

export function href(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const text = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

export function go(path: readonly string[], query: Query = {}, { replace = false } = {}): void {
  const target = href(path, query);
  if (!replace) location.hash = target;
  else {
    history.replaceState(null, "", target);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
