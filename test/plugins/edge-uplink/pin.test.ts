import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestEdge } from 'svc/testing';
import { spkiPin } from 'svc/tunnel';

import { enrol } from '../../../bin/agent/enrol.ts';
import { askEdge } from '../../../bin/agent/status-socket.ts';
import { systemClock } from '../../../core/boot/time.ts';
import { HttpPusher } from '../../../plugins/edge-uplink/push.ts';
import { peer } from '../../peers.ts';
import { certificate } from '../lib/tunnel/certificate.ts';
import { startNginx } from '../ingest/nginx.ts';
import { startManager, until } from './far-side.ts';

const lamp = fileURLToPath(new URL('../../fixtures/edge-plugins/edge-lamp', import.meta.url));

const token = 'svc_enrol_0123456789abcdef';

/** A folder that is gone after what serves in it, when it is asked for last. */
const folder = (): string => mkdtempSync(join(tmpdir(), 'svc-pin-'));
const remove = (t: TestContext, made: string): void =>
  t.after(() => rmSync(made, { recursive: true, force: true }));

test('behind real nginx with a certificate that nobody signed, an agent talks to the key that was pinned and to no other', async (t) => {
  const program = peer(t, 'nginx');
  if (program === undefined) {
    return;
  }
  const manager = await startManager(t);
  manager.behaviour.push = ({ path }, response) => {
    const { manager: _plain, ...keys } = manager.credentials;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(path === '/internal/edge/enrol' ? JSON.stringify(keys) : '{}');
  };
  const port = Number(new URL(manager.url).port);
  const shown = certificate(t, 'manager.example');
  const url = await startNginx(
    t,
    program,
    { svc: port, metrics: port, logs: port, traces: port },
    shown,
  );
  const right = spkiPin(shown.cert);
  const wrong = spkiPin(certificate(t, 'manager.example').cert);
  const record = {
    head: { to: '/v1/logs', type: 'text/plain', items: 1, at: 0 },
    body: Buffer.from('a parcel'),
  };
  const push = async (pin: string | undefined) => {
    const pusher = new HttpPusher(
      () => ({ ...manager.credentials, manager: url, pin }),
      systemClock,
    );
    try {
      return await pusher.push(record, AbortSignal.timeout(10_000));
    } finally {
      pusher.close();
    }
  };

  await t.test(
    'a wrong pin is refused with a sentence, and neither token nor keys nor parcels go out',
    async (t) => {
      const dataDir = folder();
      await assert.rejects(
        enrol(dataDir, { manager: url, token, pin: wrong }),
        /the key of .* does not match --pin: the pin belongs to another manager, or the connection is intercepted/,
      );
      await assert.rejects(
        enrol(dataDir, { manager: url, token }),
        /is not signed by an authority that this machine trusts .*: pass --pin, or --ca/,
      );
      assert.deepEqual(await push(wrong), {
        kind: 'later',
        reason: `The key of ${new URL(url).host} does not match the one that is pinned in edge.json.`,
        afterMs: undefined,
      });
      assert.match(JSON.stringify(await push(undefined)), /"later".*self-signed/);

      writeFileSync(
        join(dataDir, 'edge.json'),
        JSON.stringify({ ...manager.credentials, manager: url, pin: wrong }),
        { mode: 0o600 },
      );
      const edge = await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
      remove(t, dataDir);
      await until('the agent has tried', () =>
        edge.lines.some((line) => line.includes('failed to connect to the manager')),
      );
      const { checks } = (await askEdge(dataDir)) as {
        checks: { label: string; ok: boolean; detail?: string }[];
      };
      const told = checks.find(({ label }) => label.endsWith('manager'))!;
      assert.equal(told.ok, false);
      assert.match(
        told.detail!,
        new RegExp(
          `the key of the server is not the pinned one, but ${right.replaceAll(/[+/]/g, '.')}: either the connection is intercepted, or`,
        ),
      );
      assert.deepEqual([manager.hellos, manager.pushes], [[], []]);
    },
  );

  await t.test('the right pin passes: enrolment, tunnel and pushes', async (t) => {
    const dataDir = folder();
    assert.equal(
      (await enrol(dataDir, { manager: url, token, pin: right.replace('sha256/', 'sha256//') }))
        .edge_id,
      7,
    );
    assert.equal(
      (JSON.parse(readFileSync(join(dataDir, 'edge.json'), 'utf8')) as { pin: string }).pin,
      right,
    );
    const edge = await startTestEdge(t, { plugins: ['edge-uplink', lamp], dataDir });
    remove(t, dataDir);
    const session = await manager.session();
    await session.call(
      'lamp_ship',
      { body: 'through TLS', path: '/v1/logs', signal: 'logs' },
      { timeoutMs: 10_000 },
    );
    await until('the parcel has come', () =>
      manager.pushes.some(({ body }) => body === 'through TLS'),
    );
    assert.deepEqual(
      edge.lines.filter((line) => line.includes('failed to connect to the manager')),
      [],
    );
    assert.deepEqual(await push(right), { kind: 'taken' });
  });

  await t.test('the right pin passes on later connections, too', async (t) => {
    const dataDir = folder();
    remove(t, dataDir);
    await enrol(dataDir, { manager: url, token, pin: right });
    await enrol(dataDir, { manager: url, token, pin: right });
    const pusher = new HttpPusher(
      () => ({ ...manager.credentials, manager: url, pin: right }),
      systemClock,
    );
    t.after(() => pusher.close());
    const send = () => pusher.push(record, AbortSignal.timeout(10_000));
    assert.deepEqual(await send(), { kind: 'taken' });
    assert.deepEqual(await Promise.all([send(), send(), send()]), [
      { kind: 'taken' },
      { kind: 'taken' },
      { kind: 'taken' },
    ]);
  });
});
