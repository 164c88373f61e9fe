import { writeSync } from 'node:fs';

import { type Notes, notesMigration, openIn } from './folder.ts';

const [dir, writes] = process.argv.slice(2);
const storage = await openIn(dir!);
await storage.migrate('notes', [notesMigration]);
for (let id = 1; id <= Number(writes); id++) {
  await storage.tables<Notes>('notes').write((tx) =>
    tx
      .insertInto('notes_note')
      .values({ id, text: `note ${id}` })
      .execute(),
  );
  writeSync(1, `acknowledged ${id}\n`);
}
await storage.close();
