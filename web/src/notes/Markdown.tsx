// A note's text as it reads. Everything is an element or a text of React, so nothing in it can become markup.
import { Fragment, type ReactNode } from "react";
import { href } from "../app/route";
import { useWords } from "../words";
import { type Block, blocksOf } from "./blocks";
import { inlineOf, same } from "./inline";

export interface Target {
  id: string;
  type: string | null;
}
/** Where the names of a text lead, by name as ``same`` makes it. */
export type Targets = ReadonlyMap<string, Target>;

export const hrefOf = ({ id, type }: Target): string => href([type === "Note" ? "notes" : "things", id]);

export function Markdown({ text, targets }: { text: string; targets: Targets }) {
  const words = useWords();
  const inline = (line: string): ReactNode[] =>
    inlineOf(line).map((part, index) => {
      switch (part.kind) {
        case "strong":
          return <strong key={index}>{part.text}</strong>;
        case "em":
          return <em key={index}>{part.text}</em>;
        case "code":
          return <code key={index}>{part.text}</code>;
        case "address":
          return <a key={index} href={part.address} target="_blank" rel="noreferrer">{part.text}</a>;
        case "name": {
          const target = targets.get(same(part.name));
          return target ? (
            <a key={index} href={hrefOf(target)}>{part.name}</a>
          ) : (
            <a key={index} className="unwritten" href={href(["notes", "new"], { title: part.name })} title={words.notes.unwritten}>
              {part.name}
            </a>
          );
        }
        default:
          return <Fragment key={index}>{part.text}</Fragment>;
      }
    });
  const lines = (all: readonly string[]) =>
    all.map((line, index) => (
      <Fragment key={index}>
        {index > 0 && <br />}
        {inline(line)}
      </Fragment>
    ));
  const shown = (block: Block, index: number): ReactNode => {
    switch (block.kind) {
      case "heading":
        // The page has the title as its first heading.
        return block.level === 1 ? <h2 key={index}>{inline(block.text)}</h2> : <h3 key={index}>{inline(block.text)}</h3>;
      case "code":
        return <pre key={index} tabIndex={0}>{block.text}</pre>;
      case "rule":
        return <hr key={index} />;
      case "quote":
        return <blockquote key={index}>{lines(block.lines)}</blockquote>;
      case "list": {
        const items = block.items.map((item, place) => (
          <li key={place} className={`depth${item.depth}${item.done === null ? "" : " task"}`}>
            {item.done !== null && <input type="checkbox" checked={item.done} disabled aria-label={words.notes.done} />}
            {item.done !== null && " "}
            {lines(item.lines)}
          </li>
        ));
        return block.ordered ? <ol key={index} start={block.first}>{items}</ol> : <ul key={index}>{items}</ul>;
      }
      default:
        return <p key={index}>{lines(block.lines)}</p>;
    }
  };
  return <div className="prose" dir="auto">{blocksOf(text).map(shown)}</div>;
}
