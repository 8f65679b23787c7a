// What an assistant gets of the profile: the block of a context without memories.
import { type FormEvent, useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAsked } from "../api/memory";
import { go, href } from "../app/route";
import { Copy } from "../ui/Copy";
import { useWords } from "../words";

export function AsGiven({ about }: { about: string }) {
  const words = useWords();
  const [typed, setTyped] = useState(about);
  const query = about || words.profile.givenExample;
  const { data, error, again } = useAsked(
    (client) => client.buildContext({ body: { query, memories: false, facts: false, salient: 0, chance: false, neighbours: false } }),
    [query],
  );
  useLiveAgain(["PROFILE_UPDATE", "GRAPH_UPDATE"], again);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    go(["profile"], { view: "given", q: typed.trim() });
  };
  return (
    <section className="given" aria-label={words.profile.views.given}>
      <p className="lead">{words.profile.givenLead}</p>
      <form className="narrow" onSubmit={submit}>
        <label>
          <span>{words.profile.givenFor}</span>
          <input value={typed} onChange={(event) => setTyped(event.target.value)} placeholder={words.profile.givenExample} maxLength={10000} dir="auto" />
        </label>
        <button type="submit">{words.profile.givenShow}</button>
        <a href={href(["ask"], { q: query, view: "context" })}>{words.profile.givenAll}</a>
      </form>
      {error && <p className="said bad" role="alert">{error}</p>}
      {!data && !error && <p className="waiting" aria-live="polite">{words.common.loading}</p>}
      {data && (
        <>
          <div className="bar">
            <p>{words.ask.tokens(data.tokens.toLocaleString(words.code), data.budget_tokens.toLocaleString(words.code))}</p>
            <Copy label={words.ask.copyBlock} text={() => data.text} />
          </div>
          <pre tabIndex={0} dir="auto">{data.text}</pre>
        </>
      )}
    </section>
  );
}
