import { resolve } from 'node:path';

import type { Environment } from '../../../core/boot/index.ts';
import { pluginSources } from '../../../core/boot/settings/product.ts';
import { discover } from '../../../core/host/index.ts';
import type { ApiClient } from 'svc/cli';
import { currentProduct } from '../../product/product.ts';

/**
 * Part of `contributes` in `plugin.json` by which an area declares how its things are written to
 * files, and read back.
 */
const point = 'config.files';

/** One kind of things: each is a file, `<kind>/<key>.yaml`. */
export interface Kind {
  /** Path of the list, where new ones are created, too. */
  readonly list: string;
  /** Path of one, such as `/api/v1/roles/{name}`. */
  readonly item: string;
  /** Template of its name for people and in files, such as `{category}.{key}`. */
  readonly key: string;
  /** Method that changes an existing one; `put` also creates if `puts_new` is set. */
  readonly change: 'put' | 'patch';
  readonly puts_new?: boolean;
  /** Fields in a file; `sent` if only some of them are sent. */
  readonly fields: readonly string[];
  readonly sent?: readonly string[];
  /** Values of the ones to export; null means without one. */
  readonly only?: Readonly<Record<string, unknown>>;
  /** Values of those that have ended, or were not made by people: neither exported nor changed. */
  readonly over?: Readonly<Record<string, string>>;
  /** A field with the time at which one ends: a file of one that has ended is passed over. */
  readonly until?: string;
  /** Fields that are sent and never shown, so that they make no difference. */
  readonly unshown?: readonly string[];
  /** A route that tells without a change whether svc would take one: it is sent the fields, `with` these and `without` those. */
  readonly trial?: {
    readonly path: string;
    readonly with?: Thing;
    readonly without?: readonly string[];
  };
  /** Kinds that must have been applied before, besides those that it refers to. */
  readonly after?: readonly string[];
  /** Fields that lists do not show; `secret_when` names the field that says whether they are secrets of this one. */
  readonly secrets?: readonly string[];
  readonly secret_when?: string;
  /** Fields that hold ids, or one id, of another kind: in a file its keys stand for them. */
  readonly references?: Readonly<Record<string, string>>;
}

export type Thing = Readonly<Record<string, unknown>>;

/** Returns the kinds by name, with those first that others refer to. */
export async function kindsOf(environment: Environment): Promise<ReadonlyMap<string, Kind>> {
  const folders = discover(
    pluginSources(await currentProduct(), resolve(environment['SVC_DATA_DIR'] ?? 'data')),
  );
  const kinds = [...folders.values()].flatMap((folder) => {
    // A pack must not have its content written by whoever applies the files of others.
    if (folder.origin !== 'shipped') {
      return [];
    }
    const { contributes } = JSON.parse(String(folder.read('plugin.json'))) as {
      contributes?: Record<string, Record<string, Kind>>;
    };
    return Object.entries(contributes?.[point] ?? {});
  });
  const needs = ([, { references = {}, after = [] }]: [string, Kind]): number =>
    Object.keys(references).length + after.length;
  return new Map(kinds.toSorted((a, b) => needs(a) - needs(b) || (a[0] < b[0] ? -1 : 1)));
}

/** `/api/v1/roles/{name}`, filled in. */
export const filled = (
  template: string,
  thing: Thing,
  encode: (text: string) => string = String,
): string => template.replaceAll(/\{(\w+)\}/g, (_, field: string) => encode(String(thing[field])));

/** Request for a thing: the route, and its address with the parameters filled in. */
export interface Request {
  readonly method: 'post' | 'put' | 'patch';
  readonly route: string;
  readonly address: string;
  readonly body: Thing;
}

export function requestOf(kind: Kind, there: Thing | undefined, wanted: Thing): Request {
  // A patch does not change what identifies the thing in its path.
  const fields = (kind.sent ?? kind.fields).filter(
    (field) => !there || kind.change === 'put' || !kind.item.includes(`{${field}}`),
  );
  const body = Object.fromEntries(
    Object.entries(wanted).filter(([field]) => fields.includes(field)),
  );
  return !there && kind.puts_new !== true
    ? { method: 'post', route: kind.list, address: kind.list, body }
    : {
        method: kind.change,
        route: kind.item,
        address: filled(kind.item, { ...wanted, ...there }, encodeURIComponent),
        body,
      };
}

/** Returns all of a kind, except ended ones. */
export const listed = async (
  client: Pick<ApiClient, 'list'>,
  { list, over = {} }: Kind,
): Promise<readonly Thing[]> =>
  (await client.list<Thing>(list)).filter(
    (thing) => !Object.entries(over).some(([field, value]) => thing[field] === value),
  );

export const secretsOf = (
  { secrets = [], secret_when: when }: Kind,
  thing: Thing,
): readonly string[] => (when === undefined || thing[when] === true ? secrets : []);

/**
 * Prefix of variables whose value a file may use, and no other: whoever may change files need not
 * have access to the environment.
 */
export const secretPrefix = 'APPLY_SECRET_';

/** The variable from which a secret comes. */
export const variableOf = (kind: string, key: string, field: string): string =>
  secretPrefix + `${kind}_${key}_${field}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
