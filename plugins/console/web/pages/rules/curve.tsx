import type { ApiError } from '../../client/api.ts';
import { figure, type Unit } from '../../text/format.ts';
import { rule as text } from '../../text/english/alerting/rules.ts';
import { count } from '../../text/words.ts';
import { Graph } from '../../kit/chart/chart.tsx';
import { distinct, nameOf } from '../../kit/chart/matrix.ts';
import { Empty, Skeleton } from '../../kit/parts.tsx';
import type { Band, Plotted } from '../../kit/chart/plot.ts';
import type { Axis } from '../../kit/chart/scale.ts';
import { Status } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Threshold } from '../../kit/chart/threshold.tsx';
import { Time } from '../../kit/time.tsx';
import { unitOf } from '../../kit/chart/unit-of.ts';
import { comparisonOf } from './comparison.ts';
import { type Condition, lineOf, written } from './condition.ts';
import type { PreviewState } from './preview.ts';
import type { Previewed, PreviewedSeries, RuleDraft } from './rule.ts';

const height = 240;

interface CurveProps {
  readonly rule: RuleDraft;
  /** Index of the condition. */
  readonly at: number;
  readonly preview: PreviewState;
  readonly onChange: (condition: Condition) => void;
}

/** Draws what a condition measured over the last day, its threshold, and when the rule would have fired. */
export function Curve({ rule, at, preview: { shown, error }, onChange }: CurveProps) {
  const condition = rule.conditions[at]!;
  const line = lineOf(rule.kind, condition);
  const unit = unitFor(rule.kind, condition);
  const series = (shown?.series ?? []).filter((one) => one.condition === at);
  return (
    <Graph
      title={text.preview}
      queries={rule.kind.startsWith('metric') ? [{ expr: measureOf(condition) }] : []}
      unit={unit}
      height={height}
      plotted={shown && plottedOf(series)}
      bounds={shown ? [Date.parse(shown.from) / 1000, Date.parse(shown.to) / 1000] : [0, 1]}
      bands={shown && bandsOf(shown, rule.severity)}
      axis={line === undefined ? fixedLine(shown, at) : { cover: line.value }}
      over={
        line &&
        ((place) => (
          <Threshold
            place={place}
            value={line.value}
            side={line.side}
            unit={unit}
            label={text.thresholdLine}
            onChange={(value) => onChange(line.moved(value))}
          />
        ))
      }
      otherwise={
        error === undefined ? (
          <Skeleton height={height} />
        ) : (
          <p class="chart-empty soft" style={{ height: `${height}px` }}>
            –
          </p>
        )
      }
    />
  );
}

/** Says what the last day would have been, in one line and in a list. */
export function Outcome({
  preview: { shown, error, isWaiting },
  severity,
}: {
  readonly preview: PreviewState;
  readonly severity: RuleDraft['severity'];
}) {
  return (
    <div class="outcome">
      <p role="status">
        {error !== undefined && !isWaiting ? (
          <Wrong error={error} />
        ) : shown === undefined || isWaiting ? (
          <Status tone="muted">{text.waiting}</Status>
        ) : (
          <Status tone={shown.fire_count === 0 ? 'ok' : severity}>
            {shown.fire_count === 0 ? text.quiet : count(text.fired, shown.fire_count)}
          </Status>
        )}
      </p>
      {shown && error === undefined && (
        <>
          {shown.warnings.map((warning) => (
            <p key={warning} class="warning">
              {warning}
            </p>
          ))}
          {shown.series_left_out > 0 && (
            <p class="soft">{count(text.seriesLeft, shown.series_left_out)}</p>
          )}
          {shown.firings.length > 0 && (
            <details>
              <summary>{count(text.firings, shown.firings.length)}</summary>
              <Table
                label={text.preview}
                rows={shown.firings.slice(0, 50)}
                columns={firings}
                keyOf={(row) => `${row.dedupe_key} ${row.fired_at}`}
                empty={<Empty title={text.quiet} />}
              />
            </details>
          )}
        </>
      )}
    </div>
  );
}

const Wrong = ({ error }: { readonly error: ApiError }) => (
  <span class="critical">
    {error.details.length > 0
      ? error.details.map(({ path, message }) => `${path} ${message}`).join(' · ')
      : error.message}
  </span>
);

/** A threshold inside of a query, which can be seen and not be moved. */
const fixedLine = (shown: Previewed | undefined, at: number): Axis =>
  typeof shown?.threshold === 'number' && at === 0
    ? { cover: shown.threshold, limits: [{ value: shown.threshold, color: '--critical' }] }
    : {};

/** All series on one grid of times. */
function plottedOf(series: readonly PreviewedSeries[]): Plotted {
  const times = [...new Set(series.flatMap(({ points }) => points.map(([time]) => time)))].toSorted(
    (a, b) => a - b,
  );
  const place = new Map(times.map((time, index) => [time, index]));
  const names = distinct(series.map(({ labels }) => labels)).map((labels) =>
    nameOf({ expr: text.value }, labels),
  );
  return {
    times,
    lines: series.map(({ points }, index) => {
      const values = Array.from<number | null>({ length: times.length }).fill(null);
      points.forEach(([time, value]) => (values[place.get(time)!] = value));
      return { name: names[index]!, values };
    }),
  };
}

const bandsOf = ({ firings: all, to }: Previewed, severity: RuleDraft['severity']): Band[] =>
  all.map(({ fired_at: from, cleared_at: until }) => ({
    from: Date.parse(from) / 1000,
    to: Date.parse(until ?? to) / 1000,
    tone: `--${severity}`,
  }));

const measureOf = (condition: Condition): string => {
  const expression = written(condition['expr'] ?? condition['metric'] ?? condition['total']);
  return comparisonOf(expression)?.measure ?? expression;
};

/** Returns the unit of the curve; what a kind works out of a metric has none of its own. */
function unitFor(kind: string, condition: Condition): Unit {
  switch (kind) {
    case 'metric_raw':
    case 'metric_forecast':
      return unitOf(measureOf(condition));
    case 'trace_error_rate':
      return 'percent';
    default:
      return 'count';
  }
}

const firings: readonly Column<Previewed['firings'][number]>[] = [
  { head: text.what, cell: ({ dedupe_key: key }) => <span class="cut">{key}</span> },
  { head: text.from, width: '110px', cell: ({ fired_at: at }) => <Time at={at} as="clock" /> },
  {
    head: text.until,
    width: '110px',
    cell: ({ cleared_at: at }) => (at === null ? text.still : <Time at={at} as="clock" />),
  },
  { head: text.value, width: '80px', numeric: true, cell: ({ value }) => figure(value) },
];
