import uPlot from 'uplot';

import { fullMoment, figure, type Unit } from '../../text/format.ts';
import { type Axis, rangeOf, scaleOf } from './scale.ts';

/** One line of a chart; times are those of the chart, in seconds. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Labels of the series, as the store answers them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Difference of this line from the usual one. */
  readonly look?: Look;
}

/** Style of a line. */
export interface Look {
  readonly color?: string;
  /** Place of its colour among those of the page; by default that of the line. */
  readonly series?: number;
  readonly draw?: 'line' | 'bars' | 'points';
  /** Opacity of the area below the line. */
  readonly fill?: number;
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly steps?: boolean;
  readonly connect?: boolean;
  /** On an axis of its own, at the right. */
  readonly right?: boolean;
  /** Values as they are written, where they are drawn elsewhere: in a stack, or below zero. */
  readonly shown?: readonly (number | null)[];
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
  readonly marks?: readonly Mark[];
  /** Spans of time that stand out, such as those in which a rule would have fired. */
  readonly bands?: readonly Band[];
  readonly onPoint: (index: number | null) => void;
  readonly onRange?: (from: number, to: number) => void;
  /** Called for a click, with the moment that it is on and its place in the window. */
  readonly onMoment?: (at: number, event: MouseEvent) => void;
  /** Charts of one key point at the same instant. */
  readonly sync?: string;
  readonly axis?: Axis;
  /** Called with where values are drawn, whenever that has changed. */
  readonly onPlace?: (place: PlotPlace) => void;
}

/** A moment in seconds, in the colour of its tone. */
export interface Mark {
  readonly at: number;
  readonly tone: string;
  /** Event of that moment, in words. */
  readonly label?: string;
}

/** A span of time in seconds, in the colour of its tone. */
export interface Band {
  readonly from: number;
  readonly to: number;
  readonly tone: string;
}

/** Area in which the values of the left axis are drawn, in pixels of the chart. */
export interface PlotPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Values at the lower and at the upper edge. */
  readonly low: number;
  readonly high: number;
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
    const names = JSON.stringify(
      lines.map(({ name, look: { shown: _shown, ...look } = {} }) => [name, look]),
    );
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
    const { height, top, onPoint, onRange, sync, axis: wanted = {} } = this.#options;
    const hasRight = lines.some(({ look }) => look?.right === true);
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
        y: scaleOf(wanted, top),
        ...(hasRight && {
          right: { range: (_plot, low, high): [number, number] => rangeOf(low, high, undefined) },
        }),
      },
      axes: this.#axes(lines),
      series: [{}, ...lines.map((line, at) => this.#series(line, at))],
      hooks: {
        ready: [
          (plot) =>
            plot.over.addEventListener('click', (event) =>
              this.#options.onMoment?.(plot.posToVal(event.offsetX, 'x'), event),
            ),
        ],
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
        drawAxes: [(plot) => this.#bands(plot)],
        draw: [
          (plot) => this.#limits(plot),
          (plot) => this.#marks(plot),
          (plot) => this.#tellPlace(plot),
        ],
      },
    };
  }

  #axes(lines: readonly Line[]): uPlot.Axis[] {
    const { unit, axis: wanted = {} } = this.#options;
    const hasRight = lines.some(({ look }) => look?.right === true);
    const write = (value: number, right: boolean): string =>
      wanted.format?.(value, right) ?? figure(value, unit);
    const axis = {
      stroke: this.#colour('--faint'),
      font: '11px system-ui',
      grid: { stroke: this.#colour('--line'), width: 1 },
      ticks: { show: false },
    };
    return [
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
        ...((unit.startsWith('bytes') || wanted.binary) && { incrs: powersOfTwo }),
        ...(wanted.label !== undefined && { label: wanted.label, labelSize: 16 }),
        values: (_plot, ticks) => ticks.map((tick) => (tick === null ? '' : write(tick, false))),
      },
      ...(hasRight
        ? [
            {
              ...axis,
              scale: 'right',
              side: 1 as const,
              size: 64,
              gap: 4,
              grid: { show: false },
              values: (_plot: uPlot, ticks: number[]) => ticks.map((tick) => write(tick, true)),
            },
          ]
        : []),
    ];
  }

  #series({ name, look = {} }: Line, place: number): uPlot.Series {
    const at = look.series ?? place;
    const color = look.color ?? `--series-${(at % colours) + 1}`;
    const stroke = color.startsWith('--') ? this.#colour(color) : color;
    const dash =
      look.dash ??
      (at >= colours && look.color === undefined
        ? at >= 2 * colours
          ? [2, 3]
          : [6, 3]
        : undefined);
    const paths =
      look.draw === 'bars'
        ? uPlot.paths.bars?.({ size: [0.8, 40] })
        : look.steps === true
          ? uPlot.paths.stepped?.({ align: 1 })
          : undefined;
    return {
      label: name,
      stroke,
      width: look.draw === 'points' ? 0 : (look.width ?? 1.5),
      ...((look.fill ?? 0) > 0 && { fill: translucent(stroke, look.fill!) }),
      ...(dash && { dash: [...dash] }),
      ...(paths && { paths }),
      ...(look.connect === true && { spanGaps: true }),
      ...(look.right === true && { scale: 'right' }),
      points: { show: look.draw === 'points', size: 4 },
    };
  }

  #limits(plot: uPlot): void {
    for (const { value, color } of this.#options.axis?.limits ?? []) {
      const top = Math.round(plot.valToPos(value, 'y', true));
      if (top >= plot.bbox.top && top <= plot.bbox.top + plot.bbox.height) {
        plot.ctx.save();
        plot.ctx.strokeStyle = color.startsWith('--') ? this.#colour(color) : color;
        plot.ctx.globalAlpha = 0.6;
        plot.ctx.setLineDash([6 * devicePixelRatio, 6 * devicePixelRatio]);
        plot.ctx.beginPath();
        plot.ctx.moveTo(plot.bbox.left, top);
        plot.ctx.lineTo(plot.bbox.left + plot.bbox.width, top);
        plot.ctx.stroke();
        plot.ctx.restore();
      }
    }
  }

  #bands(plot: uPlot): void {
    const { left, top, width, height } = plot.bbox;
    for (const { from, to, tone } of this.#options.bands ?? []) {
      const begin = Math.max(left, plot.valToPos(from, 'x', true));
      const end = Math.min(left + width, plot.valToPos(to, 'x', true));
      if (end >= left && begin <= left + width) {
        const wide = Math.max(2 * devicePixelRatio, end - begin);
        plot.ctx.save();
        plot.ctx.fillStyle = this.#colour(tone);
        plot.ctx.globalAlpha = 0.14;
        plot.ctx.fillRect(begin, top, wide, height);
        plot.ctx.globalAlpha = 0.9;
        plot.ctx.fillRect(begin, top, wide, 3 * devicePixelRatio);
        plot.ctx.restore();
      }
    }
  }

  #tellPlace(plot: uPlot): void {
    const { left, top, width, height } = plot.bbox;
    const { min, max } = plot.scales['y']!;
    if (min !== undefined && max !== undefined) {
      this.#options.onPlace?.({
        left: left / devicePixelRatio,
        top: top / devicePixelRatio,
        width: width / devicePixelRatio,
        height: height / devicePixelRatio,
        low: min,
        high: max,
      });
    }
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

/** Returns a computed color, `rgb(…)` or hex, with an opacity. */
function translucent(color: string, opacity: number): string {
  const rgb = /^rgba?\(([^,]+,[^,]+,[^,)]+)/.exec(color)?.[1];
  if (rgb !== undefined) {
    return `rgba(${rgb},${opacity})`;
  }
  const hex = /^#([0-9A-Fa-f]{6})$/.exec(color)?.[1];
  return hex === undefined
    ? `color-mix(in srgb, ${color} ${Math.round(opacity * 100)}%, transparent)`
    : `#${hex}${Math.round(opacity * 255)
        .toString(16)
        .padStart(2, '0')}`;
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
