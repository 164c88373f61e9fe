import { useEffect, useState } from 'preact/hooks';

import type { ApiError } from '../../client/api.ts';
import { asApiError, useData } from '../../client/data.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { Awaited } from '../../kit/parts.tsx';
import { type Line, linesOf } from './line.ts';
import { LineTime } from './line-time.tsx';

const around = 10;
const reachNs = 3_600_000_000_000n;
/** Lines of one nanosecond. */
const mostAtOnce = 100;

/** The lines of the same source right before and after one, in the order in which they came. */
export function Context({
  line,
  query,
}: {
  readonly line: Line;
  /** Query that found it. */
  readonly query: string;
}) {
  const names = useData<{ readonly data: readonly string[] }>('/logs/labels');
  const [lines, setLines] = useState<readonly Line[]>();
  const [error, setError] = useState<ApiError>();
  const known = names.value?.data;
  useEffect(() => {
    const own = new AbortController();
    if (known !== undefined) {
      void read(line, query, known, own.signal).then(
        setLines,
        (refused: unknown) => own.signal.aborted || setError(asApiError(refused)),
      );
    }
    return () => own.abort();
  }, [known?.join(' '), line.at]);
  return lines === undefined ? (
    <Awaited error={error ?? names.error} lines={3} />
  ) : (
    <ol class="log context" aria-label={text.contextLines}>
      {lines.map((one, index) => (
        <li
          key={`${one.at} ${index}`}
          class="log-line"
          aria-current={one.at === line.at && one.text === line.text ? 'true' : undefined}
        >
          <LineTime line={one} /> <span class="log-text">{one.text}</span>
        </li>
      ))}
    </ol>
  );
}

const selector = /^\s*(\{(?:"(?:\\[^]|[^"\\])*"|`[^`]*`|[^}"`])*\})/;

/**
 * Returns the selector of the stream that a line came in: it is asked for again without what the
 * query has read from its text, which may have the name of a label.
 */
async function sourceOf(
  line: Line,
  query: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const plain = await linesOf(
    {
      query: selector.exec(query)?.[1] ?? query,
      start: line.at,
      end: String(BigInt(line.at) + 1n),
      limit: mostAtOnce,
    },
    signal,
  );
  const { labels } = plain.find(({ text: same }) => same === line.text) ?? line;
  const matchers = Object.entries(labels)
    .filter(([name]) => names.includes(name))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${matchers.join(', ')}}`;
}

async function read(
  line: Line,
  found: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const at = BigInt(line.at);
  const query = await sourceOf(line, found, names, signal);
  const [after, before] = await Promise.all([
    linesOf(
      {
        query,
        start: String(at + 1n),
        end: String(at + reachNs),
        limit: around,
        direction: 'forward',
      },
      signal,
    ),
    // The end is not part of a range, and the line itself is to be.
    linesOf(
      { query, start: String(at - reachNs), end: String(at + 1n), limit: around + 1 },
      signal,
    ),
  ]);
  return [...after, ...before].toReversed();
}
