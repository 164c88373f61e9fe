import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Banner, type BannerLine } from 'svc/sdk';

import { type SessionHouse, sessionHouse } from './house.ts';
import { movableClock, people } from './people.ts';

const hour = 60 * 60_000;

const file = ({ house }: SessionHouse): string =>
  join(house.dataDir, 'plugins/session/setup-token');
const tokenIn = (house: SessionHouse): string => readFileSync(file(house), 'utf8').trim();
const setUp = ({ ask }: SessionHouse, token: string, more: object = {}) =>
  ask('POST', '/api/v1/auth/setup', {
    body: { token, email: 'root@example.org', password: 'correct horse', ...more },
  });

/** Returns the text of the start banner. */
const bannerOf = ({ house }: SessionHouse): (string | undefined)[] =>
  [...house.registry.current.contributions.values()]
    .filter(({ value }) => value.point === Banner.id)
    .map(({ value }) => (value.value as BannerLine).line(house.url));

function folder(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-setup-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
}

test('while there is no administrator the banner shows a command that makes one, once its password is edited', async (t) => {
  const house = await sessionHouse(t, { empty: true });
  const [line = ''] = bannerOf(house);
  assert.match(line, /^Set up {3}curl http/);
  assert.ok(line.includes(tokenIn(house)));
  assert.equal(statSync(file(house)).mode & 0o777, 0o600);
  // The house answers on this thread, so curl itself may not block it: the shell only takes the command apart.
  const words = spawnSync('sh', ['-c', line.replace(/^Set up +curl/, `printf '%s\\n'`)], {
    encoding: 'utf8',
  }).stdout.split('\n');
  const [url = '', , header = '', , body = ''] = words;
  const [name = '', value = ''] = header.split(': ');
  const run = (text: string): Promise<Response> =>
    fetch(url, { method: 'POST', headers: { [name]: value }, body: text });
  assert.equal((await run(body)).status, 400, 'nobody has the password that is printed here');
  const answer = await run(body.replace('CHANGE-ME', 'correct horse'));
  assert.equal(answer.status, 201, await answer.clone().text());
  const signedIn = (await answer.json()) as { role: string; access_token: string };
  assert.equal(signedIn.role, 'admin');
  assert.equal(
    (await house.ask('GET', '/api/v1/lamp/sell', { token: signedIn.access_token })).status,
    200,
  );
  assert.deepEqual(bannerOf(house), [undefined]);
  assert.ok(!existsSync(file(house)));
});

test('the set-up token works once', async (t) => {
  const house = await sessionHouse(t, { empty: true });
  const token = tokenIn(house);
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => setUp(house, token, { email: `${name}@example.org` })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.ok(answers.every(({ status }) => [201, 401, 409].includes(status)));
  assert.equal((await setUp(house, token)).status, 409);
});

test('a wrong set-up token makes nobody', async (t) => {
  const house = await sessionHouse(t, { empty: true });
  for (const token of [
    'x',
    `${tokenIn(house)}x`,
    tokenIn(house).toUpperCase(),
    house.house.token,
  ]) {
    assert.equal((await setUp(house, token)).status, 401);
  }
  assert.equal(await house.people.directory.hasAdmin(), false);
});

test('a password that is too short does not use the token up', async (t) => {
  const house = await sessionHouse(t, { empty: true });
  const token = tokenIn(house);
  assert.equal((await setUp(house, token, { password: 'short' })).status, 400);
  assert.equal((await setUp(house, token)).status, 201);
});

test('with an administrator there is no token, no file and no line', async (t) => {
  const house = await sessionHouse(t);
  assert.deepEqual(bannerOf(house), [undefined]);
  assert.ok(!existsSync(file(house)));
  assert.equal((await setUp(house, 'svc_setup_x')).status, 409);
});

test('a restart keeps the token, renews it when it has expired or its file is gone, and clears it when somebody was made elsewhere', async (t) => {
  const options = { empty: true, dataDir: folder(t), clock: movableClock(), people: people() };
  const restart = async (last?: SessionHouse): Promise<SessionHouse> => {
    await last?.house.stop();
    return await sessionHouse(t, options);
  };
  let house = await restart();
  const first = tokenIn(house);
  house = await restart(house);
  assert.equal(tokenIn(house), first);

  options.clock.move(25 * hour);
  assert.equal((await setUp(house, first)).status, 401, 'a day has passed');
  house = await restart(house);
  const second = tokenIn(house);
  assert.notEqual(second, first);

  rmSync(file(house));
  house = await restart(house);
  const third = tokenIn(house);
  assert.notEqual(third, second);
  assert.equal((await setUp(house, second)).status, 401);

  writeFileSync(file(house), 'half a tok');
  house = await restart(house);
  assert.notEqual(tokenIn(house), third);

  options.people.add({ email: 'ada@example.org', role: 'admin' });
  house = await restart(house);
  assert.ok(!existsSync(file(house)));
});
