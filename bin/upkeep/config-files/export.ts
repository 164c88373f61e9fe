import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

import type { ApiClient } from 'svc/cli';
import { filled, type Kind, listed, secretsOf, type Thing, variableOf } from './kinds.ts';

export interface Exported {
  readonly kind: string;
  readonly count: number;
}

/** Writes one file for each thing; files of things that are gone are removed, others in these folders are left alone. */
export async function exportTo(
  folder: string,
  kinds: ReadonlyMap<string, Kind>,
  client: ApiClient,
): Promise<readonly Exported[]> {
  const lists = new Map<string, readonly Thing[]>();
  for (const [name, kind] of kinds) {
    lists.set(name, await listed(client, kind));
  }
  return [...kinds].map(([name, kind]) => {
    const things = lists
      .get(name)!
      .filter((thing) =>
        Object.entries(kind.only ?? {}).every(([field, value]) => (thing[field] ?? null) === value),
      );
    const files = new Map(
      things.map((thing) => [
        fileOf(filled(kind.key, thing)),
        stringify(written(name, kind, thing, kinds, lists), { lineWidth: 0 }),
      ]),
    );
    mkdirSync(join(folder, name), { recursive: true });
    if (lstatSync(join(folder, name)).isSymbolicLink()) {
      throw new Error(`${join(folder, name)} is a link: svc does not write to its target`);
    }
    readdirSync(join(folder, name))
      .filter((file) => file.endsWith('.yaml') && !files.has(file))
      .forEach((file) => rmSync(join(folder, name, file)));
    files.forEach((text, file) => write(join(folder, name, file), text));
    return { kind: name, count: files.size };
  });
}

/** Replaces a file: a link is replaced, and its target stays. */
function write(path: string, text: string): void {
  const next = `${path}.${process.pid}.next`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { flag: 'wx' });
  renameSync(next, path);
}

/** Returns the file name of a key: a key is any text, a file name must not lead elsewhere. */
export const fileOf = (key: string): string =>
  `${encodeURIComponent(key).replaceAll('.', (dot, at: number) => (at === 0 ? '%2E' : dot))}.yaml`;

function written(
  name: string,
  kind: Kind,
  thing: Thing,
  kinds: ReadonlyMap<string, Kind>,
  lists: ReadonlyMap<string, readonly Thing[]>,
): Thing {
  const secrets = secretsOf(kind, thing);
  return Object.fromEntries(
    kind.fields.map((field) => {
      const value = thing[field];
      const other = kind.references?.[field];
      if (secrets.includes(field) && value !== null) {
        return [field, { from_env: variableOf(name, filled(kind.key, thing), field) }];
      }
      const keyOf = (id: unknown): string | undefined => {
        const found = lists.get(other!)?.find((one) => one['id'] === id);
        return found && filled(kinds.get(other!)!.key, found);
      };
      return [
        field,
        other === undefined || value === null
          ? value
          : Array.isArray(value)
            ? value.map(keyOf)
            : keyOf(value),
      ];
    }),
  );
}
