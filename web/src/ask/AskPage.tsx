// Ask: a question; the memories, the context or the claims that answer it, and why these.
import { useState } from "react";
import { useAsked, useMemory } from "../api/memory";
import { go } from "../app/route";
import { Copy } from "../ui/Copy";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { AnswerView } from "./AnswerView";
import { AskForm } from "./AskForm";
import { ContextView } from "./ContextView";
import { MemoriesView } from "./MemoriesView";
import { answerOf, asCurl, asPython, contextOf, type Question, readQuestion, recallOf, VIEWS, writeQuestion } from "./question";
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
  const view = VIEWS.find((one) => one === question.view) ?? "memories";
  const recallIn = recallOf(question, today);
  const contextIn = contextOf(question, today);
  const answerIn = answerOf(question, today);
  const recalled = useAsked(
    question.q && view === "memories" ? (client) => client.recall({ body: recallIn }) : undefined,
    [JSON.stringify(recallIn), view, asked],
  );
  const context = useAsked(
    question.q && view === "context" ? (client) => client.buildContext({ body: contextIn }) : undefined,
    [JSON.stringify(contextIn), view, asked],
  );
  const answered = useAsked(
    question.q && view === "answer" ? (client) => client.answerQuestion({ body: answerIn }) : undefined,
    [JSON.stringify(answerIn), view, asked],
  );
  const ask = (changed: Partial<Question>) => {
    go(["ask"], writeQuestion({ ...question, ...changed }));
    if (changed.q === question.q) setAsked(asked + 1);
  };
  const answer = { memories: recalled, context, answer: answered }[view];
  const [route, method, body] = {
    memories: ["/v1/recall", "recall", recallIn] as const,
    context: ["/v1/context", "context", contextIn] as const,
    answer: ["/v1/answer", "answer", answerIn] as const,
  }[view];
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
              {VIEWS.map((one) => (
                <button type="button" key={one} aria-pressed={view === one} onClick={() => ask({ view: one })}>
                  {one === "answer" ? words.answer.title : words.ask[one]}
                </button>
              ))}
            </div>
            <div className="copies">
              <Copy label={words.ask.copyLink} text={() => location.href} />
              <Copy label={words.ask.copyCurl} text={() => asCurl(route, body, me.user.external_id)} />
              <Copy label={words.ask.copyPython} text={() => asPython(method, body)} />
            </div>
          </div>
          {answer.error && <p className="said bad" role="alert">{answer.error}</p>}
          {!answer.data && answer.loading && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
          {view === "memories" && recalled.data && (
            <MemoriesView answer={recalled.data} body={recallIn} key={recalled.data.recall_id ?? question.q} />
          )}
          {view === "answer" && answered.data && <AnswerView answer={answered.data} key={answered.data.recall_id ?? question.q} />}
          {view === "context" && context.data && <ContextView context={context.data} question={question} onAsk={ask} />}
        </section>
      )}
    </div>
  );
}
