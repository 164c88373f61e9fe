import type { Clock } from 'svc/sdk';

import type { Store } from './store.ts';

/** When sessions and API tokens were last used: gathered in memory, because a request must not cost a write. */
export interface Uses {
  session(id: string): void;
  apiToken(id: number): void;
  /** Writes down what was gathered. */
  flush(): Promise<void>;
}

/** The rest of a busier minute goes unnoticed until its next use. */
const mostGathered = 10_000;

export function createUses(store: Store, clock: Clock): Uses {
  const gathered = { session_sessions: new Map<string, number>(), session_api_tokens: new Map<number, number>() };

  function note<K>(seen: Map<K, number>, id: K): void {
    if (seen.size < mostGathered || seen.has(id)) {
      seen.set(id, clock.now());
    }
  }

  return {
    session: (id) => note(gathered.session_sessions, id),
    apiToken: (id) => note(gathered.session_api_tokens, id),
    async flush() {
      for (const table of ['session_sessions', 'session_api_tokens'] as const) {
        const batch = [...gathered[table]];
        gathered[table].clear();
        for (let from = 0; from < batch.length; from += 200) {
          await store.write(async (rows) => {
            for (const [id, at] of batch.slice(from, from + 200)) {
              await rows.noteUse(table, id, at);
            }
          });
        }
      }
    },
  };
}
