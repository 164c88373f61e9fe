import { useEffect, useRef, useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { address, goTo, useParam } from '../../browser/location.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import { figure } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { Typed } from '../../kit/form.tsx';
import { Empty, Refused, Skeleton } from '../../kit/parts.tsx';

type State = 'ok' | 'warning' | 'critical' | 'offline';

interface Cell {
  readonly id: number;
  readonly name: string;
  readonly state: State;
  /** Value of the metric that was asked for; null where the device has none. */
  readonly value?: number | null;
}

const colours: Readonly<Record<State, string>> = {
  ok: '--ok',
  warning: '--warning',
  critical: '--critical',
  offline: '--muted',
};

/** Figures to color by; what is no share of a whole has its own scale. */
const figures = ['cpu', 'memory', 'disk', 'load', 'swap', 'uptime'] as const;
const shares: readonly string[] = ['cpu', 'memory', 'disk', 'swap'];

/** One hexagon for each device that a search finds, by its state or by a metric, drawn at once: there may be thousands. */
export function Honeycomb({ search }: { readonly search: string }) {
  const [figureName, setFigure] = useParam('color');
  const isMetric = /^[A-Za-z_:][\w:]*$/.test(figureName);
  const { value, error, reload } = useData<{
    readonly total: number;
    readonly cells: readonly Cell[];
  }>('/devices/cells', {
    query: { search, ...(isMetric && { figure: figureName }) },
    kinds: ['devices', 'edges'],
    every: 15_000,
  });
  return (
    <>
      <div class="filters">
        <label>
          {text.coloured}{' '}
          <select
            value={figures.some((one) => one === figureName) ? figureName : ''}
            onChange={(event) => setFigure(event.currentTarget.value)}
          >
            <option value="">{text.state}</option>
            {figures.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <Typed
          type="search"
          aria-label={text.otherMetric}
          placeholder={text.otherMetric}
          value={figures.some((one) => one === figureName) ? '' : figureName}
          onChoose={(next) => setFigure(next.trim())}
        />
      </div>
      {error && value === undefined ? (
        <Refused error={error} retry={reload} />
      ) : value === undefined ? (
        <Skeleton lines={8} />
      ) : value.cells.length === 0 ? (
        <Empty title={text.none} />
      ) : isMetric ? (
        <ByFigure cells={value.cells} total={value.total} name={figureName} />
      ) : (
        <ByState cells={value.cells} total={value.total} />
      )}
    </>
  );
}

interface CellsProps {
  readonly cells: readonly Cell[];
  readonly total: number;
}

function ByState({ cells, total }: CellsProps) {
  const countOf = (state: State): number => cells.filter((cell) => cell.state === state).length;
  const label = say(text.mapLabel, {
    total: total.toLocaleString(),
    critical: countOf('critical'),
    warning: countOf('warning'),
    offline: countOf('offline'),
  });
  return (
    <>
      <p class="soft">{label}</p>
      <Comb
        cells={cells}
        label={label}
        inkOf={({ state }) => ({ ink: `var(${colours[state]})`, isOutline: state === 'offline' })}
        told={({ state }) => text[state]}
      />
    </>
  );
}

/** Steps of a colour from the lowest to the highest value. */
const shades = [16, 33, 50, 67, 84, 100].map(
  (share) => `color-mix(in oklab, var(--series-2) ${share}%, var(--front))`,
);

/** The map by the value of a metric: the higher, the stronger the colour; what has none is an outline. */
function ByFigure({ cells, total, name }: CellsProps & { readonly name: string }) {
  const values = cells.flatMap(({ value }) => value ?? []);
  if (values.length === 0) {
    return <Empty title={say(text.noFigure, { metric: name })} />;
  }
  const isShare = shares.includes(name);
  const unit = isShare ? 'percent' : name === 'uptime' ? 'seconds' : 'count';
  // A loop: there may be more values than a function takes arguments.
  const [least, most] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  const [bottom, top] = isShare ? [0, 100] : [Math.min(0, least), most];
  const shadeOf = (value: number): string =>
    shades[
      Math.max(
        0,
        Math.min(
          shades.length - 1,
          Math.floor(((value - bottom) / (top - bottom || 1)) * shades.length),
        ),
      )
    ]!;
  const label = say(text.figureLabel, {
    total: total.toLocaleString(),
    metric: name,
    least: figure(least, unit),
    most: figure(most, unit),
    unknown: (cells.length - values.length).toLocaleString(),
  });
  return (
    <>
      <p class="soft">
        {label}{' '}
        <span class="scale" aria-hidden="true">
          {figure(bottom, unit)}
          <i style={{ background: `linear-gradient(to right, ${shades.join(', ')})` }} />
          {figure(top, unit)}
        </span>
      </p>
      <Comb
        cells={cells}
        label={label}
        inkOf={({ value }) =>
          value === null || value === undefined
            ? { ink: 'var(--muted)', isOutline: true }
            : { ink: shadeOf(value), isOutline: false }
        }
        told={({ value }) =>
          value === null || value === undefined ? text.unmeasured : figure(value, unit)
        }
      />
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

interface Ink {
  /** A colour as CSS. */
  readonly ink: string;
  readonly isOutline: boolean;
}

interface CombProps {
  readonly cells: readonly Cell[];
  readonly label: string;
  readonly inkOf: (cell: Cell) => Ink;
  /** Returns the words beside the name of a cell. */
  readonly told: (cell: Cell) => string;
}

function Comb({ cells, label, inkOf, told }: CombProps) {
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
      draw(canvas.current, cells.map(inkOf), comb, width, height);
    }
  }, [cells, width, label]);
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
        {pointed === undefined ? '\u00a0' : `${pointed.name} · ${told(pointed)}`}
      </p>
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  inks: readonly Ink[],
  comb: Comb,
  width: number,
  height: number,
): void {
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext('2d')!;
  pen.scale(scale, scale);
  const inner = comb.size - Math.max(1, comb.size / 10);
  const places = new Map<string, number[]>();
  inks.forEach(({ ink, isOutline }, at) => {
    const alike = `${isOutline} ${ink}`;
    const cells = places.get(alike) ?? [];
    cells.push(at);
    places.set(alike, cells);
  });
  for (const cells of places.values()) {
    const { ink, isOutline } = inks[cells[0]!]!;
    pen.beginPath();
    cells.forEach((at) => hexagon(pen, middleOf(comb, at), inner));
    const colour = resolved(canvas, ink);
    pen.fillStyle = colour;
    pen.strokeStyle = colour;
    // An outline beside the filled ones: what is told is told by more than colour.
    if (isOutline) {
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
function resolved(canvas: HTMLCanvasElement, ink: string): string {
  const probe = document.createElement('span');
  probe.style.color = ink;
  canvas.parentElement!.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
