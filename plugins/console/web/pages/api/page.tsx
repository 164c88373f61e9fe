import { useMemo } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { below } from '../../browser/base.ts';
import { address, useParam, usePlace } from '../../browser/location.ts';
import { api as text } from '../../text/english/administration/api.ts';
import { Empty, Head, Refused, Skeleton } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { accessOf, type ApiDocument, type Operation, operationsOf, toneOf } from './document.ts';
import { OperationPage } from './operation.tsx';

/** `/ui/api`, and `/ui/api/<operation>` for one. */
export default function Api() {
  const { parts } = usePlace();
  const { value, error, reload } = useData<ApiDocument>('/openapi.json', { kinds: ['plugins'] });
  const operations = useMemo(() => value && operationsOf(value), [value]);
  if (value === undefined || operations === undefined) {
    return error === undefined ? <Skeleton lines={8} /> : <Refused error={error} retry={reload} />;
  }
  if (parts[1] === undefined) {
    return <List operations={operations} />;
  }
  const operation = operations.find(({ operationId }) => operationId === parts[1]);
  return operation === undefined ? (
    <Empty title={text.gone}>
      <a href={address(['api'])}>{text.all}</a>
    </Empty>
  ) : (
    <OperationPage key={operation.operationId} operation={operation} document={value} />
  );
}

function List({ operations }: { readonly operations: readonly Operation[] }) {
  const [q, setQ] = useParam('q');
  const wanted = q.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = operations.filter((operation) => {
    const all =
      `${operation.method} ${operation.path} ${operation.summary} ${operation['x-svc-plugin']}`.toLowerCase();
    return wanted.every((word) => all.includes(word));
  });
  return (
    <>
      <Head title={text.title} note={text.note}>
        <a class="button" href={below('/api/docs')}>
          {text.document}
        </a>
      </Head>
      <div class="filters">
        <input
          type="search"
          aria-label={text.search}
          placeholder={text.search}
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </div>
      <Table
        label={text.title}
        rows={rows}
        columns={columns}
        keyOf={({ operationId }) => operationId}
        hrefOf={({ operationId }) => address(['api', operationId])}
        empty={<Empty title={text.none} />}
      />
    </>
  );
}

const columns: readonly Column<Operation>[] = [
  {
    head: text.path,
    cell: ({ method, path }) => (
      <span class="cut">
        <b class={`method ${toneOf(method)}`}>{method}</b> <span class="mono">{path}</span>
      </span>
    ),
  },
  {
    head: text.what,
    width: '38%',
    rank: 2,
    cell: ({ summary }) => <span class="cut">{summary}</span>,
  },
  {
    head: text.access,
    width: '150px',
    rank: 1,
    cell: (operation) => <span class="cut soft">{accessOf(operation)}</span>,
  },
];
