import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { checkout, type Outcome, scratch, type Serving, serving, svc } from './launcher.ts';

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly generation: number | null;
  readonly cause: string | null;
  readonly dependents: readonly string[];
}

/** Creates two areas, one of which needs what the other offers. */
function lampAndReader(root: string): void {
  const manifest = (id: string, more: object): string =>
    JSON.stringify({
      id,
      version: '1.0.0',
      title: id,
      description: `The ${id}.`,
      entry: 'index.ts',
      engines: { host: '^1.0.0' },
      ...more,
    });
  const add = (id: string, more: object, code: string): void => {
    mkdirSync(join(root, 'plugins', id), { recursive: true });
    writeFileSync(join(root, 'plugins', id, 'plugin.json'), manifest(id, more));
    writeFileSync(join(root, 'plugins', id, 'index.ts'), code);
  };
  const head = `import { defineService, definePlugin } from 'svc/sdk';\nconst Lamp = defineService<{ lit: boolean }>('lamp.light');\n`;
  add(
    'lamp',
    { provides: [{ service: 'lamp.light', version: '1.0.0' }] },
    `${head}export default definePlugin({ activate(ctx) { ctx.services.provide(Lamp, () => ({ lit: true })); ctx.scope.interval('flicker \\u001b[2J', 60_000, () => undefined); } });`,
  );
  add(
    'reader',
    { requires: [{ service: 'lamp.light', range: '^1.0.0' }] },
    `${head}export default definePlugin({ activate(ctx) { ctx.services.use(Lamp); } });`,
  );
}

async function house(
  t: TestContext,
): Promise<{ here: Serving; root: string; call: (...args: string[]) => Promise<Outcome> }> {
  const root = checkout(t, 'host', 'version');
  lampAndReader(root);
  const here = await serving(t, join(scratch(t), 'data'), { root });
  return { here, root, call: (...args) => svc([...args, '--data', here.dataDir], { root }) };
}

test('a person sees, explains, reloads, disables and enables the plugins of the svc that runs', async (t) => {
  const { here, root, call } = await house(t);
  const one = async (id: string): Promise<Shown> =>
    (await call('plugin', 'why', id, '--json')).json<Shown & Record<string, unknown>>();

  await t.test('list shows each of them with its state, as a table and as a document', async () => {
    const { code, stdout } = await call('plugin', 'list');
    assert.equal(code, 0);
    assert.match(stdout, /^PLUGIN +VERSION +STATE +GENERATION +SINCE +CAUSE$/m);
    assert.match(stdout, /^lamp +1\.0\.0 +active +1 +20\d\d-/m);
    const { items } = (await call('plugin', 'list', '--json')).json<{ items: Shown[] }>();
    assert.deepEqual(
      items.map(({ id, state }) => [id, state]),
      ['host', 'lamp', 'reader', 'version'].map((id) => [id, 'active']),
    );
  });

  await t.test(
    'why draws what a plugin owns, names who needs it and what its start cost',
    async () => {
      const { code, stdout } = await call('plugin', 'why', 'lamp');
      assert.equal(code, 0);
      assert.match(stdout, /^lamp 1\.0\.0 {2}active since .*, generation 1$/m);
      assert.match(stdout, /^offers +lamp\.light 1\.0\.0$/m);
      assert.match(stdout, /^needed by +reader$/m);
      assert.match(stdout, /^took +[\d.]+ ms: .*compile [\d.]+ ms.*commit/m);
      assert.match(stdout, /^lamp#1\n(?:[│├└].*\n)*[├└]─ .*flicker/m);
      assert.ok(
        !stdout.includes('\u001b'),
        'a label of a plugin does not reach the terminal as it is',
      );
    },
  );

  await t.test(
    'reload brings up a new generation, or says why the old one goes on serving',
    async () => {
      assert.match(
        (await call('plugin', 'reload', 'lamp')).stdout,
        /^lamp was reloaded: generation 2 is running, started in [\d.]+ ms$/m,
      );
      writeFileSync(join(root, 'plugins', 'version', 'index.ts'), 'export default 1 +;');
      const failed = await call('plugin', 'reload', 'version');
      assert.equal(failed.code, 4);
      assert.match(
        failed.stderr,
        /^svc: version failed in compile: .*index\.ts:1.*keeps running\.\n$/,
      );
      const { stdout } = await call('plugin', 'why', 'version');
      assert.match(stdout, /^last start +generation \d+ failed in compile/m);
    },
  );

  await t.test(
    'disable is refused while another plugin needs it, unless that one may fall, too',
    async () => {
      const refused = await call('plugin', 'disable', 'lamp', '--json');
      assert.equal(refused.code, 4);
      assert.equal(refused.json()['error'], 'conflict');
      assert.match(String(refused.json()['message']), /needed by reader/);
      const disabled = await call('plugin', 'disable', 'lamp', '--cascade');
      assert.equal(disabled.code, 0);
      assert.equal(disabled.stdout, 'lamp is disabled; blocked without it: reader\n');
      assert.deepEqual(
        [(await one('lamp')).state, (await one('reader')).state],
        ['disabled', 'blocked'],
      );
      assert.match((await call('plugin', 'why', 'reader')).stdout, /^cause +.*lamp\.light/m);
    },
  );

  await t.test('doctor names the plugin that is not up', async () => {
    const { code, stdout } = await call('doctor');
    assert.equal(code, 0, 'blocked is a warning');
    assert.match(stdout, /^warn +plugins +reader is blocked \(.*\n.*run "svc plugin why reader"/m);
    assert.match(
      stdout,
      new RegExp(`^ok +lock +held by the svc process ${here.pid} at ${here.url}$`, 'm'),
    );
  });

  await t.test('enable says whether it came up', async () => {
    assert.equal((await call('plugin', 'enable', 'lamp')).stdout, 'lamp is enabled and active\n');
    assert.equal((await one('reader')).state, 'active');
    assert.equal((await call('plugin', 'disable', 'reader')).code, 0);
    writeFileSync(join(root, 'plugins', 'reader', 'index.ts'), 'throw new Error("no light");');
    const failed = await call('plugin', 'enable', 'reader');
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /^reader is enabled and failed: no light$/m);
  });

  await t.test('an id that nobody has is refused by the running svc', async () => {
    const { code, stderr } = await call('plugin', 'why', 'nobody');
    assert.equal(code, 4);
    assert.equal(stderr, 'svc: Plugin "nobody" does not exist.\n');
    assert.equal((await call('plugin', 'why', '../../readyz')).code, 4);
  });

  await t.test('a second svc on the same data folder is told who has it', async () => {
    const { code, stderr } = await svc(['serve', '--data', here.dataDir], {
      root,
      env: { SVC_HTTP_ADDR: '127.0.0.1:0' },
    });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`in use by the svc process ${here.pid} at ${here.url}`));
    assert.equal((await here.fetch('/readyz')).status, 200);
  });

  await t.test('it ends with 0 when asked to, and then nobody is there', async () => {
    assert.equal(await here.end(), 0);
    const { code, stderr } = await call('plugin', 'list');
    assert.equal(code, 3);
    assert.match(
      stderr,
      /^svc: no svc is running with the data folder .*: start it with "svc serve"/,
    );
  });
});

test('what svc left behind when it was killed, or another program on its port, is not taken for svc', async (t) => {
  const data = scratch(t);
  const plant = (url: string, pid = process.pid): void => {
    mkdirSync(join(data, 'keys'), { recursive: true });
    writeFileSync(join(data, 'keys', 'operator.token'), 'svc_op_planted\n');
    writeFileSync(
      join(data, 'run.json'),
      JSON.stringify({ pid, url, started_at: '2026-01-01T00:00:00.000Z' }),
    );
  };
  const stranger = createServer((request, response) =>
    response.end(request.url === '/hang' ? '' : '<h1>Hello</h1>'),
  );
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.after(() => stranger.close());
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;

  plant(url);
  const mistaken = await svc(['plugin', 'list', '--data', data]);
  assert.equal(mistaken.code, 3);
  assert.match(mistaken.stderr, /is not svc: another program is using its port/);

  plant('http://127.0.0.1:1');
  const silent = await svc(['plugin', 'list', '--data', data, '--json']);
  assert.equal(silent.code, 3);
  assert.equal(silent.json()['error'], 'unavailable');
  assert.match(String(silent.json()['message']), /does not answer \(ECONNREFUSED\)/);

  plant(url, 2 ** 22 + 1);
  assert.match(
    (await svc(['plugin', 'list', '--data', data])).stderr,
    /no svc is running with the data folder/,
  );
});
