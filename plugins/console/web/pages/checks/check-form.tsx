import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog, tell } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import type { Check, Reading } from './check.ts';
import { Places } from './places.tsx';
import { StepsField } from './steps-field.tsx';
import { blank, changeOf, draftOf, type Typed, typedOf } from './typed.ts';

/** Kinds of checks, as the API names them. */
const kinds = [
  'http',
  'tcp',
  'tls',
  'dns',
  'domain',
  'ping',
  'smtp',
  'postgres',
  'mysql',
  'redis',
  'mqtt',
  'grpc',
  'websocket',
  'command',
  'browser',
] as const;

interface NewCheckProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Needs an address and nothing else. */
export function NewCheck({ onClose, onDone }: NewCheckProps) {
  const [typed, setTyped] = useState(blank);
  const [hasMore, setMore] = useState(false);
  const [readings, setReadings] = useState<readonly Reading[]>();
  const set = setterOf(setTyped);
  const look = async (): Promise<void> =>
    setReadings(
      (await api.post<{ readonly readings: readonly Reading[] }>('/checks/try', draftOf(typed)))
        .readings,
    );
  const create = async (): Promise<void> => {
    const { name } = typed;
    await api.post('/checks', { ...draftOf(typed), ...(name !== '' && { name }) });
    tell(text.added);
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form submit={text.add} onSubmit={create} onCancel={onClose}>
        <Target typed={typed} set={set} />
        {hasMore ? (
          <>
            <SelectField
              label={text.kind}
              value={typed.kind}
              options={[['', text.kindOfAddress], ...kinds.map((kind) => [kind, kind] as const)]}
              onChange={set('kind')}
            />
            <TextField
              label={text.name}
              hint={text.nameHint}
              value={typed.name}
              onInput={set('name')}
            />
            <MoreFields typed={typed} set={set} />
          </>
        ) : (
          <Button kind="quiet" onClick={() => setMore(true)}>
            {text.more}
          </Button>
        )}
        <Button onClick={() => void attempt(look)}>{text.try}</Button>
        {readings && <Places readings={readings} />}
      </Form>
    </Dialog>
  );
}

interface EditCheckProps extends NewCheckProps {
  readonly check: Check;
}

/** Sends what was changed in the form, so that everything else stays as it is. */
export function EditCheck({ check, onClose, onDone }: EditCheckProps) {
  const [before] = useState(() => typedOf(check));
  const [typed, setTyped] = useState(before);
  const set = setterOf(setTyped);
  const save = async (): Promise<void> => {
    await api.patch(`/checks/${encodeURIComponent(check.name)}`, changeOf(before, typed));
    tell(text.changed);
    onDone();
    onClose();
  };
  return (
    <Dialog title={say(text.editTitle, { name: check.name })} onClose={onClose}>
      <Form submit={text.save} onSubmit={save} onCancel={onClose}>
        <Target typed={typed} set={set} />
        <MoreFields typed={typed} set={set} check={check} />
      </Form>
    </Dialog>
  );
}

type Setter = <Field extends keyof Typed>(field: Field) => (value: Typed[Field]) => void;

const setterOf =
  (setTyped: (change: (before: Typed) => Typed) => void): Setter =>
  (field) =>
  (value) =>
    setTyped((before) => ({ ...before, [field]: value }));

interface FieldsProps {
  readonly typed: Typed;
  readonly set: Setter;
  /** Check that is changed; absent: a new one. */
  readonly check?: Check;
}

const Target = ({ typed, set }: FieldsProps) => (
  <TextField
    label={text.target}
    value={typed.target}
    onInput={set('target')}
    hint={text.targetHint}
    mono
    required
    autoFocus
  />
);

/** Everything that has a default. */
function MoreFields({ typed, set, check }: FieldsProps) {
  const field = (name: Exclude<keyof Typed, 'steps'>) => ({
    value: typed[name],
    onInput: set(name),
  });
  return (
    <>
      {typed.kind === 'browser' && <StepsField steps={typed.steps} onChange={set('steps')} />}
      <TextField label={text.group} hint={text.groupHint} {...field('group')} />
      <TextField label={text.places} hint={text.placesHint} mono {...field('places')} />
      <TextField
        label={text.conditions}
        hint={text.conditionsHint}
        rows={3}
        mono
        {...field('conditions')}
      />
      <TextField label={text.interval} type="number" {...field('interval')} />
      <TextField label={text.timeout} type="number" {...field('timeout')} />
      <TextField label={text.dependsOn} hint={text.dependsOnHint} mono {...field('dependsOn')} />
      <TextField
        label={text.username}
        hint={text.usernameHint}
        autoComplete="off"
        {...field('username')}
      />
      <TextField
        label={text.password}
        hint={check?.has_password ? text.keptHint : text.passwordHint}
        type="password"
        autoComplete="new-password"
        {...field('password')}
      />
      <TextField
        label={text.headers}
        hint={(check?.header_names.length ?? 0) > 0 ? text.keptHeadersHint : text.headersHint}
        rows={2}
        mono
        {...field('headers')}
      />
      <TextField label={text.proxy} hint={text.proxyHint} mono {...field('proxy')} />
    </>
  );
}
