import { useMemo } from 'preact/hooks';

import { useParam } from '../browser/location.ts';
import { span as text } from '../text/english/kit.ts';
import type { Window } from './matrix.ts';
import { Button } from './parts.tsx';
import { Segments } from './form.tsx';
import { moment } from '../text/format.ts';

const lengths = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800 } as const;
type Length = keyof typeof lengths;

export interface Span {
  readonly window: Window;
  /** Returns the bounds at this moment, in seconds. */
  readonly bounds: () => { readonly from: number; readonly to: number };
  /** Looks at a part of it, as a mouse has drawn it. */
  readonly zoom: (from: number, to: number) => void;
}

/** The span of time that a page looks at; it stands in the address. */
export function useSpan(otherwise: Length = '1h'): Span {
  const [at, setAt] = useParam('at', otherwise);
  const window = useMemo<Window>(() => {
    const [, from, to] = /^(\d{9,11})-(\d{9,11})$/.exec(at) ?? [];
    if (from !== undefined && Number(to) > Number(from)) {
      return { from: Number(from), to: Number(to) };
    }
    return { last: lengths[at as Length] ?? lengths[otherwise] };
  }, [at, otherwise]);
  return {
    window,
    bounds: () =>
      'last' in window
        ? { from: Math.floor(Date.now() / 1000) - window.last, to: Math.floor(Date.now() / 1000) }
        : window,
    zoom: (from, to) =>
      setAt(`${Math.floor(from)}-${Math.max(Math.floor(from) + 60, Math.ceil(to))}`),
  };
}

/** Chooses that span. */
export function SpanChoice({ otherwise = '1h' }: { readonly otherwise?: Length }) {
  const [at, setAt] = useParam('at', otherwise);
  const [, from, to] = /^(\d{9,11})-(\d{9,11})$/.exec(at) ?? [];
  if (from !== undefined) {
    return (
      <span class="status">
        <span class="soft">
          {moment(Number(from) * 1000, Date.now())} – {moment(Number(to) * 1000, Date.now())}
        </span>
        <Button onClick={() => setAt(otherwise)}>{text.back}</Button>
      </span>
    );
  }
  const value = at in lengths ? (at as Length) : otherwise;
  return (
    <Segments
      label={text.label}
      value={value}
      options={(Object.keys(lengths) as Length[]).map((length) => [length, length])}
      onChange={setAt}
    />
  );
}
