import { Jobs } from 'svc/jobs';
import { BuildInfo, definePlugin } from 'svc/sdk';

import { Entries } from 'svc/contracts/plugin-id';
import { EntryBook } from './book.ts';
import { EntryStore, type EntryTables } from './store.ts';
import { errors } from './errors.ts';
import { entryRoutes } from './routes.ts';

export default definePlugin({
  errors,
  activate(ctx) {
    const tables = ctx.db<EntryTables>();
    const { startedAt } = ctx.services.use(BuildInfo);
    const entries = new EntryBook({
      tables,
      store: new EntryStore(tables),
      jobs: new Jobs(ctx, { tables, process: String(startedAt) }),
      clock: ctx.clock,
      added: ctx.metrics.counter('entries_total', 'Entries that were added.'),
      settings: ctx.settings,
    });
    ctx.services.provide(Entries, () => entries);
    ctx.http.routes(entryRoutes(entries));
  },
});
