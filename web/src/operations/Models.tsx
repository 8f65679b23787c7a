// The embedding models and how far a change of them is.
import { useAsked } from "../api/memory";
import { Copy } from "../ui/Copy";
import { useWords } from "../words";
import { useEvery, useFigures } from "./figures";
import { Table } from "./Table";

const EVERY_S = 10;
const COMMANDS = ["memsvc models build NAME", "memsvc models switch NAME", "memsvc models rollback", "memsvc models retire NAME"];

export function Models({ cell }: { cell: string | null }) {
  const words = useWords();
  const { operations: texts } = words;
  const { number } = useFigures();
  const { data, error, again } = useAsked((client) => client.listEmbeddingModels({ query: { cell } }), [cell]);
  useEvery(EVERY_S, () => data?.models.some(({ lacking, state }) => lacking > 0 && state !== "retired") && again());
  if (error) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <div className="parts">
      <p className="lead">{texts.modelsLead} {data.configured ? texts.configured(data.configured) : texts.noModel}</p>
      {data.models.length === 0 ? <p className="lead">{texts.noModels}</p> : (
        <Table label={texts.tabs.models} rows={data.models} name={(one) => one.name} columns={[
          { head: texts.model, cell: (one) => <strong>{one.name}</strong> },
          { head: texts.state, cell: (one) => texts.modelStates[one.paused ? "paused" : one.state] },
          { head: texts.dimensions, cell: (one) => number(one.dimensions), number: true },
          { head: texts.progress, cell: (one) => <Progress embedded={one.embedded} lacking={one.lacking} name={one.name} /> },
        ]} />
      )}
      <section>
        <h2>{texts.change}</h2>
        <p className="lead">{texts.changeLead}</p>
        <pre className="commands">{COMMANDS.join("\n")}</pre>
        <div className="copies"><Copy label={words.common.copy} text={() => `${COMMANDS.join("\n")}\n`} /></div>
      </section>
    </div>
  );
}

function Progress({ embedded, lacking, name }: { embedded: number; lacking: number; name: string }) {
  const { operations: texts } = useWords();
  const { number } = useFigures();
  const all = embedded + lacking;
  return (
    <div className="progress">
      <progress max={Math.max(all, 1)} value={all ? embedded : 1} aria-label={`${texts.progress}: ${name}`} />
      <small>{texts.of(number(embedded), number(all))}{lacking > 0 && `, ${texts.lacking(number(lacking))}`}</small>
    </div>
  );
}
