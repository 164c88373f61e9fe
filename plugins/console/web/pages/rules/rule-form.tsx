import { useEffect, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address, goTo } from '../../browser/location.ts';
import { rule as text } from '../../text/english/alerting/rules.ts';
import { count } from '../../text/words.ts';
import { Chart } from '../../kit/chart.tsx';
import { attempt } from '../../kit/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import type { Severity } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { examples } from './examples.ts';
import { draftOf, firstDraft, keyOf, type Previewed, type Rule, type RuleDraft } from './rule.ts';

const severities: readonly (readonly [Severity, string])[] = [
  ['critical', 'critical'],
  ['warning', 'warning'],
  ['info', 'info'],
];
const kinds = [
  'metric_raw',
  'metric_anomaly',
  'metric_forecast',
  'metric_burn_rate',
  'log_match',
  'log_volume',
  'trace_latency',
  'trace_error_rate',
];
const scopes = ['host', 'global', 'monitoring_pipeline'];

/** Form of one rule, next to a preview of what it would have done. */
export function RuleForm({ id }: { readonly id: string }) {
  const isNew = id === 'new';
  const rule = useData<Rule>(isNew ? undefined : `/alert-rules/${encodeURIComponent(id)}`, {
    kinds: ['rules'],
  });
  if (rule.error && rule.value === undefined) {
    return <Refused error={rule.error} retry={rule.reload} />;
  }
  if (!isNew && rule.value === undefined) {
    return <Skeleton lines={8} />;
  }
  return (
    <Fields
      key={id}
      id={isNew ? undefined : id}
      first={rule.value === undefined ? firstDraft : draftOf(rule.value)}
    />
  );
}

function Fields({ id, first }: { readonly id: string | undefined; readonly first: RuleDraft }) {
  const may = useMay();
  const [draft, setDraft] = useState(first);
  const [conditions, setConditions] = useState(written(first.conditions));
  const parsed = parsedConditions(conditions);
  const set = (changes: Partial<RuleDraft>): void => setDraft({ ...draft, ...changes });
  const setName = (name: string): void =>
    set(
      id === undefined && draft.rule_key === keyOf(draft.name)
        ? { name, rule_key: keyOf(name) }
        : { name },
    );
  const setKind = (kind: string): void => {
    set({ kind });
    // What somebody has written stays, whether or not it fits the kind.
    if (conditions === written(examples[draft.kind] ?? []) && examples[kind]) {
      setConditions(written(examples[kind]));
    }
  };
  const whole: RuleDraft = { ...draft, conditions: parsed.value ?? draft.conditions };
  const save = async (): Promise<void> => {
    await (id === undefined
      ? api.post('/alert-rules', whole)
      : api.put(`/alert-rules/${id}`, whole));
    goTo(address(['rules']));
  };
  const remove = async (): Promise<void> => {
    if (await attempt(() => api.delete(`/alert-rules/${id!}`), text.deleted)) {
      goTo(address(['rules']));
    }
  };
  return (
    <>
      <Head
        title={id === undefined ? text.new : draft.name}
        note={id === undefined ? undefined : draft.rule_key}
      >
        {id !== undefined && may('alert:write') && (
          <Button kind="danger" icon="trash" onClick={() => void remove()}>
            {text.delete}
          </Button>
        )}
      </Head>
      <div class="columns even">
        <Form
          onSubmit={save}
          onCancel={() => goTo(address(['rules']))}
          disabled={parsed.value === undefined || !may('alert:write')}
        >
          <Inputs
            draft={draft}
            isNew={id === undefined}
            conditions={conditions}
            wrong={parsed.error}
            on={{ set, name: setName, kind: setKind, conditions: setConditions }}
          />
        </Form>
        <Preview rule={whole} isValid={parsed.value !== undefined} />
      </div>
    </>
  );
}

interface InputsProps {
  readonly draft: RuleDraft;
  readonly isNew: boolean;
  /** Conditions as typed, which may not be valid JSON yet. */
  readonly conditions: string;
  readonly wrong: string | undefined;
  readonly on: {
    readonly set: (changes: Partial<RuleDraft>) => void;
    readonly name: (name: string) => void;
    readonly kind: (kind: string) => void;
    readonly conditions: (json: string) => void;
  };
}

const Inputs = ({ draft, isNew, conditions, wrong, on }: InputsProps) => (
  <>
    <TextField label={text.name} value={draft.name} onInput={on.name} required autoFocus={isNew} />
    <TextField
      label={text.key}
      value={draft.rule_key}
      onInput={(key) => on.set({ rule_key: key })}
      hint={text.keyHint}
      mono
      required
    />
    <SelectField
      label={text.severity}
      value={draft.severity}
      options={severities}
      onChange={(severity) => on.set({ severity })}
    />
    <SelectField
      label={text.kind}
      value={draft.kind}
      options={named(kinds, draft.kind)}
      onChange={on.kind}
    />
    <SelectField
      label={text.scope}
      value={draft.scope_type}
      options={named(scopes, draft.scope_type)}
      onChange={(scope) => on.set({ scope_type: scope })}
    />
    <TextField
      label={text.conditions}
      value={conditions}
      onInput={on.conditions}
      rows={10}
      mono
      hint={text.conditionsHint}
      error={wrong}
    />
    <TextField
      label={text.runbook}
      value={draft.runbook_url}
      onInput={(url) => on.set({ runbook_url: url })}
      hint={text.runbookHint}
    />
    <CheckField
      label={text.enabled}
      value={draft.enabled}
      onChange={(enabled) => on.set({ enabled })}
    />
  </>
);

const written = (conditions: RuleDraft['conditions']): string =>
  JSON.stringify(conditions, undefined, 2);

const named = (values: readonly string[], own: string): readonly (readonly [string, string])[] =>
  [...new Set([...values, own])].map((value) => [value, value.replaceAll('_', ' ')] as const);

function parsedConditions(json: string): {
  readonly value?: RuleDraft['conditions'];
  readonly error?: string;
} {
  try {
    return { value: JSON.parse(json) as RuleDraft['conditions'] };
  } catch (error) {
    return { error: text.badJson.replace('{error}', (error as Error).message) };
  }
}

/** Runs the rule over the last day, with what stands in the form at that moment. */
function Preview({ rule, isValid }: { readonly rule: RuleDraft; readonly isValid: boolean }) {
  const [shown, setShown] = useState<Previewed>();
  useEffect(() => setShown(undefined), [JSON.stringify(rule.conditions), rule.kind]);
  const look = (): void =>
    void attempt(async () => {
      const { kind, scope_type, conditions, join_mode, severity, dimensions } = rule;
      const body = {
        kind,
        scope_type,
        conditions,
        join_mode,
        severity,
        ...(dimensions && { dimensions }),
        lookback: '24h',
      };
      setShown(await api.post<Previewed>('/alert-rules/preview', body));
    });
  return (
    <Section
      title={text.preview}
      aside={
        <Button onClick={look} disabled={!isValid}>
          {text.look}
        </Button>
      }
    >
      {!isValid && <p class="soft">{text.notYet}</p>}
      {shown && (
        <>
          <p role="status">
            {shown.fire_count === 0 ? text.quiet : count(text.fired, shown.fire_count)}
          </p>
          {shown.warnings.map((warning) => (
            <p key={warning} class="warning">
              {warning}
            </p>
          ))}
          {shown.fire_count > 0 && (
            <Table
              label={text.preview}
              rows={shown.firings.slice(0, 50)}
              columns={firings}
              keyOf={(row) => `${row.dedupe_key} ${row.fired_at}`}
              empty={<Empty title={text.quiet} />}
            />
          )}
          {rule.kind.startsWith('metric') &&
            shown.queries
              .slice(0, 3)
              .map((expr, at) => (
                <Chart
                  key={expr}
                  title={text.query.replace('{number}', String(at + 1))}
                  queries={[{ expr }]}
                  window={{ last: 86_400 }}
                />
              ))}
        </>
      )}
    </Section>
  );
}

const firings: readonly Column<Previewed['firings'][number]>[] = [
  { head: text.what, cell: ({ dedupe_key: key }) => <span class="cut">{key}</span> },
  { head: text.from, width: '110px', cell: ({ fired_at: at }) => <Time at={at} as="clock" /> },
  {
    head: text.until,
    width: '110px',
    cell: ({ cleared_at: at }) => (at === null ? text.still : <Time at={at} as="clock" />),
  },
  { head: text.value, width: '80px', numeric: true, cell: ({ value }) => figure(value) },
];
