// The context as the model gets it: its sections with their tokens, and the block itself.
import type { Context } from "@memsvc/client";
import { Copy } from "../ui/Copy";
import { useWords } from "../words";
import { BUDGETS, FORMATS, type Question } from "./question";

function blockOf(context: Context): string {
  if (context.format !== "messages") return context.text;
  return context.messages.map((message) => `[${message.role}]\n${message.content}`).join("\n\n");
}

export function ContextView({ context, question, onAsk }: {
  context: Context;
  question: Question;
  onAsk: (changed: Partial<Question>) => void;
}) {
  const words = useWords();
  const sections = context.sections
    .filter((section) => section.items.length > 0)
    .map(({ name, items }) => ({ name, items, tokens: items.reduce((sum, item) => sum + (item.tokens ?? 0), 0) }));
  const number = (n: number) => n.toLocaleString(words.code);
  const block = blockOf(context);
  return (
    <div className="context">
      <aside>
        <div className="narrow">
          <label>
            <span>{words.ask.budget}</span>
            <select value={question.budget} onChange={(event) => onAsk({ budget: event.target.value })}>
              {BUDGETS.map((one) => <option key={one} value={one}>{number(Number(one))}</option>)}
            </select>
          </label>
          <label>
            <span>{words.ask.format}</span>
            <select value={question.format} onChange={(event) => onAsk({ format: event.target.value })}>
              {FORMATS.map((one) => <option key={one}>{one}</option>)}
            </select>
          </label>
        </div>
        <p className="tokens">{words.ask.tokens(number(context.tokens), number(context.budget_tokens))}</p>
        <div className="track"><span className="part" style={{ inlineSize: `${Math.min(100, (context.tokens / context.budget_tokens) * 100)}%` }} /></div>
        <ul className="sections">
          {sections.map(({ name, items, tokens }) => (
            <li key={name}>
              <span>{words.ask.sections[name] ?? name}</span>
              <small>{words.ask.items(items.length)}</small>
              <span className="value">{number(tokens)}</span>
            </li>
          ))}
        </ul>
        {context.left_out > 0 && <p className="lead">{words.ask.contextLeft(context.left_out)}</p>}
        {context.degraded.length > 0 && <p className="lead">{words.ask.degraded(context.degraded.join(", "))}</p>}
      </aside>
      <section aria-label={words.ask.block}>
        <div className="bar">
          <h2>{words.ask.block}</h2>
          <Copy label={words.ask.copyBlock} text={() => block} />
        </div>
        <pre tabIndex={0} dir="auto">{block}</pre>
      </section>
    </div>
  );
}
