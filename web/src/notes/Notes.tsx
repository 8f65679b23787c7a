// Notes: all of them, one, or one that is being written.
import type { ScreenProps } from "../app/screens";
import { NoteEditor } from "./NoteEditor";
import { NotePage } from "./NotePage";
import { NotesPage } from "./NotesPage";
import "../things/things.css";
import "./notes.css";

export function Notes({ rest: [id, doing], query }: ScreenProps) {
  if (!id) return <NotesPage query={query} />;
  if (id === "new") return <NoteEditor key={query.toString()} noteId={null} title={query.get("title") ?? ""} />;
  if (doing === "edit") return <NoteEditor key={id} noteId={id} title="" />;
  return <NotePage key={id} noteId={id} query={query} />;
}
