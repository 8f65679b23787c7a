// What is read again by itself, or pushed: when it was read last, when it is read next, and what went wrong.
import type { AddedFeed } from "@memsvc/client";
import { useState } from "react";
import { useLiveAgain } from "../api/live";
import { useMemory, usePages } from "../api/memory";
import { Copy } from "../ui/Copy";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import { AddFeed } from "./AddFeed";
import { FeedRow } from "./FeedRow";
import "./feeds.css";

const PAGE = 50;

export function Feeds() {
  const words = useWords();
  const { may } = useMemory();
  const [adding, setAdding] = useState(false);
  const [secret, setSecret] = useState<AddedFeed | null>(null);
  const list = usePages((client, cursor) => client.listFeeds({ query: { cursor, limit: PAGE } }), []);
  useLiveAgain(["INGEST_UPDATE"], list.again);
  if (list.error) return <p className="said bad" role="alert">{list.error}</p>;
  if (!list.data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <div className="feeds">
      {list.items.length === 0 && <p className="empty">{words.feeds.none}</p>}
      <ul>
        {list.items.map((feed) => <FeedRow key={feed.feed_id} feed={feed} onChanged={list.again} onSecret={setSecret} />)}
      </ul>
      <div className="actions">
        {list.more && <button type="button" onClick={list.more}>{words.sources.more}</button>}
        {may("write") && <button type="button" onClick={() => setAdding(true)}>{words.feeds.add}</button>}
      </div>
      {adding && (
        <AddFeed
          onClose={() => setAdding(false)}
          onAdded={(feed) => {
            list.again();
            if (feed.secret) setSecret(feed);
          }}
        />
      )}
      {secret?.secret && <Secret secret={secret.secret} feedId={secret.feed_id} onClose={() => setSecret(null)} />}
    </div>
  );
}

function Secret({ secret, feedId, onClose }: { secret: string; feedId: string; onClose: () => void }) {
  const words = useWords();
  const address = `${location.origin}/v1/feeds/${feedId}/push`;
  return (
    <Dialog title={words.feeds.secretTitle} onClose={onClose}>
      <div className="fields">
        <p>{words.feeds.secret}</p>
        <div className="command"><pre>{secret}</pre><Copy label={words.common.copy} text={() => secret} /></div>
        <p>{words.feeds.sendTo}</p>
        <div className="command"><pre>{address}</pre><Copy label={words.common.copy} text={() => address} /></div>
        <footer><button type="button" className="primary" onClick={onClose}>{words.common.close}</button></footer>
      </div>
    </Dialog>
  );
}
