import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { topology as text } from '../../text/english/watch/topology.ts';
import { Button } from '../../kit/parts.tsx';

const sizes = [0.5, 0.7, 1, 1.4, 2] as const;
const usual = sizes.indexOf(1);

interface ZoomedProps {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  /** Place that is in sight first, where the page is narrower than the drawing. */
  readonly towards?: { readonly x: number; readonly y: number };
  readonly children: ComponentChildren;
}

/** A drawing that is scrolled and made larger or smaller. */
export function Zoomed({ label, width, height, towards, children }: ZoomedProps) {
  const [at, setAt] = useState(usual);
  const map = useRef<HTMLDivElement>(null);
  const { x, y } = towards ?? { x: width / 2, y: 0 };
  const size = sizes[at]!;
  useLayoutEffect(
    () =>
      map.current!.scrollTo(
        x * size - map.current!.clientWidth / 2,
        y * size - map.current!.clientHeight / 2,
      ),
    [x, y, size],
  );
  return (
    <div class="zoomed">
      <div class="map-tools">
        <Button kind="quiet" label={text.smaller} disabled={at === 0} onClick={() => setAt(at - 1)}>
          −
        </Button>
        <Button
          kind="quiet"
          label={text.larger}
          disabled={at === sizes.length - 1}
          onClick={() => setAt(at + 1)}
        >
          +
        </Button>
      </div>
      <div class="map" ref={map} tabIndex={0} role="region" aria-label={label}>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width * size}
          height={height * size}
          role="img"
          aria-label={label}
        >
          {children}
        </svg>
      </div>
    </div>
  );
}
