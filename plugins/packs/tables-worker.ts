import { serveThread } from 'svc/thread';

import { PackTables, type TablesData } from './tables/pack-tables.ts';

serveThread(async ({ data }) => {
  const tables = new PackTables(data as TablesData);
  return {
    methods: {
      all: (input: unknown) => tables.all(input),
      run: (input: unknown) => tables.run(input),
      batch: (input: unknown) => tables.batch(input),
    },
    close: async () => tables.close(),
  };
});
