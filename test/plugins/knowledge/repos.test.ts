import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { SvcError } from 'svc/sdk';

import { toTrouble, troubleOf } from '../../../plugins/knowledge/repos/sync-trouble.ts';
import { peer } from '../../peers.ts';
import { HandClock, hour } from '../alert/engine-house.ts';
import { startSshd } from '../webshell/sshd.ts';
import { gitServers, Origin, startGitHttps } from './git-servers.ts';
import { type Json, type KnowledgeHouse, knowledgeHouse } from './house.ts';
import { everythingStored } from '../../kit/stored.ts';

const onLoopback = { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8,::1' };

async function houseWithGit(
  t: TestContext,
  environment: Readonly<Record<string, string>> = {},
  clock?: HandClock,
) {
  const kit = await knowledgeHouse(t, {
    plugins: ['programs', 'knowledge'],
    environment: { ...onLoopback, ...environment },
    ...(clock && { clock }),
  });
  const { ask, house } = kit;
  const repo = async (id: number): Promise<Json> =>
    (await ask('GET', '/repos')).body.items.find((one: Json) => one.id === id);
  const settled = async (id: number): Promise<Json> => {
    for (const deadline = Date.now() + 60_000; ; await pause(20)) {
      const now = await repo(id);
      if (now.status !== 'syncing') {
        return now;
      }
      assert.ok(Date.now() < deadline, `the sync ends: ${JSON.stringify(now)}`);
    }
  };
  const add = async (body: object): Promise<Json> => {
    const { status, body: made } = await ask('POST', '/repos', {
      body: { sync_interval: 0, ...body },
    });
    assert.equal(status, 201, JSON.stringify(made));
    return await settled(made.id);
  };
  const sync = async (id: number): Promise<Json> => {
    assert.equal((await ask('POST', `/repos/${id}/sync`, { body: {} })).status, 202);
    return await settled(id);
  };
  const docs = async (mount: string): Promise<Json[]> =>
    (await ask('GET', `/docs?path_prefix=${mount}&limit=200`)).body.items;
  const paths = async (mount: string): Promise<string[]> =>
    (await docs(mount)).map(({ path }: Json) => path.slice(mount.length + 1));
  const content = async (id: number): Promise<string> =>
    (await ask('GET', `/docs/${id}`)).body.content;
  return { ...kit, house, repo, settled, addRepo: add, sync, docs, pathsOf: paths, content };
}

async function withHttps(t: TestContext) {
  const server = await startGitHttps(t);
  return server === undefined
    ? undefined
    : { server, ...(await houseWithGit(t, { SVC_KNOWLEDGE_GIT_AUTHORITIES: server.authority })) };
}

for (const [way, start] of Object.entries(gitServers)) {
  test(
    `a repository over ${way}: read, gone on, rewritten, moved, its branch deleted; only what changed is read again`,
    { timeout: 120_000 },
    async (t) => {
      const server = await start(t);
      if (server !== undefined) {
        const kit = await houseWithGit(t, server.environment);
        await lifeOf(
          server.origin('open.git'),
          { url: server.url('open.git'), ...(await server.access(kit)) },
          kit,
        );
      }
    },
  );
}

async function lifeOf(
  origin: Origin,
  address: object,
  kit: Awaited<ReturnType<typeof houseWithGit>>,
): Promise<void> {
  const { addRepo, sync, docs, pathsOf, content } = kit;
  const first = origin.commit({
    'README.md': '# Hello\nfrom git',
    'run/db.md': '# Database\nrestart it',
    'run/web.txt': 'reload nginx',
    'src/main.c': 'int x;',
  });
  const made = await addRepo(address);
  assert.deepEqual(
    [made.status, made.last_error, made.last_commit, made.doc_count, made.mount],
    ['ready', null, first, 3, 'repos/open'],
  );
  assert.deepEqual(
    [made.last_result.history, made.last_result.added, made.last_result.skipped],
    ['first', 3, { other_type: 1 }],
  );
  assert.deepEqual(await pathsOf('repos/open'), ['README.md', 'run/db.md', 'run/web.txt']);
  const [readme, database] = await docs('repos/open');
  assert.deepEqual(
    [readme.title, readme.source, readme.repo_id, readme.version],
    ['Hello', 'repo', made.id, 1],
  );
  assert.equal(await content(readme.id), '# Hello\nfrom git');
  const refused = await kit.ask('PATCH', `/docs/${readme.id}`, { body: { content: 'mine' } });
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);

  const same = await sync(made.id);
  assert.deepEqual(
    [same.status, same.last_result.history, same.last_result.unchanged],
    ['ready', 'same', 3],
  );

  const second = origin.commit({
    'run/db.md': '# Database\nrestart it twice',
    'run/web.txt': undefined,
    'new/web.txt': 'reload nginx',
    'more.md': '# More',
  });
  const onwards = await sync(made.id);
  const { history, added, changed, moved, removed, unchanged } = onwards.last_result;
  assert.deepEqual(
    [onwards.last_commit, history, added, changed, moved, removed, unchanged],
    [second, 'forward', 1, 1, 1, 0, 1],
  );
  const after = await docs('repos/open');
  const again = after.find(({ id }: Json) => id === database.id);
  assert.deepEqual([again.version, await content(again.id)], [2, '# Database\nrestart it twice']);
  assert.equal(
    after.find(({ path }: Json) => path === 'repos/open/README.md').version,
    1,
    'what did not change is not written again',
  );

  const third = origin.commit({ 'only.md': '# Only' }, { anew: true });
  const rewritten = await sync(made.id);
  assert.deepEqual(
    [rewritten.last_commit, rewritten.last_result.history, rewritten.doc_count],
    [third, 'rewritten', 1],
  );

  origin.git('update-ref', '-d', 'refs/heads/main');
  origin.commit({ 'x.md': 'x' }, { branch: 'other' });
  const gone = await sync(made.id);
  assert.deepEqual(
    [gone.status, gone.last_error_code, gone.last_commit, gone.doc_count],
    ['failed', 'branch_gone', third, 1],
  );
  assert.deepEqual(await pathsOf('repos/open'), ['only.md'], 'the last good documents stay');
  assert.deepEqual(await kit.paths('Only'), ['repos/open/only.md']);

  assert.equal((await kit.ask('DELETE', `/repos/${made.id}`)).status, 204);
  assert.deepEqual(
    [
      await pathsOf('repos/open'),
      readdirSync(join(kit.house.dataDir, 'plugins', 'knowledge', 'repos')),
    ],
    [[], []],
  );
}

test(
  'a folder of a branch, with a password, for an organization; what is wrong has a state of its own',
  { timeout: 120_000 },
  async (t) => {
    const kit = await withHttps(t);
    if (kit === undefined) {
      return;
    }
    const { addRepo, sync, pathsOf, server } = kit;
    const origin = server.origin('private/wiki.git');
    origin.commit(
      { 'docs/a.md': '# A', 'docs/deep/b.md': '# B', 'c.md': '# C' },
      { branch: 'stable' },
    );
    const url = server.url('private/wiki.git');
    const credentials = { username: 'reader', password: 's3cret-of-reader' };
    const made = await addRepo({
      url,
      branch: 'stable',
      path_prefix: 'docs',
      mount: 'wiki',
      org_id: 1,
      ...credentials,
    });
    assert.deepEqual([made.status, made.last_error, made.has_password], ['ready', null, true]);
    assert.deepEqual(await pathsOf('wiki'), ['a.md', 'deep/b.md']);
    assert.equal(
      (await kit.ask('GET', '/docs?path_prefix=wiki', { as: 'bert' })).body.items.length,
      0,
    );
    assert.equal((await kit.ask('GET', '/repos', { as: 'bert' })).body.items.length, 0);
    assert.equal((await kit.ask('GET', '/repos', { as: 'vera' })).body.items.length, 1);
    const everything = JSON.stringify([(await kit.ask('GET', '/repos')).body, kit.house.lines]);
    assert.ok(
      !everything.includes('s3cret') &&
        !everything.includes(Buffer.from('reader:s3cret-of-reader').toString('base64')),
      'no password is told',
    );

    const codes: Record<string, string> = {};
    const wrong = async (name: string, body: object): Promise<void> => {
      const {
        id,
        status,
        last_error_code: code,
        doc_count: count,
      } = await addRepo({ mount: `wrong/${name}`, ...body });
      assert.deepEqual([status, count], ['failed', 0], name);
      codes[name] = code;
      await kit.ask('DELETE', `/repos/${id}`);
    };
    await wrong('password', { url, branch: 'stable', username: 'reader', password: 'wrong' });
    await wrong('anonymous', { url, branch: 'stable' });
    await wrong('branch', { url, branch: 'nothing', ...credentials });
    await wrong('folder', { url, branch: 'stable', path_prefix: 'nowhere', ...credentials });
    await wrong('repository', { url: server.url('nothing.git') });
    await wrong('redirect', { url: server.url('moved/x.git') });
    await wrong('port', { url: 'https://127.0.0.1:1/x.git' });
    await wrong('name', { url: 'https://127.0.0.1.nothing.invalid/x.git' });
    await wrong('metadata', { url: 'https://169.254.169.254/x.git' });
    await wrong('private', { url: 'https://10.1.2.3/x.git' });
    assert.deepEqual(codes, {
      password: 'access_refused',
      anonymous: 'access_refused',
      branch: 'branch_gone',
      folder: 'folder_gone',
      repository: 'repository_gone',
      redirect: 'redirected',
      port: 'unreachable',
      name: 'unreachable',
      metadata: 'address_refused',
      private: 'address_refused',
    });

    // Another sync of what was good fails, and changes nothing.
    origin.commit({ 'docs/a.md': undefined, 'docs/deep/b.md': undefined }, { branch: 'stable' });
    const failed = await sync(made.id);
    assert.deepEqual(
      [failed.status, failed.last_error_code, failed.doc_count],
      ['failed', 'folder_gone', 2],
    );
  },
);

test('a certificate that nobody has vouched for is not trusted', { timeout: 60_000 }, async (t) => {
  const server = await startGitHttps(t);
  if (server === undefined) {
    return;
  }
  server.origin('open.git').commit({ 'a.md': 'a' });
  const { addRepo } = await houseWithGit(t);
  assert.equal((await addRepo({ url: server.url('open.git') })).last_error_code, 'tls');
});

test(
  'a repository over SSH: keys, pinned hosts, a host that changed, and nothing left of the key',
  { timeout: 120_000 },
  async (t) => {
    const sshd = await startSshd(t);
    if (sshd === undefined || peer(t, 'git') === undefined) {
      return;
    }
    const kit = await houseWithGit(t);
    const { ask, addRepo, sync } = kit;
    const folder = mkdtempSync(join(tmpdir(), 'svc-git-ssh-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const origin = new Origin(join(folder, 'wiki.git'));
    const head = origin.commit({ 'a.md': '# A' });
    const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}${folder}/wiki.git`;

    const registered = await ask('POST', '/ssh-identities', {
      body: { name: 'deploy', comment: 'deploy@svc', private_key: sshd.privateKey },
    });
    assert.equal(registered.status, 201, JSON.stringify(registered.body));
    const generated = await ask('POST', '/ssh-identities/generate', { body: { name: 'fresh' } });
    assert.match(generated.body.public_key, /^ssh-ed25519 [A-Za-z0-9+/]+=* fresh$/);

    const refused = await addRepo({ url, ssh_identity_id: generated.body.id, mount: 'refused' });
    assert.deepEqual(
      [refused.status, refused.last_error_code],
      ['failed', 'key_refused'],
      refused.last_error,
    );
    const made = await addRepo({ url, ssh_identity_id: registered.body.id });
    assert.deepEqual(
      [made.status, made.last_error, made.last_commit, made.doc_count],
      ['ready', null, head, 1],
    );
    const identity = async (): Promise<Json> =>
      (await ask('GET', '/ssh-identities')).body.items.find(({ name }: Json) => name === 'deploy');
    const { hosts, last_used_at: usedAt } = await identity();
    assert.ok(usedAt !== null);
    assert.deepEqual(
      [hosts.length, hosts[0].host, hosts[0].algorithm],
      [1, `127.0.0.1:${sshd.port}`, 'ssh-ed25519'],
    );
    assert.match(hosts[0].fingerprint, /^SHA256:[A-Za-z0-9+/]{43}$/);

    const body = sshd.privateKey.split('\n').slice(1, -2).join('');
    const known = JSON.stringify([await identity(), kit.house.lines]);
    assert.ok(!known.includes(body.slice(60, 120)), 'no private key is told');
    const own = join(kit.house.dataDir, 'plugins', 'knowledge');
    const left = existsSync(join(own, 'run')) ? readdirSync(join(own, 'run')) : [];
    assert.deepEqual(left, [], 'no key file is left');

    await sshd.rekey();
    origin.commit({ 'a.md': '# A, and more' });
    const changed = await sync(made.id);
    assert.deepEqual(
      [changed.status, changed.last_error_code, changed.last_commit],
      ['failed', 'host_key_changed', head],
    );
    assert.match(changed.last_error, /forget_hosts/);
    assert.doesNotMatch(
      changed.last_error,
      /known_hosts|ssh-keygen -f/,
      'the file of one sync is gone',
    );
    assert.deepEqual((await identity()).hosts, hosts, 'the pinned key stays');
    assert.equal((await sync(made.id)).last_error_code, 'host_key_changed');
    const forgotten = await ask('PATCH', `/ssh-identities/${registered.body.id}`, {
      body: { forget_hosts: [hosts[0].host] },
    });
    assert.deepEqual([forgotten.status, forgotten.body.hosts], [200, []]);
    assert.equal((await sync(made.id)).status, 'ready');
    assert.notEqual((await identity()).hosts[0].fingerprint, hosts[0].fingerprint);

    const inUse = await ask('DELETE', `/ssh-identities/${registered.body.id}`);
    assert.deepEqual(
      [inUse.status, inUse.headers.get('x-svc-reason')],
      [409, 'knowledge.identity_in_use'],
    );
    await ask('DELETE', `/repos/${made.id}`);
    assert.equal((await ask('DELETE', `/ssh-identities/${registered.body.id}`)).status, 204);
    assert.equal(everythingStored(kit.house.dataDir).includes(body.slice(60, 120)), false);
  },
);

test('each repository syncs by its own interval, a little sooner or later than others of it, and one that fails later and later', async (t) => {
  const clock = new HandClock();
  const { house, ask, addRepo, settled, sync } = await houseWithGit(t, {}, clock);
  const url = (number: number): string => `https://127.0.0.1:1/wiki-${number}.git`;
  const made: Json[] = [];
  for (let number = 0; number < 6; number++) {
    made.push(await addRepo({ url: url(number), mount: `m/${number}`, sync_interval: 3_600 }));
  }
  const byHand = await addRepo({ url: url(9), mount: 'm/9' });
  assert.deepEqual(
    [byHand.status, byHand.next_sync_at],
    ['failed', null],
    'an interval of 0 is none',
  );
  const hoursTo = ({ next_sync_at: at }: Json): number => (Date.parse(at) - clock.now()) / hour;
  const pauses = made.map(hoursTo);
  assert.ok(
    pauses.every((pause_) => pause_ >= 1.8 && pause_ <= 2.2),
    `after one failure twice the interval, with jitter: ${pauses.join(', ')}`,
  );
  assert.ok(new Set(pauses).size > 3, 'not all at once');

  const tried = async (): Promise<number> =>
    (await Promise.all(made.map(({ id }) => settled(id)))).filter(
      ({ last_tried_at: at }) => Date.parse(at) === clock.now(),
    ).length;
  clock.advance(1.7 * hour);
  await house.reload('knowledge');
  // It takes its turn behind what is due.
  await sync(byHand.id);
  assert.equal(await tried(), 0, 'none is due yet');
  clock.advance(0.6 * hour);
  await house.reload('knowledge');
  for (const deadline = Date.now() + 30_000; (await tried()) < made.length; await pause(20)) {
    assert.ok(Date.now() < deadline, 'all are due');
  }
  const { body } = await ask('GET', '/repos');
  const again = body.items.filter(({ id }: Json) => id !== byHand.id).map(hoursTo);
  assert.ok(
    again.every((pause_: number) => pause_ >= 3.6 && pause_ <= 4.4),
    `after two failures four times the interval: ${again.join(', ')}`,
  );
});

test('what ends a sync is told apart: git, the machine, and the database', () => {
  const code = (error: unknown): string => toTrouble(error).code;
  assert.equal(
    code(
      new SvcError('unavailable', 'this write took longer than 5 s', {
        reason: 'storage.unit_too_long',
      }),
    ),
    'not_kept',
  );
  assert.equal(
    code(
      new SvcError('unavailable', 'git is not installed', { reason: 'knowledge.program_missing' }),
    ),
    'not_possible',
  );
  assert.equal(code(new Error('no tree')), 'git_failed');
});

test('addresses that are no repository, or hide an option of a program, are refused where they are typed', async (t) => {
  const { ask }: KnowledgeHouse = await houseWithGit(t);
  const urls = [
    ...[
      '--upload-pack=touch /tmp/x',
      'ext::sh -c "touch /tmp/x"',
      'file:///etc',
      '/etc',
      'git://example.org/x.git',
      'http://example.org/x.git',
    ],
    ...[
      'ssh://-oProxyCommand=touch%20x/y',
      'ssh://git@-oProxyCommand=x/y',
      '-oProxyCommand=x:y',
      'git@-x:y',
      'ssh://-x@example.org/y',
      'git@example.org:-x',
    ],
    ...[
      'https://user:pass@example.org/x.git',
      'https://user@example.org/x.git',
      'https://example.org/',
      'https://example.org/x y.git',
      'https://example.org/x.git?a=b',
    ],
    ...[
      "ssh://git@example.org/'$(touch x)'",
      'ssh://git:pass@example.org/x',
      'https://example.org/x.git#y',
      'https://exa mple.org/x',
      'fd::17/foo',
      'https:///x',
      '',
    ],
  ];
  for (const url of urls) {
    const { status } = await ask('POST', '/repos', {
      body: { url, ssh_identity_id: url.startsWith('https') ? undefined : 1 },
    });
    assert.equal(status, 400, url);
  }
  for (const branch of [
    '-x',
    'a..b',
    '--upload-pack=x',
    'x lock',
    'a.lock',
    '/x',
    'x/',
    'a@{1}',
    'a\nb',
  ]) {
    assert.equal(
      (await ask('POST', '/repos', { body: { url: 'https://example.org/x.git', branch } })).status,
      400,
      branch,
    );
  }
  for (const path_prefix of ['../x', '/x', 'a/../b', '']) {
    assert.equal(
      (await ask('POST', '/repos', { body: { url: 'https://example.org/x.git', path_prefix } }))
        .status,
      400,
      path_prefix,
    );
  }
  assert.equal(
    (await ask('POST', '/repos', { body: { url: 'https://example.org/x.git', mount: 'vault/x' } }))
      .status,
    400,
  );
  assert.equal(
    (await ask('POST', '/repos', { body: { url: 'git@example.org:x.git' } })).status,
    400,
  );
  assert.equal(
    (await ask('POST', '/repos', { body: { url: 'git@example.org:x.git', ssh_identity_id: 9 } }))
      .status,
    404,
  );
  assert.deepEqual((await ask('GET', '/repos')).body.items, []);
});

test('an error of the Git server is told as that', () => {
  const errors = 'fatal: unable to access: The requested URL returned error: 503';
  assert.equal(
    troubleOf({ code: 128, cut: undefined, errors, output: Buffer.alloc(0) }).code,
    'server_failed',
  );
});

test(
  'keys of every kind that Git servers take, with passphrases, and a repository that is changed',
  { timeout: 120_000 },
  async (t) => {
    const sshd = await startSshd(t);
    if (sshd === undefined || peer(t, 'git') === undefined) {
      return;
    }
    const { ask, addRepo, settled, house } = await houseWithGit(t);
    const folder = mkdtempSync(join(tmpdir(), 'svc-git-keys-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const keyOf = (name: string, passphrase: string, ...kind: string[]): string => {
      const file = join(folder, name);
      execFileSync('ssh-keygen', ['-q', ...kind, '-N', passphrase, '-C', name, '-f', file]);
      return file;
    };
    const register = (file: string, passphrase?: string) =>
      ask('POST', '/ssh-identities', {
        body: {
          name: file.split('/').at(-1),
          private_key: readFileSync(file, 'utf8'),
          ...(passphrase !== undefined && { passphrase }),
        },
      });
    const kinds: Readonly<Record<string, readonly [string, ...string[]]>> = {
      rsa: ['a word', '-t', 'rsa', '-b', '2048'],
      'rsa-pem': ['a word', '-t', 'rsa', '-b', '2048', '-m', 'PEM'],
      'rsa-pkcs8': ['', '-t', 'rsa', '-b', '2048', '-m', 'PKCS8'],
      ecdsa: ['a word', '-t', 'ecdsa', '-b', '256'],
      ed25519: ['a word', '-t', 'ed25519'],
    };
    const ids = new Map<string, number>();
    for (const [name, [passphrase, ...kind]] of Object.entries(kinds)) {
      const file = keyOf(name, passphrase, ...kind);
      const { status, body } = await register(file, passphrase === '' ? undefined : passphrase);
      assert.equal(status, 201, `${name}: ${JSON.stringify(body)}`);
      const [blob] = readFileSync(`${file}.pub`, 'utf8').split(' ').slice(1);
      assert.equal(body.public_key.split(' ')[1], blob, name);
      sshd.authorize(body.public_key);
      ids.set(name, body.id);
    }
    const weak = keyOf('weak', '', '-t', 'rsa', '-b', '1024');
    for (const [answer, problem] of [
      [await register(join(folder, 'ecdsa')), /passphrase is missing or wrong/],
      [await register(join(folder, 'rsa'), 'another'), /passphrase is missing or wrong/],
      [await register(weak), /2048 bits or more/],
      [await register(join(folder, 'rsa.pub')), /not a private key, or it is damaged/],
    ] as const) {
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, problem);
    }
    const run = join(house.dataDir, 'plugins', 'knowledge', 'run');
    assert.deepEqual(existsSync(run) ? readdirSync(run) : [], [], 'no key file is left');

    const origin = new Origin(join(folder, 'wiki.git'));
    origin.commit({ 'a.md': '# A' });
    origin.commit({ 'deep/b.md': '# B' }, { branch: 'next' });
    const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}${folder}/wiki.git`;
    const made = await addRepo({ url, ssh_identity_id: ids.get('rsa') });
    assert.deepEqual([made.status, made.last_error, made.doc_count], ['ready', null, 1]);
    for (const name of ['rsa-pem', 'rsa-pkcs8', 'ecdsa', 'ed25519']) {
      const { status } = await ask('PATCH', `/repos/${made.id}`, {
        body: { ssh_identity_id: ids.get(name), branch: 'next', path_prefix: 'deep' },
      });
      assert.equal(status, 200);
      const now = await settled(made.id);
      assert.deepEqual([now.status, now.last_error, now.branch], ['ready', null, 'next'], name);
    }
    const docs = (await ask('GET', '/docs?path_prefix=repos/wiki')).body.items;
    assert.deepEqual(
      docs.map(({ path }: Json) => path),
      ['repos/wiki/b.md'],
    );
    const mixed = await ask('PATCH', `/repos/${made.id}`, {
      body: { url: 'https://git.example.org/wiki.git' },
    });
    assert.equal(mixed.status, 200, 'an address of another kind drops the key');
    assert.deepEqual([mixed.body.ssh_identity_id, mixed.body.sync_interval], [null, 0]);
    assert.equal(
      (await ask('PATCH', `/repos/${made.id}`, { body: { username: 'ann' } })).status,
      400,
      'a name without a password',
    );
  },
);
