import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';

import { projectRoot, svc } from './launcher.ts';

const patienceMs = 120_000;

test('a demo serves with its hosts and their past, signs its visitor in, and leaves nothing behind', async (t) => {
  const demo = spawn(
    process.execPath,
    ['bin/svc', 'demo', '--port', '0', '--hosts', '8', '--fault-after', '3600'],
    {
      cwd: projectRoot,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  t.after(() => demo.kill('SIGKILL'));
  let told = '';
  demo.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  for (const deadline = Date.now() + patienceMs; !/dependencies are in the topology/.test(told);) {
    assert.ok(Date.now() < deadline && demo.exitCode === null, told);
    await new Promise((done) => setTimeout(done, 100));
  }
  const [, url, email, password, dataDir] =
    /is ready at (\S+)\nSign in as (\S+) with password (\S+)\n.*data, (\S+)/.exec(told)!;
  assert.ok(told.includes(`svc alert list --data ${dataDir}`), told);
  assert.match(told, /8 hosts have connected with their last 30 minutes/);
  const body = JSON.stringify({ email, password });
  const login = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { access_token: token } = (await login.json()) as { access_token: string };
  const query = encodeURIComponent('count(count_over_time(node_cpu_usage_percent[30m]) > 20)');
  const answer = await fetch(`${url}/prometheus/api/v1/query?query=${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
  assert.ok(Number(data.result[0]?.value[1]) >= 1, `hosts have a past: ${JSON.stringify(data)}`);

  assert.ok(existsSync(dataDir!));
  demo.kill('SIGINT');
  const [code] = (await once(demo, 'exit')) as [number];
  assert.equal(code, 0, told);
  assert.ok(!existsSync(dataDir!), 'its data goes with it');
});

test('what cannot be shown is said before anything is started', async () => {
  const { code, stderr } = await svc(['demo', '--hosts', '3']);
  assert.equal(code, 2);
  assert.match(stderr, /--hosts must be a whole number from 8 to 1000/);
});
