import type { Line, Plotted } from '../../../kit/chart/plot.ts';
import { calcs as headings, panel as text } from '../../../text/english/watch/dashboards.ts';
import { count } from '../../../text/words.ts';

const mostInList = 12;

const calcs: Readonly<Record<string, (values: readonly number[]) => number | undefined>> = {
  last: (values) => values.at(-1),
  first: (values) => values[0],
  mean: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: (values) => values.reduce((low, value) => Math.min(low, value), Infinity),
  max: (values) => values.reduce((high, value) => Math.max(high, value), -Infinity),
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  count: (values) => values.length,
};

interface LegendProps {
  readonly plotted: Plotted;
  /** Index of the time that is pointed at. */
  readonly at: number | null;
  readonly mode: 'list' | 'table';
  readonly wanted: readonly string[];
  readonly write: (value: number | null | undefined, line: number) => string;
  readonly height: number;
}

const valuesOf = ({ values, look }: Line): readonly (number | null)[] => look?.shown ?? values;

/** The names of the lines with their values: those pointed at, or what was wanted of them. */
export function PanelLegend({ plotted: { lines }, at, mode, wanted, write, height }: LegendProps) {
  const columns = wanted.filter((calc) => Object.hasOwn(calcs, calc));
  const swatch = ({ look }: Line, index: number) => (
    <i
      class={`swatch series-${(index % 7) + 1}`}
      style={look?.color === undefined ? undefined : { background: look.color }}
    />
  );
  if (mode === 'table') {
    return (
      <div class="table scrolls legend-table" style={{ maxHeight: `${height}px` }} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text.name}</th>
              {columns.map((calc) => (
                <th key={calc} scope="col" class="num">
                  {headings[calc as keyof typeof headings] ?? calc}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line, index) => {
              const numbers = valuesOf(line).filter((value) => value !== null);
              return (
                <tr key={line.name}>
                  <td class="cut" title={line.name}>
                    {swatch(line, index)} {line.name}
                  </td>
                  {columns.map((calc) => (
                    <td key={calc} class="num">
                      {write(
                        at !== null && calc === 'last' ? valuesOf(line)[at] : calcs[calc]!(numbers),
                        index,
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    );
  }
  return (
    <ul class="legend">
      {lines.slice(0, mostInList).map((line, index) => (
        <li key={line.name}>
          {swatch(line, index)}
          <span class="cut" title={line.name}>
            {line.name}
          </span>
          <b>
            {write(
              at === null ? valuesOf(line).findLast((value) => value !== null) : valuesOf(line)[at],
              index,
            )}
          </b>
        </li>
      ))}
      {lines.length > mostInList && (
        <li class="soft">{count(text.left, lines.length - mostInList)}</li>
      )}
    </ul>
  );
}
