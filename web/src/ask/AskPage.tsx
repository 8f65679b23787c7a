// Ask: a question, the memories or the context that answer it, and why these.
import { useState } from "react";
import { useAsked, useMemory } from "../api/memory";
import { go } from "../app/route";
import { Copy } from "../ui/Copy";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { AskForm } from "./AskForm";
import { ContextView } from "./ContextView";
import { MemoriesView } from "./MemoriesView";
import { asCurl, asPython, contextOf, type Question, readQuestion, recallOf, writeQuestion } from "./question";
import { Start } from "./Start";
import "./ask.css";
import "./context.css";

export function AskPage({ query }: { query: URLSearchParams }) {
  const words = useWords();
  const { me } = useMemory();
  const times = useTimes();
  const today = times.field(new Date());
  const question = readQuestion(query);
  const [asked, setAsked] = useState(0); // the same question once more
  const inContext = question.view === "context";
  const recallIn = recallOf(question, today);
  const contextIn = contextOf(question, today);
  const recalled = useAsked(
    question.q && !inContext ? (client) => client.recall({ body: recallIn }) : undefined,
    [JSON.stringify(recallIn), inContext, asked],
  );
  const context = useAsked(
    question.q && inContext ? (client) => client.buildContext({ body: contextIn }) : undefined,
    [JSON.stringify(contextIn), inContext, asked],
  );
  const ask = (changed: Partial<Question>) => {
    go(["ask"], writeQuestion({ ...question, ...changed }));
    if (changed.q === question.q) setAsked(asked + 1);
  };
  const answer = inContext ? context : recalled;
  const body = inContext ? contextIn : recallIn;
  const route = inContext ? "/v1/context" : "/v1/recall";
  return (
    <div className="ask">
      <h1 className="hidden">{words.ask.title}</h1>
      <AskForm key={question.q} question={question} today={today} busy={answer.loading} onAsk={ask} />
      {!question.q ? (
        <Start onAsk={(q) => ask({ q })} />
      ) : (
        <section aria-busy={answer.loading} className={answer.loading ? "answer busy" : "answer"}>
          <div className="bar">
            <div className="tabs" role="group" aria-label={words.ask.views}>
              {(["memories", "context"] as const).map((view) => (
                <button type="button" key={view} aria-pressed={inContext === (view === "context")} onClick={() => ask({ view })}>
                  {words.ask[view]}
                </button>
              ))}
            </div>
            <div className="copies">
              <Copy label={words.ask.copyLink} text={() => location.href} />
              <Copy label={words.ask.copyCurl} text={() => asCurl(route, body, me.user.external_id)} />
              <Copy label={words.ask.copyPython} text={() => asPython(inContext ? "context" : "recall", body)} />
            </div>
          </div>
          {answer.error && <p className="said bad" role="alert">{answer.error}</p>}
          {!answer.data && answer.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
          {!inContext && recalled.data && (
            <MemoriesView answer={recalled.data} body={recallIn} key={recalled.data.recall_id ?? question.q} />
          )}
          {inContext && context.data && <ContextView context={context.data} question={question} onAsk={ask} />}
        </section>
      )}
    </div>
  );
}
