import { type Call, usageFailure, type ApiClient } from 'svc/cli';
import { namesIn, type Typed, type Verb } from '../../manifest/verb.ts';

type Value = string | number | boolean | readonly (string | number)[];

/** Values typed, by the names that the verb gives them. */
export type Given = Readonly<Record<string, Value>>;

export function givenTo(verb: Verb, call: Call): Given {
  const given: Record<string, Value> = {};
  verb.operands.forEach((operand, index) => {
    const text = call.optionalOperand(index);
    if (text !== undefined) {
      given[operand.name] =
        operand.named !== undefined && !isInteger(text)
          ? text
          : valueOf(`<${operand.name}>`, text, operand);
    }
  });
  for (const [name, option] of Object.entries(verb.options)) {
    const text = call.has(name) && option.value !== undefined ? call.value(name)! : option.default;
    if (call.has(name) || text !== undefined) {
      given[name] = text === undefined ? true : valueOf(`--${name}`, text, option);
    }
  }
  for (const name of namesIn(verb.path)) {
    // A URL would leave out such a part of its path, and the request would mean another thing.
    if (/^\.{0,2}$/.test(String(given[name]))) {
      throw usageFailure(
        verb.operands.find((operand) => operand.name === name)?.complaint ??
          `<${name}> cannot be "${String(given[name])}"`,
      );
    }
  }
  return given;
}

/** Resolves names to ids. */
export async function numbered(
  { operands }: Verb,
  given: Given,
  client: Pick<ApiClient, 'list'>,
): Promise<Given> {
  const numbers: Record<string, Value> = {};
  for (const { name, named, complaint } of operands) {
    const text = given[name];
    if (named !== undefined && typeof text === 'string') {
      const found = await client.list<Readonly<Record<string, unknown>>>(
        `${named.list}?${new URLSearchParams({ q: text }).toString()}`,
      );
      const ids = found.filter((item) => item[named.by] === text).map(({ id }) => Number(id));
      if (ids.length !== 1) {
        throw usageFailure(
          ids.length === 0
            ? `nothing is named "${text}"; ${complaint ?? `<${name}> must be a number or a name`}`
            : `"${text}" matches ${ids.toSorted((a, b) => a - b).join(', ')}: use the number`,
        );
      }
      numbers[name] = ids[0]!;
    }
  }
  return { ...given, ...numbers };
}

const isInteger = (text: string): boolean => /^-?\d{1,15}$/.test(text);

function valueOf(name: string, text: string, { type, complaint }: Typed): Value {
  switch (type) {
    case 'text':
      return text;
    case 'integer':
      if (!isInteger(text)) {
        throw usageFailure(complaint ?? `${name} must be a whole number`);
      }
      return Number(text);
    case 'number':
      if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) {
        throw usageFailure(complaint ?? `${name} must be a number`);
      }
      return Number(text);
    case 'list':
      return itemsOf(text);
    case 'integers':
      if (!itemsOf(text).every(isInteger)) {
        throw usageFailure(complaint ?? `${name} must be whole numbers with commas between them`);
      }
      return itemsOf(text).map(Number);
  }
}

const itemsOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Asks svc what the verb says; resolves with the document of its answer. */
export async function send(verb: Verb, given: Given, client: ApiClient): Promise<unknown> {
  const path = pathOf(verb, given) + queryOf(placed(verb, given, 'query'));
  const body = Object.fromEntries(placed(verb, given, 'body'));
  switch (verb.method) {
    case 'GET':
      return verb.list?.paged
        ? { items: await client.list(path) }
        : await client.get(path, verb.within_ms);
    case 'DELETE':
      await client.delete(path);
      return given;
    case 'POST':
      return (
        (await client.post(
          path,
          Object.keys(body).length === 0 ? undefined : body,
          verb.within_ms,
        )) ?? given
      );
    case 'PUT':
      return (await client.put(path, body)) ?? given;
    case 'PATCH':
      return (await client.patch(path, body)) ?? given;
  }
}

const pathOf = ({ path }: Verb, given: Given): string =>
  namesIn(path).reduce(
    (filled, name) => filled.replace(`{${name}}`, () => encodeURIComponent(String(given[name]))),
    path,
  );

function queryOf(values: readonly (readonly [name: string, value: Value])[]): string {
  const query = new URLSearchParams(
    values.flatMap(([name, value]) =>
      [value].flat().map((item): [string, string] => [name, String(item)]),
    ),
  );
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Returns the values for one part of the request, by their names there. */
function placed(
  { method, path, operands, options }: Verb,
  given: Given,
  part: 'query' | 'body',
): [string, Value][] {
  const usual = method === 'GET' || method === 'DELETE' ? 'query' : 'body';
  const declared: readonly (readonly [string, Typed])[] = [
    ...operands.map((operand) => [operand.name, operand] as const),
    ...Object.entries(options),
  ];
  const inPath = namesIn(path);
  return declared
    .filter(
      ([name, typed]) => name in given && !inPath.includes(name) && (typed.in ?? usual) === part,
    )
    .map(([name, typed]) => [typed.as ?? name.replaceAll('-', '_'), given[name]!]);
}
