import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { onlyInDrills } from '../drill/rounds.ts';
import {
  accepted,
  type CallOptions,
  projectRoot,
  scratch,
  type Serving,
  serving,
  svc,
} from './launcher.ts';

const addon = 'better_sqlite3.node';

async function answers(here: Serving, path: string): Promise<unknown> {
  for (const deadline = Date.now() + 15_000; ; await pause(50)) {
    const response = await here.fetch(path);
    const body = await response.text();
    if (response.status === 200) {
      return JSON.parse(body) as unknown;
    }
    assert.ok(
      Date.now() < deadline,
      `${path} answered ${response.status}: ${body}\n${here.said()}`,
    );
  }
}

/** Returns whether a plugin runs here; those for edges alone are carried, and ignored. */
function runsHere(id: string): boolean {
  const manifest = join(projectRoot, 'plugins', id, 'plugin.json');
  const { runs_on: runsOn } = (
    existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}
  ) as { runs_on?: readonly string[] };
  return runsOn?.includes('manager') ?? true;
}

const persona =
  '---\nname: lamps\ndescription: Looks after lamps.\nwhen_to_use: Questions about lamps.\n---\nYou look after lamps.\n';

test(
  'the single binary is the whole product, alone in an empty folder',
  { timeout: 300_000, ...onlyInDrills },
  async (t) => {
    const folder = scratch(t);
    const file = join(folder, 'alone', 'svc');
    const { stdout: said } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', 'bin/dev/build.ts', '--out', file],
      {
        cwd: projectRoot,
        timeout: 200_000,
      },
    );
    assert.match(said, /svc: svc \d+\.\d+\.\d+, \d+(\.\d)? MiB, built in [\d.]+ s/);
    assert.deepEqual(
      readdirSync(join(folder, 'alone')),
      ['svc', 'svc.cdx.json'],
      'beside it only what it is made of',
    );

    const cache = join(folder, 'cache');
    const binary: CallOptions = {
      program: [file],
      cwd: join(folder, 'alone'),
      env: { XDG_CACHE_HOME: cache, HOME: folder },
    };
    const unpacked = (): string =>
      join(
        cache,
        'svc',
        readdirSync(join(cache, 'svc')).find((name) => name !== 'code')!,
      );
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      version: string;
    };

    await t.test('it knows what it is without unpacking anything', async () => {
      assert.equal((await svc(['version', '--json'], binary)).json()['packaging'], 'binary');
      assert.ok(!existsSync(cache));
    });

    await t.test('it says in one sentence what needs the source', async () => {
      for (const verb of ['plugin', 'pack']) {
        const { code, stderr } = await svc([verb, 'build', '.'], binary);
        assert.equal(code, 1);
        assert.match(stderr, /^svc: .*a source checkout of (it|svc)\n$/);
      }
    });

    const data = join(folder, 'data');
    const confirmed = async (...words: readonly string[]): Promise<void> => {
      const asked = await svc(['market', ...words, '--data', data], binary);
      assert.equal(asked.code, 5, asked.stderr + asked.stdout);
      const agreed = await svc(
        [
          'market',
          ...words,
          '--data',
          data,
          '--confirm',
          /--confirm ([0-9a-f]{64})/.exec(asked.stdout)![1]!,
        ],
        binary,
      );
      assert.equal(agreed.code, 0, agreed.stderr);
    };

    await t.test(
      'it serves every shipped plugin, and takes in a built pack while it does',
      async (part) => {
        const here = await serving(part, data, binary);
        assert.equal((await here.fetch('/readyz')).status, 200);
        assert.deepEqual(await answers(here, '/api/v1/version'), {
          manager_version: `v${version}`,
        });
        mkdirSync(join(folder, 'alone/agents'), { recursive: true });
        writeFileSync(join(folder, 'alone/agents/lamps.md'), persona);
        for (
          const deadline = Date.now() + 30_000;
          (await here.fetch('/api/v1/agents/lamps')).status !== 200;
          await pause(50)
        ) {
          assert.ok(Date.now() < deadline, 'a persona beside the binary is served');
        }
        rmSync(join(folder, 'alone/agents'), { recursive: true });

        // The agent of this machine is the same file with its small program; what it weighs is told.
        const agentDir = join(data, 'local-edge');
        for (const deadline = Date.now() + 30_000; ; await pause(200)) {
          const { code, stdout } = await svc(
            ['edge', 'status', '--data', agentDir, '--json'],
            binary,
          );
          if (code === 0) {
            const { pid } = JSON.parse(stdout) as { pid: number };
            part.diagnostic(
              `agent: ${/VmRSS:\s*(.*)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]} resident`,
            );
            break;
          }
          assert.ok(Date.now() < deadline, stdout);
        }

        const { items } = (await svc(['plugin', 'list', '--data', data, '--json'], binary)).json<{
          items: { id: string; state: string }[];
        }>();
        const shipped = readdirSync(join(projectRoot, 'plugins')).filter((id) =>
          existsSync(join(projectRoot, 'plugins', id, 'plugin.json')),
        );
        assert.deepEqual(
          items.map(({ id, state }) => `${id} ${state}`),
          [...shipped, 'shipped-files']
            .sort()
            .map((id) => `${id} ${runsHere(id) ? 'active' : 'discovered'}`),
        );

        await svc(['plugin', 'new', 'greeter', '--dir', folder]);
        // With tables, which a process of their own opens while it comes up: it finds SQLite in the binary.
        const described = join(folder, 'greeter', 'plugin.json');
        writeFileSync(
          described,
          JSON.stringify({
            ...(JSON.parse(readFileSync(described, 'utf8')) as object),
            permissions: { disk_mb: 1 },
          }),
        );
        mkdirSync(join(folder, 'greeter', 'migrations'));
        writeFileSync(
          join(folder, 'greeter', 'migrations', '001-greeted.sql'),
          'CREATE TABLE greeted (name TEXT) STRICT;',
        );
        await svc(['plugin', 'build', join(folder, 'greeter')]);
        mkdirSync(join(data, 'packs'), { recursive: true });
        cpSync(join(folder, 'greeter', 'dist', 'greeter'), join(data, 'packs', 'greeter'), {
          recursive: true,
        });
        await accepted('greeter', data, binary);
        assert.deepEqual(await answers(here, '/api/v1/greeter'), { message: 'Hello operator' });
        assert.ok(existsSync(join(data, 'plugins/greeter/tables.db')));
        assert.equal((await svc(['plugin', 'reload', 'greeter', '--data', data], binary)).code, 0);

        // A pack with code that comes with svc was compiled with it.
        await confirmed('install', 'shipped', 'kubernetes-reader');

        const doctor = await svc(['doctor', '--data', data], binary);
        assert.equal(doctor.code, 0, doctor.stdout);
        assert.match((await svc(['backup', 'create', '--data', data], binary)).stdout, /backups/);
        assert.equal(await here.end(), 0);
      },
    );

    await t.test(
      'the packs that it makes need no compiler: they load as they stand, also with a persona and a guide beside the code',
      async (part) => {
        const here = await serving(part, data, binary);
        const [made, refused] = [
          await svc(['plugin', 'new', 'welcomer', '--data', data], binary),
          await svc(['plugin', 'new', 'chat', '--data', data], binary),
        ];
        assert.match(
          made.stdout,
          /^Created the pack welcomer:\n.*packs\/welcomer\/plugin\.json\n[^]*Next: svc pack rights welcomer/,
          made.stderr,
        );
        assert.match(refused.stderr, /the plugin chat already has this id/);
        await accepted('welcomer', data, binary);
        assert.deepEqual(await answers(here, '/api/v1/welcomer'), { message: 'Hello operator' });
        const linked = await svc(['pack', 'new', 'porter', '--json'], {
          ...binary,
          cwd: folder,
          env: { ...binary.env, SVC_DATA_DIR: data },
        });
        assert.equal(linked.code, 0, linked.stderr);
        await confirmed('link', join(folder, 'porter'));
        assert.deepEqual(await answers(here, '/api/v1/porter'), { message: 'Hello operator' });
        assert.equal(await here.end(), 0);
      },
    );

    await t.test(
      'its unpacked parts are for its user only, and one that was touched is not used',
      async () => {
        const file = join(unpacked(), addon);
        assert.equal(statSync(unpacked()).mode & 0o777, 0o700);
        const whole = readFileSync(file);
        chmodSync(file, 0o700);
        writeFileSync(file, whole.subarray(0, 1000));
        assert.equal((await svc(['doctor', '--data', join(folder, 'data')], binary)).code, 0);
        assert.deepEqual(readFileSync(file), whole);
        assert.deepEqual(
          readdirSync(unpacked()).filter((name) => name.startsWith(`${addon}.`)),
          [],
        );
      },
    );

    await t.test('a cache that others may write to is passed over', async () => {
      mkdirSync(join(folder, 'open', 'svc'), { recursive: true });
      const open = join(
        folder,
        'open',
        'svc',
        readdirSync(join(cache, 'svc')).find((name) => name !== 'code')!,
      );
      mkdirSync(open);
      chmodSync(open, 0o777);
      const { code } = await svc(['doctor', '--data', join(folder, 'data')], {
        ...binary,
        env: { XDG_CACHE_HOME: join(folder, 'open'), HOME: folder },
      });
      assert.equal(code, 0);
      assert.deepEqual(readdirSync(open), []);
      assert.ok(existsSync(join(folder, '.cache', 'svc')));
    });
  },
);
