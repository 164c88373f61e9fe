import 'reflect-metadata';

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import {
  Directory,
  type DirectoryContract,
  Passwords,
  type PasswordsContract,
} from 'svc/contracts/iam';
import { type AuditRecord, SvcError } from 'svc/sdk';
import { startTestHost } from 'svc/testing';
import { parse } from 'yaml';

import { boot } from '../../../core/boot/boot.ts';
import { productFromSource } from '../../../core/boot/settings/product.ts';
import { sourceBundler } from '../../../bin/bundler/sources.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const named = { SVC_ADMIN_EMAIL: 'Ada@Example.org', SVC_ADMIN_PASSWORD: 'the first passphrase' };

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-iam-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

interface Started {
  readonly directory: DirectoryContract;
  readonly passwords: PasswordsContract;
  readonly log: () => string;
  stop(): Promise<void>;
}

/** Starts a product with this one plugin as the command line does: its environment is checked. */
async function start(
  t: TestContext,
  dir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> {
  for (const part of ['plugins/iam', 'config']) {
    cpSync(join(root, part), join(dir, part), { recursive: true });
  }
  const lines: string[] = [];
  const house = await boot({
    bundler: sourceBundler,
    product: { ...productFromSource(root), root: dir },
    environment: { SVC_HTTP_ADDR: '127.0.0.1:0', SVC_DATA_DIR: join(dir, 'data'), ...environment },
    writeLog: (line) => void lines.push(line),
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= house.stop('the test has ended'));
  t.after(stop);
  const provider = (id: string): object => house.registry.current.services.get(id)!.value.instance;
  return {
    directory: provider(Directory.id) as DirectoryContract,
    passwords: provider(Passwords.id) as PasswordsContract,
    log: () => lines.join('\n'),
    stop,
  };
}

describe('the first administrator', () => {
  test('is made at the first start from the environment, and left alone at every other', async (t) => {
    const dir = folder(t);
    const first = await start(t, dir, named);
    const ada = await first.passwords.verify('ada@example.org', 'the first passphrase');
    assert.deepEqual([ada?.role, ada?.display_name], ['admin', 'ada']);
    await first.stop();

    const second = await start(t, dir, {
      ...named,
      SVC_ADMIN_PASSWORD: 'the first passphrase, again',
    });
    assert.equal(
      (await second.passwords.verify('ada@example.org', 'the first passphrase'))?.id,
      ada!.id,
    );
    assert.equal(
      await second.passwords.verify('ada@example.org', 'the first passphrase, again'),
      undefined,
    );
    assert.ok(!(first.log() + second.log()).includes('passphrase'));
  });

  test('is a row of the trail, written with the account or not at all', async (t) => {
    const environment = { ...named };
    const rows: AuditRecord[] = [];
    const trail = { append: async (_tx: unknown, record: AuditRecord) => void rows.push(record) };
    const made = await startTestHost(t, {
      plugins: ['iam'],
      environment,
      services: { 'audit.trail': trail },
    });
    const [row, ...more] = rows;
    assert.equal(more.length, 0);
    assert.deepEqual(
      [
        row?.action,
        row?.status,
        row?.resourceType,
        row?.resourceId,
        row?.principal.kind,
        row?.principal.id,
      ],
      ['user:create', 'success', 'user', '1', 'system', 'start'],
    );
    assert.deepEqual(row?.after, { id: 1, email: 'ada@example.org', role: 'admin' });
    assert.equal(await made.service(Directory).hasAdmin(), true);
    assert.ok(!JSON.stringify(rows).includes('passphrase'));

    let isFull = true;
    const full = {
      append: async () => {
        if (isFull) {
          throw new SvcError('unavailable', 'the trail is full');
        }
      },
    };
    const refused = await startTestHost(t, {
      plugins: ['iam'],
      environment,
      services: { 'audit.trail': full },
    });
    assert.match(refused.host.explain('iam').cause ?? '', /the trail is full/);
    isFull = false;
    await refused.host.retry({ all: true });
    assert.equal(
      await refused.service(Directory).hasAdmin(),
      true,
      'tried again without a restart',
    );
  });

  test('gets the password out of a file', async (t) => {
    const dir = folder(t);
    const file = join(dir, 'password');
    writeFileSync(file, 'the filed passphrase\n');
    const { passwords } = await start(t, dir, {
      SVC_ADMIN_EMAIL: 'ada@example.org',
      SVC_ADMIN_PASSWORD_FILE: file,
    });
    assert.equal(
      (await passwords.verify('ada@example.org', 'the filed passphrase'))?.role,
      'admin',
    );
  });

  test('is not made out of somebody who registered under that e-mail', async (t) => {
    const dir = folder(t);
    const first = await start(t, dir);
    await first.directory.create(
      {
        email: 'ada@example.org',
        display_name: '',
        role: 'viewer',
        password: 'a guessed passphrase',
      },
      undefined,
    );
    await first.stop();
    const second = await start(t, dir, named);
    assert.equal(await second.directory.hasAdmin(), false);
    assert.equal(
      (await second.passwords.verify('ada@example.org', 'a guessed passphrase'))?.role,
      'viewer',
    );
    assert.match(
      second.log(),
      /no administrator created: A user with the e-mail address ada@example.org already exists/,
    );
  });

  test('is not made of half a name, and the log says what is missing or wrong', async (t) => {
    for (const [environment, complaint] of [
      [
        { SVC_ADMIN_EMAIL: 'ada@example.org' },
        /SVC_ADMIN_PASSWORD or SVC_ADMIN_PASSWORD_FILE is not set/,
      ],
      [{ SVC_ADMIN_PASSWORD: 'the first passphrase' }, /SVC_ADMIN_EMAIL is not set/],
    ] as const) {
      const { directory, log } = await start(t, folder(t), environment);
      assert.equal(await directory.hasAdmin(), false);
      assert.match(log(), complaint);
    }
    for (const weak of ['short', ' Ada@example.ORG ']) {
      await assert.rejects(
        start(t, folder(t), { ...named, SVC_ADMIN_PASSWORD: weak }),
        /SVC_ADMIN_PASSWORD .*10 to 256 characters and not the e-mail/,
      );
    }
    await assert.rejects(
      start(t, folder(t), { ...named, SVC_ADMIN_EMAIL: 'ada' }),
      /SVC_ADMIN_EMAIL/,
    );
  });

  test('has no default password: without a word from the operator there is nobody', async (t) => {
    const { directory } = await start(t, folder(t));
    assert.equal(await directory.hasAdmin(), false);
    assert.equal(directory.live(1), undefined);
  });
});

test('what is shipped as configuration is what the room declares', () => {
  const { settings } = JSON.parse(readFileSync(join(root, 'plugins/iam/plugin.json'), 'utf8'));
  const shipped = parse(readFileSync(join(root, 'config/default.yaml'), 'utf8'));
  assert.deepEqual(shipped.policy.roles, settings['policy.roles'].default);
  assert.deepEqual([shipped.auth.admin_email, shipped.auth.admin_password], ['', '']);
});

test('svc.yaml says what the built-in roles grant in this house', async (t) => {
  const dir = folder(t);
  const first = await start(t, dir);
  assert.ok(first.directory.grantsOf('user').includes('edge:*'));
  await first.stop();
  writeFileSync(
    join(dir, 'data/svc.yaml'),
    'policy:\n  roles:\n    admin: ["*"]\n    user: ["edge:create"]\n    viewer: []\n',
  );
  const second = await start(t, dir);
  assert.deepEqual(second.directory.grantsOf('user'), ['edge:create']);
  await second.stop();
  writeFileSync(
    join(dir, 'data/svc.yaml'),
    'policy:\n  roles:\n    admin: ["*"]\n    user: ["*"]\n    viewer: []\n',
  );
  await assert.rejects(start(t, dir), /policy\.roles/);
});
