import {
  globalOptions,
  clientOptions,
  type Call,
  type Result,
  Failure,
  printable,
  type Paint,
} from 'svc/cli';
import type { Verb } from '../../manifest/verb.ts';

interface Detail {
  readonly path: string;
  readonly message: string;
}

/** A refusal that asks for a word, as that question; undefined for any other. */
export function questionOf(
  error: unknown,
  words: string,
  verb: Verb,
  call: Call,
): Result | undefined {
  const { confirm, options } = verb;
  if (
    !(error instanceof Failure) ||
    error.code !== 'conflict' ||
    confirm === undefined ||
    !Array.isArray(error.details)
  ) {
    return undefined;
  }
  const details = error.details as readonly Detail[];
  const yes = details.find(({ path }) => path === `/${confirm}`);
  if (yes === undefined) {
    return undefined;
  }
  // What else is wanted stands in the details below /options.
  const wanted = Object.keys(options).filter(
    (name) =>
      name !== confirm &&
      !call.has(name) &&
      details.some(({ path }) => path === `/options/${name}`),
  );
  const known: Readonly<Record<string, { readonly value?: string }>> = {
    ...options,
    ...clientOptions,
    data: globalOptions['data']!,
  };
  const given = Object.keys(known).filter((name) => call.has(name) && name !== confirm);
  const typed = given.flatMap((name) => [
    `--${name}`,
    ...(known[name]!.value === undefined ? [] : [call.value(name)!]),
  ]);
  const operands = verb.operands.flatMap((_, index) => call.optionalOperand(index) ?? []);
  const next = ['svc', ...words.split(' '), ...operands, ...typed, `--${confirm}`, yes.message].map(
    quoted,
  );
  const open = wanted
    .map(
      (name) =>
        ` --${name} '<${details.find(({ path }) => path === `/options/${name}`)!.message}>'`,
    )
    .join('');
  const shownOnes = details.filter(
    ({ path }) => path !== `/${confirm}` && !path.startsWith('/options/'),
  );
  return {
    data: { error: error.code, message: error.message, details },
    text: (paint) =>
      [
        printable(error.message.split(': ', 1)[0]!),
        '',
        ...listed(shownOnes, paint),
        '',
        'To confirm:',
        `  ${next.join(' ')}${open}`,
      ].join('\n'),
    code: 5,
  };
}

/** One line for each thing to know, with those of a kind together. */
function listed(details: readonly Detail[], paint: Paint): readonly string[] {
  const kinds = [...new Set(details.map(({ path }) => kindOf(path)))];
  const width = Math.max(0, ...kinds.map(({ length }) => length));
  return kinds.flatMap((kind) =>
    details
      .filter(({ path }) => kindOf(path) === kind)
      .map(
        ({ message }, index) =>
          `${paint.faint((index === 0 ? kind : '').padEnd(width))}  ${printable(message)}`,
      ),
  );
}

const kindOf = (path: string): string =>
  path
    .replace(/^\//, '')
    .replace(/\/\d+$/, '')
    .replaceAll(/[_/]/g, ' ');

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
