// Says that changes do not come in at present. Short losses are not worth a word.
import { useEffect, useState } from "react";
import { useConnected } from "../api/live";
import { useWords } from "../words";

const LOST_MS = 3_000;

export function Connection() {
  const words = useWords();
  const connected = useConnected();
  const [before, setBefore] = useState(false);
  const [lost, setLost] = useState(false);
  useEffect(() => {
    setLost(false);
    if (connected) setBefore(true);
    if (connected || !before) return;
    const timer = setTimeout(() => setLost(true), LOST_MS);
    return () => clearTimeout(timer);
  }, [connected, before]);
  return <p className="connection" role="status">{lost && words.connection.lost}</p>;
}
