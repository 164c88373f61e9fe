import { useState } from 'preact/hooks';

import { address } from '../../browser/location.ts';
import { useData } from '../../client/data.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { Awaited } from '../../kit/parts.tsx';
import { withPattern } from './filters.ts';

interface Found {
  readonly data: readonly {
    readonly pattern: string;
    readonly samples: readonly (readonly [number, number])[];
  }[];
}

const most = 20;

interface PatternsProps {
  readonly query: string;
  readonly from: number;
  readonly to: number;
}

/** The forms that lines have, with how many have each; looked for once they are asked for. */
export function Patterns(props: PatternsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="log-patterns" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{text.patterns}</summary>
      {isOpen && <List {...props} />}
    </details>
  );
}

const roundSeconds = 60;

function List({ query, from, to }: PatternsProps) {
  // On whole minutes, so that drawing again does not ask again.
  const rounded = (at: number): number => Math.ceil(at / roundSeconds) * roundSeconds;
  const { value, error } = useData<Found>('//loki/api/v1/patterns', {
    query: { query, start: rounded(from), end: rounded(to) },
  });
  if (value === undefined) {
    return <Awaited error={error} lines={3} />;
  }
  const counted = value.data
    .map(({ pattern, samples }) => ({
      pattern,
      lines: samples.reduce((sum, [, number]) => sum + number, 0),
    }))
    .toSorted((a, b) => b.lines - a.lines);
  return counted.length === 0 ? (
    <p class="soft">{text.noPatterns}</p>
  ) : (
    <ul>
      {counted.slice(0, most).map(({ pattern, lines }) => (
        <li key={pattern}>
          <b>{lines.toLocaleString()}</b>
          <a class="mono" href={address(['logs'], { q: withPattern(query, pattern) })}>
            {pattern}
          </a>
        </li>
      ))}
    </ul>
  );
}
