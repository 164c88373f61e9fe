import { isDeepStrictEqual } from 'node:util';

import type { Environment } from '../../../core/boot/index.ts';
import { type ApiClient, asFailure, Failure } from 'svc/cli';
import { type ConfigFile, readFiles, refusal, strangersIn } from './files.ts';
import {
  filled,
  type Kind,
  listed,
  requestOf,
  secretPrefix,
  secretsOf,
  type Thing,
} from './kinds.ts';
import { Trial } from './trial.ts';

export interface Change {
  readonly kind: string;
  readonly key: string;
  readonly change: 'create' | 'update';
  /** Differences: field, value there, value here. Secrets are not among the values. */
  readonly differs: readonly {
    readonly field: string;
    readonly there?: unknown;
    readonly here?: unknown;
  }[];
}

export interface Applying {
  readonly folder: string;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly client: ApiClient;
  readonly environment: Environment;
  readonly dryRun: boolean;
}

/** Result of applying, or of a preview. */
export interface Outcome {
  readonly changes: readonly Change[];
  /** Warnings about ignored parts of the folder. */
  readonly warnings: readonly string[];
}

/**
 * Applies the files to svc; what has no file is left unchanged. Nothing is changed unless every
 * file can be read, and svc would accept each of them, as far as that can be checked without a
 * change.
 */
export async function apply({
  folder,
  kinds,
  client,
  environment,
  dryRun,
}: Applying): Promise<Outcome> {
  const files = readFiles(folder, kinds);
  const lists = new Map<string, readonly Thing[]>();
  const listOf = async (name: string): Promise<readonly Thing[]> => {
    const known = lists.get(name) ?? (await listed(client, kinds.get(name)!));
    lists.set(name, known);
    return known;
  };
  const plan = async (one: ConfigFile, isDry: boolean): Promise<Plan> => {
    const there = (await listOf(one.name)).find(
      (other) => filled(one.kind.key, other) === filled(one.kind.key, one.thing),
    );
    const brought = new Set(
      files
        .filter(({ name }) => name === one.name)
        .map(({ kind, thing }) => filled(kind.key, thing)),
    );
    const wanted = await resolved(one, there, environment, { kinds, listOf, isDry, brought });
    return { there, wanted, differs: differences(one.kind, there, wanted) };
  };
  // Twice: first all of them, so that a file that cannot be applied stops the others as well.
  const trial = new Trial(client);
  const planned: Change[] = [];
  for (const one of files) {
    try {
      const found = await plan(one, true);
      if (isDifferent(found)) {
        await trial.assertTaken(one, found.there, found.wanted);
        planned.push(changeOf(one, found));
      }
    } catch (error) {
      throw ofFile(one, error, 'nothing was applied');
    }
  }
  const warnings = strangersIn(folder, kinds);
  if (dryRun) {
    return { changes: planned, warnings };
  }
  const changes: Change[] = [];
  const bring = async (one: ConfigFile): Promise<Change | undefined> => {
    const found = await plan(one, false);
    if (!isDifferent(found)) {
      return undefined;
    }
    await send(client, one.kind, found.there, found.wanted);
    if (!found.there) {
      lists.delete(one.name);
    }
    return changeOf(one, found);
  };
  const bringOrSay = (one: ConfigFile): Promise<Change | undefined> =>
    bring(one).catch((error: unknown) => {
      throw brokenOff(one, error, changes, planned);
    });
  for (const one of files) {
    const change = await bringOrSay(one);
    changes.push(...(change ? [change] : []));
  }
  // Once more those that name another of their own kind, which may have been made after them.
  for (const one of files.filter(({ name, kind }) =>
    Object.values(kind.references ?? {}).includes(name),
  )) {
    lists.delete(one.name);
    await bringOrSay(one);
  }
  return { changes, warnings };
}

interface Plan {
  readonly there: Thing | undefined;
  readonly wanted: Thing;
  readonly differs: Change['differs'];
}

const isDifferent = ({ there, differs }: Plan): boolean =>
  there === undefined || differs.length > 0;

const changeOf = ({ name, kind, thing }: ConfigFile, { there, differs }: Plan): Change => ({
  kind: name,
  key: filled(kind.key, thing),
  change: there ? 'update' : 'create',
  differs,
});

/** Returns an error that states in which state svc was left. */
function brokenOff(
  one: ConfigFile,
  error: unknown,
  applied: readonly Change[],
  planned: readonly Change[],
): Failure {
  const names = (changes: readonly Change[]): readonly string[] =>
    changes.map(({ kind, key }) => `${kind}/${key}`);
  const done = names(applied);
  const open = names(planned).filter((name) => !done.includes(name));
  const state = `applied: ${done.join(', ') || 'nothing'}; not applied: ${open.join(', ') || 'nothing'}`;
  return ofFile(one, error, state);
}

/** The failure with the file before it, unless it begins with that. */
function ofFile({ file }: ConfigFile, error: unknown, state: string): Failure {
  const { exitCode, code, message, details } = asFailure(error);
  return new Failure(
    exitCode,
    code,
    `${message.startsWith(file) ? message : `${file}: ${message}`}; ${state}`,
    { details, cause: error },
  );
}

interface Others {
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly listOf: (kind: string) => Promise<readonly Thing[]>;
  readonly isDry: boolean;
  /** Keys of the same kind that have files. */
  readonly brought: ReadonlySet<string>;
}

/** The file with ids for keys, and secrets for the variables that have them. */
async function resolved(
  { name, kind, file, thing }: ConfigFile,
  there: Thing | undefined,
  environment: Environment,
  others: Others,
) {
  const unknown = Object.keys(thing).find((field) => !kind.fields.includes(field));
  if (unknown !== undefined) {
    throw refusal(
      file,
      `has the unknown field "${unknown}"; known fields: ${kind.fields.join(', ')}`,
    );
  }
  const entries: [string, unknown][] = [];
  for (const [field, value] of Object.entries(thing)) {
    const other = kind.references?.[field];
    const variable = (value as { from_env?: unknown } | null)?.from_env;
    if (typeof variable === 'string' && (kind.secrets ?? []).includes(field)) {
      if (!variable.startsWith(secretPrefix)) {
        throw refusal(
          file,
          `reads ${field} from ${variable}; the variable must begin with ${secretPrefix}`,
        );
      }
      const secret = environment[variable];
      if (secret === undefined && !there) {
        throw refusal(file, `reads ${field} from ${variable}, which is not set`);
      }
      // As it was shown: that leaves it as it is.
      entries.push([field, secret ?? there![field]]);
    } else if (other !== undefined && value !== null) {
      const all = await others.listOf(other);
      const idOf = (key: unknown): unknown => {
        const found = all.find((one) => filled(others.kinds.get(other)!.key, one) === key);
        // A first look may find what only its own files bring; what is of one kind may name each other.
        if (!found && other === name && !others.isDry && others.brought.has(String(key))) {
          return undefined;
        }
        if (!found && !others.isDry) {
          throw refusal(
            file,
            `names ${String(key)} in ${field}, which does not exist among ${other}`,
          );
        }
        return found?.['id'] ?? key;
      };
      entries.push([
        field,
        Array.isArray(value)
          ? value.map(idOf).filter((id) => id !== undefined)
          : (idOf(value) ?? null),
      ]);
    } else {
      entries.push([field, value]);
    }
  }
  return Object.fromEntries(entries) as Thing;
}

function differences(kind: Kind, there: Thing | undefined, wanted: Thing): Change['differs'] {
  const secrets = secretsOf(kind, there ?? wanted);
  return Object.entries(wanted)
    .filter(
      ([field, value]) =>
        !(kind.unshown ?? []).includes(field) && !isDeepStrictEqual(there?.[field], value),
    )
    .map(([field, here]) =>
      secrets.includes(field) ? { field } : { field, ...(there && { there: there[field] }), here },
    );
}

async function send(
  client: ApiClient,
  kind: Kind,
  there: Thing | undefined,
  wanted: Thing,
): Promise<void> {
  const { method, address, body } = requestOf(kind, there, wanted);
  await client[method](address, body);
}
