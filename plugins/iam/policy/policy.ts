import type { RoleRow } from '../store/role-store.ts';
import { InTurn } from './in-turn.ts';

/** Grants of the built-in roles, by name. */
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

const descriptions: Readonly<Record<BuiltinRole, string>> = {
  admin: 'May do everything.',
  user: 'Operates the fleet: may do everything in the areas except shells and svc itself.',
  viewer: 'Reads, chats with safe tools, and acknowledges, silences or resolves incidents.',
};

const none: readonly string[] = Object.freeze([]);

/** Grants of each role at this moment, in memory. */
export class Policy {
  readonly #readRoles: () => Promise<readonly RoleRow[]>;
  readonly #turns = new InTurn();
  #builtin = new Map<string, Role>();
  #custom = new Map<string, Role>();
  #edition = 0;

  constructor(seeds: Seeds, readRoles: () => Promise<readonly RoleRow[]>) {
    this.#readRoles = readRoles;
    this.seed(seeds);
  }

  /** Grows whenever some role grants something else than before. */
  get edition(): number {
    return this.#edition;
  }

  /** The same array until the role changes; empty for a role that does not exist. */
  grantsOf(role: string): readonly string[] {
    return this.find(role)?.grants ?? none;
  }

  /** Built-in roles first, then the others by name. */
  list(): readonly Role[] {
    return [...this.#builtin.values(), ...this.#custom.values()];
  }

  find(name: string): Role | undefined {
    return this.#builtin.get(name) ?? this.#custom.get(name);
  }

  seed(seeds: Seeds): void {
    this.#builtin = new Map(
      builtinRoles.map((name) => [
        name,
        {
          name,
          description: descriptions[name],
          grants: Object.freeze([...seeds[name]]),
          builtin: true,
          created_at: undefined,
          updated_at: undefined,
        },
      ]),
    );
    this.#edition += 1;
  }

  /** Reloads the custom roles; `changed` is called for those that differ. */
  refresh(changed: (name: string) => void = () => undefined): Promise<void> {
    return this.#turns.run(async () => {
      const before = this.#custom;
      const rows = await this.#readRoles();
      this.#custom = new Map(rows.map((row) => [row.name, kept(before.get(row.name), row)]));
      const names = [...new Set([...before.keys(), ...this.#custom.keys()])].filter(
        (name) => before.get(name) !== this.#custom.get(name),
      );
      if (names.length > 0) {
        this.#edition += 1;
        names.forEach(changed);
      }
    });
  }
}

/** A role that did not change stays the same object, and its grants the same array: others compile them once. */
function kept(before: Role | undefined, row: RoleRow): Role {
  const isSame =
    before !== undefined &&
    before.updated_at === row.updated_at &&
    before.created_at === row.created_at &&
    before.grants.join() === row.grants.join();
  return isSame ? before : { ...row, grants: Object.freeze([...row.grants]), builtin: false };
}
