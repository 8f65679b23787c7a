// Find by keyboard: people and things by name, screens, settings; or ask what was typed.
import { Command } from "cmdk";
import { useDeferredValue, useEffect, useState } from "react";
import { MOST_NAME_CHARS, useAsked, useMemory } from "../api/memory";
import { Dialog } from "../ui/Dialog";
import { LANGUAGES, useWords, type Words } from "../words";
import { go } from "./route";
import { SCREENS } from "./screens";
import { showTheme, THEMES } from "./theme";
import "./palette.css";

const SHOWN = 8;
const ASK = "ask it";

export function Palette({ onClose, onLeave, onLanguage }: {
  onClose: () => void;
  onLeave: () => void;
  onLanguage: (words: Words) => void;
}) {
  const words = useWords();
  const memory = useMemory();
  const [typed, setTyped] = useState("");
  const name = useDeferredValue(typed.trim().slice(0, MOST_NAME_CHARS));
  const { data } = useAsked(
    name ? (client) => client.searchNodes({ query: { q: name, limit: SHOWN } }) : undefined,
    [name],
  );
  const [chosen, setChosen] = useState("");
  useEffect(() => setChosen(data?.items[0]?.node_id ?? (name ? ASK : words.ask.title)), [data, name, words]);
  const item = (label: string, act: () => void, value = label) => (
    <Command.Item
      key={value}
      value={value}
      onSelect={() => {
        onClose();
        act();
      }}
    >
      {label}
    </Command.Item>
  );
  const shown = (label: string) => label.toLowerCase().includes(name.toLowerCase());
  const settings: [string, () => void][] = [
    ...THEMES.map((one): [string, () => void] => [`${words.menu.theme}: ${words.menu[one]}`, () => showTheme(one)]),
    ...LANGUAGES.map((one): [string, () => void] => [`${words.menu.language}: ${one.language}`, () => onLanguage(one)]),
    [words.menu.signOut, onLeave],
  ];
  const pages = SCREENS.filter(({ may }) => may?.(memory) ?? true).map(({ title, path }): [string, () => void] => [
    title(words), () => go([path]),
  ]);
  const group = (heading: string, entries: [string, () => void][]) => {
    const fitting = entries.filter(([label]) => shown(label));
    return fitting.length > 0 && (
      <Command.Group heading={heading}>{fitting.map(([label, act]) => item(label, act))}</Command.Group>
    );
  };
  return (
    <Dialog title={words.find.title} onClose={onClose}>
      <Command className="palette" label={words.find.title} shouldFilter={false} loop value={chosen} onValueChange={setChosen}>
        <Command.Input data-autofocus value={typed} onValueChange={setTyped} placeholder={words.find.placeholder} maxLength={500} />
        <Command.List label={words.find.title}>
          {name && data && data.items.length > 0 && (
            <Command.Group heading={words.find.things}>
              {data.items.map((node) => (
                <Command.Item
                  key={node.node_id}
                  value={node.node_id}
                  onSelect={() => {
                    onClose();
                    go(["things", node.node_id]);
                  }}
                >
                  <span className="label">{node.label ?? node.name}</span>
                  <small>{node.type}</small>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {name && item(words.find.ask(typed.trim()), () => go(["ask"], { q: typed.trim() }), ASK)}
          {group(words.find.pages, pages)}
          {group(words.find.settings, settings)}
        </Command.List>
      </Command>
    </Dialog>
  );
}
