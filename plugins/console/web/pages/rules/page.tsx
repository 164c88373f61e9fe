import { useState } from 'preact/hooks';

import { wear } from '../../browser/sheet.ts';
import sheetRules from '../../styles/alerting.css' with { type: 'text' };
import { api } from '../../client/api.ts';
import { useMay, useSeesAll } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { address, goTo, usePlace, useParam } from '../../browser/location.ts';
import { rules as text } from '../../text/english/alerting/rules.ts';
import { count } from '../../text/words.ts';
import { attempt, Dialog, tell } from '../../kit/dialog.tsx';
import { CheckField, Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head } from '../../kit/parts.tsx';
import { Mark, severityName } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { ExistingRule } from './rule-form.tsx';
import type { Rule } from './rule.ts';
import { NewRule } from './template-choice.tsx';

wear(sheetRules);

export default function Rules() {
  const { parts } = usePlace();
  switch (parts[1]) {
    case undefined:
      return <RuleList />;
    case 'new':
      return <NewRule />;
    default:
      return <ExistingRule id={parts[1]} />;
  }
}

interface Pace {
  readonly failing: readonly { readonly rule_id: number; readonly error: string }[];
  readonly warnings: readonly { readonly rule_id: number; readonly message: string }[];
}

function RuleList() {
  const may = useMay();
  const [q, setQ] = useParam('q');
  const [isImporting, setImporting] = useState(false);
  const rules = useList<Rule>('/alert-rules', { query: { q }, kinds: ['rules'] });
  const pace = useData<Pace>(useSeesAll() ? '/alerts/runtime-info' : undefined, {
    kinds: ['rules'],
    every: 60_000,
  });
  const failing = new Map(pace.value?.failing.map(({ rule_id: id, error }) => [id, error]));
  const complaints = new Map([
    ...(pace.value?.warnings.map(({ rule_id: id, message }) => [id, message] as const) ?? []),
    ...failing,
  ]);
  const columns: readonly Column<Rule>[] = [
    {
      head: text.name,
      cell: ({ id, name, severity, rule_key: key }) => (
        <span class="status">
          <Mark tone={failing.has(id) ? 'critical' : severity} label={severityName(severity)} />
          <span class="cut" title={complaints.get(id)}>
            {name} <span class="soft">{complaints.get(id) ?? key}</span>
          </span>
        </span>
      ),
    },
    {
      head: text.kind,
      width: '150px',
      rank: 2,
      cell: ({ kind }) => <span class="soft">{kind.replaceAll('_', ' ')}</span>,
    },
    {
      head: text.scope,
      width: '160px',
      rank: 1,
      cell: ({ scope_type: scope }) => scope.replaceAll('_', ' '),
    },
    {
      head: text.enabled,
      width: '80px',
      cell: (rule) => <Switch rule={rule} may={may('alert:write')} done={rules.reload} />,
    },
  ];
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
        {may('alert:write') && <Button onClick={() => setImporting(true)}>{text.import}</Button>}
        {may('alert:write') && (
          <Button kind="primary" icon="plus" onClick={() => goTo(address(['rules', 'new']))}>
            {text.add}
          </Button>
        )}
      </Head>
      <Table
        label={text.title}
        rows={rules.items}
        asked={rules}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => address(['rules', id])}
        total={rules.total}
        more={rules.more}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
      {isImporting && <Import onClose={() => setImporting(false)} onDone={rules.reload} />}
    </>
  );
}

function Switch({
  rule,
  may,
  done,
}: {
  readonly rule: Rule;
  readonly may: boolean;
  readonly done: () => void;
}) {
  const name = rule.enabled ? text.on : text.off;
  if (!may) {
    return <span class="soft">{name}</span>;
  }
  const turn = async (): Promise<void> => {
    await attempt(() => api.post(`/alert-rules/${rule.id}/enabled`, { enabled: !rule.enabled }));
    done();
  };
  return (
    <Button pressed={rule.enabled} label={`${rule.name}: ${name}`} onClick={() => void turn()}>
      {name}
    </Button>
  );
}

interface Imported {
  readonly taken: readonly { readonly alert: string; readonly notes: readonly string[] }[];
  readonly left_out: readonly { readonly rule: string; readonly reason: string }[];
}

function Import({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [content, setContent] = useState('');
  const [isDry, setDry] = useState(true);
  const [outcome, setOutcome] = useState<Imported>();
  const send = async (): Promise<void> => {
    const came = await api.post<Imported>('/alert-rules/import', { content, dry_run: isDry });
    setOutcome(came);
    if (!isDry) {
      tell(count(text.taken, came.taken.length));
      onDone();
    }
  };
  return (
    <Dialog title={text.importTitle} onClose={onClose} wide>
      <Form
        submit={text.import}
        onSubmit={send}
        onCancel={onClose}
        disabled={content.trim() === ''}
      >
        <TextField
          label={text.content}
          value={content}
          onInput={setContent}
          rows={12}
          mono
          autoFocus
        />
        <CheckField label={text.dryRun} value={isDry} onChange={setDry} />
      </Form>
      {outcome && (
        <div role="status">
          <p>
            {count(text.taken, outcome.taken.length)}, {count(text.left, outcome.left_out.length)}
          </p>
          <ul class="list tall">
            {outcome.left_out.map(({ rule, reason }) => (
              <li key={rule}>
                <Mark tone="warning" /> {rule} <span class="soft">{reason}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  );
}
