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
  /** Name by which the rows can be sorted; the first press puts the largest first where `numeric`. */
  readonly sort?: string;
}

/** Rows that are chosen for an action on all of them. */
export interface Choice<T> {
  readonly chosen: ReadonlySet<string | number>;
  readonly onChoose: (chosen: ReadonlySet<string | number>) => void;
  readonly nameOf: (row: T) => string;
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
  /** Column by which the rows are sorted, with `-` for the largest first. */
  readonly sorted?: string;
  readonly onSort?: (sort: string) => void;
  readonly choice?: Choice<T>;
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
              {props.choice && <ChooseAll rows={rows} table={props} choice={props.choice} />}
              {columns.map((column) => (
                <Heading key={column.head} column={column} table={props} />
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

function Heading<T>({
  column: { head, numeric, width, rank, sort },
  table: { sorted = '', onSort },
}: {
  readonly column: Column<T>;
  readonly table: TableProps<T>;
}) {
  const isSorted = sort !== undefined && sorted.replace('-', '') === sort;
  const isDown = sorted.startsWith('-');
  const turned = (isSorted ? !isDown : numeric) ? `-${sort}` : sort;
  return (
    <th
      scope="col"
      class={classOf(numeric, rank)}
      style={width === undefined ? undefined : { width }}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      {sort === undefined || onSort === undefined ? (
        head
      ) : (
        <button type="button" class="sort" onClick={() => onSort(turned!)}>
          {head}
          {isSorted && <span aria-hidden="true">{isDown ? ' ↓' : ' ↑'}</span>}
        </button>
      )}
    </th>
  );
}

function ChooseAll<T>({
  rows,
  table: { keyOf },
  choice: { chosen, onChoose },
}: {
  readonly rows: readonly T[];
  readonly table: TableProps<T>;
  readonly choice: Choice<T>;
}) {
  const keys = rows.map(keyOf);
  const isAll = keys.every((key) => chosen.has(key));
  return (
    <td class="choose">
      <input
        type="checkbox"
        aria-label={text.chooseAll}
        checked={isAll}
        onChange={() => onChoose(new Set(isAll ? [] : keys))}
      />
    </td>
  );
}

function Row<T>({
  row,
  table: { columns, hrefOf, onPick, isPicked, choice, keyOf },
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
      {choice && (
        <td class="choose">
          <input
            type="checkbox"
            aria-label={choice.nameOf(row)}
            checked={choice.chosen.has(keyOf(row))}
            onChange={() => choice.onChoose(toggled(choice.chosen, keyOf(row)))}
          />
        </td>
      )}
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

function toggled<K>(keys: ReadonlySet<K>, key: K): ReadonlySet<K> {
  const next = new Set(keys);
  return next.delete(key) ? next : next.add(key);
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
