import { useRoom, useSeesAll } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { rule as text } from '../../text/english/alerting/rules.ts';
import { say } from '../../text/words.ts';
import { CheckField, Field, SelectField, TextField } from '../../kit/form.tsx';
import { LabelRows } from '../../kit/label-rows.tsx';
import { severityName } from '../../kit/status.tsx';
import type { RuleDraft } from './rule.ts';

interface PartProps {
  readonly draft: RuleDraft;
  readonly set: (changes: Partial<RuleDraft>) => void;
}

const severities = ['critical', 'warning', 'info'] as const;
const scopes = ['host', 'global', 'monitoring_pipeline'] as const;

/** Fields for what an incident of the rule says, and to whom. */
export function IncidentFields({ draft, set }: PartProps) {
  // Who sees some devices may not list channels, which tell of all.
  const seesAll = useSeesAll();
  const note = (name: string) => (value: string) => {
    const { [name]: _before, ...others } = draft.annotations;
    set({ annotations: value === '' ? others : { ...draft.annotations, [name]: value } });
  };
  return (
    <>
      <SelectField
        label={text.severity}
        value={draft.severity}
        options={severities.map((one) => [one, severityName(one)] as const)}
        onChange={(severity) => set({ severity })}
      />
      {seesAll && <Channels draft={draft} set={set} />}
      <TextField
        label={text.summary}
        value={draft.annotations['summary'] ?? ''}
        onInput={note('summary')}
        hint={text.summaryHint}
      />
      <TextField
        label={text.description}
        value={draft.annotations['description'] ?? ''}
        onInput={note('description')}
        rows={2}
      />
      <Runbook draft={draft} set={set} />
      <LabelRows label={text.labels} value={draft.labels} onChange={(labels) => set({ labels })} />
      <CheckField
        label={text.enabled}
        value={draft.enabled}
        onChange={(enabled) => set({ enabled })}
      />
    </>
  );
}

interface Channel {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
}

function Channels({ draft, set }: PartProps) {
  const channels = useList<Channel>('/notification-channels', { pageSize: 200 });
  const chosen = draft.notify_channel_ids ?? [];
  const listed = channels.items ?? [];
  const all: readonly Channel[] = [
    ...listed,
    ...chosen
      .filter((id) => listed.every((one) => one.id !== id))
      .map((id) => ({ id, name: say(text.channelId, { id }), enabled: true })),
  ];
  return (
    <fieldset class="checks">
      <legend>{text.notify}</legend>
      {all.map(({ id, name, enabled }) => (
        <CheckField
          key={id}
          label={enabled ? name : say(text.disabledChannel, { name })}
          value={chosen.includes(id)}
          onChange={(isChosen) =>
            set({
              notify_channel_ids: isChosen ? [...chosen, id] : chosen.filter((one) => one !== id),
            })
          }
        />
      ))}
      {chosen.length === 0 && channels.items !== undefined && (
        <p class="hint">{all.length === 0 ? text.noChannels : text.notifyAll}</p>
      )}
    </fieldset>
  );
}

function Runbook({ draft, set }: PartProps) {
  const hasVault = useRoom('knowledge');
  return (
    <Field label={text.runbook} hint={text.runbookHint}>
      {(ids) => (
        <>
          <input
            {...ids}
            list={hasVault ? 'playbooks' : undefined}
            value={draft.runbook_url}
            onInput={(event) => set({ runbook_url: event.currentTarget.value })}
          />
          {hasVault && <Playbooks />}
        </>
      )}
    </Field>
  );
}

const vault = 'vault/';

function Playbooks() {
  const documents = useList<{ readonly path: string; readonly title: string }>('/knowledge/docs', {
    query: { path_prefix: vault },
    pageSize: 200,
  });
  return (
    <datalist id="playbooks">
      {(documents.items ?? []).map(({ path, title }) => (
        <option key={path} value={`playbook://${path.slice(vault.length)}`}>
          {title}
        </option>
      ))}
    </datalist>
  );
}

/** Fields that few rules need: how incidents are told apart, and when the rule is evaluated. */
export function GroupingFields({ draft, set }: PartProps) {
  return (
    <>
      <TextField
        label={text.key}
        value={draft.rule_key}
        onInput={(key) => set({ rule_key: key })}
        hint={text.keyHint}
        mono
        required
      />
      <SelectField
        label={text.scope}
        value={draft.scope_type}
        options={scopes.map((one) => [one, text[one]] as const)}
        onChange={(scope) => set({ scope_type: scope })}
      />
      <TextField
        label={text.dimensions}
        value={(draft.dimensions ?? []).join(', ')}
        onInput={(typed) =>
          set({
            dimensions: typed
              .split(',')
              .map((one) => one.trim())
              .filter((one) => one !== ''),
          })
        }
        hint={text.dimensionsHint}
        mono
      />
      <TextField
        label={text.interval}
        type="number"
        value={String(draft.interval_seconds ?? 0)}
        onInput={(typed) => set({ interval_seconds: Number(typed) })}
        hint={text.intervalHint}
      />
      <TextField
        label={text.keep}
        value={draft.keep_firing_for ?? ''}
        onInput={(typed) => set({ keep_firing_for: typed })}
        hint={text.keepHint}
      />
    </>
  );
}
