import type { Jobs } from 'svc/jobs';
import type { Clock, Counter, Page, PageRequest, Settings, Tables } from 'svc/sdk';

import type { Entry, EntryReader } from 'svc/contracts/plugin-id';
import type { EntryStore, EntryTables } from './store.ts';
import { errors } from './errors.ts';

export interface EntryBookPorts {
  readonly tables: Tables<EntryTables>;
  readonly store: EntryStore;
  readonly jobs: Jobs<EntryTables>;
  readonly clock: Clock;
  readonly added: Counter;
  readonly settings: Pick<Settings, 'get'>;
}

const maxEntries = 'plugin-id.max_entries';

interface CountWords {
  readonly id: number;
  readonly text: string;
}

/** Entries: knows neither HTTP nor the host. */
export class EntryBook implements EntryReader {
  readonly #ports: EntryBookPorts;

  constructor(ports: EntryBookPorts) {
    this.#ports = ports;
    ports.jobs.queue<CountWords>('count-words', {
      work: async ({ payload: { id, text } }) => ({
        // In the commit that ends the job: done exactly once, over any kill.
        write: (tx) => ports.store.setWords(tx, id, text.split(/\s+/).length),
      }),
    });
  }

  latest(): Promise<Entry | undefined> {
    return this.#ports.store.latest();
  }

  page(page: PageRequest): Promise<Page<Entry>> {
    return this.#ports.store.page(page);
  }

  /** Adds an entry and its job in one commit: neither is there without the other. */
  async add(text: string): Promise<Entry> {
    const { tables, store, jobs, clock, added, settings } = this.#ports;
    const entry = await tables.write(async (tx) => {
      const max = settings.get<number>(maxEntries);
      if ((await store.count(tx)) >= max) {
        throw errors.full({ max, setting: maxEntries });
      }
      const row = await store.add(tx, text, clock.now());
      await jobs.add(tx, 'count-words', [{ payload: { id: row.id, text } }]);
      return row;
    });
    added.add();
    return entry;
  }
}
