import { useMemo, useState } from 'preact/hooks';

import { useParam } from '../../browser/location.ts';
import { askAgain } from '../../client/live.ts';
import { span as text } from '../../text/english/kit.ts';
import type { Window } from './matrix.ts';
import { Dialog } from '../dialog.tsx';
import { Form, Segments, TextField } from '../form.tsx';
import { Button } from '../parts.tsx';
import { moment } from '../../text/format.ts';

const usual = '1h';
const offered = ['15m', usual, '6h', '24h', '7d'] as const;
const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 };
const longestSeconds = 400 * 86_400;
/** Seconds between two refreshes; those that are not here are by the step of a chart. */
const paces: Readonly<Record<string, number>> = { off: 0, '10s': 10, '1m': 60, '5m': 300 };

export interface Span {
  readonly window: Window;
  /** Returns the bounds at this moment, in seconds. */
  readonly bounds: () => { readonly from: number; readonly to: number };
  /** Looks at a part of it, as a mouse has drawn it. */
  readonly zoom: (from: number, to: number) => void;
  /** Time between two refreshes in milliseconds, given the usual one; undefined for none. */
  readonly every: (usualMs: number) => number | undefined;
}

/** The span of time that a page looks at; it stands in the address, and goes along to other pages. */
export function useSpan(): Span {
  const [at, setAt] = useParam('at', usual);
  const [refresh] = useParam('refresh');
  const window = useMemo<Window>(() => {
    const fixed = fixedIn(at);
    const pace = paces[refresh];
    return (
      fixed ?? {
        last: lengthIn(at) ?? lengthIn(usual)!,
        ...(pace !== undefined && { every: pace }),
      }
    );
  }, [at, refresh]);
  return {
    window,
    bounds: () =>
      'last' in window
        ? { from: Math.floor(Date.now() / 1000) - window.last, to: Math.floor(Date.now() / 1000) }
        : window,
    zoom: (from, to) => setAt(fixedAt(from, to)),
    every: (usualMs) =>
      'last' in window && window.every !== 0
        ? window.every === undefined
          ? usualMs
          : window.every * 1_000
        : undefined,
  };
}

/** Chooses that span, and how often it is refreshed. */
export function SpanChoice() {
  const [at, setAt] = useParam('at', usual);
  const [refresh, setRefresh] = useParam('refresh');
  const [isFree, setFree] = useState(false);
  const fixed = fixedIn(at);
  const length = lengthIn(at) === undefined ? usual : at;
  const lengths = offered.some((one) => one === length) ? offered : [...offered, length];
  return (
    <span class="span-choice">
      {fixed === undefined ? (
        <Segments
          label={text.label}
          value={length}
          options={lengths.map((one) => [one, one])}
          onChange={setAt}
        />
      ) : (
        <>
          <span class="soft">
            {moment(fixed.from * 1000, Date.now())} – {moment(fixed.to * 1000, Date.now())}
          </span>
          <Button onClick={() => setAt(usual)}>{text.back}</Button>
        </>
      )}
      <Button kind="quiet" label={text.free} onClick={() => setFree(true)}>
        …
      </Button>
      {fixed === undefined && (
        <select
          aria-label={text.refresh}
          title={text.refresh}
          value={refresh in paces ? refresh : ''}
          onChange={(event) => setRefresh(event.currentTarget.value)}
        >
          <option value="">{text.auto}</option>
          {Object.keys(paces).map((pace) => (
            <option key={pace} value={pace}>
              {pace === 'off' ? text.off : pace}
            </option>
          ))}
        </select>
      )}
      <Button kind="quiet" label={text.now} onClick={askAgain}>
        ↻
      </Button>
      {isFree && (
        <FreeRange
          first={fixed ?? endingNow(lengthIn(length)!)}
          onChoose={(next) => {
            setAt(next);
            setFree(false);
          }}
          onClose={() => setFree(false)}
        />
      )}
    </span>
  );
}

interface Fixed {
  readonly from: number;
  readonly to: number;
}

interface FreeRangeProps {
  readonly first: Fixed;
  readonly onChoose: (at: string) => void;
  readonly onClose: () => void;
}

/** Any range: a length that ends now, or two moments. */
function FreeRange({ first, onChoose, onClose }: FreeRangeProps) {
  const [length, setLength] = useState('');
  const [from, setFrom] = useState(localOf(first.from));
  const [to, setTo] = useState(localOf(first.to));
  const [start, end] = [Date.parse(from) / 1000, Date.parse(to) / 1000];
  const wrongLength = length !== '' && lengthIn(length) === undefined ? text.badLength : undefined;
  const wrongOrder = length === '' && !(end > start) ? text.badOrder : undefined;
  return (
    <Dialog title={text.label} onClose={onClose}>
      <Form
        submit={text.show}
        onSubmit={() => {
          onChoose(length === '' ? fixedAt(start, end) : length);
          return Promise.resolve();
        }}
        onCancel={onClose}
        disabled={wrongLength !== undefined || wrongOrder !== undefined}
      >
        <TextField
          label={text.last}
          hint={text.lastHint}
          value={length}
          onInput={(typed) => setLength(typed.trim())}
          error={wrongLength}
          list={['30m', '3h', '12h', '2d', '14d', '30d']}
          autoFocus
        />
        <TextField label={text.from} type="datetime-local" value={from} onInput={setFrom} />
        <TextField
          label={text.to}
          type="datetime-local"
          value={to}
          onInput={setTo}
          error={wrongOrder}
        />
      </Form>
    </Dialog>
  );
}

/** Returns the bounds that an address names. */
function fixedIn(at: string): Fixed | undefined {
  const [, from, to] = /^(\d{9,11})-(\d{9,11})$/.exec(at) ?? [];
  return from !== undefined && Number(to) > Number(from)
    ? { from: Number(from), to: Number(to) }
    : undefined;
}

const fixedAt = (from: number, to: number): string =>
  `${Math.floor(from)}-${Math.max(Math.floor(from) + 60, Math.ceil(to))}`;

/** Returns the seconds of a length such as `90m`; undefined for what is none. */
function lengthIn(at: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(at) ?? [];
  const seconds = Number(count) * (unitSeconds[unit ?? ''] ?? NaN);
  return seconds <= longestSeconds ? seconds : undefined;
}

function endingNow(seconds: number): Fixed {
  const to = Math.floor(Date.now() / 1000);
  return { from: to - seconds, to };
}

/** Returns a moment as the fields of a browser write it, in the time zone of the reader. */
function localOf(seconds: number): string {
  const at = new Date(seconds * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
