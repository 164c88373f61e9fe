import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { type EdgeMethod, EdgeMethods } from 'svc/contracts/edge-uplink';
import { startTestEdge, startTestHost } from 'svc/testing';

import { findBrowser, peer } from '../../peers.ts';
import { policyOf } from '../edge-skills/machine.ts';
import { daemon, folderOf, freePort, listening } from './daemons.ts';

const path = '/api/v1/checks';
const send = (body: object, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
});
const password = 'correct-horse-7';

const steps = [
  { do: 'fill', selector: '#user', value: 'probe' },
  { do: 'fill', selector: '#password', secret: 'password' },
  { do: 'click', selector: 'button[type=submit]' },
  { do: 'wait_for_text', value: 'Welcome, probe' },
  { do: 'expect_title', value: 'Shop*' },
  { do: 'expect_url', value: '*/home' },
];

/** A shop whose form logs in at nginx itself, which knows one password. */
async function startShop(t: TestContext, nginx: string): Promise<string> {
  const folder = folderOf(t, 'check-browser');
  const port = await freePort();
  folder.write('users', `probe:{PLAIN}${password}\n`);
  folder.write(
    'login',
    `<!doctype html><title>Shop: sign in</title><form onsubmit="enter(event)">
      <label>User <input id=user></label><label>Password <input id=password type=password></label>
      <button type=submit>Sign in</button><p id=said></p></form>
      <script>async function enter(event) { event.preventDefault();
        const Authorization = 'Basic ' + btoa(user.value + ':' + password.value);
        const { ok, status } = await fetch('/session', { headers: { Authorization } });
        if (ok) location.href = '/home'; else said.textContent = 'Refused: ' + status; }</script>`,
  );
  folder.write('home', '<!doctype html><title>Shop: home</title><h1>Welcome, probe</h1>');
  folder.write('session', 'in');
  const file = folder.write(
    'nginx.conf',
    `daemon off; master_process off; pid ${folder.path}/pid; error_log stderr; events {}
    http { access_log off; default_type text/html; client_body_temp_path ${folder.path};
      proxy_temp_path ${folder.path}; fastcgi_temp_path ${folder.path};
      uwsgi_temp_path ${folder.path}; scgi_temp_path ${folder.path};
      server { listen 127.0.0.1:${port}; root ${folder.path};
        location = /login {} location = /session { auth_basic "shop"; auth_basic_user_file ${folder.path}/users;
          add_header Set-Cookie "session=7; Path=/"; }
        location = /home { if ($cookie_session != 7) { return 303 /login; } }
        location = /away { return 302 http://127.0.0.2:${port}/home; } } }`,
  );
  await daemon(t, nginx, ['-c', file, '-e', 'stderr'], { port });
  return `http://127.0.0.1:${port}`;
}

/** Processes of this machine that were started for a folder. */
const processesOf = (folder: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });

const startHouse = (t: TestContext, environment: Readonly<Record<string, string>> = {}) =>
  startTestHost(t, {
    plugins: ['checks', 'metricsdb', 'programs'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', ...environment },
  });

test('steps in a real Chromium log in to a real site, and show where they fail', async (t) => {
  const nginx = peer(t, 'nginx');
  const chromium = findBrowser() ?? peer(t, 'chromium-headless-shell');
  if (nginx === undefined || chromium === undefined) {
    return;
  }
  const shop = await startShop(t, nginx);
  const house = await startHouse(t, { SVC_CHECKS_BROWSER: chromium });
  const folder = join(house.dataDir, 'plugins/checks/browser');

  const draft = {
    name: 'login',
    kind: 'browser',
    target: `${shop}/login`,
    timeout_s: 60,
    retries: 0,
    steps,
    secrets: { password },
    paused: true,
  };
  const made = await house.json(path, send(draft));
  assert.deepEqual(
    [made.interval_s, made.timeout_s, made.secret_names, made.steps.length],
    [300, 60, ['password'], steps.length],
  );
  const change = async (more: object) => {
    await house.json(`${path}/login`, send(more, 'PATCH'));
    return await house.json(`${path}/login/run`, send({}));
  };
  const up = await change({ paused: false });
  assert.deepEqual([up.state, up.cause, up.picture], ['up', null, null]);
  const [reading] = up.readings;
  assert.deepEqual(
    reading.steps.map(({ step, state }: { step: string; state: string }) => [step, state]),
    [
      [`goto ${shop}/login`, 'done'],
      ['fill #user probe', 'done'],
      ['fill #password the secret password', 'done'],
      ['click button[type=submit]', 'done'],
      ['wait for text Welcome, probe', 'done'],
      ['expect title Shop*', 'done'],
      ['expect url */home', 'done'],
    ],
  );
  assert.equal(reading.status, 200);
  assert.ok(reading.steps.every(({ took_ms: took }: { took_ms: number }) => took >= 0));
  assert.equal(existsSync(folder), false);
  assert.deepEqual(processesOf(folder), []);

  // A secret outlasts a change that does not name it.
  assert.equal((await change({ timeout_s: 59 })).state, 'up');
  const refused = await change({
    timeout_s: 10,
    secrets: { password: 'wrong-8' },
    steps: [...steps.slice(0, 3), { do: 'expect_text', value: 'Welcome' }, ...steps.slice(4)],
  });
  assert.deepEqual(
    [refused.state, refused.cause],
    ['down', 'step 5 (expect text Welcome): the page does not have the text'],
  );
  assert.deepEqual(
    refused.readings[0].steps.map(({ state }: { state: string }) => state),
    ['done', 'done', 'done', 'done', 'failed', 'not_reached', 'not_reached'],
  );
  assert.equal(refused.picture.place, 'svc');
  assert.ok(!JSON.stringify(refused).includes('wrong-8'));
  const answer = await house.fetch(`${path}/login/picture`);
  const picture = Buffer.from(await answer.arrayBuffer());
  assert.equal(answer.headers.get('content-type'), 'image/jpeg');
  assert.deepEqual([...picture.subarray(0, 3)], [0xff, 0xd8, 0xff]);
  assert.ok(picture.length < 300_000);

  // What Chromium may not reach says nothing about the target, wherever the page leads.
  for (const target of [`${shop}/away`, shop.replace('127.0.0.1', '127.0.0.2')]) {
    const away = await change({ target, steps: null, secrets: null });
    assert.equal(away.state, 'stale');
    assert.match(away.cause, /^svc: .*127\.0\.0\.2/);
  }
  const missing = await change({ target: `${shop}/none` });
  assert.match(missing.cause, /^step 1 \(goto .*\/none\): the server answers 404$/);

  const { kind, target } = draft;
  const refusal = async (more: object): Promise<string> => {
    const asked = { kind, target, steps, secrets: { password }, ...more };
    const refused = await house.fetch(`${path}/try`, send(asked));
    assert.equal(refused.status, 400);
    return ((await refused.json()) as { message: string }).message;
  };
  for (const [more, message] of [
    [{ steps: [{ do: 'click' }], secrets: {} }, /^steps\/0 needs a selector for click/],
    [{ steps: [{ do: 'goto', value: 'file:///etc/passwd' }] }, /^steps\/0 must go to an http:/],
    [{ steps: [{ do: 'press', value: 'Hyper' }] }, /^steps\/0 presses a key that is not known/],
    [{ steps: [{ do: 'click', selector: 'a', value: 'b' }] }, /^steps\/0 has a value, which click/],
    [{ secrets: {} }, /^steps\/1 names a secret that is not set: password/],
    [{ secrets: { password, other: 'x' } }, /^secrets\/other is used by no step/],
    [{ kind: 'http' }, /^steps is not for checks of kind http/],
  ] as const) {
    assert.match(await refusal(more), message);
  }
  await refusal({ steps: Array(31).fill({ do: 'click', selector: 'a' }) });
});

test('a place without Chromium says so, and the check is not down', async (t) => {
  const house = await startHouse(t, { SVC_CHECKS_BROWSER: '/nonexistent/chromium' });
  const check = { name: 'login', kind: 'browser', target: 'http://127.0.0.1/', retries: 0 };
  await house.json(path, send(check));
  const { state, cause } = await house.json(`${path}/login/run`, send({}));
  assert.equal(state, 'stale');
  assert.match(cause, /cannot run here: checks\.browser is \/nonexistent\/chromium, which is not/);
});

test('an agent runs steps where its owner allows a browser, which reaches nothing past the policy', async (t) => {
  const chromium = findBrowser() ?? peer(t, 'chromium-headless-shell');
  if (chromium === undefined) {
    return;
  }
  const heard: string[] = [];
  const near = createServer((request, response) => {
    heard.push(String(request.url));
    response.end();
  });
  near.on('upgrade', (_request, socket) => {
    heard.push('upgrade');
    socket.destroy();
  });
  const nearPort = await listening(t, near, '127.0.0.2');
  const stun = createSocket('udp4').bind(0, '127.0.0.1');
  await once(stun, 'listening');
  t.after(() => stun.close());
  stun.on('message', () => heard.push('stun'));
  const past = `127.0.0.2:${nearPort}`;
  const site = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Past</title><link rel=dns-prefetch href=//past.invalid>
      <img src="http://${past}/image"><iframe src="http://${past}/frame"></iframe>
      <script>const ways = [
        fetch('http://${past}/fetch', { mode: 'no-cors' }),
        new Promise((_, refuse) => { new WebSocket('ws://${past}/socket').onerror = refuse; }),
        new Promise((done) => { const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${stun.address().port}' }] });
          peer.createDataChannel('way'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
          peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done(); })];
      navigator.sendBeacon('http://${past}/beacon');
      Promise.allSettled(ways).then((ends) => document.body.append('ends: ' + ends.map(({ status }) => status)));</script>`);
  });
  const target = `http://127.0.0.1:${await listening(t, site)}/`;
  const policy = policyOf({ probes: ['127.0.0.1:*'] });
  const edge = await startTestEdge(t, {
    plugins: ['programs', 'edge-skills'],
    services: { 'uplink.policy': policy },
  });
  const method = edge
    .contributions<EdgeMethod>(EdgeMethods)
    .find(({ name }) => name === 'check_probe')!;
  const run = (more: object = {}) =>
    method.run(
      { kind: 'browser', target, timeout_ms: 60_000, ip: 'any', conditions: [], ...more },
      { signal: new AbortController().signal },
    );
  await assert.rejects(run(), { code: 'forbidden', message: /"skills\.browser" in policy\.yaml/ });
  policy.skills = { ...policy.skills, browser: chromium };
  const found = (await run({
    steps: [{ do: 'wait_for_text', value: 'ends: rejected,rejected,fulfilled' }],
  })) as { readonly success: boolean; readonly cause: string | null };
  assert.deepEqual([found.cause, found.success], [null, true]);
  assert.deepEqual(heard, []);
  await assert.rejects(run({ target: `http://${past}/` }), {
    code: 'forbidden',
    message: /127\.0\.0\.2/,
  });
  assert.deepEqual(heard, []);
});
