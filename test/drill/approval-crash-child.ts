import { appendFileSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { approvalHouse } from '../plugins/approval/house.ts';

const [folder] = process.argv.slice(2) as [string];
const effects = openSync(join(folder, 'effects'), 'a');

/** Gate, approvals and skills as they ship, until this process is killed; what a tool does is one line on disk. */
const kit = await approvalHouse({ after: () => undefined }, { dataDir: join(folder, 'data') });
kit.effect = async (_tool, params) => {
  appendFileSync(effects, `${(params as { host: string }).host}\n`);
  fsyncSync(effects);
  // As long as a restart takes: a kill lands before, within and behind it.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { done: true };
};
writeSync(1, `${kit.house.url}\n`);
