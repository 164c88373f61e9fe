import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { signRelease } from '../../bin/dev/packaging/pack-signature.ts';
import { onlyInDrills } from '../drill/rounds.ts';
import { KeptProgram, killPlan } from '../kept-program.ts';
import { checkout, type Outcome, scratch, svc } from './launcher.ts';

const torch = {
  id: 'torch',
  version: '1.0.0',
  title: 'Torch',
  description: 'A torch.',
  engines: { host: '^1.0.0' },
  settings: { 'torch.mark': { schema: { type: 'integer' }, default: 0, description: 'Counts.' } },
};

/** A version of svc with one plugin: a script that stands for its binary. */
function version(
  t: TestContext,
  number: string,
  change: (root: string) => void = () => undefined,
): string {
  const root = checkout(t, 'setting', 'version');
  mkdirSync(join(root, 'plugins/torch'));
  writeFileSync(join(root, 'plugins/torch/plugin.json'), JSON.stringify(torch));
  const file = join(root, 'package.json');
  writeFileSync(
    file,
    JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), version: number }),
  );
  change(root);
  const program = join(root, `svc-${number}`);
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(root, 'bin/svc')} "$@"\n`, {
    mode: 0o755,
  });
  return program;
}

const migration = (name: string, sql: string) => (root: string) =>
  writeFileSync(join(root, 'plugins/setting/migrations', name), sql);

/** Ends between the migrations and the first request, though not in the rehearsal. */
function neverServes(root: string): void {
  const file = join(root, 'core/boot/boot.ts');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(
      'address.port = await',
      "if (process.argv.includes('serve')) process.exit(7);\n    address.port = await",
    ),
  );
}

/** Begins to serve and never comes to it, though the rehearsal does. */
function neverReady(root: string): void {
  const file = join(root, 'core/boot/boot.ts');
  const waits =
    "if (process.argv.includes('serve')) await new Promise((never) => setInterval(never, 1e9, never));\n    address.port = await";
  writeFileSync(file, readFileSync(file, 'utf8').replace('address.port = await', waits));
}

/** Makes it become ready, and end soon after. */
function endsSoon(root: string): void {
  const file = join(root, 'core/boot/boot.ts');
  const ends =
    "if (process.argv.includes('serve')) setTimeout(() => process.exit(7), 1_500);\n    address.port = await";
  writeFileSync(file, readFileSync(file, 'utf8').replace('address.port = await', ends));
}

/** Comes to its trial late, and ends before it is ready. */
function comesLate(root: string): void {
  const file = join(root, 'bin/upkeep/update/trial-start.ts');
  const waits =
    'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);\n    setTimeout(() => process.exit(7), 1_000);\n    const update = Update.start';
  writeFileSync(file, readFileSync(file, 'utf8').replace('const update = Update.start', waits));
  neverReady(root);
}

function sign(file: string, key: string): string {
  const signed = signRelease(createHash('sha256').update(readFileSync(file)).digest('hex'), key);
  writeFileSync(`${file}.sig`, signed.signature);
  return signed.public_key;
}

/** A running 1.0.0, what updates it, and the number that was last acknowledged. */
function rig(t: TestContext) {
  const folder = scratch(t);
  const one = version(t, '1.0.0');
  const program = join(folder, 'svc');
  writeFileSync(program, readFileSync(one), { mode: 0o755 });
  const dataDir = join(folder, 'data');
  const kept = new KeptProgram(program, dataDir);
  t.after(() => kept.stop('SIGKILL'));
  let written = 0;
  return {
    folder,
    program,
    dataDir,
    kept,
    update: (
      args: readonly string[],
      env: Readonly<Record<string, string>> = {},
    ): Promise<Outcome> =>
      svc(['update', '--hold', '1', ...args, '--data', dataDir, '--program', program], {
        program: [program],
        env: { SVC_HTTP_ADDR: '127.0.0.1:0', ...env },
      }),
    async write(): Promise<void> {
      const body = JSON.stringify({ value: written + 1 });
      const answer = await kept.fetch('/api/v1/system-settings/torch/mark', {
        method: 'PUT',
        body,
      });
      assert.ok(answer.status < 300, await answer.text());
      written++;
    },
    async nothingLost(): Promise<void> {
      const { items } = (await (await kept.fetch('/api/v1/system-settings?limit=200')).json()) as {
        items: { category: string; key: string; value: number }[];
      };
      assert.equal(
        items.find(({ category, key }) => `${category}.${key}` === 'torch.mark')?.value,
        written,
      );
    },
    beside: () => readdirSync(folder).filter((name) => name.startsWith('svc')),
  };
}

test(
  'a signed version takes over with its migration, and the one before takes over again: all that was written stays',
  { timeout: 600_000 },
  async (t) => {
    const { folder, program, dataDir, kept, update, write, nothingLost, beside } = rig(t);
    const two = version(
      t,
      '2.0.0',
      migration(
        '002-add-colour.sql',
        'CREATE TABLE setting_colour (id INTEGER PRIMARY KEY) STRICT;',
      ),
    );
    kept.start();
    await write();

    const unknown = await update([two]);
    assert.match(unknown.stderr, /does not know the key that versions are signed with/);
    const key = sign(two, join(folder, 'release.key'));
    const other = sign(program, join(folder, 'other.key'));
    rmSync(`${program}.sig`);
    assert.match(
      (await update([two, '--key', other])).stderr,
      /is not signed with the release key of this installation/,
    );

    const check = await update([two, '--check', '--key', key, '--json']);
    assert.equal(check.code, 0, check.stderr);
    assert.deepEqual(check.json()['migrations'], ['setting 002-add-colour.sql']);
    assert.deepEqual(
      [check.json()['from'], check.json()['version'], check.json()['keepsWayBack']],
      ['1.0.0', '2.0.0', true],
    );
    assert.deepEqual(beside(), ['svc'], 'a look leaves nothing behind');

    const { port, close } = await shop(two);
    t.after(close);
    const done = await update([`http://127.0.0.1:${port}/svc-2.0.0`, '--key', key]);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /svc 2\.0\.0 is running/);
    assert.equal(await kept.version(), '2.0.0');
    await nothingLost();
    await write();
    assert.deepEqual(beside(), ['svc', 'svc.previous', 'svc.previous.json', 'svc.release-key']);
    assert.ok(readdirSync(join(dataDir, 'backups/before-updates')).length === 1);
    assert.match(
      (await update([two, '--key', other])).stderr,
      /this installation accepts versions signed with ed25519:/,
    );
    const older = version(t, '1.5.0');
    sign(older, join(folder, 'release.key'));
    assert.match(
      (await update([older])).stderr,
      /1\.5\.0 is older than the current version, 2\.0\.0/,
    );

    const back = await update(['--back']);
    assert.equal(back.code, 0, back.stderr);
    assert.equal(await kept.version(), '1.0.0', 'it goes on with tables that were only added to');
    await nothingLost();
    await write();
    assert.equal((await update(['--back'])).code, 0);
    assert.equal(await kept.version(), '2.0.0', 'and forth again');
    await nothingLost();
  },
);

test(
  'a version that does not serve gives way, with the data of before its migrations',
  { timeout: 600_000 },
  async (t) => {
    const { kept, update, write, nothingLost, dataDir } = rig(t);
    const changing = migration('002-change.sql', "UPDATE setting_values SET value = '0';");
    const broken = version(t, '2.0.0', (root) => (changing(root), neverServes(root)));
    kept.start();
    await write();
    const refused = await update([broken, '--unsigned']);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(
      refused.stderr,
      /svc 2\.0\.0 was rolled back, because it was started 3 times and did not stay up; 1\.0\.0 is running again/,
    );
    assert.equal(await kept.version(), '1.0.0');
    await nothingLost();
    const doctor = await svc(['doctor', '--json', '--data', dataDir]);
    assert.match(doctor.stdout, /2\.0\.0 was rolled back/);

    const serving = version(t, '3.0.0', changing);
    assert.equal((await update([serving, '--unsigned'])).code, 0);
    const held = await update(['--back']);
    assert.match(held.stderr, /has changed tables that 1\.0\.0 cannot read: add --with-backup/);
    assert.equal(await kept.version(), '3.0.0');
    const back = await update(['--back', '--with-backup']);
    assert.equal(back.code, 0, back.stderr);
    assert.equal(await kept.version(), '1.0.0');
    await nothingLost();
  },
);

test(
  'a version that is not ready by its deadline gives way',
  { timeout: 600_000, ...onlyInDrills },
  async (t) => {
    const { kept, update, write, nothingLost } = rig(t);
    const slow = version(t, '2.0.0', neverReady);
    kept.start();
    await write();
    const began = performance.now();
    const refused = await update([slow, '--unsigned', '--deadline', '8']);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(
      refused.stderr,
      /svc 2\.0\.0 was rolled back, because it was not ready within 8 s; 1\.0\.0 is running again/,
    );
    assert.ok(performance.now() - began > 8_000);
    assert.equal(await kept.version(), '1.0.0');
    await nothingLost();
  },
);

test(
  'a start of a version that is given up meanwhile ends, whenever its program was loaded',
  { timeout: 600_000, ...onlyInDrills },
  async (t) => {
    const { kept, update, write, nothingLost } = rig(t);
    const late = version(t, '2.0.0', comesLate);
    kept.start();
    await write();
    // Its first start has ended by then, and the second one sleeps before it looks at its trial.
    const refused = await update([late, '--unsigned', '--deadline', '9']);
    assert.equal(refused.code, 1, refused.stdout);
    assert.equal(await kept.version(), '1.0.0');
    await nothingLost();
    assert.match(kept.said, /svc 2\.0\.0 was rolled back, because it was not ready within 9 s/);

    const slow = version(t, '3.0.0', comesLate);
    writeFileSync(
      slow,
      readFileSync(slow, 'utf8').replace('exec ', '[ "$1" = serve ] && sleep 15\nexec '),
      { mode: 0o755 },
    );
    // Its start sleeps for longer than that: it has not counted itself yet, and is loaded after it has been given up.
    const unseen = await update([slow, '--unsigned', '--deadline', '9']);
    assert.equal(unseen.code, 1, unseen.stdout);
    assert.equal(await kept.version(), '1.0.0');
    await nothingLost();
  },
);

test(
  'a version that was ready and does not stay is said to be one, and goes when a person says so',
  { timeout: 600_000, ...onlyInDrills },
  async (t) => {
    const { kept, update, write, nothingLost } = rig(t);
    const changing = migration('002-change.sql', 'UPDATE setting_values SET value = value;');
    const unsteady = version(t, '2.0.0', (root) => (changing(root), endsSoon(root)));
    kept.start();
    await write();
    const told = await update([unsteady, '--unsigned', '--deadline', '20', '--hold', '5']);
    assert.equal(told.code, 1, told.stdout);
    assert.match(
      told.stderr,
      /svc 2\.0\.0 was ready but did not stay up: it was started \d+ times.*--with-backup/,
    );
    assert.match(
      (await update(['--back'])).stderr,
      /has changed tables that 1\.0\.0 cannot read: add --with-backup/,
    );
    const back = await update(['--back', '--with-backup', '--deadline', '60']);
    assert.equal(back.code, 0, back.stderr);
    // Where it was between two starts just then, the next one but one is the version before.
    for (
      const deadline = Date.now() + 60_000;
      (await kept.version()) !== '1.0.0';
      await pause(100)
    ) {
      assert.ok(Date.now() < deadline, kept.said.slice(-2_000));
    }
    await nothingLost();
  },
);

test(
  'what is no version, or not for this machine, changes nothing',
  { timeout: 600_000 },
  async (t) => {
    const { folder, update, beside } = rig(t);
    const refusals: [string, RegExp][] = [
      [join(folder, 'nowhere'), /nowhere does not exist/],
      ['http://192.0.2.1/svc', /does not use https/],
      [join(folder, 'text'), /cannot be run|failed/],
    ];
    writeFileSync(join(folder, 'text'), 'no program');
    for (const [from, why] of refusals) {
      const { code, stderr } = await update([from, '--unsigned']);
      assert.equal(code, 1, from);
      assert.match(stderr, why);
    }
    writeFileSync(join(folder, 'text.sha256'), `${'0'.repeat(64)}  text\n`);
    assert.match(
      (await update([join(folder, 'text'), '--unsigned'])).stderr,
      /does not match text\.sha256/,
    );
    assert.match((await update(['--back'])).stderr, /there is no earlier version next to/);
    assert.equal((await update([])).code, 2);
    assert.equal((await update(['x', '--deadline', 'soon'])).code, 2);
    assert.match(
      (await svc(['update', 'x', '--data', folder])).stderr,
      /runs from source here: check out another version with git/,
    );
    assert.deepEqual(beside(), ['svc']);
  },
);

test(
  'killed at any of its steps, the old or the new version serves with all that was acknowledged',
  { timeout: 600_000, ...onlyInDrills },
  async (t) => {
    const { folder, program, kept, update, write, nothingLost } = rig(t);
    const two = version(
      t,
      '2.0.0',
      migration(
        '002-add-colour.sql',
        'CREATE TABLE setting_colour (id INTEGER PRIMARY KEY) STRICT;',
      ),
    );
    const one = readFileSync(program);
    const plan = killPlan(folder, program);
    kept.start();
    // The first and the last that stand on either side of the switch; the drill takes all.
    for (const [step, when] of [
      [7, 'before'],
      [7, 'after'],
    ] as const) {
      await write();
      plan.set(step, when);
      const killed = await update([two, '--unsigned'], { NODE_OPTIONS: plan.options });
      assert.ok(killed.code === null && !plan.left(), `step ${step} ${when}: ${killed.stderr}`);
      await nothingLost();
      await write();
      kept.kill();
      await nothingLost();
      assert.ok(['1.0.0', '2.0.0'].includes(await kept.version()));
      if ((await kept.version()) === '1.0.0') {
        assert.equal(readFileSync(program, 'utf8'), one.toString(), `step ${step} ${when}`);
        const again = await update([two, '--unsigned']);
        assert.equal(again.code, 0, again.stderr);
      }
      assert.equal(await kept.version(), '2.0.0');
      await until(() => !existsSync(`${program}.update.json`));
      assert.equal((await update(['--back'])).code, 0);
      assert.equal(await kept.version(), '1.0.0');
      await nothingLost();
    }
  },
);

async function until(holds: () => boolean): Promise<void> {
  for (
    const deadline = Date.now() + 30_000;
    !holds();
    await new Promise((resolve) => setTimeout(resolve, 50))
  ) {
    assert.ok(Date.now() < deadline);
  }
}

/** Starts a server that offers a version and the files next to it. */
async function shop(file: string): Promise<{ port: number; close: () => void }> {
  const server = createServer(({ url = '' }, response) => {
    const ending = url.slice('/svc-2.0.0'.length);
    const there = url.startsWith('/svc-2.0.0') && existsSync(file + ending);
    response.writeHead(there ? 200 : 404).end(there ? readFileSync(file + ending) : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
