import { useEffect, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { rule as text } from '../../text/english/alerting/rules.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Form, Segments, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { ConditionFields } from './condition-fields.tsx';
import { beyondBuilder, type Condition } from './condition.ts';
import { Curve, Outcome } from './curve.tsx';
import { GroupingFields, IncidentFields } from './incident-fields.tsx';
import { type PreviewState, usePreview } from './preview.ts';
import { draftOf, keyOf, measured, type Rule, type RuleDraft } from './rule.ts';

export function ExistingRule({ id }: { readonly id: string }) {
  const rule = useData<Rule>(`/alert-rules/${encodeURIComponent(id)}`, {
    kinds: ['rules'],
    isFresh: true,
  });
  if (rule.error && rule.value === undefined) {
    return <Refused error={rule.error} retry={rule.reload} />;
  }
  return rule.value === undefined ? (
    <Skeleton lines={8} />
  ) : (
    <RuleForm key={id} id={id} first={draftOf(rule.value)} />
  );
}

interface RuleFormProps {
  /** Number of the rule; none for a new one. */
  readonly id?: string;
  readonly first: RuleDraft;
  /** False: the threshold and the scope follow from what the last day shows. */
  readonly isMeasured?: boolean;
}

/** A rule as a form over the curve of its conditions, or as JSON where the form cannot show it. */
export function RuleForm({ id, first, isMeasured = true }: RuleFormProps) {
  const may = useMay();
  const [draft, setDraft] = useState(first);
  const [json, setJson] = useState<string>();
  const beyond = beyondBuilder(draft.kind, draft.conditions);
  const isJson = json !== undefined || beyond !== undefined;
  const written = json ?? JSON.stringify(draft, undefined, 2);
  const wrong = json === undefined ? undefined : parsed(json).error;
  const preview = usePreview(draft, may('alert:preview') && wrong === undefined);
  const [isOpen, setOpen] = useState(!isMeasured);
  useEffect(() => {
    if (isOpen && preview.shown !== undefined) {
      setOpen(false);
      setDraft((now) => measured(now, preview.shown!.series));
    }
  }, [preview.shown]);
  const save = async (): Promise<void> => {
    await (id === undefined
      ? api.post('/alert-rules', draft)
      : api.put(`/alert-rules/${id}`, draft));
    goTo(address(['rules']));
  };
  const type = (typed: string): void => {
    setJson(typed);
    const { value } = parsed(typed);
    if (value !== undefined) {
      setDraft(value);
    }
  };
  return (
    <>
      <Title
        id={id}
        draft={draft}
        isJson={isJson}
        isLocked={beyond !== undefined || wrong !== undefined}
        onView={(view) => setJson(view === 'json' ? written : undefined)}
      />
      {beyond !== undefined && (
        <p class="lead warning" role="note">
          {'kind' in beyond
            ? say(text.beyondKind, { name: beyond.kind })
            : say(text.beyondField, { name: beyond.field })}
        </p>
      )}
      <Form
        onSubmit={save}
        onCancel={() => goTo(address(['rules']))}
        disabled={wrong !== undefined || !may('alert:write')}
      >
        {isJson ? (
          <>
            <TextField
              label={text.jsonLabel}
              value={written}
              onInput={type}
              rows={22}
              mono
              hint={text.jsonHint}
              error={wrong}
            />
            <Outcome preview={preview} severity={draft.severity} />
          </>
        ) : (
          <Builder draft={draft} isNew={id === undefined} preview={preview} onChange={setDraft} />
        )}
      </Form>
    </>
  );
}

interface TitleProps {
  readonly id: string | undefined;
  readonly draft: RuleDraft;
  readonly isJson: boolean;
  /** True where the form could not show what the JSON says. */
  readonly isLocked: boolean;
  readonly onView: (view: 'builder' | 'json') => void;
}

function Title({ id, draft, isJson, isLocked, onView }: TitleProps) {
  const may = useMay();
  const remove = async (): Promise<void> => {
    if (await attempt(() => api.delete(`/alert-rules/${id!}`), text.deleted)) {
      goTo(address(['rules']));
    }
  };
  return (
    <Head
      title={id === undefined ? text.new : draft.name}
      note={
        id === undefined ? (
          <a href={address(['rules', 'new'])}>{text.otherTemplate}</a>
        ) : (
          draft.rule_key
        )
      }
    >
      {!isLocked && (
        <Segments
          label={text.view}
          value={isJson ? 'json' : 'builder'}
          options={[
            ['builder', text.builder],
            ['json', text.json],
          ]}
          onChange={onView}
        />
      )}
      {id !== undefined && may('alert:write') && (
        <Button kind="danger" icon="trash" onClick={() => void remove()}>
          {text.delete}
        </Button>
      )}
    </Head>
  );
}

interface BuilderProps {
  readonly draft: RuleDraft;
  readonly isNew: boolean;
  readonly preview: PreviewState;
  readonly onChange: (draft: RuleDraft) => void;
}

function Builder({ draft, isNew, preview, onChange }: BuilderProps) {
  const set = (changes: Partial<RuleDraft>): void => onChange({ ...draft, ...changes });
  const setName = (name: string): void =>
    set(isNew && draft.rule_key === keyOf(draft.name) ? { name, rule_key: keyOf(name) } : { name });
  return (
    <div class="columns rule-columns">
      <div>
        <TextField
          label={text.name}
          value={draft.name}
          onInput={setName}
          required
          autoFocus={isNew}
        />
        <Conditions draft={draft} preview={preview} set={set} />
      </div>
      <div class="form">
        <IncidentFields draft={draft} set={set} />
        <details open={draft.rule_key === '' && draft.name !== ''}>
          <summary>{text.more}</summary>
          <div class="form">
            <GroupingFields draft={draft} set={set} />
          </div>
        </details>
      </div>
    </div>
  );
}

function Conditions({
  draft,
  preview,
  set,
}: {
  readonly draft: RuleDraft;
  readonly preview: PreviewState;
  readonly set: (changes: Partial<RuleDraft>) => void;
}) {
  const { conditions } = draft;
  const put = (at: number, condition: Condition): void =>
    set({ conditions: conditions.with(at, condition) });
  const isOne = conditions.length === 1;
  return (
    <>
      {conditions.map((condition, at) => (
        <Section
          key={at}
          title={isOne ? text.condition : say(text.conditionNumber, { number: at + 1 })}
          aside={
            !isOne && (
              <Button
                kind="quiet"
                icon="trash"
                label={say(text.removeCondition, { number: at + 1 })}
                onClick={() => set({ conditions: conditions.toSpliced(at, 1) })}
              />
            )
          }
        >
          <div class="form condition">
            <ConditionFields
              kind={draft.kind}
              condition={condition}
              onChange={(changed) => put(at, changed)}
            />
            <Curve
              rule={draft}
              at={at}
              preview={preview}
              onChange={(changed) => put(at, changed)}
            />
          </div>
        </Section>
      ))}
      <Outcome preview={preview} severity={draft.severity} />
      <div class="filters more-conditions">
        <Button
          icon="plus"
          onClick={() => set({ conditions: [...conditions, conditions.at(-1)!] })}
        >
          {text.addCondition}
        </Button>
        {!isOne && (
          <SelectField
            label={text.join}
            value={draft.join_mode}
            options={[
              ['all', text.all],
              ['any', text.any],
            ]}
            onChange={(mode) => set({ join_mode: mode })}
          />
        )}
      </div>
    </>
  );
}

/** Returns the rule that a JSON text says, or why it says none. */
function parsed(json: string): { readonly value?: RuleDraft; readonly error?: string } {
  try {
    const value = JSON.parse(json) as RuleDraft | null;
    const isRule =
      Array.isArray(value?.conditions) &&
      value.conditions.every((one: unknown) => typeof one === 'object' && one !== null);
    return isRule
      ? { value: { ...value, labels: value.labels ?? {}, annotations: value.annotations ?? {} } }
      : { error: text.badRule };
  } catch (error) {
    return { error: say(text.badJson, { error: (error as Error).message }) };
  }
}
