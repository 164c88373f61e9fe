import { household, type Household } from '../trust/household.ts';

export interface Pollution {
  readonly ok: boolean;
  readonly bodies: number;
  readonly routes: number;
  /** Answers of 500 and above. */
  readonly failures: number;
  /** Bodies with a poisonous key that were taken. */
  readonly taken: number;
  readonly polluted: boolean;
  /** The first few of either, to look at. */
  readonly examples: string;
}

const poisons = ['__proto__', 'constructor', 'prototype'];

/** Sends random bodies with poisonous keys at any depth into every route that writes, as somebody who may do everything. */
export async function run({
  bodies = 10_000,
  seed = 1,
}: { bodies?: number; seed?: number } = {}): Promise<Pollution> {
  const undo: (() => unknown)[] = [];
  const people = await household(
    { after: (step) => void undo.push(step as () => unknown) },
    { environment: { SVC_LOG_LEVEL: 'error' } },
  );
  const routes = [...people.house.registry.current.routes.values()]
    .map(({ value }) => value)
    .filter(({ body }) => body !== undefined);
  const random = numbers(seed);
  const examples: string[] = [];
  let failures = 0;
  let taken = 0;
  const send = async (number: number): Promise<void> => {
    const route = routes[number % routes.length]!;
    const path = route.path.replaceAll(/\{[^}]+\}/g, '1');
    const { status, text } = await people.ask(
      route.method,
      path,
      people.house.token,
      poisoned(random, route.body),
    );
    if (status >= 500 || status < 300) {
      examples.push(`${route.method} ${path} ${status} ${text.slice(0, 100)}`);
    }
    failures += status >= 500 ? 1 : 0;
    taken += status < 300 ? 1 : 0;
  };
  await inParallel(8, bodies, send);
  const polluted = isPolluted() || (await rolesChanged(people));
  for (const step of undo) {
    await step();
  }
  return {
    ok: failures + taken === 0 && !polluted,
    bodies,
    routes: routes.length,
    failures,
    taken,
    polluted,
    examples: examples.slice(0, 3).join(' | '),
  };
}

/** A JSON text, since an object literal cannot carry `__proto__` as a key of its own: mostly what the route wants, poisoned somewhere. */
function poisoned(random: () => number, schema: unknown): string {
  const properties = Object.keys((schema as { properties?: object }).properties ?? {});
  const poison = poisons[Math.floor(random() * poisons.length)]!;
  const payload =
    random() < 0.5
      ? '{"polluted":true,"role":"admin","grants":["*"]}'
      : '{"prototype":{"polluted":true}}';
  let text = `{${JSON.stringify(poison)}:${payload}}`;
  for (let depth = Math.floor(random() * 6); depth > 0; depth--) {
    const key = properties[Math.floor(random() * properties.length)] ?? 'x';
    text = random() < 0.3 ? `[${text}]` : `{${JSON.stringify(key)}:${text}}`;
  }
  // A key that came twice would push the poison out again.
  const others = properties
    .filter((name) => !text.startsWith(`{${JSON.stringify(name)}:`) && random() < 0.5)
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(value(random))}`);
  return text.startsWith('{') && others.length > 0
    ? `${text.slice(0, -1)},${others.join(',')}}`
    : text;
}

const value = (random: () => number): unknown =>
  ['text', 7, true, null, 'admin', ['*'], { a: 1 }][Math.floor(random() * 7)];

const isPolluted = (): boolean => 'polluted' in {} || 'polluted' in [] || 'polluted' in Object;

async function rolesChanged({ ask, house }: Household): Promise<boolean> {
  const { body } = await ask('GET', '/api/v1/users', house.token);
  return body.total !== 0;
}

async function inParallel(
  lanes: number,
  count: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      await work(next++);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** A small generator, so that a finding can be seen again by its seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
