// Short messages at the foot of the page, read out by screen readers; one can have an action, such as undoing.
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../words";
import { Icon } from "./Icon";

interface Notice {
  id: number;
  text: string;
  bad: boolean;
  action: { label: string; act: () => void } | undefined;
}
interface Notices {
  say: (text: string, more?: { bad?: boolean; action?: Notice["action"] }) => void;
}
const SHOWN_MS = 12_000;
const NoticesContext = createContext<Notices>({ say: () => undefined });
export const useNotices = (): Notices => use(NoticesContext);

export function NoticesProvider({ children }: { children: ReactNode }) {
  const words = useWords();
  const [notice, setNotice] = useState<Notice | null>(null);
  const next = useRef(0);
  const say = useCallback<Notices["say"]>((text, { bad = false, action } = {}) => {
    setNotice({ id: next.current++, text, bad, action });
  }, []);
  useEffect(() => {
    if (!notice) return;
    const over = setTimeout(() => setNotice(null), SHOWN_MS);
    return () => clearTimeout(over);
  }, [notice]);
  return (
    <NoticesContext value={useMemo(() => ({ say }), [say])}>
      {children}
      <div className="notices" role="status" aria-live="polite">
        {notice && (
          <div className={notice.bad ? "notice bad" : "notice"} key={notice.id}>
            <span>{notice.text}</span>
            {notice.action && (
              <button
                type="button"
                className="link"
                onClick={() => {
                  setNotice(null);
                  notice.action?.act();
                }}
              >
                {notice.action.label}
              </button>
            )}
            <button type="button" className="icon" aria-label={words.common.close} onClick={() => setNotice(null)}>
              <Icon name="close" />
            </button>
          </div>
        )}
      </div>
    </NoticesContext>
  );
}
