import { open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

import type { Parcel } from 'svc/contracts/edge-uplink';

import { makeGroup } from '../../plugins/edge-logs/lines/group.ts';
import { Logs } from '../../plugins/edge-logs/logs.ts';
import { specOf } from '../plugins/edge-logs/machine.ts';
import { quiet } from './edge-logs-model.ts';
import { noSkills } from '../plugins/edge-skills/no-skills.ts';

const [folder, deadly] = process.argv.slice(2) as [string, string];
const buffer = join(folder, 'buffer');
let next = Math.max(0, ...(await readdir(buffer)).map(Number).filter(Number.isInteger)) + 1;

/**
 * Ships like the buffer of an uplink: accepted means on disk. At some steps, at random, the process
 * is killed.
 */
async function ship({ body }: Parcel): Promise<void> {
  killPerhaps();
  const file = await open(join(buffer, 'new.part'), 'w');
  await file.writeFile(body);
  await file.sync();
  await file.close();
  killPerhaps();
  await rename(join(buffer, 'new.part'), join(buffer, String(next++)));
  killPerhaps();
}

function killPerhaps(): void {
  if (Math.random() < Number(deadly)) {
    process.kill(process.pid, 'SIGKILL');
  }
}

const spec = specOf({
  files: [{ paths: [join(folder, 'logs/*.log')] }],
  rescan_seconds: 1,
  max_line_bytes: 4_096,
  journal: { enabled: false },
});
const logs = await Logs.open({
  spec,
  groups: spec.files.map((group) => makeGroup(group, 'drill')),
  policy: {
    current: () => ({
      tcp: [],
      webshell: false,
      skills: noSkills,
      plugins: { allowed: [] },
      logs: { paths: [`${folder}/**`] },
    }),
  },
  shipping: { ship },
  folder: join(folder, 'state'),
  from: 'edge-logs',
  host: 'drill',
  startedAt: Date.now(),
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  log: quiet,
  isHeard: () => true,
  shipped: () => undefined,
});
const { signal } = new AbortController();
await logs.tick(signal);
process.send!('reading');
process.once('disconnect', () => process.exit());
for (;;) {
  await logs.tick(signal);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
