// One feed with its times and state; opened, its last runs.
import type { AddedFeed, Feed } from "@memsvc/client";
import { useId, useState } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import { IngestCard } from "./IngestCard";

const RUNS = 5;
const nothing = () => undefined;

export function FeedRow({ feed, onChanged, onSecret }: {
  feed: Feed;
  onChanged: () => void;
  onSecret: (feed: AddedFeed) => void;
}) {
  const words = useWords();
  const { feeds } = words;
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const id = useId();
  const [opened, setOpened] = useState(false);
  const [removing, setRemoving] = useState(false);
  const path = { feed_id: feed.feed_id };
  const done = (text: string) => () => {
    say(text);
    onChanged();
  };
  const resume = () => act((client) => client.resumeFeed({ path }), done(feeds.resumed));
  const pause = () =>
    act((client) => client.pauseFeed({ path }), () => {
      say(feeds.paused, { action: { label: words.common.undo, act: () => void resume() } });
      onChanged();
    });
  const isPush = feed.kind === "push";
  const where = feed.url ?? feed.path ?? (feed.imap ? `${feed.imap.username} · ${feed.imap.host}` : "");
  return (
    <li className="feed">
      <button type="button" className="head" aria-expanded={opened} aria-controls={id} onClick={() => setOpened(!opened)}>
        <Icon name="right" />
        <span className="label" dir="auto">{feed.name}</span>
        <span className="kind">{feeds.kinds[feed.kind]}</span>
        <span className={feed.state === "failed" ? "state bad" : "state"}>
          {feed.run_id ? feeds.now : feed.state === "active" && feed.next_run ? feeds.next(times.minute(feed.next_run)) : feeds.states[feed.state]}
        </span>
      </button>
      <p className="meta">
        {where && <span dir="auto">{where}</span>}
        {feed.rule && <span>{feeds.rules[feed.rule] ?? feed.rule}</span>}
        <span>{feed.last_run ? feeds.last(times.minute(feed.last_run)) : feeds.never}</span>
        {feed.by_operator && <span>{feeds.byOperator}</span>}
      </p>
      {feed.last_error && <p className="said bad">{feeds.failures(feed.failures, feed.last_error)}</p>}
      {opened && (
        <div id={id} className="opened">
          {may("write") && (
            <div className="actions">
              {!isPush && <button type="button" onClick={() => void act((client) => client.runFeed({ path }), done(feeds.running))}>{feeds.run}</button>}
              {feed.state === "active"
                ? <button type="button" onClick={() => void pause()}>{feeds.pause}</button>
                : <button type="button" onClick={() => void resume()}>{feeds.resume}</button>}
              {isPush && (
                <button type="button" onClick={() => void act((client) => client.renewFeedSecret({ path }), onSecret)}>{feeds.newSecret}</button>
              )}
              <button type="button" className="danger" onClick={() => setRemoving(true)}>{feeds.remove}</button>
            </div>
          )}
          <Runs feed={feed} />
        </div>
      )}
      {removing && (
        <Dialog title={feeds.removeTitle(feed.name)} onClose={() => setRemoving(false)}>
          <div className="fields">
            <p>{feeds.removeLead}</p>
            <footer>
              <button type="button" onClick={() => setRemoving(false)}>{words.common.cancel}</button>
              <button type="button" className="danger" onClick={() => void act((client) => client.removeFeed({ path }), done(feeds.removed))}>
                {feeds.removeNow}
              </button>
            </footer>
          </div>
        </Dialog>
      )}
    </li>
  );
}

function Runs({ feed }: { feed: Feed }) {
  const words = useWords();
  const runs = useAsked(
    (client) => client.listFeedRuns({ path: { feed_id: feed.feed_id }, query: { limit: RUNS } }),
    [feed.feed_id, feed.run_id, feed.last_run],
  );
  if (runs.error) return <p className="said bad" role="alert">{runs.error}</p>;
  if (!runs.data) return <p className="waiting">{words.common.loading}</p>;
  return (
    <>
      <h3>{words.feeds.runs}</h3>
      {runs.data.items.length === 0 && <p className="lead">{words.feeds.noRuns}</p>}
      <ul>{runs.data.items.map((one) => <IngestCard key={one.ingest_id} ingest={one} names={feed.me} onChanged={runs.again} onAsks={nothing} />)}</ul>
    </>
  );
}
