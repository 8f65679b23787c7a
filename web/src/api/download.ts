// Files that the page gives to the browser to keep.
import { MemsvcError } from "@memsvc/client";
import { keptSession } from "./session";

const NAMED = /filename="([^"]+)"/;

/** All of the user's data as a zip file. The generated client reads texts only. */
export async function downloadExport(): Promise<{ file: Blob; name: string }> {
  const session = keptSession();
  const headers = { "X-Memsvc-Page": session?.page ?? "", ...(session?.user && { "X-Memsvc-User": encodeURI(session.user) }) };
  let answer: Response;
  try {
    answer = await fetch("/v1/export", { headers });
  } catch (error) {
    throw new MemsvcError("unreachable", String(error));
  }
  if (!answer.ok) {
    const { code, detail, hint } = (await answer.json()) as { code: string; detail: string; hint: string };
    throw new MemsvcError(code, detail, { hint, status: answer.status });
  }
  const name = NAMED.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "memsvc.zip";
  return { file: await answer.blob(), name };
}

/** Lets the browser keep a file under a name. */
export function save(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
