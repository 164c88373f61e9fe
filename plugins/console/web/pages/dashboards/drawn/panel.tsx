import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

import { panel as text } from '../../../text/english/watch/dashboards.ts';
import { count, say } from '../../../text/words.ts';
import { Graph } from '../../../kit/chart/chart.tsx';
import { Markdown } from '../../../kit/markdown.tsx';
import { Button } from '../../../kit/parts.tsx';
import type { Mark, Plotted } from '../../../kit/chart/plot.ts';
import type { Axis } from '../../../kit/chart/scale.ts';
import { Time } from '../../../kit/time.tsx';
import { wear } from '../../../browser/sheet.ts';
import rules from '../../../styles/panels.css' with { type: 'text' };
import { Heatmap, Timeline } from './cells.tsx';
import { Bars, Gauges, Pie, Stats } from './figures.tsx';
import { address, usePlace } from '../../../browser/location.ts';
import { NodesPanel } from './nodes-panel.tsx';
import { headOf, Scrolling } from './scrolling.tsx';
import { StatusTiles } from './status-tiles.tsx';
import { TraceRows } from './trace-rows.tsx';
import { PanelLegend } from './legend.tsx';
import { plottedOf } from './lines.ts';
import { colorOf, type Panel, type Sample, type Sheet } from './shape.ts';
import { written } from './unit.ts';

interface PanelProps {
  readonly panel: Panel;
  readonly bounds: readonly [number, number];
  readonly marks: readonly Mark[];
  readonly onRange: (from: number, to: number) => void;
  readonly onEdit: (() => void) | undefined;
}

/** Rules of this page alone, which the first page does without. */
wear(rules);

/** A row of the grid, in pixels; a panel is as high as its rows, less its heading and legend. */
export const rowHeight = 34;
const around = 78;
/** Height of a legend, by which a panel without one draws higher. */
const heading = 46;

/** One panel of the grid of 24 columns; where it is narrow, they stand one below the other. */
export function PanelView(props: PanelProps) {
  const { panel, onEdit } = props;
  const { title, type, position, content, description, display } = panel;
  const { query } = usePlace();
  const isBeside = display?.legend?.mode === 'table' && display.legend.placement === 'right';
  const tools = (
    <>
      {panel.links?.map((link) => (
        <a
          key={`${link.dashboard} ${link.title}`}
          class="panel-link"
          href={address(['dashboards', link.dashboard], passedOn(query))}
        >
          {link.title}
        </a>
      ))}
      {onEdit && (
        <Button
          kind="quiet"
          icon="more"
          label={text.edit.replace('{title}', () => title)}
          onClick={onEdit}
        />
      )}
    </>
  );
  return (
    <div
      class={isBeside ? 'panel panel-beside' : 'panel'}
      title={description}
      data-wide={position.w}
      style={{ '--x': position.x + 1, '--w': position.w, '--h': position.h, '--y': position.y + 1 }}
    >
      {type === 'topology' ? (
        <figure class="chart">
          <figcaption>
            <h2 class="cut">{title}</h2>
            <div class="chart-tools">{tools}</div>
          </figcaption>
          <NodesPanel height={Math.max(60, position.h * rowHeight - heading)} />
        </figure>
      ) : content === undefined ? (
        <Drawing {...props} tools={tools} />
      ) : (
        <figure class="chart">
          <figcaption>
            <h2 class="cut">{title}</h2>
            <div class="chart-tools">{tools}</div>
          </figcaption>
          <Words content={content} />
        </figure>
      )}
      {panel.warnings?.map((warning) => (
        <p key={warning} class="hint">
          {warning}
        </p>
      ))}
      {(panel.series_left_out ?? 0) > 0 && (
        <p class="hint">
          {type === 'traces'
            ? say(text.newest, { count: panel.table?.rows.length ?? 0 })
            : count(text.left, panel.series_left_out!)}
        </p>
      )}
    </div>
  );
}

/** Returns what a link hands over of the address: the time range and the values of variables. */
const passedOn = (query: URLSearchParams): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...new Set(query.keys())]
      .filter((name) => name.startsWith('var-') || name === 'at' || name === 'refresh')
      .map((name) => [name, query.getAll(name)]),
  );

/** The answer of a panel: lines as every chart has them, anything else in their place. */
function Drawing({
  panel,
  bounds,
  marks,
  onRange,
  tools,
}: PanelProps & { readonly tools: ComponentChildren }) {
  const { title, type, position, data, query, expanded_query: expanded } = panel;
  const { legend = {} } = panel.display ?? {};
  const isTable = legend.mode === 'table';
  const below = isTable && legend.placement !== 'right' ? Math.min(110, position.h * 10) : 0;
  const rest = type === 'timeseries' ? around + below : heading;
  const height = Math.max(type === 'timeseries' ? 60 : 24, position.h * rowHeight - rest);
  const plotted = useMemo(
    () =>
      data.result_type === 'matrix' ? plottedOf(data.result, title, panel.display) : undefined,
    [data, title, JSON.stringify(panel.display)],
  );
  const why =
    panel.error?.message ??
    panel.missing?.message ??
    (data.result.length === 0 && panel.table === undefined ? text.nothing : undefined);
  return (
    <Graph
      title={title}
      plotted={why === undefined && type === 'timeseries' ? plotted : undefined}
      bounds={bounds}
      queries={
        // The reader of a public link does not get the query.
        type === 'logs' || type === 'traces' || query === ''
          ? []
          : [{ expr: expanded ?? query, ...(panel.legend !== '' && { name: panel.legend }) }]
      }
      {...(plotted && lookOf(panel, plotted, legend, below))}
      height={height}
      sync="dashboard"
      marks={marks}
      onRange={onRange}
      tools={tools}
      otherwise={
        why === undefined ? (
          <Other panel={panel} height={height} bounds={bounds} />
        ) : (
          <p
            class={panel.error ? 'chart-empty critical' : 'chart-empty soft'}
            style={{ height: `${height}px` }}
            title={why}
          >
            {why}
          </p>
        )
      }
    />
  );
}

/** Words instead of a chart. */
const Words = ({
  content: { mode, text: words },
}: {
  readonly content: NonNullable<Panel['content']>;
}) => (
  <div class="panel-text">
    {mode === 'code' ? (
      <pre>{words}</pre>
    ) : (
      <Markdown text={mode === 'html' ? plainText(words) : words} />
    )}
  </div>
);

/** Returns axis and legend of a time series. */
function lookOf(
  { unit, display = {}, thresholds }: Panel,
  plotted: Plotted,
  legend: NonNullable<NonNullable<Panel['display']>['legend']>,
  below: number,
) {
  const { min, max, log, axis_label: label, decimals, thresholds_drawn: drawn } = display;
  // What is stacked to a whole is drawn in percent, whatever it is.
  const isShare = display.stacking === 'percent';
  const axis: Axis = {
    min,
    max: isShare ? 100 : max,
    log,
    label,
    binary: !isShare && unit.startsWith('bytes'),
    format: (value) => (isShare ? written(value, 'percent') : written(value, unit, decimals)),
    limits:
      drawn === 'line' || drawn === 'area'
        ? thresholds.flatMap(({ value, state, color }) =>
            value === null || state === 'ok' ? [] : [{ value, color: color ?? `--${state}` }],
          )
        : undefined,
  };
  return {
    axis,
    legend: (at: number | null) =>
      legend.mode === 'hidden' ? null : (
        <PanelLegend
          plotted={plotted}
          at={at}
          mode={legend.mode ?? 'list'}
          wanted={legend.calcs ?? []}
          write={(value) => written(value, unit, decimals)}
          height={below || 400}
        />
      ),
  };
}

function Other({
  panel,
  height,
  bounds,
}: {
  readonly panel: Panel;
  readonly height: number;
  readonly bounds: readonly [number, number];
}) {
  const { title, data, type, table } = panel;
  if (table !== undefined && type === 'traces') {
    return <TraceRows title={title} table={table} height={height} />;
  }
  if (table !== undefined) {
    return <Cells title={title} table={table} height={height} />;
  }
  if (data.result_type === 'streams') {
    const lines = data.result.flatMap(({ name, values }) =>
      values.map(([at, line]) => ({ name, at, line })),
    );
    return (
      <Scrolling title={title} height={height} heads={[{ name: text.time }, { name: text.line }]}>
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
  if (data.result_type === 'matrix') {
    const parts = { panel, series: data.result, bounds, height };
    return type === 'heatmap' ? <Heatmap {...parts} /> : <Timeline {...parts} />;
  }
  const figures = { panel, samples: data.result, height };
  switch (type) {
    case 'table':
      return <Names title={title} samples={data.result} height={height} />;
    case 'status':
      return <StatusTiles {...figures} />;
    case 'gauge':
      return <Gauges {...figures} />;
    case 'bar_gauge':
    case 'bar_chart':
      return <Bars {...figures} />;
    case 'pie_chart':
      return <Pie {...figures} />;
    default:
      return <Stats {...figures} />;
  }
}

/** The words of a piece of HTML: what a foreign page would draw is not drawn here. */
const plainText = (html: string): string =>
  new DOMParser().parseFromString(html, 'text/html').body.textContent.trim();

const Names = ({
  title,
  samples,
  height,
}: {
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly height: number;
}) => (
  <Scrolling
    title={title}
    height={height}
    heads={[{ name: text.name }, { name: text.value, isNumeric: true }]}
  >
    {samples.map(({ name, formatted, state }) => (
      <tr key={name}>
        <td class="cut" title={name}>
          {name}
        </td>
        <td class={`num ${state ?? ''}`}>{formatted}</td>
      </tr>
    ))}
  </Scrolling>
);

/** Returns whether a cell of times is one: a mapping may have put words in its place. */
const isMoment = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);

const Cells = ({
  title,
  table: { columns, rows },
  height,
}: {
  readonly title: string;
  readonly table: Sheet;
  readonly height: number;
}) => (
  <Scrolling title={title} height={height} heads={columns.map(headOf)}>
    {rows.map((row, at) => (
      <tr key={at}>
        {row.map((cell, column) => {
          const { type, settings } = columns[column]!;
          const tone = colorOf(cell);
          return (
            <td
              key={columns[column]!.name}
              class={type === 'number' ? 'num' : 'cut'}
              title={cell.text}
              style={
                settings?.cell === 'background'
                  ? { background: tone }
                  : { color: cell.color ?? tone }
              }
            >
              {type === 'time' && isMoment(cell.text) ? <Time at={cell.text} /> : cell.text}
            </td>
          );
        })}
      </tr>
    ))}
  </Scrolling>
);
