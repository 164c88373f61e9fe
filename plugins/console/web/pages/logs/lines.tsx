import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { useNames } from '../../client/names.ts';
import { moment } from '../../text/format.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { Button, Empty, Refused, Skeleton } from '../../kit/parts.tsx';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';

export interface Line {
  /** Time in nanoseconds, as the store returns it: more digits than a number holds. */
  readonly at: string;
  readonly text: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Streams {
  readonly data: {
    readonly resultType: string;
    readonly result: readonly {
      readonly stream: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [string, string])[];
    }[];
  };
}

/** Width below which lines are wrapped: on a phone an unwrapped line shows little but its time. */
const narrow = '(max-width: 560px)';
const most = 500;
const mostFollowed = 2_000;
const followEveryMs = 1_500;

/** Lines of a LogQL query, newest first; following asks for what has come since the last one. */
export function LogLines({
  query,
  onError,
}: {
  readonly query: string;
  readonly onError?: (error: ApiError | undefined) => void;
}) {
  const [isFollowing, setFollowing] = useState(false);
  const [isWrapped, setWrapped] = useState(() => matchMedia(narrow).matches);
  const [picked, setPicked] = useState<string>();
  const { lines, error } = useLines(query, isFollowing, onError);
  const named = useNames(lines?.map(({ labels }) => labels) ?? []);
  return (
    <>
      <div class="filters">
        <SpanChoice />
        <Button
          icon={isFollowing ? 'pause' : 'play'}
          pressed={isFollowing}
          onClick={() => setFollowing(!isFollowing)}
        >
          {isFollowing ? text.stop : text.follow}
        </Button>
        <Button kind="quiet" pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
          {text.wrap}
        </Button>
      </div>
      {error ? (
        onError ? null : (
          <Refused error={error} />
        )
      ) : lines === undefined ? (
        <Skeleton lines={8} />
      ) : lines.length === 0 ? (
        <Empty title={text.none}>{text.noneNote}</Empty>
      ) : (
        <ol class={isWrapped ? 'log wrapped' : 'log'} aria-label={text.lines} tabIndex={0}>
          {lines.map((line, index) => {
            const id = `${line.at}-${lines.length - index}`;
            return (
              <LogLine
                key={id}
                line={line}
                labels={named(line.labels)}
                isPicked={picked === id}
                onPick={() => setPicked(picked === id ? undefined : id)}
              />
            );
          })}
        </ol>
      )}
    </>
  );
}

/** The newest lines of the chosen time, and while they are followed those that come after. */
function useLines(
  query: string,
  isFollowing: boolean,
  onError: ((error: ApiError | undefined) => void) | undefined,
) {
  const { window, bounds } = useSpan();
  const [lines, setLines] = useState<readonly Line[]>();
  const [error, setError] = useState<ApiError>();
  const newest = useRef('0');
  const key = JSON.stringify([query, window]);
  useEffect(() => {
    const own = new AbortController();
    setError(undefined);
    onError?.(undefined);
    setLines(undefined);
    const { from, to } = bounds();
    ask(query, `${from}000000000`, `${to}999999999`, most, own.signal).then(
      (found) => {
        newest.current = found[0]?.at ?? `${from}000000000`;
        setLines(found);
      },
      (refused: unknown) => {
        if (!own.signal.aborted) {
          setError(asApiError(refused));
          onError?.(asApiError(refused));
        }
      },
    );
    return () => own.abort();
  }, [key]);
  useEffect(() => {
    if (!isFollowing) {
      return undefined;
    }
    const own = new AbortController();
    const look = async (): Promise<void> => {
      const later = String(BigInt(newest.current) + 1n);
      const found = await ask(
        query,
        later,
        `${Math.ceil(Date.now() / 1000)}000000000`,
        most,
        own.signal,
      ).catch(() => []);
      if (found.length > 0 && !own.signal.aborted) {
        newest.current = found[0]!.at;
        setLines((before) => [...found, ...(before ?? [])].slice(0, mostFollowed));
      }
    };
    const timer = setInterval(() => void look(), followEveryMs);
    return () => {
      own.abort();
      clearInterval(timer);
    };
  }, [isFollowing, key]);
  return { lines, error };
}

const levels: Readonly<Record<string, string>> = {
  error: 'critical',
  critical: 'critical',
  fatal: 'critical',
  warn: 'warning',
  warning: 'warning',
  debug: 'muted',
  trace: 'muted',
};

function LogLine({
  line,
  labels,
  isPicked,
  onPick,
}: {
  readonly line: Line;
  /** Labels with the name of the device. */
  readonly labels: Line['labels'];
  readonly isPicked: boolean;
  readonly onPick: () => void;
}) {
  const at = Number(BigInt(line.at) / 1_000_000n);
  const level = line.labels['detected_level'] ?? line.labels['level'] ?? '';
  return (
    <li class={`log-line level-${levels[level] ?? 'info'}`}>
      <button type="button" aria-expanded={isPicked} onClick={onPick}>
        <time dateTime={new Date(at).toISOString()}>
          {moment(at, Date.now())}.{String(at % 1000).padStart(3, '0')}
        </time>
        <span class="log-text">{shortened(line.text)}</span>
      </button>
      {isPicked && (
        <div class="log-more">
          <pre>{pretty(line.text)}</pre>
          <p class="soft">
            {Object.entries(labels)
              .map(([name, value]) => `${name}="${value}"`)
              .join('  ')}
          </p>
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
    // As in pretty.
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

async function ask(
  query: string,
  start: string,
  end: string,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Line[]> {
  const { data } = await api.get<Streams>(
    '/logs/query_range',
    { query, start, end, limit, direction: 'backward' },
    signal,
  );
  if (data.resultType !== 'streams') {
    return [];
  }
  const lines = data.result.flatMap(({ stream, values }) =>
    values.map(([at, line]) => ({ at, text: line, labels: stream })),
  );
  return lines
    .toSorted((a, b) =>
      a.at.length === b.at.length ? (a.at < b.at ? 1 : -1) : b.at.length - a.at.length,
    )
    .slice(0, limit);
}
