import { type Cell, type Frame, rowsIn } from '../frames/frame.ts';
import { transform } from '../frames/transformations.ts';
import { isOverTime, type PanelBody } from '../model/panel.ts';
import {
  bucketsOf,
  type Series,
  seriesOf,
  type Shown,
  shownFigures,
  shownLines,
  shownMatrix,
} from './answers.ts';
import { framesOf } from './answer-frames.ts';
import type { Answered } from './answered.ts';
import type { NameOfDevice } from './names.ts';
import { sheetOf } from './sheet.ts';
import { shownTraces } from './shown-traces.ts';

/** Figures drawn before they are cut down to what a dashboard may hold. */
export interface Drawable {
  /** Points that each series costs, and how many there are. */
  readonly points: number;
  readonly series: number;
  show(most: number): Shown;
}

/** Returns what a panel makes of its answers, once it is known how much of it may be shown. */
export function drawable(
  panel: PanelBody,
  answers: readonly Answered[],
  device: NameOfDevice,
): Drawable {
  if (panel.type === 'logs') {
    const lines = answers.flatMap(({ answer }) => (answer?.type === 'streams' ? answer.lines : []));
    return { points: 0, series: 0, show: () => shownLines(lines, panel, device) };
  }
  if (panel.type === 'traces') {
    const traces = answers.flatMap(({ answer }) =>
      answer?.type === 'traces' ? answer.traces : [],
    );
    return { points: 0, series: 0, show: () => shownTraces(traces) };
  }
  const { transformations = [] } = panel;
  const isTabular =
    transformations.length > 0 || answers.some(({ query: { format } }) => format === 'table');
  const frames = isTabular ? transform(framesOf(answers, panel, device), transformations) : [];
  const series = isTabular ? seriesIn(frames, panel) : seriesOf(answers, panel, device);
  const isDrawnOverTime = isOverTime(panel.type);
  const shown = panel.type === 'heatmap' ? bucketsOf(series) : series;
  return {
    points:
      isDrawnOverTime || panel.display?.sparkline === true
        ? shown.reduce((most, { values }) => Math.max(most, values.length), 0)
        : 1,
    series: shown.length,
    show: (most) => {
      if (isDrawnOverTime) {
        return shownMatrix(shown, panel, most);
      }
      const found = shownFigures(shown, panel, most);
      const [frame] = frames.filter((one) => rowsIn(one) > 0);
      return panel.type === 'table' && isTabular && frame !== undefined
        ? { ...found, table: sheetOf(frame, panel) }
        : found;
    },
  };
}

/** Takes series from frames: over time where they have times, else one for each row and column. */
function seriesIn(frames: readonly Frame[], panel: PanelBody): readonly Series[] {
  const isEach = panel.type === 'bar_chart' || panel.display?.all_values === true;
  return frames.flatMap((frame): Series[] => {
    const times = frame.fields.find(({ type }) => type === 'time')?.values;
    const numbers = frame.fields.filter(({ type }) => type === 'number');
    const texts = frame.fields.filter(({ type }) => type === 'string');
    if (texts.length === 0 || (times !== undefined && !isEach && panel.type !== 'table')) {
      return numbers.map(({ name, labels = {}, values }) => ({
        labels,
        name,
        ref: frame.ref,
        ...filled(times, values),
      }));
    }
    return Array.from({ length: rowsIn(frame) }, (_, row) => row).flatMap((row) =>
      numbers.flatMap(({ name, values }) => {
        const value = values[row];
        const words = texts.map((one) => String(one.values[row] ?? '')).filter(Boolean);
        return typeof value === 'number'
          ? [
              {
                labels: Object.fromEntries(
                  texts.map((one) => [one.name, String(one.values[row] ?? '')]),
                ),
                name: [...words, ...(numbers.length > 1 ? [name] : [])].join(' ') || name,
                times: [Number(times?.[row] ?? 0)],
                values: [value],
              },
            ]
          : [];
      }),
    );
  });
}

/** Leaves out the times at which a series has no value. */
function filled(
  times: readonly Cell[] | undefined,
  values: readonly Cell[],
): Pick<Series, 'times' | 'values'> {
  const rows = values.flatMap((value, at) =>
    typeof value === 'number' ? [[Number(times?.[at] ?? 0), value] as const] : [],
  );
  return { times: rows.map(([time]) => time), values: rows.map(([, value]) => value) };
}
