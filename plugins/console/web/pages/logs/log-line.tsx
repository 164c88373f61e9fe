import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { address } from '../../browser/location.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { say } from '../../text/words.ts';
import { Button } from '../../kit/parts.tsx';
import { Context } from './context.tsx';
import { withLabel } from './filters.ts';
import { levelOf, type Line, toneOf } from './line.ts';
import { LineTime } from './line-time.tsx';

interface LogLineProps {
  readonly line: Line;
  /** Query that found it. */
  readonly query: string;
  /** Labels with the name of the device. */
  readonly labels: Line['labels'];
  /** Labels and fields that stand before each line. */
  readonly columns: readonly string[];
  readonly fields: Line['labels'];
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

/** A line with its time and columns; picked, with everything that is known of it. */
export function LogLine({ line, query, labels, columns, fields, isPicked, onPick }: LogLineProps) {
  const [isInContext, setInContext] = useState(false);
  return (
    <li class={`log-line level-${toneOf(levelOf(line))}`}>
      <button type="button" aria-expanded={isPicked} onClick={onPick}>
        <LineTime line={line} />
        {columns.map((name) => (
          <span key={name} class="log-column cut" title={name}>
            {labels[name] ?? fields[name] ?? ''}
          </span>
        ))}
        <span class="log-text">{shortened(line.text)}</span>
      </button>
      {isPicked && (
        <div class="log-more">
          <pre>{pretty(line.text)}</pre>
          <ul class="log-labels">
            {Object.entries(line.labels).map(([name, value]) => (
              <li key={name}>
                <a
                  href={address(['logs'], { q: withLabel(query, name, value) })}
                  title={say(text.filter, { name })}
                >{`${name}="${name === 'device_id' ? (labels['device'] ?? labels['host'] ?? value) : value}"`}</a>
              </li>
            ))}
          </ul>
          <Button pressed={isInContext} onClick={() => setInContext(!isInContext)}>
            {text.context}
          </Button>
          {isInContext && <Context line={line} query={query} />}
        </div>
      )}
    </li>
  );
}

/** Shortens a line: of JSON the message first, then the rest as pairs; any other line unchanged. */
function shortened(line: string): ComponentChildren {
  if (!line.startsWith('{') || line.length > 20_000) {
    return line;
  }
  try {
    const {
      message,
      msg,
      level: _level,
      time: _time,
      ...rest
    } = JSON.parse(line) as Record<string, unknown>;
    const said = message ?? msg;
    if (typeof said !== 'string') {
      return line;
    }
    const pairs = Object.entries(rest).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    return (
      <>
        {said} <span class="soft">{pairs.join(' ')}</span>
      </>
    );
  } catch {
    // Most lines that look like JSON and are none were cut.
    return line;
  }
}

function pretty(line: string): string {
  try {
    return line.startsWith('{') ? JSON.stringify(JSON.parse(line), null, 2) : line;
  } catch {
    // Most lines that look like JSON and are none were cut.
    return line;
  }
}
