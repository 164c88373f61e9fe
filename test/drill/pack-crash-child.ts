import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Worker } from 'node:worker_threads';

import { contentsOf } from '../plugins/marketplace/contents.ts';
import {
  ask,
  cleaned,
  manifest,
  personaText,
  skillText,
  startMarket,
  upload,
} from '../plugins/marketplace/market.ts';

const [dataDir = '', point = '0'] = process.argv.slice(2);
let left = Infinity;

/** Ends this process at once before the n-th thing that it would write: to a folder, or by a thread that has the database or the files. */
function counted<T extends object>(owner: T, names: readonly (keyof T & string)[]): void {
  for (const name of names) {
    const real = owner[name] as unknown as (...input: unknown[]) => unknown;
    Object.assign(owner, {
      [name](this: unknown, ...input: unknown[]) {
        left -= 1;
        if (left === 0) {
          process.kill(process.pid, 'SIGKILL');
        }
        return real.apply(this, input);
      },
    });
  }
}

counted(fs, ['renameSync', 'mkdirSync', 'rmSync']);
counted(Worker.prototype, ['postMessage']);
syncBuiltinESMExports();

const files = (version: string) => ({
  'plugin.json': manifest('crashy', { version }),
  'skills/crashy/SKILL.md': skillText('crashy', `Version ${version}.`),
  'agents/crashy-clerk.md': personaText('crashy-clerk'),
});
const say = (word: string): void => void fs.writeSync(1, `${word}\n`);

const house = await startMarket({ after() {} }, { dataDir });
// The row of changes comes after what a kill has left.
await ask(house, 'PUT', '/installed/none/ceiling', {
  classes: [],
  tools: [],
  hosts: [],
  labels: [],
});
const { status, body } = await ask(house, 'GET', '/installed/crashy');
await house.settled();
const folder = `${dataDir}/packs/crashy`;
const onDisk = fs.existsSync(folder)
  ? (JSON.parse(fs.readFileSync(`${folder}/plugin.json`, 'utf8')) as { version: string }).version
  : 'none';
const text = fs.existsSync(folder)
  ? fs.readFileSync(`${folder}/skills/crashy/SKILL.md`, 'utf8')
  : 'Version none.';
const serves = house.registry.current.generations.get('crashy')?.manifest.version ?? 'none';
const known = status === 404 ? 'none' : `${body.version}`;
const staged = fs.existsSync(`${dataDir}/plugins/marketplace/staging`)
  ? fs.readdirSync(`${dataDir}/plugins/marketplace/staging`)
  : [];
// Of one that is not there nothing may be left, but for the history of it.
await cleaned(house);
const residue =
  known === 'none'
    ? [...contentsOf(dataDir)].filter(
        (line) => /crashy/.test(line) && !/^row (?:marketplace_history|audit_)/.test(line),
      )
    : [];
say(
  `found ${known} ${onDisk} ${serves} ${text.includes(`Version ${onDisk}.`) ? 'whole' : 'torn'} ${staged.length} ${JSON.stringify(residue)}`,
);

if (status !== 404) {
  await ask(house, 'DELETE', '/installed/crashy');
  await cleaned(house);
}
left = Number(point);
say('begin');
await upload(house, files('1.0.0'));
await house.json('/api/v1/agents/crashy-clerk').catch(() => undefined);
say('installed');
await upload(house, files('2.0.0'));
say('updated');
await ask(house, 'POST', '/installed/crashy/rollback');
say('rolled-back');
await ask(house, 'DELETE', '/installed/crashy');
await cleaned(house);
say(`end ${Number(point) - left}`);
process.exit(0);
