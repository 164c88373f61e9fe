import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { type Household, type SignedIn, shippedPlugins } from './household.ts';

/**
 * Routes of one plugin, written by hand from the specification: the trust tests compare the plugin
 * with it.
 */
export interface Area {
  /**
   * Routes, one a line: method, path, access. `public`, `known` (people and API tokens), `any` (the
   * same; an API token by `read:<plugin>`), `admin`, `machine` (an edge) or an action such as
   * `edge:create`; `admin|self` is also open to the person whose id is in the path,
   * `ingest:push|machine` to an edge, `alert:ack|people` to everybody who is signed in. Then, unless only administrators, edges or everybody may:
   * what members of an organization with a device selector get, `none` (nothing in it belongs to a
   * device), `narrowed` (only what belongs to their devices) or `refused`.
   */
  readonly routes: string;
  /** Collections whose ids belong to somebody: makes one for them. A collection is the word before the id in a path. */
  readonly owned?: Readonly<
    Record<string, (owner: Twin) => string | number | Promise<string | number>>
  >;
  /** Collections that are the same for everybody. */
  readonly houseWide?: readonly string[];
  /** The collection of ids in fields, parameters and queries that are named for it: `user_id` is one of `users`. */
  readonly fields?: Readonly<Record<string, string>>;
  /**
   * Valid bodies of routes that take ids and a body, by `METHOD path`, with the caller's own ids
   * where needed.
   */
  readonly bodies?: Readonly<Record<string, (own: Ids) => object>>;
}

/** Ids of what somebody owns, one of each collection. */
export type Ids = Readonly<Record<string, string | number>>;

/** Somebody with an organization of their own, who is in no other and may do whatever is no administrator's. */
export interface Twin {
  readonly person: SignedIn;
  readonly orgId: number;
  ask(method: string, path: string, body?: unknown): ReturnType<Household['ask']>;
}

export type Stance = 'none' | 'narrowed' | 'refused';

export interface Row {
  readonly method: string;
  readonly path: string;
  /** Access as written: `any`, `edge:create`, `admin|self`. */
  readonly who: string;
  readonly stance: Stance | undefined;
  readonly plugin: string;
}

/** `core` serves some routes itself, and is no folder. */
const rooms = ['core', ...shippedPlugins];

/** Returns the tables of every plugin; one without is a sentence in `missing`. */
export async function areas(): Promise<{
  readonly all: ReadonlyMap<string, Area>;
  readonly missing: readonly string[];
}> {
  const all = new Map<string, Area>();
  const missing: string[] = [];
  for (const room of rooms) {
    const file = `routes/${room}.ts`;
    if (existsSync(fileURLToPath(new URL(file, import.meta.url)))) {
      all.set(room, ((await import(`./${file}`)) as { area: Area }).area);
    } else {
      missing.push(
        `plugins/${room} has no test/trust/${file}: add it (export const area: Area), with a line "METHOD /path who" for each of its routes and, for each kind of id in them, how somebody gets one`,
      );
    }
  }
  return { all, missing };
}

export const rowsOf = (plugin: string, { routes }: Area): Row[] =>
  routes
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [method = '', path = '', who = '', stance, ...more] = line.split(/\s+/);
      const isRow =
        /^(GET|POST|PUT|PATCH|DELETE)$/.test(method) &&
        path.startsWith('/') &&
        isAudience(who) &&
        more.length === 0;
      if (
        !isRow ||
        !(['public', 'admin', 'machine'].includes(who) ? stance === undefined : isStance(stance))
      ) {
        throw new Error(
          `test/trust/routes/${plugin}.ts: "${line}" is not "METHOD /path who stance", the last as test/trust/area.ts says`,
        );
      }
      return { method, path, who, stance: isStance(stance) ? stance : undefined, plugin };
    });

const isStance = (word: string | undefined): word is Stance =>
  word === 'none' || word === 'narrowed' || word === 'refused';

const isAudience = (who: string): boolean =>
  /^(public|known|any|machine|webshell|(admin|[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*)(\|self)?|[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*\|(machine|people))$/.test(
    who,
  );
