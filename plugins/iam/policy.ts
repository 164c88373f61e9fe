import { inTurn } from './in-turn.ts';
import type { RoleRow } from './role-store.ts';

/** What the built-in roles grant, by name. */
export type Seeds = Readonly<Record<BuiltinRole, readonly string[]>>;
export type BuiltinRole = (typeof builtinRoles)[number];
export const builtinRoles = ['admin', 'user', 'viewer'] as const;

export interface Role {
  readonly name: string;
  readonly description: string;
  readonly grants: readonly string[];
  readonly builtin: boolean;
  readonly created_at: number | undefined;
  readonly updated_at: number | undefined;
}

/** What each role grants at this moment, in memory. */
export interface Policy {
  /** Grows whenever some role grants something else than before. */
  readonly edition: number;
  /** The same array until the role changes; empty for a role that does not exist. */
  grantsOf(role: string): readonly string[];
  /** Built-in roles first, then the others by name. */
  list(): readonly Role[];
  find(name: string): Role | undefined;
  seed(seeds: Seeds): void;
  /** Reads the custom roles again; `told` hears of those that changed. */
  refresh(told?: (name: string) => void): Promise<void>;
}

const descriptions: Readonly<Record<BuiltinRole, string>> = {
  admin: 'May do everything.',
  user: 'Operates the fleet: may do whatever the areas allow, short of shells and of the house itself.',
  viewer: 'Reads, chats with safe tools, and acknowledges, silences or resolves incidents.',
};

const none: readonly string[] = Object.freeze([]);

export function createPolicy(seeds: Seeds, readRoles: () => Promise<readonly RoleRow[]>): Policy {
  const one = inTurn();
  let builtin = new Map<string, Role>();
  let custom = new Map<string, Role>();
  let edition = 0;

  function seed(map: Seeds): void {
    builtin = new Map(
      builtinRoles.map((name) => [
        name,
        { name, description: descriptions[name], grants: Object.freeze([...map[name]]), builtin: true, created_at: undefined, updated_at: undefined },
      ]),
    );
    edition += 1;
  }

  seed(seeds);
  const find = (name: string): Role | undefined => builtin.get(name) ?? custom.get(name);

  return {
    get edition() {
      return edition;
    },
    grantsOf: (name) => find(name)?.grants ?? none,
    list: () => [...builtin.values(), ...custom.values()],
    find,
    seed,
    refresh: (told = () => undefined) =>
      one(async () => {
        const before = custom;
        const rows = await readRoles();
        custom = new Map(rows.map((row) => [row.name, kept(before.get(row.name), row)]));
        const changed = [...new Set([...before.keys(), ...custom.keys()])].filter((name) => before.get(name) !== custom.get(name));
        if (changed.length > 0) {
          edition += 1;
          changed.forEach(told);
        }
      }),
  };
}

/** A role that did not change stays the same object, and its grants the same array: others compile them once. */
function kept(before: Role | undefined, row: RoleRow): Role {
  const isSame =
    before !== undefined && before.updated_at === row.updated_at && before.created_at === row.created_at && before.grants.join() === row.grants.join();
  return isSame ? before : { ...row, grants: Object.freeze([...row.grants]), builtin: false };
}
