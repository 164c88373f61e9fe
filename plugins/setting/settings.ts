import type { Launch } from 'svc/contracts/setting';
import {
  type Call,
  type Clock,
  type Principal,
  type SettingDeclaration,
  type SettingsBoard,
  type SettingState,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import type { RevealAllowance } from './reveal-allowance.ts';
import type { Revealed, SettingItem } from './schema.ts';
import { nameOf, partsOf, type SettingName } from './setting-name.ts';
import type { SettingStore, StoredRow } from './store.ts';
import type { StoredValues } from './stored-values.ts';
import type { ValueText } from './value-text.ts';

type Item = Static<typeof SettingItem>;
/** Context of a change, from the call that requests it. */
type Change = Pick<Call, 'principal' | 'headers' | 'requireMatch' | 'note'>;

/** Returns what is in force instead of a setting as it is, or would be. */
export type Launched = (state: SettingState) => Launch | undefined;

export interface SettingParts {
  readonly board: SettingsBoard;
  readonly store: SettingStore;
  readonly stored: StoredValues;
  readonly launched: Launched;
  readonly text: ValueText;
  readonly clock: Clock;
  readonly allowance: RevealAllowance;
  /** Called after the commit. */
  readonly changed: (name: string) => void;
}

/** Placeholder of a secret that is set; as a new value it means: keep it. */
const mask = '••••';

const recentMs = 5 * 60_000;

/** The settings as callers see and change them. */
export class SystemSettings {
  readonly #parts: SettingParts;

  constructor(parts: SettingParts) {
    this.#parts = parts;
  }

  /**
   * Returns the settings that this caller may see: administrators everything, others what its
   * declaration makes visible.
   */
  list(actor: Principal): readonly Item[] {
    return this.#parts.board
      .list()
      .filter(({ declaration }) => maySee(actor, declaration))
      .map(({ key }) => this.#shown(key));
  }

  async set(address: SettingName, value: unknown, change: Change): Promise<Item> {
    const { board, store, launched, text, clock } = this.#parts;
    const name = nameOf(address);
    change.note({ resourceId: name });
    const state = board.state(name);
    const { sensitive = false } = state.declaration;
    assertNotFromOutside(state);
    if (sensitive && value === mask) {
      return this.#shown(name);
    }
    board.check(name, value);
    assertHasTheSay(name, value, launched({ ...state, value, source: 'database' }));
    noteChange(change, state, value);
    await store.write(async (rows) => {
      const row = await rows.find(address);
      assertUnchanged(change, row);
      // Its version: two changes in one millisecond are still two.
      const updatedAt = Math.max(clock.now(), (row?.updated_at ?? 0) + 1);
      await rows.put({
        ...address,
        ...text.write(address, value, sensitive),
        updated_at: updatedAt,
        updated_by: signatureOf(change.principal),
      });
    });
    await this.#settle(name);
    return this.#shown(name);
  }

  /** Resets a setting to its file or declaration. */
  async unset(address: SettingName, change: Change): Promise<void> {
    const { board, store, stored } = this.#parts;
    const name = nameOf(address);
    change.note({ resourceId: name });
    // A row may be left by a plugin that is not installed.
    const state = stored.find(name) ? board.find(name) : board.state(name);
    noteChange(change, state, undefined);
    const removed = await store.write(async (rows) => {
      const row = await rows.find(address);
      assertUnchanged(change, row);
      await rows.remove(address);
      return row !== undefined;
    });
    if (removed) {
      await this.#settle(name);
    }
  }

  reveal(address: SettingName, principal: Principal): Static<typeof Revealed> {
    const { board, stored, clock, allowance } = this.#parts;
    assertInPerson(principal, clock.now());
    allowance.spend(principal);
    const name = nameOf(address);
    const { declaration, value } = board.state(name);
    const problem = stored.problem(name);
    if (declaration.at_start && declaration.sensitive) {
      throw errors.never_revealed({ name });
    }
    if (problem !== undefined) {
      throw errors.value_not_in_force({ name, problem });
    }
    return { ...address, value: value ?? null };
  }

  #shown(name: string): Item {
    const { board, stored, launched } = this.#parts;
    const state = board.state(name);
    return shownSetting(state, stored, launched(state));
  }

  async #settle(name: string): Promise<void> {
    await this.#parts.stored.refresh();
    this.#parts.changed(name);
  }
}

/** Stored, it would have no effect. */
function assertNotFromOutside({ key, source, declaration: { env = '' } }: SettingState): void {
  if (source === 'env') {
    throw errors.set_by_environment({ key, env });
  }
}

/** Throws if a setting is overridden by a launch. */
function assertHasTheSay(name: string, value: unknown, launch: Launch | undefined): void {
  if (launch !== undefined) {
    throw errors.value_elsewhere({
      name,
      value: String(value),
      by: launch.by,
      other: String(launch.value),
    });
  }
}

function assertUnchanged(change: Change, row: StoredRow | undefined): void {
  if (row !== undefined) {
    change.requireMatch({ updated_at: timestamp(row.updated_at) });
  } else if (change.headers['if-match'] !== undefined) {
    throw errors.nothing_stored();
  }
}

/**
 * Records a change for the audit row, in which neither the old nor the new value of a secret is
 * readable.
 */
function noteChange(change: Change, state: SettingState | undefined, value: unknown): void {
  const sensitive = state?.declaration.sensitive ?? true;
  change.note({
    ...(state && { before: { value: shownValue(state.value, sensitive), source: state.source } }),
    ...(value !== undefined && {
      after: { value: shownValue(value, sensitive), source: 'database' },
    }),
  });
}

const signatureOf = ({ email, name, kind, id }: Principal): string =>
  email ?? name ?? `${kind} ${id}`;

/** Returns the value to show; a secret shows only whether it is set. */
const shownValue = (value: unknown, sensitive: boolean): unknown =>
  value === undefined ? null : sensitive && isSet(value) ? mask : value;

/**
 * Returns whether a setting is visible. Paths, addresses and whether a secret is set help an
 * attacker, so nothing is visible unless it is declared so.
 */
const maySee = ({ grants }: Principal, { visible, sensitive }: SettingDeclaration): boolean =>
  grants.includes('*') || (visible === 'any' && sensitive !== true);

function shownSetting(
  { key: name, declaration, value, source }: SettingState,
  stored: StoredValues,
  launch: Launch | undefined,
): Static<typeof SettingItem> {
  const { sensitive = false, description, schema, env, at_start: atStart = false } = declaration;
  const found = stored.find(name);
  const hidden =
    found && source === 'env'
      ? `${env} in the environment has the last word; the stored value has no effect`
      : undefined;
  const yields =
    found &&
    launch &&
    `the stored ${String(value)} leaves the choice to ${launch.by}, which set ${String(launch.value)}`;
  const problem = stored.problem(name) ?? hidden ?? yields;
  return {
    ...partsOf(name),
    value: shownValue(launch ? launch.value : value, sensitive),
    sensitive,
    source: launch ? 'launch' : source,
    description,
    schema,
    env: env ?? null,
    default: shownValue(declaration.default, sensitive),
    writable: !atStart && source !== 'env',
    updated_at: found ? timestamp(found.updatedAt) : null,
    updated_by: found?.updatedBy ?? null,
    ...(problem !== undefined && { problem }),
  };
}

const isSet = (value: unknown): boolean => value !== null && value !== '';

/**
 * A token that was found, or a browser that was left open, must not lead to the secrets too: only a person who signed in
 * just now is let through. The operator reads the key folder anyway.
 */
function assertInPerson({ kind, authenticatedAt }: Principal, now: number): void {
  if (kind === 'operator') {
    return;
  }
  if (kind !== 'user') {
    throw errors.people_only();
  }
  // A clock that was set back must not make an old sign-in a new one.
  if (authenticatedAt === undefined || Math.abs(now - authenticatedAt) > recentMs) {
    throw errors.sign_in_too_old();
  }
}
