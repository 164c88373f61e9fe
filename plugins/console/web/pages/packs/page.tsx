import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { address, goTo, useParam, usePlace } from '../../browser/location.ts';
import { packs as text } from '../../text/english/administration/packs.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Empty, Fields, Head, Refused, Section, Skeleton, Tabs } from '../../kit/parts.tsx';
import { Status, Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Install, type Source } from './install.tsx';
import { Registries } from './registries.tsx';

interface Pack {
  readonly pack_id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly verdict: 'pass' | 'review' | 'block';
  readonly findings: readonly {
    readonly rule: string;
    readonly severity: string;
    readonly file: string;
    readonly line: number;
    readonly message: string;
  }[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
  readonly permissions: readonly string[];
  readonly hosts: readonly string[];
  readonly ignored: readonly string[];
  readonly state: 'active' | 'disabled' | 'failed';
  readonly error: string | null;
  readonly version_before: string | null;
  readonly installed_by: string;
  readonly installed_at: string;
  readonly signed_by: string | null;
}

export default function Packs() {
  const { parts } = usePlace();
  const [, view] = parts;
  if (view !== undefined && view !== 'find' && view !== 'registries') {
    return <One id={view} />;
  }
  return (
    <>
      <Head title={text.title} />
      <Tabs
        tabs={[
          { id: 'installed', title: text.installed, href: address(['packs']) },
          { id: 'find', title: text.find, href: address(['packs', 'find']) },
          { id: 'registries', title: text.registries, href: address(['packs', 'registries']) },
        ]}
        active={view ?? 'installed'}
      />
      {view === 'find' ? <Find /> : view === 'registries' ? <Registries /> : <Installed />}
    </>
  );
}

function Installed() {
  const packs = useList<Pack>('/marketplace/installed', { every: 30_000 });
  return (
    <>
      <Table
        label={text.installed}
        rows={packs.items}
        asked={packs}
        columns={columns}
        keyOf={({ pack_id: id }) => id}
        hrefOf={({ pack_id: id }) => address(['packs', id])}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
    </>
  );
}

const columns: readonly Column<Pack>[] = [
  {
    head: text.pack,
    cell: ({ name, description }) => (
      <span class="cut">
        {name} <span class="soft">{description}</span>
      </span>
    ),
  },
  { head: text.version, width: '100px', cell: ({ version }) => version },
  {
    head: text.scan,
    width: '90px',
    rank: 1,
    cell: ({ verdict }) => <Tag tone={verdict === 'pass' ? 'ok' : 'warning'}>{verdict}</Tag>,
  },
  {
    head: text.state,
    width: '150px',
    cell: ({ state, error }) => (
      <Status tone={state === 'active' ? 'ok' : state === 'failed' ? 'critical' : 'muted'}>
        <span title={error ?? undefined}>{state}</span>
      </Status>
    ),
  },
];

interface Offer {
  readonly registry: string;
  readonly pack_id: string;
  readonly name: string;
  readonly description: string;
  readonly versions: readonly string[];
  readonly signed: boolean;
  readonly installed: string | null;
}

function Find() {
  const may = useMay();
  const [q, setQ] = useParam('q');
  const [source, setSource] = useState<Source>();
  const offers = useList<Offer>('/marketplace/search', { query: { q } });
  const offerColumns: readonly Column<Offer>[] = [
    {
      head: text.pack,
      cell: ({ name, description }) => (
        <span class="cut">
          {name} <span class="soft">{description}</span>
        </span>
      ),
    },
    {
      head: text.from,
      width: '18%',
      rank: 1,
      cell: ({ registry, signed }) => `${registry}, ${signed ? text.signed : text.unsigned}`,
    },
    {
      head: text.version,
      width: '100px',
      rank: 2,
      cell: ({ versions, installed }) => installed ?? versions[0],
    },
    {
      head: text.install,
      width: '120px',
      cell: ({ registry, pack_id: id }) =>
        may('marketplace:install') ? (
          <Button onClick={() => setSource({ registry, pack_id: id })}>{text.install}</Button>
        ) : null,
    },
  ];
  return (
    <>
      <input
        class="wide"
        type="search"
        value={q}
        placeholder={text.search}
        aria-label={text.search}
        onInput={(event) => setQ(event.currentTarget.value)}
      />
      <Table
        label={text.find}
        rows={offers.items}
        asked={offers}
        columns={offerColumns}
        keyOf={({ registry, pack_id: id }) => `${registry} ${id}`}
        total={offers.total}
        more={offers.more}
        empty={<Empty title={text.notFound}>{text.noneNote}</Empty>}
      />
      {source && (
        <Install source={source} onClose={() => setSource(undefined)} onDone={offers.reload} />
      )}
    </>
  );
}

function One({ id }: { readonly id: string }) {
  const may = useMay();
  const path = `/marketplace/installed/${encodeURIComponent(id)}`;
  const { value, error, reload } = useData<Pack>(path, { every: 15_000 });
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={8} />;
  }
  const ask = (work: () => Promise<unknown>): void => void attempt(work, text.changed).then(reload);
  const turn = value.state === 'disabled' ? 'enable' : 'disable';
  return (
    <>
      <Head title={value.name} note={value.description}>
        {may('marketplace:manage') && (
          <Button onClick={() => ask(() => api.post(`${path}/${turn}`))}>{text[turn]}</Button>
        )}
        {may('marketplace:manage') && value.version_before !== null && (
          <Button onClick={() => ask(() => api.post(`${path}/rollback`))}>
            {say(text.rollback, { version: value.version_before })}
          </Button>
        )}
        {may('marketplace:uninstall') && (
          <Button
            kind="danger"
            onClick={() =>
              void attempt(() => api.delete(path), text.uninstalled).then(
                (done) => done && goTo(address(['packs'])),
              )
            }
          >
            {text.uninstall}
          </Button>
        )}
      </Head>
      <Fields
        of={[
          [text.state, value.error ?? value.state],
          [text.version, value.version],
          [text.permissions, value.permissions.join('; ')],
          [text.skills, value.skills.join(', ')],
          [text.agents, value.agents.join(', ')],
          [text.hosts, value.hosts.join(', ')],
          [text.ignored, value.ignored.join(', ')],
          [text.signed, value.signed_by ?? text.unsigned],
          [text.by, value.installed_by],
          [text.at, <Time at={value.installed_at} />],
        ]}
      />
      {value.findings.length > 0 && (
        <Section title={text.findings}>
          <ul class="list tall">
            {value.findings.map(({ rule, file, line, message }) => (
              <li key={`${rule} ${file} ${line}`}>
                <Tag tone="warning">{rule}</Tag> {message}{' '}
                <span class="soft">
                  {file}:{line}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
