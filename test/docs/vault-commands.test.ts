import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from '../house/source.ts';
import { fences, guides, playbooks, prompts } from './playbooks.ts';

/** Commands of svc with their usage and options, as the reference has them. */
const commands: ReadonlyMap<string, string> = new Map(
  readFileSync(join(projectRoot, 'docs/commands.md'), 'utf8')
    .split(/^## svc /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section]),
);

test('every svc command in a playbook, a persona or a guide exists, with the options that it is given', () => {
  let found = 0;
  for (const { path, body: text } of [...playbooks, ...guides, ...prompts]) {
    const code = [
      ...[...text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].flatMap(([, block]) =>
        block!.split('\n'),
      ),
      ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, inline]) => inline!),
    ];
    for (const line of code) {
      for (const [, words] of line.matchAll(/(?:^|&& |\| |sudo |\$ )\s*svc ([a-z].*)$/g)) {
        const [first = '', second = ''] = words!.split(/\s+/);
        const name = commands.has(`${first} ${second}`) ? `${first} ${second}` : first;
        const section = commands.get(name);
        assert.ok(section !== undefined, `${path}: no command svc ${words}`);
        for (const [option] of words!.matchAll(/(?<=\s)--[a-z][a-z-]*/g)) {
          assert.ok(
            section.includes(option) || ['--help', '--data', '--json'].includes(option),
            `${path}: svc ${name} has no ${option}`,
          );
        }
        found++;
      }
    }
  }
  assert.ok(found > 60, `${found} commands`);
});

test('every shell block of a playbook or guide is one that a shell can read', () => {
  const blocks = fences('sh');
  assert.ok(blocks.length > 150, `${blocks.length} blocks`);
  const trouble = (text: string): string =>
    spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' }).stderr;
  if (trouble(blocks.map(({ query }) => query).join('\n')) !== '') {
    assert.deepEqual(
      blocks.flatMap(({ path, query }) => {
        const said = trouble(query);
        return said === '' ? [] : [`${path}: ${said}`];
      }),
      [],
    );
    assert.fail('a block leaves a quote or a loop open');
  }
});
