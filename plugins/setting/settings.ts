import { type Call, type Clock, type Principal, type SettingsBoard, type SettingState, SvcError, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { assertInPerson } from './in-person.ts';
import type { RevealAllowance } from './reveal-allowance.ts';
import type { Revealed, SettingItem } from './schema.ts';
import { nameOf, type SettingName } from './setting-name.ts';
import { mask, maySee, shownSetting, shownValue } from './shown.ts';
import type { SettingStore, StoredRow } from './store.ts';
import type { StoredValues } from './stored-values.ts';
import type { ValueText } from './value-text.ts';

type Item = Static<typeof SettingItem>;
/** What a change needs to know of the call that asks for it. */
type Change = Pick<Call, 'principal' | 'headers' | 'requireMatch' | 'note'>;

export interface SystemSettings {
  /** What this caller may see: administrators everything, others what its declaration opens to them. */
  list(actor: Principal): readonly Item[];
  set(name: SettingName, value: unknown, change: Change): Promise<Item>;
  /** Back to what file or declaration say. */
  unset(name: SettingName, change: Change): Promise<void>;
  reveal(name: SettingName, principal: Principal): Static<typeof Revealed>;
}

export interface SettingParts {
  readonly board: SettingsBoard;
  readonly store: SettingStore;
  readonly stored: StoredValues;
  readonly text: ValueText;
  readonly clock: Clock;
  readonly allowance: RevealAllowance;
  /** Told after the commit. */
  readonly changed: (name: string) => void;
}

export function systemSettings({ board, store, stored, text, clock, allowance, changed }: SettingParts): SystemSettings {
  const shown = (name: string): Item => shownSetting(board.state(name), stored);

  async function settle(name: string): Promise<void> {
    await stored.refresh();
    changed(name);
  }

  return {
    list: (actor) =>
      board
        .list()
        .filter(({ declaration }) => maySee(actor, declaration))
        .map(({ key }) => shown(key)),

    async set(address, value, change) {
      const name = nameOf(address);
      change.note({ resourceId: name });
      const state = board.state(name);
      const { sensitive = false } = state.declaration;
      assertNotFromOutside(state);
      if (sensitive && value === mask) {
        return shown(name);
      }
      board.check(name, value);
      noteChange(change, state, value);
      await store.write(async (rows) => {
        const row = await rows.find(address);
        assertUnchanged(change, row);
        // Its version: two changes in one millisecond are still two.
        const updatedAt = Math.max(clock.now(), (row?.updated_at ?? 0) + 1);
        await rows.put({ ...address, ...text.write(address, value, sensitive), updated_at: updatedAt, updated_by: signatureOf(change.principal) });
      });
      await settle(name);
      return shown(name);
    },

    async unset(address, change) {
      const name = nameOf(address);
      change.note({ resourceId: name });
      // A row may be left from a plugin that is not here.
      const state = stored.find(name) ? board.find(name) : board.state(name);
      noteChange(change, state, undefined);
      const removed = await store.write(async (rows) => {
        const row = await rows.find(address);
        assertUnchanged(change, row);
        await rows.remove(address);
        return row !== undefined;
      });
      if (removed) {
        await settle(name);
      }
    },

    reveal(address, principal) {
      assertInPerson(principal, clock.now());
      allowance.spend(principal);
      const name = nameOf(address);
      const { declaration, value } = board.state(name);
      const problem = stored.problem(name);
      if (declaration.at_start && declaration.sensitive) {
        throw new SvcError('conflict', `${name} is never revealed: it comes from outside, at the start. Read it where it was set`);
      }
      if (problem !== undefined) {
        throw new SvcError('conflict', `${name} is not in force: ${problem}`);
      }
      return { ...address, value: value ?? null };
    },
  };
}

/** Stored, it would have no effect, and whoever set it would wonder. */
function assertNotFromOutside({ key, source, declaration: { env } }: SettingState): void {
  if (source === 'env') {
    throw new SvcError(
      'conflict',
      `${key} is set by ${env} in the environment, which has the last word: change it there, or remove it there and start svc again`,
    );
  }
}

function assertUnchanged(change: Change, row: StoredRow | undefined): void {
  if (row !== undefined) {
    change.requireMatch({ updated_at: timestamp(row.updated_at) });
  } else if (change.headers['if-match'] !== undefined) {
    throw new SvcError('conflict', 'nothing is stored for this setting any more; load it again and repeat your change');
  }
}

/** For the audit row: what a secret was and is, is nobody's to read there. */
function noteChange(change: Change, state: SettingState | undefined, value: unknown): void {
  const sensitive = state?.declaration.sensitive ?? true;
  change.note({
    ...(state && { before: { value: shownValue(state.value, sensitive), source: state.source } }),
    ...(value !== undefined && { after: { value: shownValue(value, sensitive), source: 'database' } }),
  });
}

const signatureOf = ({ email, name, kind, id }: Principal): string => email ?? name ?? `${kind} ${id}`;
