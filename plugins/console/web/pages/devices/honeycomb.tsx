import { useEffect, useRef, useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import { Empty, Refused, Skeleton } from '../../kit/parts.tsx';

type State = 'ok' | 'warning' | 'critical' | 'offline';

interface Cell {
  readonly id: number;
  readonly name: string;
  readonly state: State;
}

const colours: Readonly<Record<State, string>> = {
  ok: '--ok',
  warning: '--warning',
  critical: '--critical',
  offline: '--muted',
};

/** One hexagon for each device that a search finds, drawn at once: there may be thousands. */
export function Honeycomb({ search }: { readonly search: string }) {
  const { value, error, reload } = useData<{
    readonly total: number;
    readonly cells: readonly Cell[];
  }>('/devices/cells', { query: { search }, kinds: ['devices', 'edges'], every: 15_000 });
  if (value === undefined) {
    return error ? <Refused error={error} retry={reload} /> : <Skeleton lines={8} />;
  }
  if (value.cells.length === 0) {
    return <Empty title={text.none} />;
  }
  const countOf = (state: State): number =>
    value.cells.filter((cell) => cell.state === state).length;
  const label = say(text.mapLabel, {
    total: value.total.toLocaleString(),
    critical: countOf('critical'),
    warning: countOf('warning'),
    offline: countOf('offline'),
  });
  return (
    <>
      <p class="soft">{label}</p>
      <Comb cells={value.cells} label={label} />
    </>
  );
}

interface Comb {
  readonly size: number;
  readonly perRow: number;
}

/** Larger hexagons for fewer devices. */
function combOf(width: number, count: number): Comb {
  const size = Math.max(7, Math.min(26, Math.sqrt((width * 420) / count) / 2));
  return { size, perRow: Math.max(1, Math.floor((width - size) / (size * Math.sqrt(3)))) };
}

const middleOf = ({ size, perRow }: Comb, at: number): readonly [x: number, y: number] => {
  const row = Math.floor(at / perRow);
  const across = size * Math.sqrt(3);
  return [((at % perRow) + 0.5 + (row % 2) / 2) * across, size + row * size * 1.5];
};

function Comb({ cells, label }: { readonly cells: readonly Cell[]; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, setPointed] = useState<Cell>();
  useEffect(() => {
    const measure = (): void => setWidth(canvas.current?.parentElement?.clientWidth ?? 0);
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  const comb = combOf(width, cells.length);
  const height = Math.ceil(cells.length / comb.perRow) * comb.size * 1.5 + comb.size;
  useEffect(() => {
    if (canvas.current !== null && width > 0) {
      draw(canvas.current, cells, comb, width, height);
    }
  }, [cells, width]);
  const cellAt = (event: MouseEvent): Cell | undefined => {
    const box = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.round((y - comb.size) / (comb.size * 1.5));
    const column = Math.round(x / (comb.size * Math.sqrt(3)) - 0.5 - (row % 2) / 2);
    return column < 0 || column >= comb.perRow ? undefined : cells[row * comb.perRow + column];
  };
  return (
    <div class="comb">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        style={{ width: `${width}px`, height: `${height}px` }}
        onMouseMove={(event) => setPointed(cellAt(event))}
        onMouseLeave={() => setPointed(undefined)}
        onClick={(event) => {
          const cell = cellAt(event);
          if (cell !== undefined) {
            goTo(address(['devices', cell.id]));
          }
        }}
      />
      <p class="soft" aria-hidden="true">
        {pointed === undefined ? '\u00a0' : `${pointed.name} · ${text[pointed.state]}`}
      </p>
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  cells: readonly Cell[],
  comb: Comb,
  width: number,
  height: number,
): void {
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext('2d')!;
  pen.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const inner = comb.size - Math.max(1, comb.size / 10);
  for (const state of Object.keys(colours) as State[]) {
    pen.beginPath();
    cells.forEach((cell, at) => {
      if (cell.state === state) {
        hexagon(pen, middleOf(comb, at), inner);
      }
    });
    const colour = resolved(style, colours[state]);
    pen.fillStyle = colour;
    pen.strokeStyle = colour;
    // An outline beside the filled ones: the state is told by more than colour.
    if (state === 'offline') {
      pen.stroke();
    } else {
      pen.fill();
    }
  }
}

function hexagon(
  pen: CanvasRenderingContext2D,
  [x, y]: readonly [number, number],
  size: number,
): void {
  for (let corner = 0; corner < 6; corner++) {
    const angle = (Math.PI / 3) * corner + Math.PI / 6;
    const [cx, cy] = [x + size * Math.cos(angle), y + size * Math.sin(angle)];
    if (corner === 0) {
      pen.moveTo(cx, cy);
    } else {
      pen.lineTo(cx, cy);
    }
  }
  pen.closePath();
}

/** A colour of the theme in effect; a canvas knows no `light-dark()`. */
function resolved(style: CSSStyleDeclaration, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color || style.color;
}
