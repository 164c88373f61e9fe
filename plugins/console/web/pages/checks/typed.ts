import type { Check, Step } from './check.ts';

/** Step as it is typed. */
export interface TypedStep {
  readonly do: Step['do'];
  readonly selector: string;
  readonly value: string;
  readonly isSecret: boolean;
  /** Name of a secret that is known already; empty: there is none. */
  readonly secret: string;
}

/** Answers of a form; empty where svc decides. */
export interface Typed {
  readonly target: string;
  readonly kind: string;
  readonly name: string;
  readonly group: string;
  readonly places: string;
  readonly conditions: string;
  readonly interval: string;
  readonly timeout: string;
  readonly dependsOn: string;
  readonly username: string;
  readonly password: string;
  readonly headers: string;
  readonly proxy: string;
  readonly steps: readonly TypedStep[];
}

export const blank: Typed = {
  target: '',
  kind: '',
  name: '',
  group: '',
  places: '',
  conditions: '',
  interval: '',
  timeout: '',
  dependsOn: '',
  username: '',
  password: '',
  headers: '',
  proxy: '',
  steps: [],
};

/** Returns a check as its form shows it; what is sealed is empty there. */
export const typedOf = (check: Check): Typed => ({
  ...blank,
  target: check.target,
  kind: check.kind,
  name: check.name,
  group: check.group,
  places: check.places.join(', '),
  conditions: check.conditions.join('\n'),
  interval: String(check.interval_s),
  timeout: String(check.timeout_s),
  dependsOn: check.depends_on.join(', '),
  username: check.username ?? '',
  proxy: check.proxy ?? '',
  steps: (check.steps ?? []).map(({ selector = '', value = '', secret = '', ...step }) => ({
    ...step,
    selector,
    value,
    secret,
    isSecret: secret !== '',
  })),
});

/** Returns what the API is asked to try or to create: what was typed, and nothing that was not. */
export function draftOf(typed: Typed): object {
  const { target, ...fields } = fieldsOf(typed);
  const given = Object.entries({ kind: typed.kind, ...fields }).filter(
    ([, value]) => !isEmpty(value),
  );
  return { target, ...Object.fromEntries(given) };
}

/** Returns what has changed in a form: the API keeps everything else as it is, also what the form does not know. */
export function changeOf(before: Typed, typed: Typed): object {
  const [old, now] = [fieldsOf(before), fieldsOf(typed)];
  const changed = Object.entries(now).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(old[field as keyof typeof old]),
  );
  return Object.fromEntries(
    changed.map(([field, value]) => [field, isEmpty(value) ? emptied(field) : value]),
  );
}

/** Value that takes a field back to its default. */
function emptied(field: string): unknown {
  if (field === 'places') {
    return ['svc'];
  }
  if (field === 'interval_s' || field === 'timeout_s') {
    return undefined;
  }
  return field === 'group' ? '' : field === 'conditions' || field === 'depends_on' ? [] : null;
}

function fieldsOf(typed: Typed) {
  const { target, group, places, conditions, interval, timeout, dependsOn } = typed;
  const { steps, secrets } = stepsOf(typed.steps);
  return {
    target: target.trim(),
    group: group.trim(),
    places: split(places, ','),
    conditions: split(conditions, '\n'),
    interval_s: interval === '' ? '' : Number(interval),
    timeout_s: timeout === '' ? '' : Number(timeout),
    depends_on: split(dependsOn, ','),
    username: typed.username.trim(),
    password: typed.password,
    headers: Object.fromEntries(split(typed.headers, '\n').map(headerOf)) as object,
    proxy: typed.proxy.trim(),
    steps,
    secrets,
  };
}

/** Takes what is secret out of the steps, under a name of its own. */
function stepsOf(typed: readonly TypedStep[]): {
  readonly steps: readonly Step[];
  readonly secrets: Readonly<Record<string, string>>;
} {
  const taken = new Set(typed.map(({ secret }) => secret));
  const secrets: Record<string, string> = {};
  const steps = typed.map(({ do: kind, selector, value, isSecret, secret }, index): Step => {
    const step = { do: kind, ...(selector.trim() !== '' && { selector: selector.trim() }) };
    if (kind !== 'fill' || !isSecret) {
      return { ...step, ...(value !== '' && { value }) };
    }
    const name = secret === '' ? freeName(taken, index + 1) : secret;
    if (value !== '') {
      secrets[name] = value;
    }
    return { ...step, secret: name };
  });
  return { steps, secrets };
}

function freeName(taken: Set<string>, first: number): string {
  let number = first;
  while (taken.has(`step-${number}`)) {
    number++;
  }
  taken.add(`step-${number}`);
  return `step-${number}`;
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
