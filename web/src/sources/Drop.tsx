// Where files and folders are dropped or chosen, and texts are written down.
import { useEffect, useRef, useState } from "react";
import { useMemory } from "../api/memory";
import { Copy } from "../ui/Copy";
import { useNotices } from "../ui/notices";
import { useWords } from "../words";
import { type Dropped, readDrop, readFolders } from "./dropped";
import { FromAddress } from "./FromAddress";
import { fileAsCurl, fileAsPython } from "./copies";
import { useUploads } from "./uploads";
import { WriteDown } from "./WriteDown";

/** React's types do not know this attribute. */
const FOLDERS = { webkitdirectory: "" } as object;

export function Drop() {
  const words = useWords();
  const { me } = useMemory();
  const { say } = useNotices();
  const [, uploads] = useUploads();
  const [over, setOver] = useState(false);
  const [doing, setDoing] = useState<"" | "write" | "address">("");
  const files = useRef<HTMLInputElement>(null);
  const folders = useRef<HTMLInputElement>(null);
  const take = (dropped: Dropped) => {
    const twice = uploads.add(dropped);
    if (twice.length) say(words.sources.twice(twice.join(", ")));
  };
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    // Anywhere on the screen: a file that misses the field would otherwise replace the page.
    const has = (event: DragEvent) => Boolean(event.dataTransfer?.types.includes("Files"));
    const drag = (event: DragEvent) => {
      if (!has(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!has(event) || !event.dataTransfer) return;
      event.preventDefault();
      setOver(false);
      readDrop(event.dataTransfer).then(
        (dropped) => latest.current(dropped),
        () => say(words.sources.unreadable, { bad: true }),
      );
    };
    window.addEventListener("dragover", drag);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", drag);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [say, words]);
  const chosen = (read: (list: File[]) => Dropped) => (event: React.ChangeEvent<HTMLInputElement>) => {
    take(read([...(event.target.files ?? [])]));
    event.target.value = ""; // so that the same file can be chosen again
  };
  return (
    <section className={over ? "drop over" : "drop"} aria-label={words.sources.drop}>
      <p className="call">{over ? words.sources.dropNow : words.sources.drop}</p>
      <p className="lead">{words.sources.dropHint}</p>
      <div className="actions">
        <button type="button" className="primary" onClick={() => files.current?.click()}>{words.sources.chooseFiles}</button>
        <button type="button" onClick={() => folders.current?.click()}>{words.sources.chooseFolder}</button>
        <button type="button" onClick={() => setDoing("address")}>{words.sources.address}</button>
        <button type="button" onClick={() => setDoing("write")}>{words.sources.write}</button>
        <span className="copies">
          <Copy label={words.ask.copyCurl} text={() => fileAsCurl(me.user.external_id)} />
          <Copy label={words.ask.copyPython} text={fileAsPython} />
        </span>
      </div>
      <input ref={files} className="hidden files" type="file" multiple tabIndex={-1} aria-label={words.sources.chooseFiles}
        onChange={chosen((list) => ({ files: list, folders: [] }))} />
      <input ref={folders} className="hidden folders" type="file" multiple tabIndex={-1} aria-label={words.sources.chooseFolder}
        {...FOLDERS} onChange={chosen(readFolders)} />
      {doing === "write" && <WriteDown onClose={() => setDoing("")} />}
      {doing === "address" && <FromAddress onClose={() => setDoing("")} />}
    </section>
  );
}
