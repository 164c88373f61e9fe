import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { systemClock, systemIds } from '../../../core/boot/time.ts';
import { CredentialStore } from '../../../plugins/edge-uplink/credentials.ts';
import { Link } from '../../../plugins/edge-uplink/link.ts';
import { realSweeper } from '../lib/tunnel/pair.ts';
import { startManager, until } from './far-side.ts';

test('an agent whose manager vanished comes back within the time that its welcome asked for, also when the next attempt fails', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-link-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const manager = await startManager(t);
  manager.behaviour.spreadMs = 40_000;
  writeFileSync(join(folder, 'edge.json'), JSON.stringify(manager.credentials), { mode: 0o600 });
  const stop = new AbortController();
  const waits: number[] = [];
  const unused = (): never => assert.fail('nobody asks for that');
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const link = new Link({
    credentials: new CredentialStore(folder),
    machine: { uuid: '6f4d1f0a-0000-4000-8000-000000000001', bootId: 'boot' } as never,
    desired: { hash: undefined, managers: [] } as never,
    handlers: { caps: () => ['call:echo'] },
    journal: { run: unused, close: unused },
    sweeper: realSweeper(t),
    scope: {
      signal: stop.signal,
      // Waits are noted, and over at once.
      timeout(_label: string, ms: number, work: () => void) {
        waits.push(ms);
        const timer = setTimeout(work, 0);
        return () => clearTimeout(timer);
      },
    } as never,
    ids: systemIds(systemClock),
    clock: systemClock,
    random: () => 0.5,
    log,
    version: '1.0.0',
    onUp: () => undefined,
  });
  const running = link.run(stop.signal);
  await manager.session();
  const settled = waits.length;
  manager.behaviour.accept = false;
  manager.vanish();
  await until('it was lost and tried twice', () => waits.length >= settled + 3);
  stop.abort();
  await running;
  assert.deepEqual(waits.slice(settled, settled + 3), [20_000, 20_000, 20_000]);
});
