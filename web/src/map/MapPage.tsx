// Where people and things were on a day: a map, the same as a list, and a card for what is chosen.
import { useMemo, useState } from "react";
import { useMemory } from "../api/memory";
import { useLiveAgain } from "../api/live";
import type { ScreenProps } from "../app/screens";
import { go } from "../app/route";
import { readAsCurl } from "../sources/copies";
import { Copy } from "../ui/Copy";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { dayOf } from "../timeline/periods";
import { DayChoice } from "./DayChoice";
import { holdsOn, type Place, peopleOf, timesOf, usePlaces } from "./places";
import { PlaceCard } from "./PlaceCard";
import { SetPlace, type Setting } from "./SetPlace";
import { World } from "./World";
import "./map.css";

export function MapPage({ query }: ScreenProps) {
  const words = useWords();
  const times = useTimes();
  const { me, may } = useMemory();
  const places = usePlaces();
  useLiveAgain(["GRAPH_UPDATE"], places.again);
  const [setting, setSetting] = useState<Setting | null>(null);
  const today = times.field(new Date());
  const on = query.get("on") ?? "";
  const day = on === "always" ? "" : dayOf(on) || today;
  const chosen = query.get("place") ?? "";
  const show = (changes: Record<string, string>) =>
    go(["map"], { on: query.get("on"), place: chosen, ...changes }, { replace: true });
  const all = places.data?.items ?? [];
  const then = useMemo(
    () =>
      all
        .filter((one) => holdsOn(day, one, times.field))
        .map((one) => ({ ...one, facts: one.facts.filter((fact) => holdsOn(day, fact, times.field)) })),
    [places.data, day, times],
  );
  const current = then.find((one) => one.location_id === chosen) ?? then.find((one) => one.node_id === chosen);
  const name = (place: Place) => place.label ?? place.type ?? "…";
  const named = (place: Place) => {
    const people = peopleOf(place, place.facts);
    return people.length > 0 ? `${name(place)} · ${people.slice(0, 2).join(", ")}` : name(place);
  };
  const begin = (place?: Place) => setSetting({ node: place ?? null, point: null });
  if (places.error) return <p className="said bad" role="alert">{places.error}</p>;
  if (!places.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const empty = all.length === 0;
  return (
    <div className="map">
      <div className="bar">
        <h1>{words.map.title}</h1>
        {may("write") && !setting && (
          <button type="button" className={empty ? "primary" : ""} onClick={() => begin()}>{words.map.set}</button>
        )}
      </div>
      {empty && !setting && (
        <div className="nothing-yet">
          <h2>{words.map.empty}</h2>
          <p className="lead">{may("write") ? words.map.emptyLead : words.common.readOnly}</p>
        </div>
      )}
      {!empty && <DayChoice day={day} today={today} told={timesOf(all)} onShow={(one) => show({ on: one })} />}
      <div className="sides">
        <figure>
          <World places={then} named={named} chosen={current?.location_id ?? ""} pick={setting?.point ?? null}
            onChoose={(place) => show({ place: place.location_id })}
            onPick={setting ? (point) => setSetting({ ...setting, point }) : undefined} />
          <figcaption>{words.map.outlines}</figcaption>
        </figure>
        <div className="side">
          {setting ? (
            <SetPlace setting={setting} onSetting={setSetting} onDone={(nodeId) => {
              setSetting(null);
              if (nodeId) show({ place: nodeId });
              places.again();
            }} />
          ) : (
            <>
              {current && (
                <PlaceCard place={current} day={day} onMove={() => begin(current)} onChanged={places.again} onClose={() => show({ place: "" })} />
              )}
              {places.data.truncated && <p className="said">{words.map.truncated}</p>}
              {!empty && (
                <section aria-label={words.map.places}>
                  <h2 aria-live="polite">{words.map.count(then.length)}</h2>
                  {then.length === 0 && <p className="lead">{words.map.none}</p>}
                  <ul className="places">
                    {[...then].sort((a, b) => name(a).localeCompare(name(b), words.code)).map((one) => (
                      <li key={one.location_id}>
                        <button type="button" aria-pressed={one === current} onClick={() => show({ place: one.location_id })}>
                          <span className="label" dir="auto">{name(one)}</span>
                          <span className="who" dir="auto">{peopleOf(one, one.facts).slice(0, 4).join(", ")}</span>
                        </button>
                      </li>
                    ))}
                  </ul>
                </section>
              )}
            </>
          )}
        </div>
      </div>
      {!empty && (
        <div className="copies">
          <Copy label={words.ask.copyLink} text={() => location.href} />
          <Copy label={words.ask.copyCurl} text={() =>
            readAsCurl("/v1/nearby", me.user.external_id, { lat: "0", lon: "0", k: "1000", as_of: day || "always" })} />
        </div>
      )}
    </div>
  );
}
