// What an item rests on: the words of its message, its facts, or its sources.
import type { Contradiction, Critique, EdgeType, End, NodeType, Proposed, Review } from "@memsvc/client";
import { useState } from "react";
import { useAsked } from "../api/memory";
import { href } from "../app/route";
import { Marked, Source } from "../source/Source";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { Evidence } from "./Evidence";
import { isEdgeType, type Item } from "./kinds";
import { PairBody } from "./PairBody";

export interface Choice {
  chosen: string;
  onChoose: (version: string) => void;
}

export function Body({ item, ...choice }: { item: Item } & Choice) {
  switch (item.kind) {
    case "reviews": return <ReviewBody review={item.one} />;
    case "duplicates": return <PairBody pair={item.one} />;
    case "contradictions": return <ContradictionBody contradiction={item.one} {...choice} />;
    case "lessons": return <LessonBody critique={item.one} />;
    case "types": return <TypeBody type={item.one} />;
    default: return <ProposalBody proposed={item.one} />;
  }
}

/** A button that opens the source in place. */
function Opened({ passageId, span }: { passageId: string; span?: readonly [number, number] | null }) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="link small" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? words.thing.hideSource : words.thing.openSource}
      </button>
      {open && <Source passageId={passageId} span={span ?? null} />}
    </>
  );
}

function EndShown({ end }: { end: End }) {
  return (
    <span>
      {end.node_id ? <a href={href(["things", end.node_id])} dir="auto">{end.name}</a> : <span dir="auto">{end.name}</span>}
      {` (${end.type})`}
    </span>
  );
}

function ReviewBody({ review }: { review: Review }) {
  const words = useWords();
  const times = useTimes();
  const { proposal } = review;
  return (
    <>
      <p className="meta">
        <EndShown end={proposal.subject} />
        <span>{proposal.type}</span>
        <EndShown end={proposal.object} />
        <span>{times.span(proposal.since ?? null, proposal.until ?? null) || words.thing.untold}</span>
        <span>{words.inbox.reasons[review.reason] ?? review.reason}</span>
      </p>
      <blockquote>
        <p className="meta">
          <span>{words.inbox.said(review.speaker)}</span> <time dateTime={review.said_at}>{times.minute(review.said_at)}</time>
        </p>
        <p className="quoted" dir="auto"><Marked text={review.text} span={review.span} /></p>
      </blockquote>
      <Opened passageId={review.passage_id} span={review.span} />
    </>
  );
}

function ContradictionBody({ contradiction: { facts }, chosen, onChoose }: { contradiction: Contradiction } & Choice) {
  const words = useWords();
  const times = useTimes();
  const several = facts.length > 1;
  return (
    <fieldset className="choice rivals">
      <legend>{several ? `${words.inbox.exclude} ${words.inbox.chooseTrue}` : words.inbox.disputed}</legend>
      {facts.map((fact, nth) => {
        const text = (
          <span className="rival">
            <b dir="auto">{fact.fact}</b>
            <span className="meta">
              <span>{times.span(fact.valid_from, fact.valid_to) || words.thing.untold}</span>
              <span>{words.inbox.sureness(fact.certainty.toLocaleString(words.code, { style: "percent", maximumFractionDigits: 0 }))}</span>
              <span>{words.thing.by(fact.asserted_by)}</span>
              <a href={href(["things", fact.from_node])} dir="auto">{fact.from_label}</a>
            </span>
            {fact.sources.map((quote) => (
              <span className="quote" key={quote.passage_id + quote.stance}>
                <q className="cut" dir="auto">{quote.quote}</q>
                {quote.stance !== "supports" && <em>{words.thing.stances[quote.stance]}</em>}
              </span>
            ))}
          </span>
        );
        return several ? (
          <label key={fact.version_id}>
            <input type="radio" name="rival" checked={chosen === fact.version_id} onChange={() => onChoose(fact.version_id)} />
            {nth < 9 && <kbd aria-hidden="true">{nth + 1}</kbd>}
            {text}
          </label>
        ) : <div key={fact.version_id}>{text}</div>;
      })}
    </fieldset>
  );
}

function LessonBody({ critique }: { critique: Critique }) {
  const words = useWords();
  return (
    <dl className="told">
      <div><dt>{words.inbox.question}</dt><dd dir="auto">{critique.question}</dd></div>
      {critique.answer && <div><dt>{words.inbox.answered}</dt><dd dir="auto">{critique.answer}</dd></div>}
      <div><dt>{words.inbox.correction}</dt><dd dir="auto">{critique.correction}</dd></div>
    </dl>
  );
}

function TypeBody({ type }: { type: NodeType | EdgeType }) {
  const words = useWords();
  return (
    <>
      <p dir="auto">{type.description}</p>
      <p className="meta">
        {type.parent && <span>{words.inbox.refines} {type.parent}</span>}
        {isEdgeType(type) && (
          <>
            <span>{type.from_types.join(", ") || "*"} → {type.to_types.join(", ") || "*"}</span>
            {type.functional && <span>{words.inbox.oneValue}</span>}
          </>
        )}
        {type.proposed_by && <span>{words.inbox.proposedBy(type.proposed_by)}</span>}
      </p>
      {type.reason && <dl className="told"><div><dt>{words.inbox.reason}</dt><dd dir="auto">{type.reason}</dd></div></dl>}
    </>
  );
}

function ProposalBody({ proposed }: { proposed: Proposed }) {
  const words = useWords();
  const nodes = [[proposed.node_id, proposed.label], [proposed.other_id, proposed.other_label]] as const;
  return (
    <>
      {nodes.some(([id]) => id) && (
        <p className="meta">
          {nodes.map(([id, label]) => id && (
            <a key={id} href={href(["things", id])} dir="auto">{label ?? words.inbox.unnamed}</a>
          ))}
        </p>
      )}
      {proposed.kind === "split" && (
        <>
          <p>{words.inbox.splitLead}</p>
          <ul className="facts-of">{proposed.sources.map((id) => <li key={id}><SourceName id={id} /></li>)}</ul>
        </>
      )}
      {proposed.kind === "core" && <p>{words.inbox.coreLead} <span dir="auto">{proposed.text}</span></p>}
      {proposed.kind === "outdated" && (
        <dl className="told">
          <div><dt>{words.inbox.stands(proposed.block ?? "")}</dt><dd dir="auto"><del>{proposed.text}</del></dd></div>
          <div><dt>{words.inbox.instead}</dt><dd dir="auto">{proposed.instead ? <ins>{proposed.instead}</ins> : words.inbox.goes}</dd></div>
        </dl>
      )}
      <Evidence evidence={proposed.evidence} />
      {proposed.passage_id && <Opened passageId={proposed.passage_id} />}
    </>
  );
}

/** What a conversation or a file is called. */
export function SourceName({ id }: { id: string }) {
  const { data, error } = useAsked((client) => client.openSource({ path: { source_id: id }, query: { before: 0, after: 0 } }), [id]);
  return <span dir="auto">{error ? id : (data?.title || data?.identifier) ?? "…"}</span>;
}
