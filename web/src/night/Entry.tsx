// A fact or a summary in a report, with what it rests on, opened in place.
import { useState } from "react";
import { SourceOf } from "../source/SourceOf";
import { Icon } from "../ui/Icon";

export function Entry({ id, text, over, remark }: { id: string; text: string; over?: boolean; remark?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <li className={over ? "entry over" : "entry"}>
      <button type="button" className="head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="right" />
        <span className="text" dir="auto">{text}</span>
      </button>
      {remark && <p className="remark" dir="auto">{remark}</p>}
      {open && <div className="opened"><SourceOf memoryId={id} /></div>}
    </li>
  );
}
