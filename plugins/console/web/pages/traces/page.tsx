import { useData } from '../../client/data.ts';
import { duration } from '../../text/format.ts';
import { address, useParam, usePlace } from '../../browser/location.ts';
import { nameOfDevice, useNames } from '../../client/names.ts';
import { traces as text } from '../../text/english/watch/traces.ts';
import { Empty, Head } from '../../kit/parts.tsx';
import { QueryField } from '../../kit/query-field.tsx';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { ServiceFigures, serviceIn } from './service-figures.tsx';
import { TracePage } from './trace.tsx';

interface Found {
  readonly traceID: string;
  readonly rootServiceName: string;
  readonly rootTraceName: string;
  readonly startTimeUnixNano: string;
  readonly durationMs?: number;
  readonly spanSets?: readonly {
    readonly spans: readonly {
      readonly attributes?: readonly {
        readonly key: string;
        readonly value: { readonly stringValue?: string };
      }[];
    }[];
  }[];
}

/** `/ui/traces`, and `/ui/traces/<id>` for one. */
export default function Traces() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <Search /> : <TracePage key={parts[1]} id={parts[1]} />;
}

function Search() {
  const [q, setQ] = useParam('q', '{ }');
  const { window, bounds, every } = useSpan();
  // On whole minutes, so that drawing again does not ask again.
  const { from, to } = 'last' in window ? bounds() : window;
  // Both to the same side: a week stays a week, and more than that is refused.
  const minute = (at: number): string => String(Math.ceil(at / 60) * 60);
  const query = {
    q: withDevices(q),
    start: minute(from),
    end: minute(to),
    limit: '100',
    spss: '20',
  };
  const { value, error } = useData<{ traces: readonly Found[] }>('/traces/search', {
    query,
    every: every(30_000),
  });
  useNames((value?.traces ?? []).flatMap(devicesOf).map((id) => ({ device_id: id })));
  const service = serviceIn(q);
  const isWrong = error !== undefined && !error.isSilence;
  return (
    <>
      <Head title={text.title} />
      <QueryField
        language="traceql"
        label={text.query}
        value={q}
        onRun={setQ}
        error={isWrong ? error.message : undefined}
      />
      <div class="filters">
        <SpanChoice />
      </div>
      {service !== undefined && <ServiceFigures key={service} name={service} />}
      {!isWrong && (
        <Table
          label={text.title}
          rows={value?.traces}
          keyOf={({ traceID }) => traceID}
          hrefOf={({ traceID }) => address(['traces', traceID])}
          columns={columns}
          empty={<Empty title={text.none}>{text.noneNote}</Empty>}
        />
      )}
    </>
  );
}

/**
 * Asks for the devices of the spans, too. Hints come last in a query, and one with them stays as it is.
 */
const withDevices = (q: string): string =>
  /\bwith\s*\([^)]*\)\s*$/.test(q) ? q : `${q} | select(resource.device_id)`;

/** Returns the ids of the devices on which matching spans ran, each once. */
const devicesOf = ({ spanSets = [] }: Found): readonly string[] => [
  ...new Set(
    spanSets.flatMap(({ spans }) =>
      spans.flatMap(({ attributes = [] }) =>
        attributes.flatMap(({ key, value }) =>
          key === 'device_id' && value.stringValue !== undefined ? [value.stringValue] : [],
        ),
      ),
    ),
  ),
];

/** The first device by name; how many more there are stands behind it, and their names in the title. */
function Devices({ ids }: { readonly ids: readonly string[] }) {
  const [first, ...others] = ids.map((id) => nameOfDevice(id) ?? id);
  return (
    <span class="status soft" title={[first, ...others].join(', ')}>
      <span class="cut">{first}</span>
      {others.length > 0 && <span>+{others.length}</span>}
    </span>
  );
}

const columns: readonly Column<Found>[] = [
  { head: text.name, cell: ({ rootTraceName: name }) => <span class="cut">{name}</span> },
  {
    head: text.service,
    width: '22%',
    rank: 2,
    cell: ({ rootServiceName: name }) => <span class="cut soft">{name}</span>,
  },
  {
    head: text.devices,
    width: '24%',
    rank: 1,
    cell: (found) => <Devices ids={devicesOf(found)} />,
  },
  {
    head: text.took,
    width: '100px',
    numeric: true,
    cell: ({ durationMs = 0 }) => duration(durationMs / 1000),
  },
  {
    head: text.at,
    width: '130px',
    cell: ({ startTimeUnixNano: at }) => <Time at={Number(BigInt(at) / 1_000_000n)} />,
  },
];
