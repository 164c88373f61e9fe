import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/logs.css' with { type: 'text' };
import type { ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { useNames } from '../../client/names.ts';
import { useParam } from '../../browser/location.ts';
import { logLines as text } from '../../text/english/watch/logs.ts';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { Button, Empty, Refused, Skeleton } from '../../kit/parts.tsx';
import { Fields } from './fields.tsx';
import { isOfLines } from './filters.ts';
import { fieldsIn, type Line, linesOf, millisOf } from './line.ts';
import { LogLine } from './log-line.tsx';
import { Patterns } from './patterns.tsx';
import { Volume } from './volume.tsx';

wear(rules);

/** Width below which lines are wrapped: on a phone an unwrapped line shows little but its time. */
const narrow = '(max-width: 560px)';
const most = 500;
const mostFollowed = 2_000;
const followEveryMs = 1_500;

interface LogLinesProps {
  readonly query: string;
  readonly onError?: (error: ApiError | undefined) => void;
}

/** Lines of a LogQL query, newest first, under how many came when; following asks for what has come since the last one. */
export function LogLines({ query, onError }: LogLinesProps) {
  const [isFollowing, setFollowing] = useState(false);
  const [isWrapped, setWrapped] = useState(() => matchMedia(narrow).matches);
  const [columnText, setColumns] = useParam('columns');
  const { window, bounds, zoom } = useSpan();
  const { lines, error } = useLines(query, isFollowing, onError);
  const columns = columnText.split(',').filter((name) => name !== '');
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
        {lines !== undefined && lines.length > 0 && (
          <Button kind="quiet" onClick={() => save(lines)}>
            {text.download}
          </Button>
        )}
      </div>
      {isOfLines(query) && error === undefined && (
        <>
          <Volume query={query} window={window} onRange={zoom} />
          <Patterns query={query} {...bounds()} />
        </>
      )}
      {error ? (
        onError ? null : (
          <Refused error={error} />
        )
      ) : lines === undefined ? (
        <Skeleton lines={8} />
      ) : lines.length === 0 ? (
        <Empty title={text.none}>{text.noneNote}</Empty>
      ) : (
        <div class="log-parts">
          <Fields
            lines={lines}
            query={query}
            columns={columns}
            onColumns={(next) => setColumns(next.join(','))}
          />
          <List lines={lines} query={query} columns={columns} isWrapped={isWrapped} />
        </div>
      )}
    </>
  );
}

interface ListProps {
  readonly lines: readonly Line[];
  readonly query: string;
  readonly columns: readonly string[];
  readonly isWrapped: boolean;
}

function List({ lines, query, columns, isWrapped }: ListProps) {
  const [picked, setPicked] = useState<string>();
  const named = useNames(lines.map(({ labels }) => labels));
  const fields = useMemo(
    () => (columns.length === 0 ? [] : lines.map(fieldsIn)),
    [lines, columns.join()],
  );
  return (
    <ol class={isWrapped ? 'log wrapped' : 'log'} aria-label={text.lines} tabIndex={0}>
      {lines.map((line, index) => {
        const id = `${line.at}-${lines.length - index}`;
        return (
          <LogLine
            key={id}
            line={line}
            query={query}
            labels={named(line.labels)}
            fields={fields[index] ?? {}}
            columns={columns}
            isPicked={picked === id}
            onPick={() => setPicked(picked === id ? undefined : id)}
          />
        );
      })}
    </ol>
  );
}

/** Saves the lines that are shown as a file, oldest first. */
function save(lines: readonly Line[]): void {
  const rows = lines
    .map((line) => `${new Date(millisOf(line)).toISOString()} ${line.text}`)
    .toReversed();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${rows.join('\n')}\n`], { type: 'text/plain' }));
  link.download = 'lines.log';
  link.click();
  URL.revokeObjectURL(link.href);
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
    const asked = { query, start: `${from}000000000`, end: `${to}999999999`, limit: most };
    linesOf(asked, own.signal).then(
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
      const end = `${Math.ceil(Date.now() / 1000)}000000000`;
      const found = await linesOf({ query, start: later, end, limit: most }, own.signal).catch(
        () => [],
      );
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
