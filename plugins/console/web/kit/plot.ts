import uPlot from 'uplot';

import { fullMoment, figure, type Unit } from '../text/format.ts';

/** One line of a chart; times are those of the chart, in seconds. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface Plotted {
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

export interface PlotOptions {
  readonly unit: Unit;
  readonly height: number;
  /** Min height of the value axis, so that noise around zero does not look like a storm. */
  readonly top?: number;
  /** Instants worth seeing, such as the beginning of an incident. */
  readonly marks?: readonly { readonly at: number; readonly tone: string }[];
  readonly onPoint: (index: number | null) => void;
  readonly onRange?: (from: number, to: number) => void;
  /** Charts of one key point at the same instant. */
  readonly sync?: string;
}

const colours = 7;
const powersOfTwo = Array.from({ length: 60 }, (_, power) => 2 ** power);
const daySeconds = 86_400;

/** Drawn by canvas; the colours are those of the page, read again whenever the theme changes. */
export class Plot {
  readonly #element: HTMLElement;
  readonly #options: PlotOptions;
  #plot: uPlot | undefined;
  #names = '';
  readonly #resize = new ResizeObserver(() => this.#fit());

  constructor(element: HTMLElement, options: PlotOptions) {
    this.#element = element;
    this.#options = options;
    this.#resize.observe(element);
  }

  draw({ times, lines }: Plotted, window: readonly [number, number]): void {
    const data = [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    const names = lines.map(({ name }) => name).join('\n');
    if (this.#plot && names === this.#names) {
      this.#plot.setData(data, false);
    } else {
      this.#plot?.destroy();
      this.#names = names;
      this.#plot = new uPlot(this.#describe(lines), data, this.#element);
    }
    this.#plot.setScale('x', { min: window[0], max: window[1] });
  }

  close(): void {
    this.#resize.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  #fit(): void {
    this.#plot?.setSize({ width: this.#element.clientWidth, height: this.#options.height });
  }

  #describe(lines: readonly Line[]): uPlot.Options {
    const { unit, height, top, onPoint, onRange, sync } = this.#options;
    const colour = (name: string): string => this.#colour(name);
    const axis = {
      stroke: colour('--faint'),
      font: '11px system-ui',
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
    };
    return {
      width: this.#element.clientWidth,
      height,
      legend: { show: false },
      // The last time is written half beyond the end.
      padding: [8, 18, 0, 0],
      cursor: {
        y: false,
        points: { size: 5 },
        ...(sync !== undefined && { sync: { key: sync } }),
        drag: { x: onRange !== undefined, y: false, setScale: false },
      },
      scales: {
        x: { time: true, auto: false },
        y: { range: (_plot, low, high) => rangeOf(low, high, top) },
      },
      axes: [
        {
          ...axis,
          size: 24,
          gap: 4,
          values: (_plot, ticks, _axis, _space, step) =>
            ticks.map((tick) => tickOf(tick * 1000, step)),
        },
        {
          ...axis,
          size: 64,
          gap: 4,
          ...(unit.startsWith('bytes') && { incrs: powersOfTwo }),
          values: (_plot, ticks) => ticks.map((tick) => figure(tick, unit)),
        },
      ],
      series: [
        {},
        ...lines.map(({ name }, at) => ({
          label: name,
          stroke: colour(`--series-${(at % colours) + 1}`),
          width: 1.5,
          ...(at >= colours && { dash: at >= 2 * colours ? [2, 3] : [6, 3] }),
          points: { show: false },
        })),
      ],
      hooks: {
        setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)],
        setSelect: [
          (plot) => {
            if (plot.select.width > 4) {
              onRange?.(
                plot.posToVal(plot.select.left, 'x'),
                plot.posToVal(plot.select.left + plot.select.width, 'x'),
              );
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            }
          },
        ],
        draw: [(plot) => this.#marks(plot)],
      },
    };
  }

  #marks(plot: uPlot): void {
    for (const { at, tone } of this.#options.marks ?? []) {
      const left = Math.round(plot.valToPos(at, 'x', true));
      if (left >= plot.bbox.left && left <= plot.bbox.left + plot.bbox.width) {
        plot.ctx.fillStyle = this.#colour(tone);
        plot.ctx.globalAlpha = 0.7;
        plot.ctx.fillRect(left, plot.bbox.top, devicePixelRatio, plot.bbox.height);
        plot.ctx.fillRect(
          left - 2 * devicePixelRatio,
          plot.bbox.top,
          5 * devicePixelRatio,
          3 * devicePixelRatio,
        );
        plot.ctx.globalAlpha = 1;
      }
    }
  }

  /** A property that follows the theme has to be computed by somebody who wears it. */
  #colour(name: string): string {
    this.#element.style.color = `var(${name})`;
    const { color } = getComputedStyle(this.#element);
    this.#element.style.color = '';
    return color;
  }
}

const hour = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { day: '2-digit', month: 'short' });

/** Formats a tick in the user's time zone; as a date if the step is a day or more. */
const tickOf = (at: number, step: number): string =>
  (step >= daySeconds ? day : hour).format(new Date(at));

function rangeOf(
  low: number | null,
  high: number | null,
  top: number | undefined,
): [number, number] {
  const most = Math.max(high ?? 0, top ?? 0);
  const least = Math.min(low ?? 0, 0);
  return most === least
    ? [least, least + 1]
    : [least, top !== undefined && most === top ? top : most + (most - least) * 0.08];
}

/** Returns the description of a chart for screen readers. */
export function summary(title: string, { times, lines }: Plotted, unit: Unit): string {
  const last = lines
    .slice(0, 8)
    .map(
      ({ name, values }) =>
        `${name} ${figure(values.findLast((value) => value !== null) ?? null, unit)}`,
    );
  const span =
    times.length < 2
      ? ''
      : ` ${fullMoment(times[0]! * 1000)} – ${fullMoment(times.at(-1)! * 1000)}.`;
  return `${title}.${span} ${last.join(', ')}`;
}
