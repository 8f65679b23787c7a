// Files on their way to the service, one after the other. They go on while another screen is open.
import { type Ingest, type Memsvc, MemsvcError } from "@memsvc/client";
import { useSyncExternalStore } from "react";
import { headersOf, keptSession } from "../api/session";
import { useMemory } from "../api/memory";
import type { Dropped } from "./dropped";
import { pack } from "./zip";

export interface Upload {
  id: number;
  name: string;
  /** Of a folder, what was left out because it has no text. */
  leftOut: number;
  state: "waiting" | "packing" | "sending" | "failed";
  /** From 0 to 1: of packing, then of sending. */
  done: number;
  error: MemsvcError | null;
}
interface Task extends Upload {
  /** By which the same file is known again while it is here. */
  same: string;
  make: (packed: (share: number) => void) => Promise<File>;
  /** With this key, sending it again stores it once. */
  once: string;
  end?: () => void;
}
const QUEUES = new WeakMap<Memsvc, Uploads>();

export class Uploads {
  #tasks: Task[] = [];
  #shown: readonly Upload[] = [];
  #listeners = new Set<() => void>();
  #last = 0;
  #busy = false;
  /** Whose files these are: a waiting one must not go to the user who signs in next. */
  readonly #page = keptSession()?.page;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly shown = (): readonly Upload[] => this.#shown;

  /** Takes what was dropped; returns the names of what is being sent already. */
  add({ files, folders }: Dropped): string[] {
    const twice: string[] = [];
    const take = (name: string, same: string, leftOut: number, make: Task["make"]) => {
      if (this.#tasks.some((one) => one.same === same && one.state !== "failed")) twice.push(name);
      else {
        const once = crypto.randomUUID();
        this.#tasks.push({ id: this.#last++, name, leftOut, state: "waiting", done: 0, error: null, same, make, once });
      }
    };
    for (const file of files)
      take(file.name, `${file.name}|${file.size}|${file.lastModified}`, 0, () => Promise.resolve(file));
    for (const folder of folders)
      take(folder.name, `${folder.name}/|${folder.files.length}`, folder.leftOut, (packed) =>
        pack(folder.name, folder.files, (n) => packed(n / folder.files.length)),
      );
    this.#tell();
    void this.#work();
    return twice;
  }

  /** Ends one that is on its way, or takes one that failed out of the list. */
  remove(id: number): void {
    this.#tasks.find((one) => one.id === id)?.end?.();
    this.#tasks = this.#tasks.filter((one) => one.id !== id);
    this.#tell();
  }

  again(id: number): void {
    this.#change(id, { state: "waiting", error: null, done: 0 });
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let task; (task = this.#tasks.find((one) => one.state === "waiting")); ) {
      const { id } = task;
      try {
        this.#change(id, { state: "packing" });
        const file = await task.make((done) => this.#change(id, { done }));
        if (!this.#tasks.includes(task)) continue;
        this.#change(id, { state: "sending", done: 0 });
        await send(file, task, this.#page, (done) => this.#change(id, { done }));
        this.remove(id);
      } catch (error) {
        const told = error instanceof MemsvcError ? error : new MemsvcError("file_unreadable", String(error));
        this.#change(id, { state: "failed", error: told });
      }
    }
    this.#busy = false;
  }

  #change(id: number, values: Partial<Task>): void {
    const task = this.#tasks.find((one) => one.id === id);
    if (task) Object.assign(task, values);
    this.#tell();
  }

  #tell(): void {
    this.#shown = this.#tasks.map((task) => ({ ...task }));
    this.#listeners.forEach((listener) => listener());
  }
}

/** Sends a file to be looked at; nothing of it is stored before somebody says so. */
function send(file: File, task: Task, page: string | undefined, sent: (share: number) => void): Promise<Ingest> {
  const session = keptSession();
  if (!session || session.page !== page) return Promise.reject(new MemsvcError("unauthenticated", "", { status: 401 }));
  const form = new FormData();
  form.append("dry_run", "true");
  form.append("file", file, file.name || task.name);
  return new Promise((good, bad) => {
    const request = new XMLHttpRequest();
    const unreachable = () => bad(new MemsvcError("unreachable", ""));
    request.open("POST", "/v1/documents");
    for (const [name, value] of Object.entries({ ...headersOf(session), "Idempotency-Key": task.once }))
      request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => sent(total ? loaded / total : 0);
    request.onerror = unreachable;
    request.onabort = unreachable;
    request.onload = () => {
      try {
        const told = JSON.parse(request.responseText) as Ingest & { code: string; detail: string; hint: string };
        if (request.status < 300) good(told);
        else bad(new MemsvcError(told.code, told.detail, { hint: told.hint, status: request.status }));
      } catch {
        bad(new MemsvcError(`http_${request.status}`, request.responseText.slice(0, 500), { status: request.status }));
      }
    };
    task.end = () => request.abort();
    request.send(form);
  });
}

export function useUploads(): [readonly Upload[], Uploads] {
  const { client } = useMemory();
  let uploads = QUEUES.get(client);
  if (!uploads) QUEUES.set(client, (uploads = new Uploads()));
  return [useSyncExternalStore(uploads.listen, uploads.shown), uploads];
}
