import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { address, usePlace } from '../../browser/location.ts';
import { plugins as text } from '../../text/english/administration/plugins.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Empty, Fields, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Plugin {
  readonly id: string;
  readonly title: string;
  readonly version: string | null;
  readonly kind: string | null;
  readonly state: string;
  readonly cause: string | null;
  readonly since: string;
  readonly generation: number | null;
}

interface PluginDetail extends Plugin {
  readonly description: string;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly dependents: readonly string[];
  readonly last_attempt: { readonly timings_ms: Readonly<Record<string, number>> } | null;
  readonly residue: string | null;
  readonly strikes: readonly {
    readonly at: string;
    readonly where: string;
    readonly cause: string;
  }[];
}

/**
 * Returns the tone of a plugin's state; one that is only discovered belongs to other programs, such
 * as the agent of a host.
 */
const toneOf = (state: string): Tone =>
  state === 'active'
    ? 'ok'
    : ['failed', 'invalid', 'quarantined', 'unload-failed'].includes(state)
      ? 'critical'
      : ['disabled', 'discovered'].includes(state)
        ? 'muted'
        : 'warning';

export default function Plugins() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <List /> : <One id={parts[1]} />;
}

function List() {
  const plugins = useList<Plugin>('/plugins', { every: 10_000, pageSize: 200 });
  return (
    <>
      <Head title={text.title} note={text.note} />
      <Table
        label={text.title}
        rows={plugins.items}
        asked={plugins}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => address(['plugins', id])}
        empty={<Empty title={text.none} />}
      />
    </>
  );
}

const columns: readonly Column<Plugin>[] = [
  {
    head: text.name,
    cell: ({ id, title }) => (
      <span class="cut">
        {title} <span class="soft">{id}</span>
      </span>
    ),
  },
  {
    head: text.state,
    width: '34%',
    cell: ({ state, cause }) => (
      <Status tone={toneOf(state)}>
        <span class="cut" title={cause ?? undefined}>
          {state} <span class="soft">{cause}</span>
        </span>
      </Status>
    ),
  },
  { head: text.version, width: '90px', rank: 1, cell: ({ version }) => version },
  { head: text.since, width: '110px', rank: 2, cell: ({ since }) => <Time at={since} /> },
];

function One({ id }: { readonly id: string }) {
  const isAdmin = useMay()('*');
  const { value, error, reload } = useData<PluginDetail>(`/plugins/${encodeURIComponent(id)}`, {
    every: 5_000,
  });
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={8} />;
  }
  const done = { reload: text.reloaded, enable: text.enabled, disable: text.disabled };
  const ask = (what: keyof typeof done): void =>
    void attempt(
      async () => {
        await api.post(`/plugins/${encodeURIComponent(id)}/${what}`);
      },
      say(done[what], { name: value.title }),
    ).then(reload);
  return (
    <>
      <Head title={value.title} note={value.description}>
        {isAdmin && (
          <>
            <Button onClick={() => ask('reload')}>{text.reload}</Button>
            {value.state === 'disabled' ? (
              <Button kind="primary" onClick={() => ask('enable')}>
                {text.enable}
              </Button>
            ) : (
              <Button kind="danger" onClick={() => ask('disable')}>
                {text.disable}
              </Button>
            )}
          </>
        )}
      </Head>
      <Fields
        of={[
          [text.state, <Status tone={toneOf(value.state)}>{value.state}</Status>],
          [text.cause, value.cause],
          [text.since, <Time at={value.since} />],
          [text.version, value.version],
          [text.generation, value.generation],
          [text.requires, value.requires.join(', ')],
          [text.provides, value.provides.join(', ')],
          [text.dependents, value.dependents.join(', ')],
          [text.residue, value.residue],
        ]}
      />
      {value.last_attempt && (
        <Section title={text.timings}>
          <Fields
            of={Object.entries(value.last_attempt.timings_ms).map(
              ([stage, ms]) =>
                [stage, say(text.milliseconds, { ms: Math.round(ms * 10) / 10 })] as const,
            )}
          />
        </Section>
      )}
      {value.strikes.length > 0 && (
        <Section title={text.strikes}>
          <ul class="list">
            {value.strikes.map(({ at, where, cause }) => (
              <li key={`${at} ${where}`}>
                <span>
                  {where}: {cause}
                </span>
                <span class="soft">
                  <Time at={at} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
