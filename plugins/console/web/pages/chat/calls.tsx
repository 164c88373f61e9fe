import { useMemo } from 'preact/hooks';

import { chartAsked } from '../../kit/chart/asked.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import type { Call } from './run.ts';

const toneOf = (status: string): Tone =>
  status === 'ok'
    ? 'ok'
    : status === 'running'
      ? 'info'
      : status === 'denied' || status === 'refused'
        ? 'warning'
        : 'critical';

const longestAsked = 160;

/** Returns what a call asked for, in a line. */
function askedWith(given: Readonly<Record<string, unknown>>): string {
  const line = Object.entries(given)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  return line.length > longestAsked ? `${line.slice(0, longestAsked)}…` : line;
}

const mostCharts = 4;

/**
 * Tool calls of an agent with their results, collapsed by default; what they asked over time is drawn. `at`: when they were
 * answered; absent while they run.
 */
export function Calls({ of, at }: { readonly of: readonly Call[]; readonly at?: string }) {
  return (
    <>
      {of.map(({ id, name, arguments: given, status, result_preview: result }) => (
        <details key={id} class="call">
          <summary>
            <Status tone={toneOf(status)}>
              <code>{name}</code> <span class="soft">{askedWith(given)}</span>
            </Status>
          </summary>
          <pre class="code">{result}</pre>
        </details>
      ))}
      {at !== undefined &&
        of
          .filter(({ name, status }) => status === 'ok' && name === 'metrics_range')
          .slice(-mostCharts)
          .map((call) => <CallChart key={call.id} of={call} at={at} />)}
    </>
  );
}

function CallChart({
  of: { name, arguments: given },
  at,
}: {
  readonly of: Call;
  readonly at: string;
}) {
  const chart = useMemo(() => chartAsked(name, given, Date.parse(at)), [at]);
  return (
    chart && <Chart title={chart.query} queries={[{ expr: chart.query }]} window={chart.window} />
  );
}
