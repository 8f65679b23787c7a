// What somebody dropped or chose: single files, and folders with the files in them.
import type { Inside } from "./zip";

export interface Dropped {
  files: File[];
  folders: { name: string; files: Inside[]; leftOut: number }[];
}
/** The service looks at no more files of one folder. */
const MOST_FILES = 10_000;
/** No text is in them, and exports are full of them. Single ones are sent, and refused with a reason. */
const MEDIA =
  /\.(jpe?g|png|gif|webp|heic|bmp|tiff?|svg|ico|mp4|m4v|mov|avi|mkv|webm|3gp|mp3|m4a|aac|opus|og[ga]|wav|flac|tgs)$/i;

const isHidden = (path: string) => path.split("/").some((part) => part.startsWith("."));

function sifted(name: string, all: readonly Inside[]): Dropped["folders"][number] {
  const seen = all.filter(({ path }) => !isHidden(path));
  const files = seen.filter(({ path }) => !MEDIA.test(path)).slice(0, MOST_FILES);
  return { name, files, leftOut: seen.length - files.length };
}

async function walk(entry: FileSystemEntry, path: string, found: Inside[]): Promise<void> {
  if (found.length >= 2 * MOST_FILES) return;
  if (entry.isFile) {
    const file = await new Promise<File>((good, bad) => (entry as FileSystemFileEntry).file(good, bad));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((good, bad) => reader.readEntries(good, bad));
    if (some.length === 0) return;
    for (const one of some) await walk(one, path ? `${path}/${one.name}` : one.name, found);
  }
}

/** Must be called while the drop is handled: afterwards the browser forgets what was dropped. */
export async function readDrop(transfer: DataTransfer): Promise<Dropped> {
  const dropped: Dropped = { files: [], folders: [] };
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => [item.webkitGetAsEntry(), item.getAsFile()] as const);
  for (const [entry, file] of entries) {
    if (entry?.isDirectory) {
      const found: Inside[] = [];
      await walk(entry, "", found);
      dropped.folders.push(sifted(entry.name, found));
    } else if (file) dropped.files.push(file);
  }
  return dropped;
}

/** The files of a field that takes whole folders: each knows its path from the folder on. */
export function readFolders(files: Iterable<File>): Dropped {
  const folders = new Map<string, Inside[]>();
  for (const file of files) {
    const [name = "", ...rest] = file.webkitRelativePath.split("/");
    folders.set(name, [...(folders.get(name) ?? []), { path: rest.join("/") || file.name, file }]);
  }
  return { files: [], folders: [...folders].map(([name, inside]) => sifted(name, inside)) };
}
