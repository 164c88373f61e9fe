import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useData, useList } from '../../client/data.ts';
import { address, usePlace, useParam } from '../../browser/location.ts';
import { agents as text } from '../../text/english/act/agents.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Empty, Fields, Head, Refused, Section, Skeleton, Tabs } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Persona {
  readonly name: string;
  readonly description: string;
  readonly when_to_use: string;
  readonly tools: readonly string[];
  readonly permission_mode: string;
  readonly max_turns: number;
  readonly model: string;
  readonly source: string;
  readonly version: number;
  readonly unmet: readonly string[];
  readonly body?: string;
}

interface Skill {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly kind: 'tool' | 'guide';
  readonly scope: string;
  readonly class: 'safe' | 'mutating' | 'dangerous';
  readonly source: string;
  readonly schema: unknown;
  readonly body?: string;
}

export default function Agents() {
  const { parts } = usePlace();
  const [, kind, name] = parts;
  if (kind === 'skills') {
    return name === undefined ? <Skills /> : <OneSkill id={name} />;
  }
  return kind === undefined ? <Personas /> : <OnePersona name={kind} />;
}

const tabs = (): readonly { id: string; title: string; href: string }[] => [
  { id: 'agents', title: text.agents, href: address(['agents']) },
  { id: 'skills', title: text.skills, href: address(['agents', 'skills']) },
];

function Personas() {
  const personas = useList<Persona>('/agents', { every: 60_000 });
  return (
    <>
      <Head title={text.title} />
      <Tabs tabs={tabs()} active="agents" />
      <Table
        label={text.agents}
        rows={personas.items}
        asked={personas}
        columns={personaColumns}
        keyOf={({ name }) => name}
        hrefOf={({ name }) => address(['agents', name])}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
      {!personas.isFirst && <Who />}
    </>
  );
}

const personaColumns: readonly Column<Persona>[] = [
  { head: text.name, width: '150px', cell: ({ name }) => <span class="cut">{name}</span> },
  { head: text.for, cell: ({ description }) => <span class="cut soft">{description}</span> },
  {
    head: text.may,
    width: '220px',
    rank: 2,
    cell: ({ permission_mode: mode }) => <Mode mode={mode} />,
  },
  { head: text.source, width: '90px', rank: 1, cell: ({ source }) => source },
];

const Mode = ({ mode }: { readonly mode: string }) => (
  <Tag tone={mode === 'read-only' ? 'muted' : 'warning'}>{mode}</Tag>
);

interface Routed {
  readonly persona: string;
  readonly why: string;
}

/** Routing without a model, shown: which agent a question would go to, and why. */
function Who() {
  const [question, setQuestion] = useState('');
  const [routed, setRouted] = useState<Routed>();
  const ask = async (): Promise<void> =>
    setRouted(await api.post<Routed>('/agents/route', { question }));
  return (
    <Section title={text.who}>
      <Form submit={text.ask} onSubmit={ask} disabled={question.trim() === ''}>
        <TextField label={text.question} value={question} onInput={setQuestion} />
      </Form>
      {routed && (
        <p role="status">
          <a href={address(['agents', routed.persona])}>{routed.persona}</a>{' '}
          <span class="soft">{routed.why}</span>
        </p>
      )}
    </Section>
  );
}

function OnePersona({ name }: { readonly name: string }) {
  const { value, error, reload } = useData<Persona>(`/agents/${encodeURIComponent(name)}`, {
    every: 60_000,
  });
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={8} />;
  }
  return (
    <>
      <Head title={value.name} note={value.description} />
      <Fields
        of={[
          [text.for, value.when_to_use],
          [text.may, <Mode mode={value.permission_mode} />],
          [text.tools, value.tools.join(', ')],
          [text.model, value.model],
          [text.turns, value.max_turns],
          [text.source, value.source],
          [text.version, value.version],
          [text.unmet, value.unmet.join(', ')],
        ]}
      />
      <Section title={text.prompt}>
        <pre class="code">{value.body}</pre>
      </Section>
    </>
  );
}

function Skills() {
  const [q, setQ] = useParam('q');
  const skills = useList<Skill>('/skills', { query: { q }, every: 60_000 });
  return (
    <>
      <Head title={text.title}>
        <input
          type="search"
          value={q}
          placeholder={text.search}
          aria-label={text.search}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </Head>
      <Tabs tabs={tabs()} active="skills" />
      <Table
        label={text.skills}
        rows={skills.items}
        asked={skills}
        columns={skillColumns}
        keyOf={({ key }) => key}
        hrefOf={({ key }) => address(['agents', 'skills', key])}
        total={skills.total}
        more={skills.more}
        empty={<Empty title={text.noSkills} />}
      />
    </>
  );
}

const ClassTag = ({ is }: { readonly is: Skill['class'] }) => (
  <Tag tone={is === 'safe' ? 'muted' : is === 'mutating' ? 'warning' : 'critical'}>{is}</Tag>
);

const skillColumns: readonly Column<Skill>[] = [
  { head: text.key, width: '26%', cell: ({ key }) => <code class="cut">{key}</code> },
  {
    head: text.about,
    rank: 2,
    cell: ({ description }) => <span class="cut soft">{description}</span>,
  },
  { head: text.class, width: '100px', cell: ({ class: is }) => <ClassTag is={is} /> },
  { head: text.where, width: '90px', rank: 1, cell: ({ scope }) => scope },
  {
    head: text.source,
    width: '110px',
    rank: 1,
    cell: ({ source }) => <span class="cut">{source}</span>,
  },
];

function OneSkill({ id }: { readonly id: string }) {
  const { value, error, reload } = useData<Skill>(`/skills/${encodeURIComponent(id)}`);
  const [params, setParams] = useState('{}');
  const [answer, setAnswer] = useState<string>();
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={6} />;
  }
  const run = (): Promise<void> =>
    attempt(async () => {
      const came = await api.post<unknown>(`/skills/${encodeURIComponent(id)}/execute`, {
        params: JSON.parse(params) as unknown,
      });
      setAnswer(JSON.stringify(came, undefined, 2));
    }).then(() => undefined);
  return (
    <>
      <Head title={value.name} note={value.description} />
      <Fields
        of={[
          [text.key, <code>{value.key}</code>],
          [text.class, <ClassTag is={value.class} />],
          [text.where, value.scope],
          [text.source, value.source],
        ]}
      />
      {value.kind === 'guide' ? (
        <pre class="code">{value.body}</pre>
      ) : (
        <>
          <Section title={text.schema}>
            <pre class="code">{JSON.stringify(value.schema, undefined, 2)}</pre>
          </Section>
          {value.scope === 'manager' && (
            <Form submit={value.key} onSubmit={run}>
              <TextField label={text.schema} value={params} onInput={setParams} rows={5} mono />
            </Form>
          )}
          {answer !== undefined && <pre class="code">{answer}</pre>}
        </>
      )}
    </>
  );
}
