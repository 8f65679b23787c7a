// Where one can go: a column on wide screens, behind a button on narrow ones.
import { useEffect, useState } from "react";
import { useMemory } from "../api/memory";
import { Icon } from "../ui/Icon";
import { useWords } from "../words";
import { href, useRoute } from "./route";
import { GROUPS, SCREENS } from "./screens";
import "./nav.css";

export function Nav() {
  const words = useWords();
  const memory = useMemory();
  const route = useRoute();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [route]);
  useEffect(() => {
    if (!open) return;
    const pressed = (event: KeyboardEvent) => event.key === "Escape" && setOpen(false);
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [open]);
  const screens = SCREENS.filter(({ may }) => may?.(memory) ?? true);
  return (
    <>
      <button type="button" className="icon opener" aria-expanded={open} aria-controls="screens"
        aria-label={words.nav.main} onClick={() => setOpen(!open)}>
        <Icon name="menu" />
      </button>
      <nav id="screens" className={open ? "screens open" : "screens"} aria-label={words.nav.main}>
        {GROUPS.map((group) => {
          const inside = screens.filter((screen) => screen.group === group);
          return inside.length > 0 && (
            <section key={group} aria-label={words.nav.groups[group]}>
              <h2 aria-hidden="true">{words.nav.groups[group]}</h2>
              {inside.map(({ path, title, Mark }) => (
                <a key={path} href={href([path])} aria-current={route.path[0] === path ? "page" : undefined}>
                  {title(words)}
                  {Mark && <Mark />}
                </a>
              ))}
            </section>
          );
        })}
      </nav>
      {open && <div className="veil" onClick={() => setOpen(false)} />}
    </>
  );
}
