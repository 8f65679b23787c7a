// The language of the page: chosen in the menu, else the browser's.
import { createContext, use } from "react";
import { de } from "./de";
import { en, type Words } from "./en";

export type { Words };
export const LANGUAGES: readonly Words[] = [en, de];
const KEPT = "memsvc.language";

export function firstLanguage(): Words {
  const wanted = [localStorage.getItem(KEPT) ?? "", ...navigator.languages];
  return wanted.map((one) => LANGUAGES.find((words) => words.code === one.slice(0, 2))).find(Boolean) ?? en;
}

export function keepLanguage(words: Words): void {
  localStorage.setItem(KEPT, words.code);
}

export const WordsContext = createContext<Words>(en);
export const useWords = (): Words => use(WordsContext);
