import type { DrillQuestion } from './differential-stores.ts';
import type { Random, Sketch } from './traces-differential-model.ts';

/** A search by tags, or for names or values of tags, as version 1 or 2 of the interface asks. */
export interface TagQuestion extends DrillQuestion {
  readonly kind: 'tags' | 'names' | 'values';
  answer(spans: readonly Sketch[]): Map<string, number>;
}

type Test = (span: Sketch) => boolean;
type Roots = ReadonlyMap<string, Sketch>;

const services = ['shop', 'cart', 'pay', 'nowhere'];
const names = ['GET /', 'query', 'publish', 'render', 'quer'];
const routes = ['/a', '/a/b', '/c', '/A'];
const statuses = ['unset', 'ok', 'error'] as const;

export function tagQuestionFrom(random: Random): TagQuestion {
  const kinds = [tagsFrom, namesFrom, valuesFrom];
  return kinds[random(kinds.length)]!(random);
}

/** Returns a query whose tags and durations all belong to one span. */
function tagsFrom(random: Random): TagQuestion {
  const [service, name, route] = [services[random(4)]!, names[random(5)]!, routes[random(4)]!];
  const [size, status, root] = [random(1_000), statuses[random(3)]!, services[random(4)]!];
  const forms: readonly (readonly [text: string, test: (span: Sketch, roots: Roots) => boolean])[] =
    [
      [`service.name=${service}`, (span) => span.service === service],
      [`name="${name}"`, (span) => span.name === name],
      [`route=${route}`, (span) => span.route === route],
      [`size=${size}`, (span) => span.size === size],
      [`status.code=${status}`, (span) => span.status === statuses.indexOf(status)],
      [`error=${status === 'ok'}`, (span) => (span.status === 2) === (status === 'ok')],
      [`root.service.name=${root}`, ({ trace }, roots) => roots.get(trace)!.service === root],
      [`root.name="${name}"`, ({ trace }, roots) => roots.get(trace)!.name === name],
    ];
  const chosen = Array.from({ length: random(4) }, () => forms[random(forms.length)]!);
  const [least, most] = [
    random(3) === 0 ? random(500) : undefined,
    random(3) === 0 ? 250 + random(750) : undefined,
  ];
  return {
    kind: 'tags',
    query: chosen.map(([text]) => text).join(' '),
    ...(least !== undefined && { minDuration: `${least}ms` }),
    ...(most !== undefined && { maxDuration: `${most}ms` }),
    answer(spans) {
      const roots = new Map(
        spans.filter(({ parent }) => parent === undefined).map((span) => [span.trace, span]),
      );
      const fits: Test = (span) =>
        chosen.every(([, test]) => test(span, roots)) &&
        span.ms >= (least ?? 0) &&
        span.ms <= (most ?? Infinity);
      return counted(spans.filter(fits).map(({ trace }) => trace));
    },
  };
}

const filters = (random: Random): readonly [text: string, test: Test] => {
  const [service, name, route, number] = [
    services[random(4)]!,
    names[random(5)]!,
    routes[random(4)]!,
    random(1_000),
  ];
  const forms: readonly (readonly [string, Test])[] = [
    ['', () => true],
    [`{ resource.service.name = "${service}" }`, (span) => span.service === service],
    [
      `{ span.route = "${route}" && name = "${name}" }`,
      (span) => span.route === route && span.name === name,
    ],
    [`{ span.size > ${number} }`, ({ size }) => size !== undefined && size > number],
    [`{ status = error }`, ({ status }) => status === 2],
    [`{ span.route = nil }`, (span) => span.route === undefined],
  ];
  return forms[random(forms.length)]!;
};

function namesFrom(random: Random): TagQuestion {
  const [query, test] = filters(random);
  const version = random(2) === 0 ? 1 : 2;
  return {
    kind: 'names',
    query,
    version,
    answer(spans) {
      const found = spans
        .filter(test)
        .flatMap(({ size, route }) => [
          ...(size === undefined ? [] : ['span size']),
          ...(route === undefined ? [] : ['span route']),
          'resource service.name',
        ]);
      return once(version === 2 ? found : found.map((one) => one.split(' ')[1]!));
    },
  };
}

function valuesFrom(random: Random): TagQuestion {
  const [query, test] = filters(random);
  const version = random(2) === 0 ? 1 : 2;
  const tags: readonly (readonly [
    tag: string,
    type: string,
    of: (span: Sketch) => string | number | undefined,
  ])[] = [
    ['resource.service.name', 'string', ({ service }) => service],
    ['.service.name', 'string', ({ service }) => service],
    ['service.name', 'string', ({ service }) => service],
    ['span.service.name', 'string', () => undefined],
    ['span.route', 'string', ({ route }) => route],
    ['route', 'string', ({ route }) => route],
    ['span.size', 'int', ({ size }) => size],
    ['name', 'string', ({ name }) => name],
  ];
  const [tag, type, valueOf] = tags[random(tags.length)]!;
  return {
    kind: 'values',
    tag,
    query,
    version,
    answer(spans) {
      const found = spans.filter(test).flatMap((span) => valueOf(span) ?? []);
      return once(found.map((value) => (version === 2 ? `${type} ${value}` : String(value))));
    },
  };
}

const once = (list: readonly string[]): Map<string, number> => new Map(list.map((one) => [one, 1]));

function counted(list: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  list.forEach((one) => found.set(one, (found.get(one) ?? 0) + 1));
  return found;
}
