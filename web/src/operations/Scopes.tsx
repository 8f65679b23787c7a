// What a key may do, as boxes to tick. A key of one user cannot administer.
import { useWords } from "../words";

export const SCOPES = ["read", "write", "forget", "enroll", "admin"] as const;
export type Scope = (typeof SCOPES)[number];
export const isScope = (name: string): name is Scope => SCOPES.some((one) => one === name);

export function Scopes({ chosen, without = [] }: { chosen: readonly string[]; without?: readonly Scope[] }) {
  const { operations: texts } = useWords();
  return (
    <fieldset className="choice ticks">
      <legend>{texts.scopes}</legend>
      {SCOPES.filter((one) => !without.includes(one)).map((one) => (
        <label key={one}>
          <input type="checkbox" name="scope" value={one} defaultChecked={chosen.includes(one)} />
          <span>{texts.scope[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}
