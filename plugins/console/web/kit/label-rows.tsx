import { useState } from 'preact/hooks';

import { labelRows as text } from '../text/english/kit.ts';
import { say } from '../text/words.ts';
import { Button } from './parts.tsx';

interface LabelRowsProps {
  readonly label: string;
  readonly value: Readonly<Record<string, string>>;
  readonly onChange: (labels: Readonly<Record<string, string>>) => void;
}

type Row = readonly [name: string, value: string];

/** Names with values, a row each; rows without a name are not kept. */
export function LabelRows({ label, value, onChange }: LabelRowsProps) {
  const [rows, setRows] = useState<readonly Row[]>(() => Object.entries(value));
  const change = (next: readonly Row[]): void => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([name]) => name.trim() !== '')));
  };
  const put = (at: number, row: Row): void => change(rows.with(at, row));
  return (
    <fieldset class="label-rows">
      <legend>{label}</legend>
      {rows.map(([name, own], at) => (
        <div key={at}>
          <input
            class="mono"
            aria-label={text.name}
            value={name}
            onInput={(event) => put(at, [event.currentTarget.value, own])}
          />
          <input
            class="mono"
            aria-label={name === '' ? text.value : say(text.valueOf, { name })}
            value={own}
            onInput={(event) => put(at, [name, event.currentTarget.value])}
          />
          <Button
            kind="quiet"
            icon="close"
            label={say(text.remove, { name })}
            onClick={() => change(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      <Button icon="plus" onClick={() => change([...rows, ['', '']])}>
        {text.add}
      </Button>
    </fieldset>
  );
}
