import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { duration } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog, tell } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Section } from '../../kit/parts.tsx';
import { Mark, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import type { Check, Objective } from './check.ts';

/** Objectives for uptime, with what is left of their budgets; a way to set one where there are checks. */
export function Objectives({ checks }: { readonly checks: readonly Check[] }) {
  const may = useMay()('check:edit');
  const [isNew, setNew] = useState(false);
  const objectives = useList<Objective>('/objectives', { every: 60_000 });
  const canAdd = may && checks.length > 0;
  if (objectives.items === undefined || (objectives.items.length === 0 && !canAdd)) {
    return null;
  }
  const remove = ({ name }: Objective): void =>
    void attempt(
      () => api.delete(`/objectives/${encodeURIComponent(name)}`),
      text.objectiveRemoved,
    ).then(objectives.reload);
  return (
    <Section
      title={text.objectives}
      aside={canAdd && <Button onClick={() => setNew(true)}>{text.addObjective}</Button>}
    >
      {objectives.items.length === 0 ? (
        <p class="soft">{text.noObjectives}</p>
      ) : (
        <Table
          label={text.objectives}
          rows={objectives.items}
          asked={objectives}
          columns={[...columns, ...(may ? [removal(remove)] : [])]}
          keyOf={({ name }) => name}
          empty={null}
        />
      )}
      {isNew && (
        <NewObjective checks={checks} onClose={() => setNew(false)} onDone={objectives.reload} />
      )}
    </Section>
  );
}

const tones: Readonly<Record<Objective['state'], Tone>> = {
  met: 'ok',
  at_risk: 'warning',
  spent: 'critical',
  unmeasured: 'muted',
};

const percent = (value: number | null): string =>
  value === null ? '–' : say(text.share, { share: (Math.floor(value * 1_000) / 1_000).toString() });

const columns: readonly Column<Objective>[] = [
  {
    head: text.objective,
    cell: ({ name, check, group, state }) => (
      <span class="status">
        <Mark tone={tones[state]} />
        <span class="cut">
          {name}{' '}
          <span class="soft">
            {check === null ? say(text.ofGroup, { group: String(group) }) : check}
          </span>
        </span>
      </span>
    ),
  },
  { head: text.state, width: '110px', rank: 1, cell: ({ state }) => text[state] },
  {
    head: text.goal,
    width: '150px',
    rank: 2,
    cell: ({ target, days }) => say(text.inDays, { share: percent(target), days }),
  },
  {
    head: text.uptime,
    width: '100px',
    rank: 1,
    numeric: true,
    cell: ({ uptime }) => percent(uptime),
  },
  {
    head: text.budgetLeft,
    width: '150px',
    numeric: true,
    cell: ({ budget_left: left, budget_ms: budget, spent_ms: spent }) =>
      left === null
        ? '–'
        : say(text.leftOf, {
            left: duration(Math.max(0, budget - spent) / 1_000),
            budget: duration(budget / 1_000),
          }),
  },
];

const removal = (remove: (objective: Objective) => void): Column<Objective> => ({
  head: text.action,
  width: '90px',
  rank: 1,
  cell: (objective) => (
    <Button
      kind="quiet"
      label={say(text.removeObjective, { name: objective.name })}
      onClick={() => remove(objective)}
    >
      {text.remove}
    </Button>
  ),
});

interface NewObjectiveProps {
  readonly checks: readonly Check[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function NewObjective({ checks, onClose, onDone }: NewObjectiveProps) {
  const groups = [...new Set(checks.map(({ group }) => group).filter((group) => group !== ''))];
  const choices = [
    ...groups.map((group) => [`group ${group}`, say(text.ofGroup, { group })] as const),
    ...checks.map(({ name }) => [`check ${name}`, name] as const),
  ];
  const [subject, setSubject] = useState(choices[0]![0]);
  const [name, setName] = useState('');
  const [target, setTarget] = useState('99.9');
  const [days, setDays] = useState('30');
  const [kind, of] = [subject.slice(0, 5), subject.slice(6)];
  const create = async (): Promise<void> => {
    await api.post('/objectives', {
      name: name.trim() === '' ? of : name.trim(),
      [kind]: of,
      target: Number(target),
      days: Number(days),
    });
    tell(text.objectiveAdded);
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.addObjective} onClose={onClose}>
      <Form submit={text.addObjective} onSubmit={create} onCancel={onClose}>
        <SelectField label={text.subject} value={subject} onChange={setSubject} options={choices} />
        <TextField label={text.goal} value={target} onInput={setTarget} required mono />
        <TextField label={text.days} value={days} onInput={setDays} type="number" required />
        <p class="hint">{allowance(Number(target), Number(days))}</p>
        <TextField label={text.name} value={name} onInput={setName} hint={text.objectiveNameHint} />
      </Form>
    </Dialog>
  );
}

/** Says how much downtime a target allows, which a percentage alone hides. */
const allowance = (target: number, days: number): string =>
  target > 0 && target < 100 && days > 0
    ? say(text.allows, { downtime: duration((1 - target / 100) * days * 86_400), days })
    : '';
