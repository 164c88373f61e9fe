import { service as text } from '../../text/english/watch/traces.ts';
import { say } from '../../text/words.ts';
import { useAnnotations } from '../../kit/chart/annotations.tsx';
import { Chart } from '../../kit/chart/chart.tsx';
import { useSpan } from '../../kit/chart/span.tsx';
import { Section } from '../../kit/parts.tsx';

/** Returns the service whose traces a TraceQL query asks for, if it is one. */
export const serviceIn = (query: string): string | undefined =>
  /^\{[^|]*(?<!parent\.)\bresource\.service\.name\s*=\s*"([^"\\]+)"/.exec(query)?.[1];

/** Requests, errors and durations of a service, counted from its spans. */
export function ServiceFigures({ name }: { readonly name: string }) {
  const { window, zoom } = useSpan();
  const annotations = useAnnotations(window);
  const of = `service=${JSON.stringify(name)},span_kind=~"SPAN_KIND_SERVER|SPAN_KIND_CONSUMER"`;
  const calls = (more = ''): string =>
    `sum(rate(traces_spanmetrics_calls_total{${of}${more}}[5m]))`;
  const shared = { window, sync: 'service', marks: annotations, onRange: zoom } as const;
  return (
    <Section title={say(text.title, { name })}>
      <div class="charts two">
        <Chart
          {...shared}
          title={text.rate}
          unit="per-second"
          queries={[{ expr: calls(), name: text.rate }]}
        />
        <Chart
          {...shared}
          title={text.errors}
          unit="percent"
          queries={[
            {
              expr: `100 * (${calls(',status_code="STATUS_CODE_ERROR"')} or 0 * ${calls()}) / ${calls()}`,
              name: text.errors,
            },
          ]}
        />
        <Chart
          {...shared}
          title={text.durations}
          unit="seconds"
          queries={['0.5', '0.95', '0.99'].map((share) => ({
            expr: `histogram_quantile(${share}, sum by (le) (rate(traces_spanmetrics_latency_bucket{${of}}[5m])))`,
            name: `p${Number(share) * 100}`,
          }))}
        />
      </div>
    </Section>
  );
}
