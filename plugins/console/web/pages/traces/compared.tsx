import { useMemo } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { trace as text } from '../../text/english/watch/traces.ts';
import { duration } from '../../text/format.ts';
import { Typed } from '../../kit/form.tsx';
import { Awaited, Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { selfTimes } from './critical-path.ts';
import { type Span, type TraceAnswer, treeOf } from './tree.ts';

interface Row {
  readonly name: string;
  readonly service: string;
  /** Milliseconds in which spans of this name worked themselves, here and there. */
  readonly here: number;
  readonly there: number;
}

/** This trace beside another one: where one of them worked longer, by name and service of the spans. */
export function Compared({ spans }: { readonly spans: readonly Span[] }) {
  const [other, setOther] = useParam('with');
  const { value, error } = useData<TraceAnswer>(
    other === '' ? undefined : `/traces/${encodeURIComponent(other)}`,
  );
  const rows = useMemo(() => value && rowsOf(spans, treeOf(value).spans), [spans, value]);
  return (
    <Section title={text.compare}>
      <Typed
        class="mono compared-id"
        aria-label={text.other}
        placeholder={text.other}
        value={other}
        onChoose={(id) => setOther(id.trim())}
      />
      {other === '' ? null : rows === undefined ? (
        <Awaited error={error} lines={3} />
      ) : (
        <Table
          label={text.compare}
          rows={rows}
          keyOf={({ name, service }) => `${service} ${name}`}
          columns={columns}
          empty={null}
        />
      )}
    </Section>
  );
}

function rowsOf(here: readonly Span[], there: readonly Span[]): readonly Row[] {
  const rows = new Map<string, Row>();
  const add = (spans: readonly Span[], side: 'here' | 'there'): void => {
    const self = selfTimes(spans);
    for (const { id, name, service } of spans) {
      const key = JSON.stringify([service, name]);
      const row = rows.get(key) ?? { name, service, here: 0, there: 0 };
      rows.set(key, { ...row, [side]: row[side] + (self.get(id) ?? 0) });
    }
  };
  add(here, 'here');
  add(there, 'there');
  const difference = ({ here: a, there: b }: Row): number => Math.abs(a - b);
  return [...rows.values()].toSorted((a, b) => difference(b) - difference(a));
}

const columns: readonly Column<Row>[] = [
  { head: text.span, cell: ({ name }) => <span class="cut">{name}</span> },
  {
    head: text.service,
    width: '22%',
    rank: 1,
    cell: ({ service }) => <span class="cut soft">{service}</span>,
  },
  { head: text.here, width: '90px', numeric: true, cell: ({ here }) => duration(here / 1000) },
  { head: text.there, width: '90px', numeric: true, cell: ({ there }) => duration(there / 1000) },
  {
    head: text.difference,
    width: '110px',
    numeric: true,
    cell: ({ here, there }) =>
      `${here > there ? '+' : here < there ? '−' : ''}${duration(Math.abs(here - there) / 1000)}`,
  },
];
