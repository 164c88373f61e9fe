import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { closedPath } from '../../bin/serve/service/closed-path.ts';
import { enrol } from '../../bin/agent/enrol.ts';
import { unitText } from '../../bin/agent/unit.ts';
import { peer } from '../peers.ts';

test('enrolling keeps the keys for the owner alone, and says what to do when the manager does not take the machine', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-enrol-'));
  const asked: Record<string, unknown>[] = [];
  let answer: { status: number; body: object } = {
    status: 201,
    body: {
      edge_id: 3,
      name: 'box',
      access_key: 'svc_ak_x',
      secret_key: 'svc_sk_x',
      tunnel_path: '/internal/tunnel',
    },
  };
  const manager = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      asked.push(JSON.parse(text) as Record<string, unknown>);
      response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer.body));
    });
  }).listen(0, '127.0.0.1');
  await once(manager, 'listening');
  t.after(() => {
    manager.closeAllConnections();
    manager.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${(manager.address() as AddressInfo).port}`;
  const token = 'svc_en_0123456789abcdef';

  assert.deepEqual(await enrol(dataDir, { manager: url, token, name: 'box' }), {
    edge_id: 3,
    name: 'box',
  });
  const kept = join(dataDir, 'edge.json');
  assert.equal(statSync(kept).mode & 0o777, 0o600);
  const { keys_sum: sum, ...fields } = JSON.parse(readFileSync(kept, 'utf8'));
  assert.equal(typeof sum, 'number', 'a bit that flips in the keys is noticed');
  assert.deepEqual(fields, {
    manager: url,
    tunnel_path: '/internal/tunnel',
    edge_id: 3,
    name: 'box',
    access_key: 'svc_ak_x',
    secret_key: 'svc_sk_x',
  });
  await enrol(dataDir, { manager: url, token });
  assert.equal(asked[0]!['machine_uuid'], asked[1]!['machine_uuid']);
  assert.equal(asked[0]!['hostname'], 'box');

  answer = { status: 401, body: { error: 'unauthorized', message: 'the token is over' } };
  await assert.rejects(
    enrol(dataDir, { manager: url, token }),
    /the token is over; create another one/,
  );
  answer = { status: 404, body: {} };
  await assert.rejects(
    enrol(dataDir, { manager: url, token }),
    /not an svc manager: check --manager/,
  );
  await assert.rejects(
    enrol(dataDir, { manager: 'http://127.0.0.1:1', token }),
    /connection refused/,
  );
  await assert.rejects(enrol(dataDir, { manager: url, token, pin: 'abc' }), /--pin must be sha256/);
});

test('the unit is one that systemd understands', (t) => {
  const text = unitText({
    command: ['/usr/bin/node', '--no-opt', '/opt/my svc/$x%n', 'edge'],
    dataDir: '/tmp',
    user: 'root',
    groups: [],
  });
  assert.match(text, /^ExecStart=\/usr\/bin\/node --no-opt "\/opt\/my svc\/\$\$x%%n" edge$/m);
  assert.doesNotMatch(text, /SupplementaryGroups/);
  // The release that brought each directive; what is not named is older than 219.
  const since: Record<string, number> = {
    ReadWritePaths: 231,
    ProtectClock: 245,
    ProtectHostname: 242,
    ProtectKernelTunables: 232,
    ProtectKernelModules: 232,
    ProtectControlGroups: 232,
    RestrictNamespaces: 233,
    RestrictRealtime: 231,
    LockPersonality: 235,
    RestrictSUIDSGID: 242,
  };
  const old = new Set(
    'Description Wants After Type User Group ExecStart WorkingDirectory Environment Restart RestartSec TimeoutStopSec UMask LimitNOFILE Nice WantedBy NoNewPrivileges PrivateTmp ProtectSystem ProtectHome CapabilityBoundingSet SystemCallArchitectures SystemCallFilter SystemCallErrorNumber RestrictAddressFamilies'.split(
      ' ',
    ),
  );
  const directives = [...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
  assert.deepEqual(
    directives.filter((name) => !old.has(name)),
    Object.keys(since),
  );
  // A list of what is allowed would be empty for an old one, which knows no group of that name.
  assert.match(text, /^SystemCallFilter=~@/m);
  assert.match(text, /^ProtectSystem=full\nProtectSystem=strict$/m);

  const program = peer(t, 'systemd-analyze');
  if (program === undefined) {
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-unit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const unit = join(folder, 'svc-edge.service');
  const said = (content: string): string => {
    writeFileSync(unit, content);
    const { status, stdout, stderr } = spawnSync(program, ['verify', '--man=no', unit], {
      encoding: 'utf8',
    });
    return `${status}${stdout}${stderr}`;
  };
  const real = unitText({
    command: [process.execPath, '--no-opt', join(folder, 'my $x%n'), 'edge'],
    dataDir: folder,
    user: 'root',
    groups: ['adm'],
  });
  assert.equal(said(real), '0', 'it takes every line, and warns of none');
  assert.match(
    said(real.replace('LockPersonality', 'LockPersonalities')),
    /Unknown key(?: name)? 'LockPersonalities'/,
  );
});

test('a program that the user of the service cannot reach is no service', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-closed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'nvm', 'bin', 'node');
  mkdirSync(join(folder, 'nvm', 'bin'), { recursive: true });
  writeFileSync(program, '');
  chmodSync(folder, 0o711);
  chmodSync(program, 0o755);
  assert.equal(closedPath([program]), undefined);
  chmodSync(join(folder, 'nvm'), 0o700);
  assert.equal(closedPath([process.execPath, program]), join(folder, 'nvm'));
});
