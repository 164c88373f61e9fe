import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';

import type { Environment } from '../../core/boot/index.ts';
import { messageOf } from '../../core/sdk/index.ts';
import type { ApiClient } from '../cli/api-client.ts';
import { Failure } from '../cli/failure.ts';
import { filled, type Kind, listed, secretPrefix, secretsOf, type Thing } from './kinds.ts';

export interface Change {
  readonly kind: string;
  readonly key: string;
  readonly change: 'create' | 'update';
  /** What differs: field, value there, value here. Secrets are not among the values. */
  readonly differs: readonly { readonly field: string; readonly there?: unknown; readonly here?: unknown }[];
}

export interface Applying {
  readonly folder: string;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly client: ApiClient;
  readonly environment: Environment;
  readonly dryRun: boolean;
}

const mostBytes = 1024 * 1024;

/** Brings svc in line with the files; what has no file is left alone. Nothing is changed unless every file can be read. */
export async function apply({ folder, kinds, client, environment, dryRun }: Applying): Promise<readonly Change[]> {
  const files = [...kinds].flatMap(([name, kind]) => filesOf(folder, name).flatMap((one) => (isOver(kind, one.thing) ? [] : [{ name, kind, ...one }])));
  const lists = new Map<string, readonly Thing[]>();
  const listOf = async (name: string): Promise<readonly Thing[]> => {
    const known = lists.get(name) ?? (await listed(client, kinds.get(name)!));
    lists.set(name, known);
    return known;
  };
  const plan = async (one: (typeof files)[number], isDry: boolean) => {
    const there = (await listOf(one.name)).find((other) => filled(one.kind.key, other) === filled(one.kind.key, one.thing));
    const brought = new Set(files.filter(({ name }) => name === one.name).map(({ kind, thing }) => filled(kind.key, thing)));
    const wanted = await resolved(one, there, environment, { kinds, listOf, isDry, brought });
    return { ...one, there, wanted, differs: differences(one.kind, there, wanted) };
  };
  // Twice: first all of them, so that a file that cannot be applied stops the others as well.
  for (const one of files) {
    await plan(one, true);
  }
  const changes: Change[] = [];
  const bring = async (one: (typeof files)[number]): Promise<Change | undefined> => {
    const { name, kind, there, wanted, differs } = await plan(one, dryRun);
    if (there && differs.length === 0) {
      return undefined;
    }
    if (!dryRun) {
      await send(client, kind, there, wanted);
      if (!there) {
        lists.delete(name);
      }
    }
    return { kind: name, key: filled(kind.key, one.thing), change: there ? 'update' : 'create', differs };
  };
  for (const one of files) {
    const change = await bring(one);
    changes.push(...(change ? [change] : []));
  }
  // Once more those that name another of their own kind, which may have been made after them.
  for (const one of files.filter(({ name, kind }) => !dryRun && Object.values(kind.references ?? {}).includes(name))) {
    lists.delete(one.name);
    await bring(one);
  }
  return changes;
}

/** Its end is past: it stays in the history of the files, and is made no more. */
const isOver = ({ until }: Kind, thing: Thing): boolean => until !== undefined && Date.parse(String(thing[until])) <= Date.now();

function filesOf(folder: string, kind: string): readonly { file: string; thing: Thing }[] {
  const inside = join(folder, kind);
  const names = existsSync(inside) ? readdirSync(inside).filter((name) => /^[^.].*\.ya?ml$/.test(name)) : [];
  return names.sort().map((name) => {
    const file = join(inside, name);
    const text = readFileSync(file, 'utf8');
    if (text.length > mostBytes) {
      throw refusal(file, `has more than ${mostBytes / 1024} KiB`);
    }
    try {
      const thing = parse(text, { maxAliasCount: 10 }) as unknown;
      if (typeof thing !== 'object' || thing === null || Array.isArray(thing)) {
        throw new Error('it holds no fields');
      }
      return { file, thing: thing as Thing };
    } catch (error) {
      throw refusal(file, `cannot be read: ${messageOf(error)}`);
    }
  });
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
  { name, kind, file, thing }: { name: string; kind: Kind; file: string; thing: Thing },
  there: Thing | undefined,
  environment: Environment,
  others: Others,
) {
  const unknown = Object.keys(thing).find((field) => !kind.fields.includes(field));
  if (unknown !== undefined) {
    throw refusal(file, `has the field "${unknown}"; there are ${kind.fields.join(', ')}`);
  }
  const entries: [string, unknown][] = [];
  for (const [field, value] of Object.entries(thing)) {
    const other = kind.references?.[field];
    const variable = (value as { from_env?: unknown } | null)?.from_env;
    if (typeof variable === 'string' && (kind.secrets ?? []).includes(field)) {
      if (!variable.startsWith(secretPrefix)) {
        throw refusal(file, `takes ${field} from ${variable}; only variables that begin with ${secretPrefix} are read`);
      }
      const secret = environment[variable];
      if (secret === undefined && !there) {
        throw refusal(file, `takes ${field} from ${variable}, which is not set`);
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
          throw refusal(file, `names ${String(key)} in ${field}, and there is no such thing among ${other}`);
        }
        return found?.['id'] ?? key;
      };
      entries.push([field, Array.isArray(value) ? value.map(idOf).filter((id) => id !== undefined) : (idOf(value) ?? null)]);
    } else {
      entries.push([field, value]);
    }
  }
  return Object.fromEntries(entries) as Thing;
}

function differences(kind: Kind, there: Thing | undefined, wanted: Thing): Change['differs'] {
  const secrets = secretsOf(kind, there ?? wanted);
  return Object.entries(wanted)
    .filter(([field, value]) => !(kind.unshown ?? []).includes(field) && !isDeepStrictEqual(there?.[field], value))
    .map(([field, here]) => (secrets.includes(field) ? { field } : { field, ...(there && { there: there[field] }), here }));
}

async function send(client: ApiClient, kind: Kind, there: Thing | undefined, wanted: Thing): Promise<void> {
  // What names it in the path of a patch is not changed by it.
  const fields = (kind.sent ?? kind.fields).filter((field) => !there || kind.change === 'put' || !kind.item.includes(`{${field}}`));
  const body = Object.fromEntries(Object.entries(wanted).filter(([field]) => fields.includes(field)));
  const item = filled(kind.item, { ...wanted, ...there }, encodeURIComponent);
  if (!there && kind.puts_new !== true) {
    await client.post(kind.list, body);
  } else if (kind.change === 'put') {
    await client.put(item, body);
  } else {
    await client.patch(item, body);
  }
}

const refusal = (file: string, why: string): Failure => new Failure(2, 'invalid_argument', `${file} ${why}; nothing was applied after it`);
