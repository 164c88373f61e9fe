import { trace as text } from '../../text/english/watch/traces.ts';
import { duration, figure } from '../../text/format.ts';
import { Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import type { Part } from './critical-path.ts';
import type { Span } from './tree.ts';

const most = 8;

interface Row {
  readonly span: Span;
  readonly waited: number;
  readonly share: number;
}

interface WaitedProps {
  readonly spans: readonly Span[];
  readonly path: ReadonlyMap<string, readonly Part[]>;
  readonly total: number;
}

/** The spans that a trace waited for the longest. */
export function Waited({ spans, path, total }: WaitedProps) {
  const rows = spans
    .map((span): Row => {
      const waited = (path.get(span.id) ?? []).reduce((sum, [from, to]) => sum + to - from, 0);
      return { span, waited, share: total === 0 ? 0 : (100 * waited) / total };
    })
    .filter(({ waited }) => waited > 0)
    .toSorted((a, b) => b.waited - a.waited);
  return (
    <Section title={text.criticalPath}>
      <Table
        label={text.criticalPath}
        rows={rows.slice(0, most)}
        keyOf={({ span }) => span.id}
        columns={columns}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<Row>[] = [
  { head: text.span, cell: ({ span }) => <span class="cut">{span.name}</span> },
  {
    head: text.service,
    width: '25%',
    rank: 1,
    cell: ({ span }) => <span class="cut soft">{span.service}</span>,
  },
  {
    head: text.waited,
    width: '110px',
    numeric: true,
    cell: ({ waited }) => duration(waited / 1000),
  },
  { head: text.share, width: '80px', numeric: true, cell: ({ share }) => figure(share, 'percent') },
];
