import { useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { useNames } from '../../client/names.ts';
import { figure, type Unit } from '../../text/format.ts';
import { address, useParam } from '../../browser/location.ts';
import { explore as text } from '../../text/english/watch/explore.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { nameOf } from '../../kit/chart/matrix.ts';
import { Segments } from '../../kit/form.tsx';
import { Empty, Head, Section } from '../../kit/parts.tsx';
import { QueryField } from '../../kit/query-field.tsx';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { type Column, Table } from '../../kit/table.tsx';

const examples = [
  'node_cpu_usage_percent',
  'topk(5, node_memory_used_percent)',
  'sum by (device_id) (rate(node_network_receive_bytes_total[5m]))',
  'svc_process_uptime_seconds',
];

/** Explorer of metrics by query. */
export default function Explore() {
  const [q, setQ] = useParam('q');
  const [history, setHistory] = useState<readonly string[]>([]);
  const now = useData<Vector>(q === '' ? undefined : '//prometheus/api/v1/query', {
    query: { query: q },
    every: 15_000,
  });
  const run = (query: string): void => {
    setQ(query);
    setHistory([query, ...history.filter((one) => one !== query && one !== '')].slice(0, 10));
  };
  const isWrong = now.error !== undefined && !now.error.isSilence;
  return (
    <>
      <Head title={text.title}>
        <a class="button" href={address(['logs'])}>
          {text.logs}
        </a>
        <a class="button" href={address(['traces'])}>
          {text.traces}
        </a>
      </Head>
      <QueryField
        language="promql"
        label={text.query}
        value={q}
        onRun={run}
        error={isWrong ? now.error?.message : undefined}
      />
      {q === '' ? (
        <Empty title={text.begin}>
          <p>{text.beginNote}</p>
          <ul class="plain">
            {examples.map((example) => (
              <li key={example}>
                <a class="mono" href={address(['explore'], { q: example })}>
                  {example}
                </a>
              </li>
            ))}
          </ul>
        </Empty>
      ) : (
        !isWrong && <Result q={q} answer={now.value} />
      )}
      {history.length > 1 && (
        <Section title={text.history}>
          <ul class="plain">
            {history.slice(1).map((query) => (
              <li key={query}>
                <a class="mono" href={address(['explore'], { q: query })}>
                  {query}
                </a>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** The one chart of the page is as wide as the page. */
const manyPoints = 1_000;

/** The series of a query, over time and of this moment. */
function Result({ q, answer }: { readonly q: string; readonly answer: Vector | undefined }) {
  const [unit, setUnit] = useParam('unit', 'count');
  useNames(labelsIn(answer));
  const { window, zoom } = useSpan();
  return (
    <>
      <div class="filters">
        <SpanChoice />
        <Segments
          label={text.unit}
          value={unit as Unit}
          onChange={setUnit}
          options={[
            ['count', text.count],
            ['percent', text.percent],
            ['bytes', text.bytes],
            ['seconds', text.seconds],
          ]}
        />
      </div>
      <Chart
        title={q.length > 120 ? `${q.slice(0, 120)}…` : q}
        queries={[{ expr: q }]}
        window={window}
        unit={unit as Unit}
        height={300}
        points={manyPoints}
        onRange={zoom}
      />
      <Section title={text.result}>
        <Table
          label={text.result}
          rows={rowsOf(answer)}
          keyOf={({ name }) => name}
          columns={[
            { head: text.series, cell: ({ name }) => <span class="cut mono">{name}</span> },
            valueColumn(unit as Unit),
          ]}
          empty={<Empty title={text.none} />}
        />
      </Section>
    </>
  );
}

type Sample = readonly [number, string];

interface Vector {
  readonly data:
    | {
        readonly resultType: 'vector';
        readonly result: readonly {
          readonly metric: Readonly<Record<string, string>>;
          readonly value: Sample;
        }[];
      }
    | { readonly resultType: 'scalar' | 'string'; readonly result: Sample }
    | {
        readonly resultType: 'matrix';
        readonly result: readonly {
          readonly metric: Readonly<Record<string, string>>;
          readonly values: readonly Sample[];
        }[];
      };
}

/** The label sets of an answer. */
const labelsIn = (answer: Vector | undefined): readonly Readonly<Record<string, string>>[] =>
  answer?.data.resultType === 'vector' || answer?.data.resultType === 'matrix'
    ? answer.data.result.map(({ metric }) => metric)
    : [];

interface Row {
  readonly name: string;
  readonly value: number;
}

function rowsOf(answer: Vector | undefined): readonly Row[] | undefined {
  if (answer === undefined) {
    return undefined;
  }
  const { data } = answer;
  switch (data.resultType) {
    case 'vector':
      return data.result
        .map(({ metric, value }) => ({
          name: nameOf({ expr: '' }, metric) || '{}',
          value: Number(value[1]),
        }))
        .toSorted((a, b) => b.value - a.value);
    case 'matrix':
      return data.result.map(({ metric, values }) => ({
        name: nameOf({ expr: '' }, metric) || '{}',
        value: Number(values.at(-1)?.[1]),
      }));
    case 'scalar':
    case 'string':
      return [{ name: data.resultType, value: Number(data.result[1]) }];
  }
}

const valueColumn = (unit: Unit): Column<Row> => ({
  head: text.value,
  width: '140px',
  numeric: true,
  cell: ({ value }) => figure(value, unit),
});
