import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

import type { Unit } from '../../text/format.ts';
import { panel as text } from '../../text/english/watch/dashboards.ts';
import { count } from '../../text/words.ts';
import { Graph } from '../../kit/chart.tsx';
import { Button } from '../../kit/parts.tsx';
import type { Plotted } from '../../kit/plot.ts';
import { Time } from '../../kit/time.tsx';

type State = 'ok' | 'warning' | 'critical';
type Point = readonly [number, string];

interface Reading {
  readonly name: string;
  readonly value: Point;
  readonly formatted: string;
  readonly state?: State;
}

type Result =
  | {
      readonly result_type: 'matrix';
      readonly result: readonly {
        readonly name: string;
        readonly values: readonly Point[];
        readonly last?: Omit<Reading, 'name'>;
      }[];
    }
  | { readonly result_type: 'vector'; readonly result: readonly Reading[] }
  | {
      readonly result_type: 'streams';
      readonly result: readonly {
        readonly name: string;
        readonly values: readonly (readonly [string, string])[];
      }[];
    };

export interface Panel {
  /** Null for one that a plugin brings: it is not changed here. */
  readonly id: number | null;
  readonly title: string;
  readonly type: 'timeseries' | 'stat' | 'gauge' | 'table' | 'logs';
  readonly query: string;
  readonly expanded_query?: string;
  readonly legend: string;
  readonly unit: string;
  readonly position: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly data: Result;
  readonly series_left_out?: number;
  readonly warnings?: readonly string[];
  readonly error?: { readonly message: string };
  readonly missing?: { readonly message: string };
}

interface PanelProps {
  readonly panel: Panel;
  readonly bounds: readonly [number, number];
  readonly onRange: (from: number, to: number) => void;
  readonly onEdit: (() => void) | undefined;
}

/** A row of the grid, in pixels; a panel is as high as its rows, less its heading and legend. */
const rowHeight = 34;
const around = 78;

const units: Readonly<Record<string, Unit>> = {
  percent: 'percent',
  bytes: 'bytes',
  bytes_per_second: 'bytes-per-second',
  seconds: 'seconds',
  per_second: 'per-second',
};

/** One panel of the grid of 24 columns; where it is narrow, they stand one below the other. */
export function PanelView({ panel, bounds, onRange, onEdit }: PanelProps) {
  const { title, type, unit, position, data, query, expanded_query: expanded } = panel;
  const height = Math.max(60, position.h * rowHeight - around);
  const plotted = useMemo(
    () => (data.result_type === 'matrix' ? plottedOf(data.result, title) : undefined),
    [data, title],
  );
  const tools = onEdit && (
    <Button
      kind="quiet"
      icon="more"
      label={text.edit.replace('{title}', () => title)}
      onClick={onEdit}
    />
  );
  const why =
    panel.error?.message ??
    panel.missing?.message ??
    (data.result.length === 0 ? text.nothing : undefined);
  return (
    <div
      class="panel"
      data-wide={position.w}
      style={{ '--x': position.x + 1, '--w': position.w, '--h': position.h, '--y': position.y + 1 }}
    >
      <Graph
        title={title}
        plotted={why === undefined && type === 'timeseries' ? plotted : undefined}
        bounds={bounds}
        query={type === 'logs' ? undefined : (expanded ?? query)}
        unit={units[unit] ?? 'count'}
        height={height}
        sync="dashboard"
        onRange={onRange}
        tools={tools}
        otherwise={
          why === undefined ? (
            <Other panel={panel} height={height} />
          ) : (
            <p
              class={panel.error ? 'chart-empty critical' : 'chart-empty soft'}
              style={{ minHeight: `${height}px` }}
            >
              {why}
            </p>
          )
        }
      />
      {panel.warnings?.map((warning) => (
        <p key={warning} class="hint">
          {warning}
        </p>
      ))}
      {(panel.series_left_out ?? 0) > 0 && (
        <p class="hint">{count(text.left, panel.series_left_out!)}</p>
      )}
    </div>
  );
}

function Other({
  panel: { title, data, type },
  height,
}: {
  readonly panel: Panel;
  readonly height: number;
}) {
  if (data.result_type === 'streams') {
    const lines = data.result.flatMap(({ name, values }) =>
      values.map(([at, line]) => ({ name, at, line })),
    );
    return (
      <Scrolling title={title} height={height} heads={[text.time, text.line]}>
        {lines.slice(0, 200).map(({ at, line, name }, index) => (
          <tr key={`${at} ${index}`}>
            <td>
              <Time at={Number(at) / 1e6} as="clock" />
            </td>
            <td class="mono" title={name}>
              {line}
            </td>
          </tr>
        ))}
      </Scrolling>
    );
  }
  const readings =
    data.result_type === 'vector'
      ? data.result
      : data.result.flatMap(({ name, last }) => (last ? [{ ...last, name }] : []));
  return type === 'table' ? (
    <Scrolling title={title} height={height} heads={[text.name, text.value]} numeric>
      {readings.map(({ name, formatted, state }) => (
        <tr key={name}>
          <td class="cut" title={name}>
            {name}
          </td>
          <td class={`num ${state ?? ''}`}>{formatted}</td>
        </tr>
      ))}
    </Scrolling>
  ) : (
    <ul class="readings" style={{ minHeight: `${height}px` }}>
      {readings.slice(0, type === 'stat' ? 6 : 12).map(({ name, value, formatted, state }) => (
        <li key={name}>
          <b class={state === 'ok' ? undefined : state}>{formatted}</b>
          {type === 'gauge' && (
            <meter
              min={0}
              max={100}
              value={Math.min(100, Math.max(0, Number(value[1])))}
              aria-label={`${title} ${name}`}
            />
          )}
          {(readings.length > 1 || type === 'gauge') && (
            <span class="soft cut" title={name}>
              {name}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

interface ScrollingProps {
  readonly title: string;
  readonly height: number;
  readonly heads: readonly [string, string];
  /** The second column has figures. */
  readonly numeric?: boolean;
  readonly children: ComponentChildren;
}

const Scrolling = ({ title, height, heads, numeric, children }: ScrollingProps) => (
  <div
    class="table scrolls"
    tabIndex={0}
    role="region"
    aria-label={title}
    style={{ height: `${height}px` }}
  >
    <table aria-label={title}>
      <thead>
        <tr>
          <th scope="col">{heads[0]}</th>
          <th scope="col" class={numeric ? 'num' : undefined}>
            {heads[1]}
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

/** The lines of a panel have times of their own; drawn, they share one grid. */
function plottedOf(
  result: Extract<Result, { result_type: 'matrix' }>['result'],
  title: string,
): Plotted {
  const times = [...new Set(result.flatMap(({ values }) => values.map(([at]) => at)))].toSorted(
    (a, b) => a - b,
  );
  const places = new Map(times.map((at, index) => [at, index]));
  const lines = result.map(({ name, values }) => {
    const row = Array.from<number | null>({ length: times.length }).fill(null);
    for (const [at, value] of values) {
      row[places.get(at)!] = Number.isFinite(Number(value)) ? Number(value) : null;
    }
    // A series without labels is what the panel is about.
    return { name: name === '{}' ? title : name, values: row };
  });
  return { times, lines };
}
