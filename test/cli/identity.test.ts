import 'reflect-metadata';

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';

import { findProfile, openQuestions } from 'svc/cli';
import { type CallOptions, type Outcome, scratch, type Serving, serving, svc } from './launcher.ts';

const ann = { email: 'ann@example.org', password: 'correct horse battery' };
const bob = { email: 'bob@example.org', password: 'staple in the stable' };

interface Shown {
  readonly id: number;
  readonly email: string;
  readonly role: string;
  readonly password?: string;
}

interface Profile {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_at: string;
}

/** Somebody at a machine: a folder for what they keep, and everything that they got to see. */
function desk(t: TestContext) {
  const config = scratch(t);
  const file = join(config, 'svc', 'profiles.json');
  const seen: string[] = [];
  const call = async (
    args: readonly string[],
    options: Pick<CallOptions, 'stdin' | 'env'> = {},
  ): Promise<Outcome> => {
    const outcome = await svc(args, {
      ...options,
      env: { XDG_CONFIG_HOME: config, ...options.env },
    });
    seen.push(outcome.stdout, outcome.stderr);
    return outcome;
  };
  return {
    file,
    seen,
    call,
    login: ({ email, password }: typeof ann, ...args: string[]) =>
      call(['login', '--email', email, ...args], { stdin: `${password}\n` }),
    profiles: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Profile>,
    /** Simulates that enough time has passed for the access token to expire. */
    expire(name = 'default') {
      const profiles = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Profile>;
      const stale = {
        ...profiles[name],
        access_token: 'expired',
        expires_at: '2026-01-01T00:00:00.000Z',
      };
      writeFileSync(file, JSON.stringify({ ...profiles, [name]: stale }));
    },
  };
}

async function furnished(
  t: TestContext,
): Promise<{ here: Serving; local: readonly string[] } & ReturnType<typeof desk>> {
  const here = await serving(t, join(scratch(t), 'data'));
  return { here, local: ['--data', here.dataDir], ...desk(t) };
}

/** Another program that answers at an address of this machine. */
async function stranger(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('the operator of the machine makes the first administrator, who signs in and looks after everybody', async (t) => {
  const { here, local, call, login, profiles, expire, file, seen } = await furnished(t);

  await t.test(
    'on a fresh box the first administrator takes a password from standard input',
    async () => {
      assert.match((await call(['user', 'list', ...local])).stdout, /^No users;/);
      const without = await call(['user', 'create', ann.email, ...local]);
      assert.equal(without.code, 2);
      assert.equal(
        without.stderr,
        'svc: standard input has no line for "New password": pipe it in, or type it in a terminal\n',
      );
      const short = await call(['user', 'create', ann.email, ...local], { stdin: 'short\n' });
      assert.equal(short.code, 4);
      assert.match(short.stderr, /^svc: .*password.*10.*\n$/);
      const made = await call(
        ['user', 'create', 'Ann@Example.org', '--role', 'admin', '--name', 'Ann', ...local],
        { stdin: `${ann.password}\n` },
      );
      assert.deepEqual(
        [made.code, made.stdout, made.stderr],
        [0, 'Created ann@example.org (admin, id 1)\n', ''],
      );
    },
  );

  await t.test('a wrong password is refused by svc, and leaves no profile behind', async () => {
    const refused = await login({ ...ann, password: 'not her password' }, ...local);
    assert.equal(refused.code, 4);
    assert.match(refused.stderr, /^svc: The e-mail address or the password is wrong.*\n$/);
    assert.throws(() => profiles(), /ENOENT/);
    assert.equal((await call(['login', ...local], { stdin: ann.password })).code, 2, 'whose?');
  });

  await t.test(
    'login keeps a profile that only its owner can read, and commands without an address use it',
    async () => {
      const signedIn = await login(ann, '--url', here.url);
      assert.equal(signedIn.code, 0, signedIn.stderr);
      assert.match(
        signedIn.stdout,
        /^Signed in at http:\/\/127\.0\.0\.1:\d+ as ann@example\.org \(admin\)/,
      );
      assert.deepEqual(
        [statSync(file).mode & 0o777, statSync(join(file, '..')).mode & 0o777],
        [0o600, 0o700],
      );
      const listed = await call(['user', 'list']);
      assert.match(
        listed.stdout,
        /^ID +EMAIL +NAME +ROLE +STATUS +LAST LOGIN\n1 +ann@example\.org +Ann +admin +active +20\d\d-\S+\n$/,
      );
      assert.match((await call(['plugin', 'list'])).stdout, /^session +\S+ +active/m);
    },
  );

  await t.test(
    'a data folder of the environment that is of another svc than the profile is refused',
    async (part) => {
      const other = await serving(part, join(scratch(part), 'data'));
      const refused = await call(['user', 'list'], { env: { SVC_DATA_DIR: other.dataDir } });
      assert.equal(refused.code, 2);
      assert.match(
        refused.stderr,
        /^svc: SVC_DATA_DIR names the svc at \S+, but "svc login" the one at \S+: add --data \S+ or --profile default to choose\n$/,
      );
      assert.equal((await call(['user', 'list'], { env: { SVC_DATA_DIR: here.dataDir } })).code, 0);
    },
  );

  await t.test(
    'after its end the access token is replaced, by two commands at once too',
    async () => {
      const before = profiles()['default']!;
      expire();
      const both = await Promise.all([
        call(['user', 'list', '--json']),
        call(['user', 'list', '--json']),
      ]);
      assert.deepEqual(
        both.map(({ code, stderr }) => [code, stderr]),
        [
          [0, ''],
          [0, ''],
        ],
      );
      const after = profiles()['default']!;
      assert.notEqual(after.refresh_token, before.refresh_token);
      assert.ok(Date.parse(after.expires_at) > Date.now());
      assert.deepEqual(
        readdirSync(join(file, '..')),
        ['profiles.json'],
        'neither a lock nor a draft is left',
      );
      assert.equal((await call(['user', 'list'])).code, 0, 'the family lives');
    },
  );

  await t.test('a lock that a killed command left behind keeps nobody out', async () => {
    writeFileSync(`${file}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), id: 'x' }));
    expire();
    assert.equal((await call(['user', 'list'])).code, 0);
  });

  await t.test(
    'an administrator makes an account with a generated password, which works and is shown once',
    async () => {
      const made = (await call(['user', 'create', bob.email, '--generate', '--json'])).json<
        Required<Shown>
      >();
      assert.deepEqual([made.email, made.role], [bob.email, 'viewer']);
      assert.match(made.password, /^[\w-]{24}$/);
      assert.equal(
        (await login({ ...bob, password: made.password }, '--profile', 'bob', ...local)).code,
        0,
      );
      assert.deepEqual(Object.keys(profiles()), ['default', 'bob']);
    },
  );

  await t.test(
    'a role counts at once, by e-mail or by id; a role that is not there and the last administrator are refused',
    async () => {
      assert.equal(
        (await call(['user', 'set-role', 'Bob@example.org', 'user'])).stdout,
        'Changed: bob@example.org (user, id 2)\n',
      );
      assert.equal(
        (await call(['user', 'set-role', '2', 'viewer', '--json'])).json()['role'],
        'viewer',
      );
      const nobody = await call(['user', 'set-role', 'nobody@example.org', 'user']);
      assert.deepEqual(
        [nobody.code, /there is no user nobody@example\.org/.test(nobody.stderr)],
        [4, true],
      );
      assert.match(
        (await call(['user', 'set-role', ann.email, 'viewer', ...local])).stderr,
        /last active admin/,
      );
    },
  );

  await t.test('who was changed has to sign in again, and is told how', async () => {
    expire('bob');
    const over = await call(['user', 'list', '--profile', 'bob']);
    assert.equal(over.code, 4);
    assert.match(
      over.stderr,
      /^svc: the session of bob@example\.org at \S+ has expired: sign in again with "svc login --profile bob"\n$/,
    );
    assert.equal(
      (await call(['user', 'reset-password', bob.email], { stdin: bob.password })).code,
      0,
    );
    const again = await call(['login', '--profile', 'bob'], { stdin: bob.password });
    assert.equal(again.code, 0, again.stderr);
    const denied = await call([
      'user',
      'create',
      'eve@example.org',
      '--generate',
      '--profile',
      'bob',
    ]);
    assert.deepEqual([denied.code, /only for administrators/.test(denied.stderr)], [4, true]);
  });

  await t.test("one's own password takes the current one first", async () => {
    const own = (...lines: string[]) =>
      call(['user', 'reset-password', '2', '--profile', 'bob'], { stdin: lines.join('\n') });
    assert.equal((await own('not the current one', 'some other password')).code, 4);
    const changed = await own(bob.password, 'some other password');
    assert.equal(
      changed.stdout,
      'The password of bob@example.org (viewer, id 2) was changed and their sessions ended\n',
    );
  });

  await t.test('an API token is made, used, listed and revoked by whoever signed in', async () => {
    const operator = await call(['token', 'create', 'ci', ...local]);
    assert.equal(operator.code, 4);
    assert.match(
      operator.stderr,
      /the operator of the data folder is not: sign in first with "svc login", and leave --data out$/m,
    );
    const unnamed = await call(['token', 'create', 'ci'], {
      env: { SVC_DATA_DIR: here.dataDir, XDG_CONFIG_HOME: scratch(t) },
    });
    assert.equal(unnamed.code, 4);
    assert.match(
      unnamed.stderr,
      /the operator of the data folder is not: sign in first with "svc login"$/m,
    );
    const made = (
      await call([
        'token',
        'create',
        'ci',
        '--actions',
        'role:manage, member:*, read:*',
        '--days',
        '7',
        '--json',
      ])
    ).json<{
      token: string;
      expires_at: string;
    }>();
    assert.match(made.token, /^svc_pat_/);
    assert.ok(Math.abs(Date.parse(made.expires_at) - Date.now() - 7 * 86_400_000) < 60_000);
    const elsewhere = { env: { XDG_CONFIG_HOME: scratch(t) } };
    const used = await Promise.all([
      call(['user', 'list', '--url', here.url, '--token', made.token], elsewhere),
      call(['user', 'list', '--token', made.token, ...local], elsewhere),
      call(['token', 'create', 'more', '--token', made.token, ...local], elsewhere),
    ]);
    assert.deepEqual(
      used.map(({ code }) => code),
      [0, 0, 4],
      'a token makes no tokens',
    );
    assert.match(
      (await call(['token', 'list'])).stdout,
      /^ID +NAME +MAY +UNTIL +LAST USED\n1 +ci +role:manage, member:\*, read:\* +20\d\d-\S+ +\S+\n$/,
    );
    assert.equal((await call(['token', 'revoke', '1'])).stdout, 'Token 1 was revoked\n');
    assert.equal((await call(['user', 'list', '--token', made.token, ...local])).code, 4);
    seen.splice(
      0,
      seen.length,
      ...seen.filter((text) => !text.includes(`"token": "${made.token}"`)),
    );
    assert.ok(
      seen.every((text) => !text.includes(made.token)),
      'it was shown once',
    );
  });

  await t.test('logout ends the session in svc and forgets the profile', async () => {
    const { access_token: token } = profiles()['default']!;
    assert.match((await call(['logout'])).stdout, /^Signed out at /);
    assert.equal(
      (await fetch(`${here.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } }))
        .status,
      401,
    );
    assert.deepEqual(Object.keys(profiles()), ['bob']);
    assert.deepEqual((await call(['logout'])).code, 1);
    assert.equal(
      (await call(['logout', '--profile', 'bob'])).code,
      0,
      'a session that has ended already is no obstacle',
    );
  });

  await t.test('when svc is gone, that is said, and logout still forgets', async () => {
    assert.equal((await login(ann, ...local)).code, 0);
    const { refresh_token: secret } = profiles()['default']!;
    assert.equal(await here.end(), 0);
    const nobody = await call(['user', 'create', 'eve@example.org', ...local], {
      stdin: bob.password,
    });
    assert.equal(nobody.code, 3);
    assert.match(nobody.stderr, /start it with "svc serve"/);
    const left = await call(['logout']);
    assert.deepEqual([left.code, /signed out on this machine only/.test(left.stderr)], [3, true]);
    assert.deepEqual(profiles(), {});
    const secrets = [ann.password, bob.password, secret, here.token];
    assert.deepEqual(
      secrets.filter((text) => seen.some((output) => output.includes(text))),
      [],
      'no command shows a secret that it was given',
    );
  });
});

/** Command lines, with the error sentence expected. */
const refused: readonly [args: string[], sentence: RegExp][] = [
  [
    ['login', '--url', 'http://svc.example.org', '--email', ann.email],
    /does not send secrets to svc\.example\.org over plain http.*--insecure/,
  ],
  [
    ['user', 'list', '--url', 'http://192.0.2.1', '--token', 'svc_pat_x'],
    /does not send secrets to 192\.0\.2\.1/,
  ],
  [
    ['login', '--url', 'https://ann:hunter2@svc.example.org', '--email', ann.email],
    /^svc: --url must be like/,
  ],
  [
    ['user', 'list', '--url', 'https://svc.example.org'],
    /--url needs --token.*svc login --url https:\/\/svc\.example\.org/,
  ],
  [
    ['user', 'list', '--token', 'hunter2 x', '--url', 'https://svc.example.org'],
    /--token must be one token/,
  ],
  [
    ['user', 'list', '--token', 'svc_pat_x', '--profile', 'prod'],
    /--token and --profile exclude each other/,
  ],
  [['user', 'list', '--profile', 'prod', '--data', '/tmp'], /--profile and --data/],
  [
    ['user', 'list', '--profile', 'prod'],
    /there is no profile "prod": sign in with "svc login --profile prod"/,
  ],
  [['login', '--profile', '__proto__', '--email', ann.email], /a profile name must be/],
  [['token', 'create', 'ci', '--days', '366'], /--days must be a whole number from 1 to 365/],
  [['token', 'revoke', 'svc_pat_hunter2'], /use the number of the token/],
];

test(
  'what is said wrongly, or would show a secret on its way, is refused before anything is sent',
  { concurrency: 2 },
  async (t) => {
    const { call } = desk(t);
    const one = ([args, sentence]: (typeof refused)[number]): Promise<void> =>
      t.test(`svc ${args.join(' ')}`, async () => {
        const { code, stderr } = await call(args, { stdin: ann.password });
        assert.equal(code, 2, stderr);
        assert.match(stderr, sentence);
        assert.doesNotMatch(stderr, /hunter2|\n.*\n/);
      });
    await Promise.all(refused.map(one));
  },
);

test('with --insecure a password goes over plain http, and what answers without being svc is told apart', async (t) => {
  const bodies: string[] = [];
  const port = await stranger(t, (request, response) => {
    request
      .on('data', (chunk) => bodies.push(String(chunk)))
      .on('end', () => response.end('<h1>Hello</h1>'));
  });
  const { login } = desk(t);
  assert.equal((await login(ann, '--url', `http://0.0.0.0:${port}`)).code, 2);
  assert.deepEqual(bodies, []);
  const { code, stderr } = await login(ann, '--url', `http://0.0.0.0:${port}`, '--insecure');
  assert.deepEqual([code, /is not svc/.test(stderr)], [3, true]);
  assert.deepEqual(JSON.parse(bodies.join('')), ann);
});

test('of several commands at once that find the access token expired one refreshes it, and the others take what it got', async (t) => {
  const shown: string[] = [];
  const port = await stranger(t, (request, response) => {
    request
      .on('data', (chunk) => shown.push(String(chunk)))
      .on('end', () => {
        const pair = {
          access_token: 'new',
          refresh_token: 'next',
          expires_in: 900,
          user: { email: ann.email, role: 'admin' },
        };
        const page = { items: [], next_cursor: '' };
        const known = request.headers.authorization === 'Bearer new';
        response.statusCode = request.method === 'POST' || known ? 200 : 401;
        setTimeout(
          () => response.end(JSON.stringify(request.method === 'POST' ? pair : page)),
          200,
        );
      });
  });
  const { call, file } = desk(t);
  mkdirSync(join(file, '..'));
  const stale = {
    url: `http://127.0.0.1:${port}`,
    email: ann.email,
    access_token: 'old',
    refresh_token: 'once',
    expires_at: '2026-01-01T00:00:00.000Z',
  };
  writeFileSync(file, JSON.stringify({ default: stale }));
  const codes = (await Promise.all([1, 2, 3].map(() => call(['user', 'list'])))).map(
    ({ code }) => code,
  );
  assert.deepEqual(codes, [0, 0, 0]);
  assert.deepEqual(shown, ['{"refresh_token":"once"}']);
});

test(
  'a token that was typed is not to be seen in the list of processes',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const token = `svc_pat_${'visible'.repeat(5)}`;
    let shownBy: readonly string[] | undefined;
    const port = await stranger(t, (_request, response) => {
      const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
      shownBy = pids.filter((pid) => argumentsOf(pid).includes(token));
      response.end('{"items":[],"next_cursor":""}');
    });
    assert.equal(
      (await desk(t).call(['user', 'list', '--url', `http://127.0.0.1:${port}`, '--token', token]))
        .code,
      0,
    );
    assert.deepEqual(shownBy, []);
  },
);

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended since the folder was read.
    return '';
  }
}

test('a file of profiles that is broken is named, with what to do about it', async (t) => {
  const { call, file } = desk(t);
  mkdirSync(join(file, '..'));
  const sentence = /profiles\.json is not a valid profiles file: delete it/;
  for (const text of [
    '{"default":{"url":"http',
    'null',
    '{"default":{"url":7}}',
    '{"default":null}',
  ]) {
    writeFileSync(file, text);
    assert.throws(() => findProfile('default', { XDG_CONFIG_HOME: join(file, '../..') }), sentence);
  }
  const { code, stderr } = await call(['user', 'list']);
  assert.equal(code, 1);
  assert.match(stderr, sentence);
});

test('a password that is typed at a terminal is not shown, and Ctrl-C or Ctrl-D end the question', async () => {
  const terminal = () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough();
    const questions = openQuestions({ input, output });
    return { input, questions, shown: () => String(output.read() ?? '') };
  };
  const typed = terminal();
  const answer = typed.questions.askHidden('Password');
  typed.input.write('hunter3\u007f2\r');
  assert.equal(await answer, 'hunter2', 'with backspace');
  assert.equal(typed.shown(), 'Password: \n');
  for (const key of ['\u0003', '\u0004']) {
    const { input, questions, shown } = terminal();
    const ended = assert.rejects(questions.askHidden('Password'), /no input/);
    input.write(key);
    await ended;
    assert.equal(shown(), 'Password: \n');
  }
});

test('a value of several lines is piped in whole, a password as one line', async () => {
  const piped = () =>
    openQuestions({
      input: new PassThrough().end('-----BEGIN\nabc\n-----END\n'),
      output: new PassThrough(),
    });
  assert.equal(await piped().askWhole('authority'), '-----BEGIN\nabc\n-----END');
  assert.equal(await piped().askHidden('Password'), '-----BEGIN');
});
