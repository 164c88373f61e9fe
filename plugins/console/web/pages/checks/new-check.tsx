import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { attempt, Dialog, tell } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import type { Reading } from './check.ts';
import { Places } from './places.tsx';

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
] as const;

/** Answers of somebody who has typed nothing yet; empty where they leave it to svc. */
const blank = {
  target: '',
  kind: '',
  name: '',
  group: '',
  places: '',
  conditions: '',
  interval: '',
  username: '',
  password: '',
  headers: '',
  proxy: '',
};
type Typed = typeof blank;

interface NewCheckProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Needs an address and nothing else. */
export function NewCheck({ onClose, onDone }: NewCheckProps) {
  const [typed, setTyped] = useState(blank);
  const [hasMore, setMore] = useState(false);
  const [readings, setReadings] = useState<readonly Reading[]>();
  const set = (field: keyof Typed) => (value: string) =>
    setTyped((before) => ({ ...before, [field]: value }));
  const look = async (): Promise<void> =>
    setReadings(
      (await api.post<{ readonly readings: readonly Reading[] }>('/checks/try', trialOf(typed)))
        .readings,
    );
  const create = async (): Promise<void> => {
    const { name } = typed;
    await api.post('/checks', { ...trialOf(typed), ...(name !== '' && { name }) });
    tell(text.added);
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.add} onClose={onClose}>
      <Form submit={text.add} onSubmit={create} onCancel={onClose}>
        <TextField
          label={text.target}
          value={typed.target}
          onInput={set('target')}
          hint={text.targetHint}
          mono
          required
          autoFocus
        />
        {hasMore ? (
          <MoreFields typed={typed} set={set} />
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

interface MoreFieldsProps {
  readonly typed: Typed;
  readonly set: (field: keyof Typed) => (value: string) => void;
}

/** Everything that has a default. */
function MoreFields({ typed, set }: MoreFieldsProps) {
  const field = (name: keyof Typed) => ({ value: typed[name], onInput: set(name) });
  return (
    <>
      <SelectField
        label={text.kind}
        value={typed.kind}
        options={[['', text.kindOfAddress], ...kinds.map((kind) => [kind, kind] as const)]}
        onChange={set('kind')}
      />
      <TextField label={text.name} hint={text.nameHint} {...field('name')} />
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
      <TextField
        label={text.username}
        hint={text.usernameHint}
        autoComplete="off"
        {...field('username')}
      />
      <TextField
        label={text.password}
        hint={text.passwordHint}
        type="password"
        autoComplete="new-password"
        {...field('password')}
      />
      <TextField label={text.headers} hint={text.headersHint} rows={2} mono {...field('headers')} />
      <TextField label={text.proxy} hint={text.proxyHint} mono {...field('proxy')} />
    </>
  );
}

/** Returns what the API is asked for: what was typed, and nothing that was not. */
function trialOf({ target, kind, group, places, conditions, interval, ...typed }: Typed): object {
  const { username, password, headers, proxy } = typed;
  const draft = {
    kind,
    group: group.trim(),
    places: split(places, ','),
    conditions: split(conditions, '\n'),
    interval_s: interval === '' ? '' : Number(interval),
    username: username.trim(),
    password,
    headers: Object.fromEntries(split(headers, '\n').map(headerOf)) as object,
    proxy: proxy.trim(),
  };
  const given = Object.entries(draft).filter(([, value]) => !isEmpty(value));
  return { target: target.trim(), ...Object.fromEntries(given) };
}

const isEmpty = (value: string | number | object): boolean =>
  value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** `Name: value`, as HTTP writes it. */
function headerOf(line: string): readonly [string, string] {
  const at = line.indexOf(':');
  return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

const split = (value: string, mark: string): readonly string[] =>
  value
    .split(mark)
    .map((part) => part.trim())
    .filter((part) => part !== '');
