// One file on its way: how far it is, or why it did not get there.
import { told } from "../api/memory";
import { useWords } from "../words";
import { type Upload, useUploads } from "./uploads";

export function Uploading({ upload }: { upload: Upload }) {
  const words = useWords();
  const [, uploads] = useUploads();
  const { id, name, state, done, error, leftOut } = upload;
  const share = Math.round(done * 100);
  const why =
    error?.code === "unreachable" || error?.status === 413 ? words.sources.tooLarge
    : error?.code === "file_unreadable" ? words.sources.unreadable
    : error && told(error, words);
  return (
    <li className="ingest">
      <div className="head">
        <p className="whole">
          <b className="name" dir="auto">{name}</b>
          <span className={state === "failed" ? "state bad" : "state"}>{words.sources.uploads[state]}</span>
          {leftOut > 0 && <span className="state">{words.sources.leftOut(leftOut)}</span>}
        </p>
        <span className="actions">
          {state === "failed" && <button type="button" className="quiet" onClick={() => uploads.again(id)}>{words.common.retry}</button>}
          <button type="button" className="quiet" onClick={() => uploads.remove(id)}>
            {state === "failed" ? words.sources.remove : words.common.cancel}
          </button>
        </span>
      </div>
      {(state === "sending" || state === "packing") && (
        <div className="track" role="progressbar" aria-valuenow={share} aria-valuemin={0} aria-valuemax={100} aria-label={name}>
          <span className="part" style={{ inlineSize: `${share}%` }} />
        </div>
      )}
      {why && <p className="said bad" role="alert">{why}</p>}
    </li>
  );
}
