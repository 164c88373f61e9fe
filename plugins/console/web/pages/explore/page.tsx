import { useState } from 'preact/hooks';

import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/explore.css' with { type: 'text' };
import { figure, type Unit } from '../../text/format.ts';
import { address, useParam, useParams } from '../../browser/location.ts';
import { explore as text } from '../../text/english/watch/explore.ts';
import { say } from '../../text/words.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import type { ChartQuery } from '../../kit/chart/matrix.ts';
import { Annotations, useAnnotations } from '../../kit/chart/annotations.tsx';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { unitOf } from '../../kit/chart/unit-of.ts';
import { SelectField } from '../../kit/form.tsx';
import { Button, Empty, Head, Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { rowsOf, type Row } from './answer.ts';
import { letterOf, mostQueries, resolved } from './formula.ts';
import { type Outcome, QueryRow, type QueryRowProps } from './query-row.tsx';

wear(rules);

const examples = [
  'node_cpu_usage_percent',
  'topk(5, node_memory_used_percent)',
  'sum by (device_id) (rate(node_network_receive_bytes_total[5m]))',
  'svc_process_uptime_seconds',
];

/** Explorer of metrics: several queries, and formulas of them by their letters. */
export default function Explore() {
  const { queries, history, shown, rowOf, add } = useQueries();
  const isEmpty = queries.every((query) => query === '');
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
      {queries.map((_query, index) => (
        <QueryRow key={index} {...rowOf(index)} />
      ))}
      {!isEmpty && queries.length < mostQueries && (
        <p class="filters">
          <Button icon="plus" onClick={add}>
            {text.add}
          </Button>
          {queries.length > 1 && <span class="soft">{text.formulaHint}</span>}
        </p>
      )}
      {isEmpty ? (
        <Beginning />
      ) : (
        shown.length > 0 && <Result shown={shown} isOnly={queries.length === 1} />
      )}
      {history.length > 1 && (
        <Section title={text.history}>
          <Queries of={history.slice(1)} />
        </Section>
      )}
    </>
  );
}

/** The queries of the address, which of them are drawn, and what became of each. */
function useQueries() {
  const [asked, setQueries] = useParams('q');
  const queries = asked.length === 0 ? [''] : asked.slice(0, mostQueries);
  const [history, setHistory] = useState<readonly string[]>([]);
  const [hidden, setHidden] = useState<readonly number[]>([]);
  const [outcomes, setOutcomes] = useState<readonly (Outcome | undefined)[]>([]);
  const shown = queries.flatMap((_query, index): Shown[] => {
    const expr = resolved(queries, index) ?? '';
    const outcome = outcomes[index]?.expr === expr ? outcomes[index] : undefined;
    return expr === '' || outcome?.isWrong === true || hidden.includes(index)
      ? []
      : [{ letter: letterOf(index), expr, outcome }];
  });
  const rowOf = (index: number): QueryRowProps => ({
    index,
    query: queries[index]!,
    expr: resolved(queries, index),
    isOnly: queries.length === 1,
    isHidden: hidden.includes(index),
    onRun: (query) => {
      setQueries(queries.with(index, query));
      setHistory([query, ...history.filter((one) => one !== query && one !== '')].slice(0, 10));
    },
    onHide: () =>
      setHidden(
        hidden.includes(index) ? hidden.filter((one) => one !== index) : [...hidden, index],
      ),
    onRemove: () => {
      setQueries(queries.toSpliced(index, 1));
      setHidden([]);
      setOutcomes([]);
    },
    onOutcome: (outcome) =>
      setOutcomes((before) => Object.assign([...before], { [index]: outcome })),
  });
  return { queries, history, shown, rowOf, add: () => setQueries([...queries, '']) };
}

const Beginning = () => (
  <Empty title={text.begin}>
    <p>{text.beginNote}</p>
    <Queries of={examples} />
  </Empty>
);

const Queries = ({ of }: { readonly of: readonly string[] }) => (
  <ul class="plain">
    {of.map((query) => (
      <li key={query}>
        <a class="mono" href={address(['explore'], { q: query })}>
          {query}
        </a>
      </li>
    ))}
  </ul>
);

/** The one chart of the page is as wide as the page. */
const manyPoints = 1_000;
const days: Readonly<Record<string, number>> = { '1d': 86_400, '7d': 604_800 };

interface Shown {
  readonly letter: string;
  readonly expr: string;
  readonly outcome: Outcome | undefined;
}

interface ResultProps {
  readonly shown: readonly Shown[];
  readonly isOnly: boolean;
}

/** The series of all queries over time, beside those of an earlier time, and their values of this moment. */
function Result({ shown, isOnly }: ResultProps) {
  const [unit, setUnit] = useParam('unit');
  const [compared, compare] = useParam('compare');
  const { window, zoom } = useSpan();
  const annotations = useAnnotations(window);
  const conventional = [...new Set(shown.map(({ expr }) => unitOf(expr)))];
  const usual = conventional.length === 1 ? conventional[0]! : 'count';
  const own = units.find((one) => one === unit) ?? usual;
  const title = shown.map(({ expr }) => expr).join(' ; ');
  return (
    <>
      <div class="filters explore-choices">
        <SpanChoice />
        <SelectField
          label={text.compare}
          value={compared in days ? compared : ''}
          options={[
            ['', text.nothing],
            ['1d', text.yesterday],
            ['7d', text.lastWeek],
          ]}
          onChange={compare}
        />
        <SelectField
          label={text.unit}
          value={unit}
          options={[
            ['', say(text.byName, { unit: text[usual] })],
            ...units.map((one) => [one, text[one]] as const),
          ]}
          onChange={setUnit}
        />
      </div>
      <Chart
        title={title.length > 120 ? `${title.slice(0, 120)}…` : title}
        queries={drawnOf(shown, isOnly, compared)}
        window={window}
        unit={own}
        height={300}
        points={manyPoints}
        marks={annotations}
        onRange={zoom}
      />
      <Section title={text.result}>
        {shown.map((one) => (
          <Values key={one.letter} of={one} unit={own} isOnly={isOnly} />
        ))}
      </Section>
      <Annotations of={annotations} />
    </>
  );
}

/** Returns the queries of the chart: each now and, if it is compared, at the same time then. */
function drawnOf(
  shown: readonly Shown[],
  isOnly: boolean,
  compared: string,
): readonly ChartQuery[] {
  const then = compared === '1d' ? text.yesterday : text.lastWeek;
  const ago = days[compared];
  const now = shown.map(({ letter, expr }) => ({ expr, ...(!isOnly && { tag: letter }) }));
  return ago === undefined
    ? now
    : [...now, ...now.map(({ expr, tag = '' }) => ({ expr, ago, tag: `${tag} ${then}`.trim() }))];
}

interface ValuesProps {
  readonly of: Shown;
  readonly unit: Unit;
  readonly isOnly: boolean;
}

const Values = ({ of: { letter, outcome }, unit, isOnly }: ValuesProps) => (
  <Table
    label={isOnly ? text.result : `${text.result}: ${letter}`}
    rows={outcome?.answer && rowsOf(outcome.answer)}
    keyOf={({ name }) => name}
    columns={[
      {
        head: isOnly ? text.series : `${letter}: ${text.series}`,
        cell: ({ name }) => <span class="cut mono">{name}</span>,
      },
      valueColumn(unit),
    ]}
    empty={<Empty title={text.none} />}
  />
);

const units = [
  'count',
  'percent',
  'bytes',
  'bytes-per-second',
  'per-second',
  'seconds',
] as const satisfies readonly Unit[];

const valueColumn = (unit: Unit): Column<Row> => ({
  head: text.value,
  width: '140px',
  numeric: true,
  cell: ({ value }) => figure(value, unit),
});
