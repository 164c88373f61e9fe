import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startWholeHouse } from '../whole-house.ts';

const isDenied = process.env['SVC_TEST_NETWORK'] === 'denied';

/** `.ci/run` runs this file once more where nothing but loopback can be reached. */
test('without a key and without a network everything works but free chat, which says in one sentence what to set', async (t) => {
  if (isDenied) {
    const socket = connect({ host: '192.0.2.1', port: 443, timeout: 5_000 });
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ENETUNREACH', 'this stage has a network');
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-offline-'));
  const house = await startWholeHouse({ dataDir });
  t.after(async () => {
    await house.end();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const ask = async (
    method: string,
    path: string,
    body?: object,
    // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  ): Promise<{ status: number; body: any; text: string }> => {
    const answer = await house.fetch(`/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
  };

  const plugins = (await ask('GET', '/plugins?limit=200')).body.items as {
    id: string;
    state: string;
  }[];
  assert.deepEqual(
    plugins
      .filter(({ state }) => state !== 'active' && state !== 'discovered')
      .map(({ id, state }) => `${id} ${state}`),
    [],
  );
  const works: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', '/agents'],
    ['POST', '/agents/route', { question: 'why is the disk of db-3 full?' }],
    ['GET', '/aiops/models'],
    ['GET', '/usage/today'],
    ['GET', '/aiops/mentions/search?q=a'],
    ['GET', '/approvals'],
    ['GET', '/alert-rules'],
    ['GET', '/alerts/incidents'],
    ['GET', '/knowledge/search?q=disk'],
    ['GET', '/devices'],
    ['GET', '/topology/nodes'],
    ['GET', '/marketplace/installed'],
    ['POST', '/skills/devices_list/execute', { params: {} }],
    ['POST', '/skills/tool_search/execute', { params: { query: 'logs around an incident' } }],
  ];
  for (const [method, path, body] of works) {
    let answer = await ask(method, path, body);
    // Documents are indexed while svc serves.
    for (let tries = 0; answer.status === 503 && tries < 600; tries++) {
      await pause(100);
      answer = await ask(method, path, body);
    }
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
  }
  const query = (
    await ask('POST', '/aiops/query-translate', { dialect: 'promql', prompt: 'cpu usage by host' })
  ).body;
  assert.equal(query.valid, true, JSON.stringify(query));

  const session = (await ask('POST', '/chat/sessions', {})).body.id as string;
  const plain = await ask('POST', `/chat/sessions/${session}/messages`, {
    content: 'How are things?',
  });
  assert.deepEqual([plain.status, plain.body.error], [409, 'conflict']);
  assert.match(plain.body.message, /llm\.\w+/, 'it names a setting');
  const streamed = await ask('POST', `/chat/sessions/${session}/messages/stream`, {
    content: 'How are things?',
  });
  assert.match(streamed.text, /event: error\n[^]*llm\.\w+[^]*event: finish\n/);
});
