import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { scratch, serving, svc } from './launcher.ts';

test(
  'what an apply refuses it names, and says what was done before',
  { timeout: 240_000 },
  async (t) => {
    const folder = scratch(t);
    const here = await serving(t, join(folder, 'data'));
    const files = join(folder, 'config');
    const at = (path: string): string => join(files, path);
    const apply = (...args: string[]) => svc(['apply', files, ...args, '--data', here.dataDir]);
    assert.equal((await svc(['export', files, '--data', here.dataDir])).code, 0);
    const rule = at(join('rules', readdirSync(at('rules'))[0]!));
    const text = readFileSync(rule, 'utf8');
    const zz = at('rules/zz.yaml');
    const secret = join(folder, 'shadow');
    writeFileSync(secret, 'root:$6$hash:1::\n');

    const refused: readonly [string, () => unknown, RegExp][] = [
      ['a pipe', () => execFileSync('mkfifo', ['-m', '644', zz]), /zz\.yaml is not a regular file/],
      ['a folder', () => mkdirSync(zz), /zz\.yaml is not a regular file/],
      ['a link', () => symlinkSync(secret, zz), /zz\.yaml is a link/],
      [
        'a key twice',
        () => writeFileSync(zz, text.replace(/severity: .*/, 'severity: info')),
        /zz\.yaml has the key (\w+), which .*rules\/\1\.yaml has too/,
      ],
    ];
    for (const [what, make, said] of refused) {
      await t.test(what, async () => {
        make();
        for (const args of [['--dry-run'], []]) {
          const { code, stderr } = await apply(...args);
          assert.equal(code, 2, stderr);
          assert.match(stderr, said);
          assert.doesNotMatch(stderr, /hash/);
        }
        rmSync(zz, { recursive: true });
      });
    }

    await t.test('a kind that is a link, and a folder that is none', async () => {
      mkdirSync(join(folder, 'roles'));
      rmSync(at('roles'), { recursive: true });
      symlinkSync(join(folder, 'roles'), at('roles'));
      assert.match((await apply('--dry-run')).stderr, /roles is a link/);
      rmSync(at('roles'));
      assert.match(
        (await svc(['apply', join(folder, 'nowhere'), '--data', here.dataDir])).stderr,
        /nowhere is not a folder: name the one/,
      );
    });

    await t.test('what is passed over is told', async () => {
      ['rule', '.git'].forEach((name) => mkdirSync(at(name)));
      ['rule/x.yaml', 'loose.yml', 'rules/x.json', 'README.md', 'rules/readme.txt'].forEach(
        (name) => copyFileSync(rule, at(name)),
      );
      const { code, stdout } = await apply('--dry-run');
      assert.equal(code, 0);
      assert.match(
        stdout,
        /^warning: .*\/rule is skipped: it is not named after a kind; kinds are channels, .*, rules, /m,
      );
      assert.match(
        stdout,
        /^warning: .*\/loose\.yml is skipped: a file belongs into the folder of its kind; kinds are channels, /m,
      );
      assert.match(
        stdout,
        /^warning: .*\/rules\/x\.json is skipped: a file of a kind ends with \.yaml or \.yml$/m,
      );
      assert.doesNotMatch(stdout, /\.git|readme/i);
      ['rule', 'loose.yml', 'rules/x.json', 'README.md', 'rules/readme.txt'].forEach((name) =>
        rmSync(at(name), { recursive: true }),
      );
    });

    const roles = async (): Promise<readonly string[]> =>
      (
        (await (await here.fetch('/api/v1/roles?limit=200')).json()) as {
          items: { name: string }[];
        }
      ).items.map(({ name }) => name);
    mkdirSync(at('roles'));
    writeFileSync(at('roles/zz.yaml'), 'name: zz\ndescription: of a test\ngrants: []\n');

    await t.test(
      'a rule whose expression is cut stops all of it, and a dry run says so',
      async () => {
        writeFileSync(rule, text.replace(/expr: .*/, 'expr: sum(up'));
        for (const args of [['--dry-run'], []]) {
          const { code, stderr } = await apply(...args);
          assert.equal(code, 4, stderr);
          assert.match(
            stderr,
            new RegExp(`${rule}: conditions\\.0\\.expr: .*; nothing was applied`),
          );
        }
        assert.ok(!(await roles()).includes('zz'));
        writeFileSync(rule, text);
      },
    );

    await t.test(
      'of what svc refuses later the file is named, and what was applied before and what was not',
      async () => {
        mkdirSync(at('recording-rules'), { recursive: true });
        writeFileSync(
          at('dashboards/aa.yaml'),
          'uid: aa\ntitle: A\nvariables: []\npanels:\n  - {title: Load, type: timeseries, query: node_load1, position: {x: 0, y: 0, w: 12, h: 8}}\n',
        );
        writeFileSync(
          at('recording-rules/jobs.yaml'),
          'group: jobs\ninterval_seconds: 60\nrules:\n  - record: a:b\n    expr: sum(up\n',
        );
        const { code, stderr } = await apply();
        assert.equal(code, 4, stderr);
        assert.match(
          stderr,
          /recording-rules\/jobs\.yaml: .*; applied: dashboards\/aa; not applied: recording-rules\/jobs, roles\/zz/,
        );
        assert.ok(!(await roles()).includes('zz'));
      },
    );
  },
);
