import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { peer } from '../../peers.ts';
import {
  ask,
  folderFor,
  manifest,
  putFiles,
  sha256,
  skillText,
  startMarket,
  tgz,
} from './market.ts';

const environment = { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' };

async function serve(
  t: TestContext,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('an index over HTTP is read by its ETag, a pinned key lets in what it has signed and nothing else, and what it offered stays when it is away', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = `ed25519:${Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64')}`;
  const pack = tgz({
    'plugin.json': manifest('disks'),
    'skills/disk-doctor/SKILL.md': skillText('disk-doctor'),
  });
  const signature = sign(null, Buffer.from(sha256(pack)), privateKey).toString('base64');
  const offer = (id: string, more: object) => ({
    id,
    name: id,
    versions: [{ version: '1.0.0', url: 'disks.tgz', sha256: sha256(pack), ...more }],
  });
  const index = () =>
    JSON.stringify({
      version: 1,
      name: 'Signed',
      packs: [
        offer('disks', { signature }),
        offer('bare', {}),
        offer('forged', { signature: `${signature.slice(0, 80)}AAAAAA==` }),
        { id: 5 },
      ],
    });
  let away = false;
  const seen: (string | undefined)[] = [];
  const url = await serve(t, (req, res) => {
    if (req.url === '/disks.tgz') {
      return void res.end(pack);
    }
    seen.push(req.headers['if-none-match']);
    return void (away
      ? res.writeHead(500).end()
      : req.headers['if-none-match'] === '"1"'
        ? res.writeHead(304).end()
        : res.writeHead(200, { etag: '"1"' }).end(index()));
  });
  const house = await startMarket(t, { environment });
  assert.equal(
    (await ask(house, 'POST', '/registries', { name: 'bad', url: 'http://example.org/index.json' }))
      .status,
    400,
  );
  assert.equal(
    (
      await ask(house, 'POST', '/registries', {
        name: 'bad',
        url: `${url}/index.json`,
        public_key: 'mine',
      })
    ).status,
    400,
  );
  const added = await ask(house, 'POST', '/registries', {
    name: 'signed',
    url: `${url}/index.json`,
    public_key: key,
  });
  assert.deepEqual(
    [added.status, added.body.signed, added.body.packs],
    [201, true, 3],
    JSON.stringify(added.body),
  );
  assert.equal(
    (await ask(house, 'POST', '/registries', { name: 'signed', url: `${url}/index.json` })).status,
    409,
  );
  assert.equal((await ask(house, 'POST', '/registries/signed/refresh')).body.error, null);
  assert.deepEqual(seen.slice(-1), ['"1"']);
  away = true;
  const kept = await ask(house, 'POST', '/registries/signed/refresh');
  assert.match(kept.body.error, /responded with status 500/);
  assert.equal(kept.body.packs, 3);

  for (const name of ['bare', 'forged']) {
    const refused = await ask(house, 'POST', '/install', { registry: 'signed', pack_id: name });
    assert.deepEqual(
      [refused.status, /is not signed with the key/.test(refused.body.message)],
      [400, true],
      name,
    );
  }
  const { status, body } = await ask(house, 'POST', '/install', {
    registry: 'signed',
    pack_id: 'disks',
    version: '1.0.0',
  });
  assert.deepEqual(
    [status, body.signed_by, body.warnings],
    [201, 'signed', []],
    JSON.stringify(body),
  );
  const other = await ask(house, 'POST', '/install', {
    url: `${url}/disks.tgz`,
    sha256: '0'.repeat(64),
  });
  assert.match(other.body.message, /which does not match the expected one/);
  assert.equal(
    (await ask(house, 'POST', '/install', { url: `${url}/disks.tgz`, sha256: sha256(pack) }))
      .status,
    409,
    'a signed version is not replaced unseen by one without a signature',
  );
  const missing = await ask(house, 'POST', '/install', {
    registry: 'signed',
    pack_id: 'disks',
    version: '9.9.9',
  });
  assert.deepEqual([missing.status, /it has 1\.0\.0/.test(missing.body.message)], [404, true]);
  assert.equal((await ask(house, 'DELETE', '/registries/signed')).status, 204);
  assert.deepEqual((await ask(house, 'GET', '/registries')).body.items, []);
});

test('a commit of a repository is read over git’s own protocol, with the real git behind it', async (t) => {
  const git = peer(t, 'git');
  if (git === undefined) {
    return;
  }
  const root = folderFor(t);
  const repo = join(root, 'tools.git');
  const run = (...args: string[]): string =>
    execFileSync(
      git,
      ['-C', repo, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args],
      { encoding: 'utf8' },
    ).trim();
  execFileSync(git, ['init', '-q', '-b', 'main', repo]);
  const long = Array.from({ length: 400 }, (_, line) => `Line ${line} of what to do.`).join('\n');
  putFiles(repo, {
    'packs/disks/skills/disk-doctor/SKILL.md': skillText('disk-doctor', long),
    'packs/disks/.claude-plugin/plugin.json': '{"name":"disks","version":"1.2"}',
    'other/readme.md': 'no',
  });
  run('add', '.');
  run('commit', '-qm', 'one');
  const first = run('rev-parse', 'HEAD');
  putFiles(repo, {
    'packs/disks/skills/disk-doctor/SKILL.md': skillText('disk-doctor', `${long}\nAnd more.`),
  });
  run('commit', '-qam', 'two');
  run('tag', '-a', 'v2', '-m', 'two');
  run('repack', '-adq', '--depth=50');
  const url = await serve(t, (req, res) => {
    const [path = '', query = ''] = (req.url ?? '').split('?');
    const cgi = spawn(git, ['http-backend'], {
      env: {
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: req.method,
        CONTENT_TYPE: req.headers['content-type'] ?? '',
        GIT_PROTOCOL: String(req.headers['git-protocol'] ?? ''),
        PATH: process.env['PATH'],
      },
    });
    req.pipe(cgi.stdin);
    const parts: Buffer[] = [];
    cgi.stdout.on('data', (part: Buffer) => parts.push(part));
    cgi.on('close', () => {
      const all = Buffer.concat(parts);
      const at = all.indexOf('\r\n\r\n');
      const type = /content-type: (.*)/i.exec(all.toString('latin1', 0, at))?.[1] ?? 'text/plain';
      const status = /^status: (\d+)/im.exec(all.toString('latin1', 0, at))?.[1] ?? '200';
      res.writeHead(Number(status), { 'content-type': type.trim() }).end(all.subarray(at + 4));
    });
  });
  const house = await startMarket(t, { environment });
  const where = { url: `${url}/tools.git/.git`, path: 'packs/disks' };
  const old = await ask(house, 'POST', '/install', { git: { ...where, commit: first } });
  assert.equal(old.status, 201, JSON.stringify(old.body));
  assert.deepEqual(
    [old.body.pack_id, old.body.version, old.body.layout, old.body.source.commit],
    ['disks', '1.2.0', 'claude', first],
  );
  const preview = await ask(house, 'POST', '/preview', { git: { ...where, ref: 'v2' } });
  assert.equal(preview.status, 200, JSON.stringify(preview.body));
  assert.equal(preview.body.source.commit, run('rev-parse', 'HEAD'));
  assert.deepEqual(preview.body.difference.files, {
    added: [],
    removed: [],
    changed: ['skills/disk-doctor/SKILL.md'],
  });
  assert.deepEqual(preview.body.needs, ['its source may change, because no commit was named']);
  const updated = await ask(house, 'POST', '/installed/disks/update', {
    confirm: preview.body.confirm,
  });
  assert.equal(updated.status, 200, JSON.stringify(updated.body));
  assert.match(
    (await ask(house, 'POST', '/preview', { git: { ...where, ref: 'none' } })).body.message,
    /no branch or tag "none"/,
  );
  assert.match(
    (await ask(house, 'POST', '/preview', { git: { ...where, commit: 'f'.repeat(40) } })).body
      .message,
    /did not send ffffffffffff|not our ref|answered/,
  );
  assert.match(
    (await ask(house, 'POST', '/preview', { git: { ...where, commit: first, path: 'nowhere' } }))
      .body.message,
    /no folder "nowhere"/,
  );
});

test('a Claude marketplace in a folder offers plugins: their agents, skills, commands and servers, and what has no effect is said', async (t) => {
  const plugin = {
    name: 'Ops-Kit',
    description: 'For operators.',
    version: '3.1.4',
    mcpServers: {
      pager: { type: 'http', url: 'https://mcp.pager.example/mcp' },
      local: { command: 'npx' },
      odd: { url: 'https://${HOST}/x' },
    },
  };
  const folder = folderFor(t, {
    '.claude-plugin/marketplace.json': JSON.stringify({
      name: 'Team',
      plugins: [
        { name: 'ops-kit', source: './kits/ops' },
        { name: 'bare', source: './', strict: false, skills: ['./loose/one'] },
        { name: 'npm', source: { source: 'npm', package: 'x' } },
      ],
    }),
    'kits/ops/.claude-plugin/plugin.json': JSON.stringify(plugin),
    'kits/ops/agents/reviewer.md':
      '---\nname: reviewer\ndescription: Use this agent when: reviewing. Context: "x" user: "y"\ntools: Read, Grep\nmodel: sonnet\npermissionMode: bypassPermissions\nmaxTurns: 7\ncolor: red\n---\n\nReview.\n',
    'kits/ops/commands/deploy.md':
      '---\ndescription: Deploys.\nallowed-tools: Bash(git status:*), Read\n---\n\nState: !`git status`\n',
    'kits/ops/skills/triage/SKILL.md': skillText('triage'),
    'kits/ops/skills/triage/scripts/run.sh': '#!/bin/sh\necho hi\n',
    'kits/ops/hooks/hooks.json': '{}',
    'kits/ops/output-styles/x.md': 'x',
    'loose/one/SKILL.md': skillText('one'),
    'loose/two/SKILL.md': skillText('two'),
  });
  const house = await startMarket(t);
  assert.equal(
    (await ask(house, 'POST', '/registries', { name: 'team', url: folder })).status,
    201,
  );
  const { body: preview } = await ask(house, 'POST', '/preview', {
    registry: 'team',
    pack_id: 'ops-kit',
  });
  assert.deepEqual(
    [
      preview.pack_id,
      preview.version,
      preview.layout,
      preview.agents,
      preview.skills,
      preview.mcp_servers,
    ],
    [
      'ops-kit',
      '3.1.4',
      'claude',
      ['reviewer'],
      ['triage', 'deploy'],
      [{ name: 'pager', url: 'https://mcp.pager.example/mcp' }],
    ],
  );
  assert.deepEqual(preview.tools, ['Bash(git status:*)', 'Grep', 'Read']);
  assert.deepEqual(preview.scripts, ['skills/triage/scripts/run.sh']);
  for (const said of [
    /hooks are ignored/,
    /output styles are ignored/,
    /"local" is ignored: it is a program/,
    /"odd" is ignored/,
    /deploy\.md wants programs run/,
    /reviewer\.md is not YAML/,
  ]) {
    assert.ok(
      preview.ignored.some((line: string) => said.test(line)),
      `${said} of ${preview.ignored.join('; ')}`,
    );
  }
  const { body } = await ask(house, 'POST', '/install', {
    registry: 'team',
    pack_id: 'ops-kit',
    confirm: preview.confirm,
  });
  assert.equal(body.state, 'active', JSON.stringify(body));
  const agent = await house.json('/api/v1/agents/reviewer');
  assert.deepEqual(
    [agent.permission_mode, agent.max_turns, agent.tools, agent.model],
    ['read-only', 7, ['Read', 'Grep'], ''],
  );
  const loose = await ask(house, 'POST', '/install', { registry: 'team', pack_id: 'bare' });
  assert.deepEqual([loose.status, loose.body.skills], [201, ['one']], JSON.stringify(loose.body));
  assert.match(
    (await ask(house, 'POST', '/install', { registry: 'team', pack_id: 'npm' })).body.message,
    /of the kind "npm"/,
  );
});
