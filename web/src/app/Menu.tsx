// The user's menu: appearance, language, documentation, log out.
import { useEffect, useRef, useState } from "react";
import { useMemory } from "../api/memory";
import { Icon } from "../ui/Icon";
import { LANGUAGES, useWords, type Words } from "../words";
import { keptTheme, showTheme, type Theme, THEMES } from "./theme";

export function Menu({ onLeave, onLanguage }: { onLeave: () => void; onLanguage: (words: Words) => void }) {
  const words = useWords();
  const { me } = useMemory();
  const [theme, setTheme] = useState(keptTheme);
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const opened = box.current;
      if (!opened?.open) return;
      const escaped = event instanceof KeyboardEvent && event.key === "Escape";
      const elsewhere = event.type === "pointerdown" && !opened.contains(event.target as Node);
      if (escaped || elsewhere) opened.open = false;
      if (escaped) opened.querySelector("summary")?.focus();
    };
    document.addEventListener("keydown", close);
    document.addEventListener("pointerdown", close);
    return () => {
      document.removeEventListener("keydown", close);
      document.removeEventListener("pointerdown", close);
    };
  }, []);
  const choose = (chosen: Theme) => {
    showTheme(chosen);
    setTheme(chosen);
  };
  return (
    <details className="menu" ref={box}>
      <summary>
        <span className="name">{me.user.name}</span>
        <Icon name="down" />
      </summary>
      <div className="sheet">
        <fieldset className="choice">
          <legend>{words.menu.theme}</legend>
          {THEMES.map((one) => (
            <label key={one}>
              <input type="radio" name="theme" checked={theme === one} onChange={() => choose(one)} />
              <span>{words.menu[one]}</span>
            </label>
          ))}
        </fieldset>
        <fieldset className="choice">
          <legend>{words.menu.language}</legend>
          {LANGUAGES.map((one) => (
            <label key={one.code} lang={one.code}>
              <input type="radio" name="language" checked={one === words} onChange={() => onLanguage(one)} />
              <span>{one.language}</span>
            </label>
          ))}
        </fieldset>
        <a href="/docs" target="_blank" rel="noreferrer">{words.menu.docs}</a>
        <button type="button" className="link" onClick={onLeave}>{words.menu.signOut}</button>
      </div>
    </details>
  );
}
