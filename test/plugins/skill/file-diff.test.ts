import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { SkillRunner, Skills } from 'svc/contracts/skill';
import { MachineFiles, SlowCalls } from 'svc/probe';
import { seeded } from 'svc/seeded';

import { AllowedPaths } from '../../../plugins/edge-skills/reach/allowed-paths.ts';
import { fileTail } from '../../../plugins/edge-skills/skills/files/file-tail.ts';
import { lineDiff, maxEdits } from '../../../plugins/skill/diff/line-diff.ts';
import { folderOf, policyOf } from '../edge-skills/machine.ts';
import { until } from '../edge/house.ts';
import { skillHouse } from './house.ts';

interface Compared {
  readonly device_id: number;
  readonly same: boolean | null;
  readonly added?: number;
  readonly removed?: number;
  readonly diff?: string;
  readonly error?: string;
  readonly more_than?: number;
  readonly notes?: readonly string[];
}

test('a file of one host is compared with that of others, by what their policies allow', async (t) => {
  const { root, write } = folderOf(t);
  // Each host is a folder, read by the skill of real hosts with the policy of its owner.
  const { run, ...offered } = fileTail(
    new AllowedPaths({
      policy: policyOf({ paths: [`${root}/*/etc/**`] }),
      slow: new SlowCalls({ slots: 20, deadlineMs: 30_000, after: () => () => undefined }),
      files: new MachineFiles(),
      list: 'paths',
      closed: [],
    }),
  );
  const nginx = (workers: number, key: string): string =>
    [
      ...Array.from({ length: 200 }, (_, at) => `# line ${at} of the head`),
      `worker_processes ${workers};`,
      ...Array.from({ length: 7_000 }, (_, at) => `location /${at} { root /srv/${at}; }`),
      `api_key = "${key}"`,
      '',
    ].join('\n');
  write('host-3/etc/nginx.conf', nginx(4, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'));
  write('host-4/etc/nginx.conf', nginx(8, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'));
  write('host-5/etc/nginx.conf', nginx(4, 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'));
  write('host-6/etc/nginx.conf', nginx(4, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'));
  write('host-3/etc/old.conf', 'one\ntwo\nthree');
  write('host-3/etc/new.conf', 'one\n2\nthree\n');
  write('host-3/etc/large', 'x'.repeat(600_000));
  write('host-3/etc/other', Array.from({ length: 2_000 }, (_, at) => `${at}\n`).join(''));
  write('host-3/etc/odd', 'a\u0001b\n');
  write('host-3/secret', 'no\n');
  const { house, people, principal } = await skillHouse(t, {
    services: {
      'device.directory': {
        get: async (id: number) =>
          id >= 3 && id <= 8 ? { id, display_name: `host-${id}`, tags: {} } : undefined,
        deviceOf: async (edge: number) => edge,
        onlineEdge: async (id: number) => (id === 8 ? undefined : id),
      },
      'device.scopes': { of: async () => ({ ids: new Set([3, 4]), enforce: [] }) },
      'edge.fleet': {
        list: () => [{ id: 3, name: 'e', status: 'online' }],
        get: (id: number) => ({ id, device_id: id }),
      },
      'edge.skills': {
        list: async () => [{ ...offered, scope: 'edge' }],
        async execute(edge: number, _key: string, params: { path: string }) {
          const path = join(root, `host-${edge}`, params.path);
          const asked = { lines: 100, max_bytes: 65_536, ...params, path };
          const { result, readOn } = await run(asked as never, {} as never);
          const truncated = readOn !== undefined;
          return { status: 'ok', result, truncated, read_on: readOn ?? null };
        },
      },
    },
  });
  await until('the skills are listed', () => house.service(Skills).tool('file_tail') !== undefined);
  const runner = house.service(SkillRunner);
  const ask = async (params: Record<string, unknown>, persona?: object) =>
    await runner.run({
      principal: principal('anna'),
      key: 'file_diff',
      params,
      origin: 'chat',
      ...(persona && { persona: persona as never }),
    });
  const compared = async (params: Record<string, unknown>): Promise<readonly Compared[]> => {
    const { status, result, error } = await ask(params);
    assert.equal(status, 'ok', error);
    return (result as { compared: readonly Compared[] }).compared;
  };

  await t.test(
    'the lines that differ are shown with those around them, and can be cited',
    async () => {
      const outcome = await ask({ device_ids: [3, 4], path: '/etc/nginx.conf' });
      const [other] = (outcome.result as { compared: Compared[] }).compared;
      assert.deepEqual([other!.same, other!.added, other!.removed], [false, 1, 1]);
      assert.match(
        other!.diff!,
        /^@@ -198,7 \+198,7 @@\n(?: # line .*\n){3}-worker_processes 4;\n\+worker_processes 8;\n(?: location .*\n){3}$/,
      );
      assert.match(outcome.evidence!.id, /^E\d+$/);
      assert.equal(outcome.trust, 'untrusted');
    },
  );

  await t.test('a secret that differs is a difference that is not shown', async () => {
    const [secret, same, away] = await compared({
      device_ids: [3, 5, 6, 8],
      path: '/etc/nginx.conf',
    });
    assert.deepEqual(
      [secret!.same, secret!.notes],
      [false, ['They differ only in secrets, which are hidden.']],
    );
    assert.deepEqual([same!.same, same!.diff], [true, undefined]);
    assert.equal(away!.same, null);
    assert.match(away!.error!, /host-8 is not reachable/);
  });

  await t.test('two files of one host, and the missing newline at an end', async () => {
    const [other] = await compared({
      device_ids: [3],
      path: '/etc/old.conf',
      other_path: '/etc/new.conf',
    });
    assert.equal(
      other!.diff,
      '@@ -1,3 +1,3 @@\n one\n-two\n-three\n\\ No newline at end of file\n+2\n+three\n',
    );
  });

  await t.test('what cannot be compared is said', async () => {
    await assert.rejects(ask({ device_ids: [3], path: '/etc/old.conf' }), {
      code: 'invalid_argument',
    });
    await assert.rejects(ask({ device_ids: [3, 4], path: '/etc/large' }), /larger than 524288/);
    const [denied] = await compared({
      device_ids: [3],
      path: '/etc/old.conf',
      other_path: '/secret',
    });
    assert.match(denied!.error!, /policy does not allow/);
    const [far] = await compared({
      device_ids: [3],
      path: '/etc/other',
      other_path: '/etc/nginx.conf',
    });
    assert.deepEqual([far!.more_than, far!.diff], [maxEdits, undefined]);
    const [odd] = await compared({
      device_ids: [3],
      path: '/etc/odd',
      other_path: '/etc/old.conf',
    });
    assert.match(odd!.notes![0]!, /not printable/);
  });

  await t.test('it reads nothing that its caller could not read', async () => {
    people.anna.selectors = ['customer=acme'];
    const [seen, hidden] = await compared({ device_ids: [3, 4, 5], path: '/etc/nginx.conf' });
    assert.equal(seen!.same, false);
    assert.equal(hidden!.error, 'There is no device 5.');
    delete people.anna.selectors;
    const persona = {
      name: 'narrow',
      permission_mode: 'read-only',
      tools: ['file_diff'],
      disallowed_tools: [],
    };
    await assert.rejects(ask({ device_ids: [3, 4], path: '/etc/nginx.conf' }, persona), {
      code: 'forbidden',
    });
  });
});

test('a diff turns the first text into the second one, as patch applies it', (t) => {
  const { root } = folderOf(t);
  const random = seeded('line-diff', 1);
  const word = (): string => ['a', 'b', 'c', '', 'dd'][Math.floor(random() * 5)]!;
  const text = (): string => {
    const lines = Array.from({ length: Math.floor(random() * 12) }, word);
    return lines.join('\n') + (random() < 0.5 ? '\n' : '');
  };
  mkdirSync(root, { recursive: true });
  for (let round = 0; round < 30; round++) {
    const [before, after] = [text(), text()];
    const { text: diff, added, removed } = lineDiff(before, after)!;
    assert.equal(diff.match(/^\+/gm)?.length ?? 0, added, JSON.stringify([before, after]));
    assert.equal(diff.match(/^-/gm)?.length ?? 0, removed);
    assert.equal(diff === '', before === after);
    if (diff !== '') {
      writeFileSync(join(root, 'file'), before);
      writeFileSync(join(root, 'diff'), `--- file\n+++ file\n${diff}`);
      execFileSync('git', ['apply', '--whitespace=nowarn', 'diff'], { cwd: root });
      assert.equal(
        execFileSync('cat', [join(root, 'file')], { encoding: 'utf8' }),
        after,
        JSON.stringify([before, after, diff]),
      );
    }
  }
});
