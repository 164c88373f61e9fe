import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { installScript, isLoopback } from '../../../../plugins/edge/enrolment/install-script.ts';
import { Packages } from '../../../../plugins/edge/upgrade/packages.ts';
import { findPeer, peer } from '../../../peers.ts';
import { edgeHouse } from '../house.ts';

interface Ran {
  readonly code: number;
  readonly said: string;
}

/** Stand-in for svc on a host: it records how it was called. */
const program = '#!/bin/sh\nprintf "%s\\n" "$SVC_EDGE_TOKEN" "$@" >"$0.called"\n';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-install-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A host on which the manager has a name; only `fetcher` is there to fetch with. */
function host(t: TestContext, manager: string, fetcher: string) {
  const folder = scratch(t);
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  for (const name of ['uname', 'dirname', 'mktemp', 'rm', 'mv', 'chmod', 'sha256sum', fetcher]) {
    writeFileSync(join(tools, name), `#!/bin/sh\nexec ${findPeerless(name)} "$@"\n`, {
      mode: 0o755,
    });
  }
  const { hostname, port } = new URL(manager);
  writeFileSync(join(folder, '.curlrc'), `connect-to = "svc.test:80:${hostname}:${port}"\n`);
  const env = { PATH: tools, HOME: folder, CURL_HOME: folder };
  const to = join(folder, 'svc');
  const run = (script: string, args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const child = execFile(
        '/bin/sh',
        ['-s', '--', '--to', to, ...args],
        { env, timeout: 30_000 },
        (error, out, err) => resolve({ code: error ? Number(error.code) : 0, said: out + err }),
      );
      child.stdin!.end(script);
    });
  return { folder, to, run };
}

const findPeerless = (name: string): string =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync) ?? name;

test('one line brings svc and its agent to a host: the program that the manager has, or none', async (t) => {
  const curl = peer(t, 'curl');
  if (curl === undefined) {
    return;
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  writeFileSync(join(dataDir, 'svc.yaml'), 'http:\n  public_url: http://svc.test\n');
  const { ask, house } = await edgeHouse(t, { plugins: ['edge'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { body: made } = await ask('POST', '/edges/enrolments', { max_uses: 2 });
  assert.equal(
    made.install_command,
    `svc edge install --manager http://svc.test --token ${made.token}`,
  );
  assert.equal(
    made.script_command,
    `curl -fsSL http://svc.test/install.sh | sudo sh -s -- --token ${made.token}`,
  );
  assert.match(made.advice, /^without TLS/);
  const script = async (): Promise<string> => await (await fetch(`${house.url}/install.sh`)).text();
  const without = await host(t, house.url, 'curl').run(await script(), ['--token', made.token]);
  assert.match(
    without.said,
    /^install\.sh: the manager has no package svc-\S+-(x64|arm64): put it/,
    'nothing was put there yet',
  );

  const version = /Brings svc (\S+) to/.exec(await script())![1]!.replace(/^v/, '');
  const file = join(dataDir, 'agent-packages', `svc-${version}-${arch()}`);
  mkdirSync(join(dataDir, 'agent-packages'));
  writeFileSync(file, program);
  writeFileSync(`${file}.sha256`, `${digest(program)}  svc\n`);

  await t.test('with curl, and with wget', async (t) => {
    for (const fetcher of ['curl', 'wget'] as const) {
      if (findPeer(fetcher) === undefined) {
        peer(t, fetcher);
        continue;
      }
      const { to, folder, run } = host(t, house.url, fetcher);
      // wget cannot be told where a name leads.
      const manager = fetcher === 'wget' ? house.url : 'http://svc.test';
      const { code, said } = await run((await script()).replaceAll('http://svc.test', manager), [
        '--token',
        made.token,
        '--name',
        'web 1',
      ]);
      assert.equal(code, 0, said);
      assert.deepEqual(readFileSync(`${to}.called`, 'utf8').trim().split('\n'), [
        ...[made.token, 'edge', 'install', '--manager', manager, '--name', 'web 1'],
      ]);
      assert.deepEqual(
        readdirSync(folder).sort(),
        ['.curlrc', 'svc', 'svc.called', 'tools'],
        'no token and no half of a program is left',
      );
    }
  });

  await t.test('a token that is none fetches nothing, and guessing is slow', async (t) => {
    const { to, run } = host(t, house.url, 'curl');
    assert.match((await run(await script(), [])).said, /give --token, or SVC_EDGE_TOKEN/);
    const refused = await run(await script(), ['--token', `svc_enrol_${'x'.repeat(43)}`]);
    assert.match(refused.said, /401[^]*cannot be fetched: is the token still good/);
    assert.equal(existsSync(to), false);
    const statuses = [];
    for (let tries = 0; tries < 11; tries++) {
      statuses.push(
        (await ask('GET', `/internal/edge/agents/${arch()}`, undefined, { authorization: '' }))
          .status,
      );
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
  });
});

test('what comes with another digest is not put in place', async (t) => {
  if (peer(t, 'curl') === undefined) {
    return;
  }
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => response.end(`${program}# changed\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const { to, folder, run } = host(t, `http://127.0.0.1:${port}`, 'curl');
  const packages = ['x64', 'arm64'].map((one) => ({ arch: one, sha256: digest(program) }));
  const { code, said } = await run(
    installScript({ manager: 'http://svc.test', version: '1.2.3', pin: '', packages }),
    ['--token', 'svc_enrol_x'],
  );
  assert.deepEqual([code, existsSync(to), existsSync(`${to}.called`)], [1, false, false]);
  assert.match(said, /is not what the manager has: its sha256 is not [0-9a-f]{64}/);
  assert.deepEqual(readdirSync(folder).sort(), ['.curlrc', 'tools']);
});

test('a manager with a loopback address hands out no install script', async (t) => {
  const { ask, house } = await edgeHouse(t, { plugins: ['edge'] });
  const answer = await fetch(`${house.url}/install.sh`);
  assert.equal(answer.status, 409);
  assert.match(
    ((await answer.json()) as { message: string }).message,
    new RegExp(
      `^The install script is not available, because other hosts cannot reach ${house.url}/?, a loopback address; set SVC_PUBLIC_URL`,
    ),
  );
  const { body: made } = await ask('POST', '/edges/enrolments', {});
  assert.deepEqual(
    [made.script_command, /is this machine alone: set SVC_PUBLIC_URL/.test(made.advice)],
    [null, true],
  );
  const loopback = [
    'http://localhost',
    'http://a.localhost',
    'http://127.1.2.3',
    'http://[::1]:8080',
    'http://0.0.0.0:1',
    'http://[::]',
  ];
  assert.deepEqual(
    loopback.filter((url) => !isLoopback(url)),
    [],
  );
  assert.deepEqual(
    ['http://10.0.0.1', 'https://localhost.example', 'http://[fd00::1]'].filter(isLoopback),
    [],
  );
});

test('the single binary is its own package, unless the folder has one', async (t) => {
  const folder = scratch(t);
  const own = { file: 'svc-1.2.3-x64', path: join(folder, 'running') };
  writeFileSync(own.path, 'the program');
  const packages = new Packages(join(folder, 'agent-packages'), own);
  const found = await packages.find('v1.2.3', 'x64');
  assert.deepEqual([found.sha256, found.sizeBytes], [digest('the program'), 11]);
  assert.equal((await packages.open(found.file)).sha256, found.sha256);
  await assert.rejects(
    packages.find('1.2.3', 'arm64'),
    /There is no agent package svc-1\.2\.3-arm64/,
  );
  await assert.rejects(packages.find('1.2.4', 'x64'), /There is no agent package/);
  mkdirSync(join(folder, 'agent-packages'));
  writeFileSync(join(folder, 'agent-packages', own.file), 'another');
  await assert.rejects(
    packages.find('1.2.3', 'x64'),
    /\.sha256 is missing/,
    'what was put there goes before',
  );
  assert.deepEqual(await packages.ofVersion('1.2.3'), []);
  writeFileSync(join(folder, 'agent-packages', `${own.file}.sha256`), digest('another'));
  assert.deepEqual(
    (await packages.ofVersion('1.2.3')).map(({ sha256 }) => sha256),
    [digest('another')],
  );
});
