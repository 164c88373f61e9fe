import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { ApiError } from '../client/api.ts';
import { goTo } from '../browser/location.ts';
import { table as text } from '../text/english/kit.ts';
import { count } from '../text/words.ts';
import { Button, Refused, Skeleton } from './parts.tsx';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Figures stand to the right. */
  readonly numeric?: boolean;
  /** CSS width; columns without one share what is left. */
  readonly width?: string;
  /** Left out where the page is narrow: 1 goes first. */
  readonly rank?: 1 | 2;
}

interface TableProps<T> {
  /** Label of the rows for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** Rows; undefined while loading, which shows skeletons. */
  readonly rows: readonly T[] | undefined;
  /** Request for the rows: its error is shown above the rows known before. */
  readonly asked?: { readonly error: ApiError | undefined; readonly reload: () => void };
  readonly keyOf: (row: T) => string | number;
  /** The page of a row: the whole row leads there, and Enter does. */
  readonly hrefOf?: (row: T) => string;
  readonly onPick?: (row: T) => void;
  readonly isPicked?: (row: T) => boolean;
  readonly empty: ComponentChildren;
  readonly total?: number;
  readonly more?: () => void;
}

const rowHeight = 32;
/** Longer tables draw only the rows that are in sight, and some around them. */
const mostDrawn = 120;
const around = 20;
/** Distance below the window, in pixels, at which the next page is fetched. */
const ahead = 600;
const askAgainMs = 5_000;

export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, asked, empty, total, more } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const foot = useRef<HTMLElement>(null);
  const [from, to] = useSight(body, rows?.length ?? 0);
  useMoreInSight(foot, more, rows?.length ?? 0);
  const refused = asked?.error && <Refused error={asked.error} retry={asked.reload} />;
  if (rows === undefined) {
    return refused ?? <Skeleton lines={6} />;
  }
  if (rows.length === 0) {
    return (
      <>
        {refused}
        {empty}
      </>
    );
  }
  return (
    <>
      {refused}
      <div class="table">
        <table aria-label={label} aria-rowcount={total ?? rows.length}>
          <thead>
            <tr>
              {columns.map(({ head, numeric, width, rank }) => (
                <th
                  key={head}
                  scope="col"
                  class={classOf(numeric, rank)}
                  style={width === undefined ? undefined : { width }}
                >
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {from > 0 && <Gap rows={from} />}
            {rows.slice(from, to).map((row) => (
              <Row key={props.keyOf(row)} row={row} table={props} />
            ))}
            {to < rows.length && <Gap rows={rows.length - to} />}
          </tbody>
        </table>
        {(more || (total ?? 0) > rows.length) && (
          <footer class="soft" ref={foot}>
            {count(text.shown, rows.length)}{' '}
            {total !== undefined && `${text.of} ${total.toLocaleString()}`}{' '}
            {more && <Button onClick={more}>{text.more}</Button>}
          </footer>
        )}
      </div>
    </>
  );
}

function Row<T>({
  row,
  table: { columns, hrefOf, onPick, isPicked },
}: {
  readonly row: T;
  readonly table: TableProps<T>;
}) {
  const href = hrefOf?.(row);
  const open = href === undefined ? onPick && (() => onPick(row)) : () => goTo(href);
  const click = (event: TargetedMouseEvent<HTMLTableRowElement>): void => {
    // What can be clicked inside a row stays what it is, and so does a text that was just selected.
    if (
      !(event.target as Element).closest('a,button,input,select,label') &&
      String(getSelection()) === ''
    ) {
      open?.();
    }
  };
  return (
    <tr class={open && 'opens'} aria-selected={isPicked?.(row)} onClick={open && click}>
      {columns.map(({ head, cell, numeric, rank }, at) => (
        <td key={head} class={classOf(numeric, rank)}>
          {at === 0 && href !== undefined ? (
            <a class="rowlink" href={href}>
              {cell(row)}
            </a>
          ) : at === 0 && open ? (
            <button type="button" class="rowlink" onClick={open}>
              {cell(row)}
            </button>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

/** Spacer row. A single cell: a wider one would reserve space for hidden columns. */
const Gap = ({ rows }: { readonly rows: number }) => (
  <tr aria-hidden="true">
    <td style={{ height: `${rows * rowHeight}px`, padding: 0, border: 0 }} />
  </tr>
);

const classOf = (numeric: boolean | undefined, rank: 1 | 2 | undefined): string =>
  `${numeric ? 'num' : ''} ${rank === undefined ? '' : `rank-${rank}`}`.trim();

/** Fetches the next page before the user reaches the end of the list. */
function useMoreInSight(
  foot: { readonly current: HTMLElement | null },
  more: (() => void) | undefined,
  length: number,
): void {
  useEffect(() => {
    if (more === undefined || foot.current === null) {
      return undefined;
    }
    const scroller = document.querySelector('main')!;
    let asked = -Infinity;
    const look = (): void => {
      const isNear =
        (foot.current?.getBoundingClientRect().top ?? Infinity) <
        scroller.getBoundingClientRect().bottom + ahead;
      if (isNear && performance.now() - asked > askAgainMs) {
        asked = performance.now();
        more();
      }
    };
    scroller.addEventListener('scroll', look, { passive: true });
    return () => scroller.removeEventListener('scroll', look);
  }, [length, more === undefined]);
}

/** Which rows are to be drawn. */
function useSight(
  body: { readonly current: HTMLElement | null },
  length: number,
): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, mostDrawn]);
  useEffect(() => {
    if (length <= mostDrawn) {
      return undefined;
    }
    const scroller = document.querySelector('main')!;
    const look = (): void => {
      const top =
        scroller.getBoundingClientRect().top - (body.current?.getBoundingClientRect().top ?? 0);
      const first = Math.max(0, Math.floor(top / rowHeight) - around);
      const last = Math.min(
        length,
        first + Math.ceil(scroller.clientHeight / rowHeight) + 2 * around,
      );
      setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
    };
    look();
    scroller.addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      scroller.removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [length]);
  return length <= mostDrawn ? [0, length] : range;
}
