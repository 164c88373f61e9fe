import { writeSync } from 'node:fs';
import { join } from 'node:path';

import { imHouse } from '../plugins/imbridge/office.ts';

const [folder, model] = process.argv.slice(2) as [string, string];

/** Host with the shipped plugins of chat platforms, until this process is killed. */
const { house } = await imHouse(
  { after: () => undefined },
  { model, dataDir: join(folder, 'data') },
);
writeSync(1, `${house.url}\n`);
