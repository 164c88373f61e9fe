import { useMemo } from 'preact/hooks';

import { address } from '../../browser/location.ts';
import { nameOfDevice } from '../../client/names.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { count, say } from '../../text/words.ts';
import { Button } from '../../kit/parts.tsx';
import { withField, withLabel } from './filters.ts';
import { fieldsIn, type Line } from './line.ts';

/** Width below which the fields would push the lines off the page. */
const narrow = '(max-width: 900px)';
const mostValues = 8;
const mostFields = 40;

interface FieldsProps {
  readonly lines: readonly Line[];
  readonly query: string;
  readonly columns: readonly string[];
  readonly onColumns: (columns: readonly string[]) => void;
}

interface Counted {
  readonly name: string;
  readonly isLabel: boolean;
  /** Values with their number of lines, the most frequent first. */
  readonly values: readonly (readonly [value: string, lines: number])[];
}

/** Labels and fields of the lines that are shown, with how often each value occurs; a value is a link that filters. */
export function Fields({ lines, query, columns, onColumns }: FieldsProps) {
  const fields = useMemo(() => counted(lines), [lines]);
  return (
    <details class="log-fields" open={!matchMedia(narrow).matches}>
      <summary>{text.fields}</summary>
      {fields.map(({ name, isLabel, values }) => (
        <details key={name}>
          <summary>
            <span class="mono">{name}</span>{' '}
            <span class="soft">{count(text.values, values.length)}</span>
          </summary>
          <ul>
            {values.slice(0, mostValues).map(([value, number]) => (
              <li key={value}>
                <a
                  class="cut"
                  title={say(text.filter, { name })}
                  href={address(['logs'], {
                    q: isLabel ? withLabel(query, name, value) : withField(query, name, value),
                  })}
                >
                  {(name === 'device_id' && nameOfDevice(value)) || value || '""'}
                </a>
                <b class="soft">{number.toLocaleString()}</b>
              </li>
            ))}
          </ul>
          <Button
            kind="quiet"
            pressed={columns.includes(name)}
            onClick={() =>
              onColumns(
                columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name],
              )
            }
          >
            {say(text.column, { name })}
          </Button>
        </details>
      ))}
    </details>
  );
}

function counted(lines: readonly Line[]): readonly Counted[] {
  const found = new Map<string, { isLabel: boolean; values: Map<string, number> }>();
  const add = (isLabel: boolean, of: Line['labels']): void => {
    for (const [name, value] of Object.entries(of)) {
      const field = found.get(name) ?? { isLabel, values: new Map<string, number>() };
      field.values.set(value, (field.values.get(value) ?? 0) + 1);
      found.set(name, field);
    }
  };
  for (const line of lines) {
    add(true, line.labels);
    const own = Object.entries(fieldsIn(line)).filter(([name]) => !(name in line.labels));
    add(false, Object.fromEntries(own));
  }
  return [...found]
    .map(([name, { isLabel, values }]) => ({
      name,
      isLabel,
      values: [...values].toSorted(([, a], [, b]) => b - a),
    }))
    .toSorted((a, b) => Number(b.isLabel) - Number(a.isLabel) || (a.name < b.name ? -1 : 1))
    .slice(0, mostFields);
}
