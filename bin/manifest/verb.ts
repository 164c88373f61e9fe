import verbsSchema from '../../config/verbs.schema.json' with { type: 'json' };
import { ajvSchemas } from '../../core/boot/settings/schemas.ts';
import { sentence } from '../../core/host/folder/read-manifest.ts';
import { defineExtensionPoint, type PluginManifest } from '../../core/sdk/index.ts';
import { errors } from './errors.ts';
import { verbPoint } from './verb-point.ts';

/** A command that a plugin brings as data: one request, and how its answer is shown. Validated against `config/verbs.schema.json`. */
export interface Verb {
  readonly summary: string;
  readonly about: string;
  readonly example: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Names in braces are filled with what was typed. */
  readonly path: string;
  /** Time limit of the answer; default: that of every other command. */
  readonly within_ms?: number;
  readonly operands: readonly Operand[];
  readonly options: Readonly<Record<string, VerbOption>>;
  /** Said on standard error while it takes its time. */
  readonly progress?: string;
  /**
   * List options; `paged`: the answer of a GET continues with a cursor; false: one answer contains
   * all.
   */
  readonly list?: {
    readonly columns: readonly Field[];
    readonly empty: string;
    readonly paged: boolean;
  };
  readonly fields?: readonly Field[];
  readonly text?: readonly (string | Piece)[];
  /** The exit code is 1 unless this field of the answer has this value. */
  readonly expect?: { readonly field: string; readonly value: string | number | boolean };
  /** The option that says yes to a conflict whose details hold a value for it: that is a question, shown with the command that answers it. */
  readonly confirm?: string;
}

export interface Typed {
  readonly type: 'text' | 'integer' | 'number' | 'list' | 'integers';
  /** Name in the request; default: its own name, with _ for -. */
  readonly as?: string;
  /**
   * Part of the request that contains it, unless it is in the path; default: the query of a GET or
   * DELETE, the body of others.
   */
  readonly in?: 'query' | 'body';
  /** Said when what was typed is no such value. */
  readonly complaint?: string;
}

export interface Operand extends Typed {
  readonly name: string;
  /**
   * Look-up of names: a value that is not a number is searched by `q` in this list and compared
   * with this field; the item's `id` is sent.
   */
  readonly named?: { readonly list: string; readonly by: string };
  readonly optional: boolean;
}

export interface VerbOption extends Typed {
  readonly about: string;
  /** Placeholder of the value in the usage line; absent for a switch, which sends true. */
  readonly value?: string;
  /** Default value of the option. */
  readonly default?: string;
}

/** Format of a value, after its name and a bar: `{bytes|size}`. */
export const formatNames = ['plain', 'value', 'lines', 'size', 'duration', 'percent'] as const;
export type Format = (typeof formatNames)[number];

/** A text with names of the answer in braces, such as `{last_attempt.stage}` or `{bytes|size}`. */
export interface Piece {
  readonly text: string;
  /** Shown only when this field is there, and neither empty, nor zero, nor false. */
  readonly when?: string;
  /** Shown instead of an empty text. */
  readonly none?: string;
  /** Longer texts are cut. */
  readonly width?: number;
  /** Colours by text; `*` is any other. */
  readonly paint?: Readonly<Record<string, 'good' | 'warn' | 'bad' | 'strong' | 'faint'>>;
}

export interface Field extends Piece {
  readonly header: string;
}

/** The commands of a manifest, by their words; throws where one could not work, or asks other plugins for a change. */
export function verbsOf(manifest: PluginManifest): Readonly<Record<string, Verb>> {
  const verbs = structuredClone(manifest.contributes[verbPoint] ?? {}) as Readonly<
    Record<string, Verb>
  >;
  const where = `plugin.json of ${manifest.id}: contributes["${verbPoint}"]`;
  // Here and not with the manifest: a svc that starts has no use for commands.
  const misfits = ajvSchemas.compile(verbsSchema, { defaults: true })(verbs);
  if (misfits.length > 0) {
    throw errors.manifest_shape({ where, list: misfits.slice(0, 3).map(sentence).join('; ') });
  }
  for (const [words, verb] of Object.entries(verbs)) {
    const problem = problemOf(words, verb, manifest);
    if (problem !== undefined) {
      throw errors.command_shape({ where, words, problem });
    }
  }
  return verbs;
}

/** Commands of packs. The command line reads them from the disk; the point is for what a pack is told at its install. */
export const Verbs = defineExtensionPoint<Verb>(verbPoint, undefined, {
  packs: {
    // One that is wrong concerns nobody but its caller, who is told.
    schema: { type: 'object' },
    sentence: (words, { method, path, summary }) =>
      `adds the command "svc ${words}" ("${summary}"), which calls ${method} ${path} with the permissions of the user who runs it`,
    problem(words, verb, manifest) {
      if (words !== manifest.id && !words.startsWith(`${manifest.id} `)) {
        return `commands of a pack must begin with "${manifest.id}"`;
      }
      const verbs = structuredClone({ [words]: verb });
      const [misfit] = ajvSchemas.compile(verbsSchema, { defaults: true })(verbs);
      const problem = misfit ? sentence(misfit) : problemOf(words, verbs[words]!, manifest);
      return problem && `the command ${problem}`;
    },
  },
});

function problemOf(
  words: string,
  { path, method, example, operands, options, list, fields, text, confirm }: Verb,
  manifest: PluginManifest,
): string | undefined {
  if ([list, fields, text].filter((form) => form !== undefined).length !== 1) {
    return 'must have exactly one of "list", "fields" and "text", which say how the answer is shown';
  }
  if (list !== undefined && method !== 'GET' && method !== 'POST') {
    return `has "list" with ${method}; "list" needs a GET, or a POST that answers "items"`;
  }
  // A mount and a command may call the same parameter by two names.
  const nameless = (route: string): string => route.replaceAll(/\{[^}]*\}/g, '{}');
  const own = [...manifest.mounts, ...manifest.routes.map((route) => route.path)].map(nameless);
  const asked = [path, ...operands.flatMap(({ named }) => named?.list ?? [])];
  // A URL resolves these before the request leaves, so the path would not be the one that was read.
  const winding = asked.find((one) => one.split('/').some((part) => /^\.{1,2}$/.test(part)));
  if (winding !== undefined) {
    return `calls ${winding}, whose "." and ".." lead to another path; write that path`;
  }
  const foreign = asked.find(
    (one) => !own.some((mount) => nameless(one) === mount || nameless(one).startsWith(`${mount}/`)),
  );
  if (foreign !== undefined) {
    return `calls ${foreign}, which is not below "mounts": a command can call its own plugin only`;
  }
  if (operands.some(({ named, type }) => named !== undefined && type !== 'integer')) {
    return 'has an operand with "named" that is not an integer: a name stands for a number';
  }
  const required = operands.filter(({ optional }) => !optional).map(({ name }) => name);
  const unfilled = namesIn(path).find((name) => !required.includes(name));
  if (unfilled !== undefined) {
    return `has {${unfilled}} in its path, but no required operand of that name`;
  }
  if (
    operands.some(({ optional }, index) => !optional && index > 0 && operands[index - 1]!.optional)
  ) {
    return 'has a required operand after an optional one';
  }
  const malformed = [...(list?.columns ?? []), ...(fields ?? []), ...(text ?? [])]
    .flatMap((piece) => namesIn(typeof piece === 'string' ? piece : piece.text))
    .find(
      (name) =>
        !/^[a-z][\w.-]*$/i.test(name.replace(/\|\w+$/, '')) ||
        !(formatNames as readonly string[]).includes(name.split('|')[1] ?? 'plain'),
    );
  if (malformed !== undefined) {
    return `shows {${malformed}}; use the name of a field, alone or with one of the formats ${formatNames.map((name) => `|${name}`).join(', ')}`;
  }
  const unsent =
    [...operands, ...Object.values(options)].some((typed) => typed.in === 'body') &&
    ['GET', 'DELETE'].includes(method);
  if (unsent) {
    return `puts a value into the body of a ${method}, which has no body`;
  }
  if (confirm !== undefined && !(confirm in options)) {
    return `confirms by "${confirm}", which is not one of its options`;
  }
  const taken = Object.keys(options).find((name) => required.includes(name));
  if (taken !== undefined) {
    return `uses the name "${taken}" for both an operand and an option`;
  }
  return example === `svc ${words}` || example.startsWith(`svc ${words} `)
    ? undefined
    : `has an example that does not begin with "svc ${words}"`;
}

export const namesIn = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1]!);
