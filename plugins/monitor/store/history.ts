import type { Kysely } from 'kysely';
import type { Call, Clock } from 'svc/sdk';

import { bodyOf, type UsersContent } from '../model/users-dashboard.ts';
import { DashboardStore } from './dashboard-store.ts';
import { LinkStore } from './link-store.ts';
import { type MonitorTables, PanelStore } from './panel-store.ts';
import { VersionStore } from './version-store.ts';

/** The call that makes a change: who makes it, its precondition, and where it is noted. */
export type ChangeCall = Pick<Call, 'requireMatch' | 'note' | 'principal'>;

/** Returns the name by which a change is known. */
export const authorOf = ({ principal: { name, email, kind, id } }: ChangeCall): string =>
  name ?? email ?? `${kind} ${id}`;

export interface HistoryParts {
  readonly clock: Clock;
  readonly pluginOf: (uid: string) => string | undefined;
}

/** Keeps what every change makes of a dashboard, in the transaction of the change. */
export class History {
  readonly #parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  /** Returns what users have on a dashboard; undefined without any. */
  async contentOf(db: Kysely<MonitorTables>, uid: string): Promise<UsersContent | undefined> {
    const panels = await new PanelStore(db).of(uid);
    if (panels.length === 0) {
      return undefined;
    }
    const { title = uid, variables = [] } = (await new DashboardStore(db).find(uid)) ?? {};
    return {
      ...(this.#parts.pluginOf(uid) === undefined
        ? { title, variables }
        : { title: null, variables: [] }),
      panels: panels.map((panel) => ({ id: panel.id, ...bodyOf(panel) })),
    };
  }

  /**
   * Makes a change of a dashboard, and keeps its state as a version; before the first, also that of
   * before. With a dashboard its links go.
   */
  async keep<T>(
    tx: Kysely<MonitorTables>,
    call: ChangeCall,
    uid: string,
    change: () => Promise<T>,
  ): Promise<T> {
    const versions = new VersionStore(tx);
    const now = this.#parts.clock.now();
    if ((await versions.last(uid)) === 0) {
      const before = await this.contentOf(tx, uid);
      if (before !== undefined) {
        await versions.add(uid, before, '', now);
      }
    }
    const made = await change();
    const after = await this.contentOf(tx, uid);
    await versions.add(uid, after, authorOf(call), now);
    if (after === undefined && this.#parts.pluginOf(uid) === undefined) {
      await new LinkStore(tx).removeOf(uid);
    }
    return made;
  }
}
