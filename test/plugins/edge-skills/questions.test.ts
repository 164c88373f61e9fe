import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { startWholeHouse } from '../../whole-house.ts';
import { until } from '../edge/house.ts';
import { certificate } from '../lib/tunnel/certificate.ts';
import { engineOf } from './engine.ts';
import { folderOf, programsOf } from './machine.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Question {
  readonly asks: string;
  /** Agent that routing is to choose. */
  readonly agent: string;
  readonly tool: string;
  readonly args: object;
  /** What the result of the tool must say, as the model sees it. */
  readonly evidence: RegExp;
}

test('questions of every day are answered by shipped personas over a real agent with the policy it comes with', async (t) => {
  const { root: disk, write } = folderOf(t);
  truncateSync(write('srv/backup/dump.sql', ''), 64 * 1024 * 1024);
  write('srv/web/index.html', 'x'.repeat(10_000));
  const { socket } = await engineOf(t);
  const tls = createServer(certificate(t, 'shop.example')).listen(0, '127.0.0.1');
  await once(tls, 'listening');
  t.after(() => void tls.close());
  const { port } = tls.address() as AddressInfo;
  const programs = programsOf(t, {
    systemctl: `printf 'Id=web.service\\nLoadState=loaded\\nActiveState=failed\\nResult=exit-code\\nExecMainCode=1\\nExecMainStatus=203\\nNRestarts=5\\n'`,
    journalctl: `printf '%s\\n' '{"__REALTIME_TIMESTAMP":"1700000002000002","MESSAGE":"/srv/web/start: No such file or directory","PRIORITY":"3"}'`,
  });
  const device = { id: 0 };
  const questions: readonly Question[] = [
    {
      asks: 'What fills the disk of web-1?',
      agent: 'disk',
      tool: 'large_files',
      args: { path: disk },
      evidence: /dump\.sql.{0,60}67108864/,
    },
    {
      asks: 'Why did the unit fail?',
      agent: 'services',
      tool: 'unit_get',
      args: { unit: 'web' },
      evidence: /"exit_status":203.*No such file or directory/,
    },
    {
      asks: 'Which container restarts?',
      agent: 'containers',
      tool: 'containers_list',
      args: {},
      evidence: /"name":"web".*"restarts":48.*"exit_code":137.*"out_of_memory":true/,
    },
    {
      asks: 'Is the certificate of shop.example about to expire?',
      agent: 'security-reviewer',
      tool: 'tls_probe',
      args: { host: '127.0.0.1', port, server_name: 'shop.example' },
      evidence: /"days_left":1,/,
    },
  ];
  const told = new Map<string, string>();
  const rules: readonly Rule[] = questions.map(({ asks, tool, args }) => ({
    when: { tools: [tool] },
    reply({ messages }) {
      const last = messages.at(-1)!;
      if (last.role !== 'tool') {
        return { tool_calls: [{ name: tool, arguments: { ...args, device_id: device.id } }] };
      }
      const text = String(last.content);
      told.set(asks, text);
      return { text: `It is so [${/"evidence":"(E\d+)"/.exec(text)?.[1]}].` };
    },
  }));
  // Each question has a run of its own, in which its rule is the one that holds.
  let current: Rule = rules[0]!;
  const fake = await FakeModel.start({
    rules: [{ reply: (request) => (current.reply as (asked: typeof request) => object)(request) }],
  });
  t.after(() => fake.close());

  const dataDir = mkdtempSync(join(tmpdir(), 'svc-questions-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const house = await startWholeHouse({
    dataDir: join(dataDir, 'manager'),
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  });
  t.after(() => house.end());
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  const ask = async (method: string, path: string, body?: object): Promise<any> => {
    // A machine with more to do than it can refuses writes for a while.
    const reply = await until(`${method} ${path} is answered`, async () => {
      const answer = await house.fetch(`/api/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return answer.status === 503 ? undefined : answer;
    });
    const text = await reply.text();
    assert.ok(reply.ok, `${path}: ${text}`);
    return JSON.parse(text);
  };
  const { id, access_key, secret_key } = await ask('POST', '/edges', { name: 'web-1' });
  const agentDir = join(dataDir, 'agent');
  mkdirSync(agentDir);
  writeFileSync(
    join(agentDir, 'edge.json'),
    JSON.stringify({
      manager: house.url,
      tunnel_path: '/internal/tunnel',
      edge_id: id,
      name: 'web-1',
      access_key,
      secret_key,
    }),
    { mode: 0o600 },
  );
  // As it comes, but for the socket of the engine of this test.
  writeFileSync(join(agentDir, 'policy.yaml'), `skills: { containers: ['${socket}'] }\n`);
  const agent = spawn(process.execPath, [join(root, 'bin/svc'), 'edge', '--data', agentDir], {
    env: { PATH: `${programs}:/usr/bin:/bin`, SVC_LOG_LEVEL: 'warn' },
    stdio: 'ignore',
  });
  t.after(() => void agent.kill('SIGKILL'));
  device.id = await until('the agent is a device', async () => {
    const { items } = await ask('GET', '/devices');
    return items[0]?.id as number | undefined;
  });
  await until('its skills are known', async () => {
    const { items } = await ask('GET', '/skills?limit=200');
    return items.some(({ key }: { key: string }) => key === 'containers_list');
  });

  for (const [at, { asks, agent: persona, tool, evidence }] of questions.entries()) {
    current = rules[at]!;
    // A machine with more to do than it can loses the tunnel for a while.
    await until(
      'the agent is connected',
      async () => (await ask('GET', `/edges/${id}`)).status === 'online',
    );
    const { id: session } = await ask('POST', '/chat/sessions', {});
    const answer = await ask('POST', `/chat/sessions/${session}/messages`, {
      content: asks,
    });
    assert.equal(answer.agent, persona, asks);
    assert.match(told.get(asks) ?? '', evidence, `${asks}: ${told.get(asks)}`);
    const [call] = answer.tool_calls;
    assert.deepEqual([call.name, call.status], [tool, 'ok'], JSON.stringify(answer));
    // What the answer cites opens, with what was asked.
    const [, cited] = /^It is so \[(E\d+)\]\.$/.exec(answer.message) ?? [];
    const opened = await ask('GET', `/skills/evidence/${cited}`);
    assert.equal(opened.tool, tool);
    assert.equal(opened.params.device_id, device.id);
    assert.match(JSON.stringify(JSON.parse(opened.text)), evidence);
  }
});
