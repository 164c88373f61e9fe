import 'reflect-metadata';
import fs, { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

import { bootAgent } from '../../../bin/agent/agent.ts';
import { testEdge } from '../../../bin/agent/index.ts';
import { runInForeground } from '../../../bin/serve/foreground.ts';
import { productFromSource } from '../../../core/boot/settings/product.ts';
import { rootOf, testedRoot } from '../../kit/roots.ts';

// The agent with two plugins, as a version that its starter names: `edge --data <folder>`, and with --self-test.
const args = process.argv.slice(2);
const version = process.env['AGENT_VERSION']!;
const dataDir = folder(args[args.indexOf('--data') + 1]!, process.env['AGENT_MANAGER']);
delete process.env['AGENT_VERSION'];
delete process.env['AGENT_MANAGER'];
const product = { ...productFromSource(testedRoot), version, root: `${dataDir}/no-product` };
const environment = { ...process.env, SVC_DATA_DIR: dataDir, SVC_LOG_FORMAT: 'json' };

if (args.includes('--self-test')) {
  try {
    console.log(JSON.stringify(await testEdge(product, environment)));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 3;
  }
} else {
  dieAsPlanned(`${dataDir}/kill-plan`);
  const sources = { embedded: [], roots: ['programs', 'edge-uplink', 'edge-upgrade'].map(rootOf) };
  process.exitCode = await runInForeground(
    () => bootAgent({ product, environment, sources }),
    () => undefined,
  );
}

/** Returns the folder as it is, or a copy with another manager's address. */
function folder(given: string, manager: string | undefined): string {
  if (manager === undefined) {
    return given;
  }
  const other = mkdtempSync('/tmp/svc-astray-');
  cpSync(`${given}/machine.json`, `${other}/machine.json`);
  writeFileSync(
    `${other}/edge.json`,
    JSON.stringify({
      ...(JSON.parse(readFileSync(`${given}/edge.json`, 'utf8')) as object),
      manager,
    }),
  );
  process.on('exit', () => rmSync(other, { recursive: true, force: true }));
  return other;
}

/** Every step of an upgrade ends with a rename; the plan says how many go well, and whether the next is still done before the kill. */
function dieAsPlanned(plan: string): void {
  const rename = fs.renameSync;
  fs.renameSync = (from, to) => {
    const step = /\/(versions|upgrade|edge-upgrade)\//.test(String(to)) && existsSync(plan);
    const [left = '0', when] = step ? readFileSync(plan, 'utf8').split(' ') : [];
    const now = step && Number(left) === 0;
    if (step && !now) {
      writeFileSync(plan, `${Number(left) - 1} ${when}`);
    }
    if (now && when === 'before') {
      die(plan);
    }
    rename(from, to);
    if (now) {
      die(plan);
    }
  };
  syncBuiltinESMExports();
}

function die(plan: string): void {
  rmSync(plan);
  process.kill(process.pid, 'SIGKILL');
}
