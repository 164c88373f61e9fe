import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { readSkill } from '../../../../plugins/lib/markdown-file/skill-file.ts';

const where = { file: 'skills/read-logs/SKILL.md' };
const withHeader = (lines: string): string =>
  `---\nname: read-logs\ndescription: How to read logs.\n${lines}---\n# Logs\n`;
const read = (text: string) => readSkill(text, 'read-logs', where);

describe('a skill file', () => {
  test('needs a name and a description', () => {
    assert.deepEqual(read(withHeader('')), {
      kind: 'prompt',
      key: 'read-logs',
      name: 'read-logs',
      description: 'How to read logs.',
      tools: [],
      extra: {},
      body: '# Logs\n',
    });
  });

  test('names its tools as a list or in one text', () => {
    assert.deepEqual(read(withHeader('allowed-tools: [logs.query, "Bash(git log:*)"]\n')).tools, [
      'logs.query',
      'Bash(git log:*)',
    ]);
    assert.deepEqual(read(withHeader('allowed-tools: logs.query Bash(git log:*)  Read\n')).tools, [
      'logs.query',
      'Bash(git log:*)',
      'Read',
    ]);
    assert.deepEqual(read(withHeader('allowed-tools: Read, Grep,Bash(jq:*)\n')).tools, [
      'Read',
      'Grep',
      'Bash(jq:*)',
    ]);
    assert.deepEqual(read(withHeader('allowed-tools:\n')).tools, []);
  });

  test('keeps all other keys', () => {
    const { extra } = read(
      withHeader('license: MIT\ncompatibility: any\nmetadata: {version: "1.2"}\n'),
    );
    assert.deepEqual(extra, { license: 'MIT', compatibility: 'any', metadata: { version: '1.2' } });
  });

  test('cannot be changed once it is read', () => {
    assert.throws(() => (read(withHeader('')).tools as string[]).push('everything'), TypeError);
  });

  test('is called like its folder', () => {
    assert.throws(() => readSkill(withHeader(''), 'read-log', where), {
      code: 'invalid_argument',
      message:
        'skills/read-logs/SKILL.md: name is "read-logs" but the folder is "read-log"; they must be the same.',
    });
  });

  const complaints: Record<string, RegExp> = {
    '---\nname: Read-Logs\ndescription: d\n---\n':
      /^skills\/read-logs\/SKILL\.md: name must be 1 to 64 lower-case letters.*; got "Read-Logs"$/,
    '---\nname: read--logs\ndescription: d\n---\n': /name must be/,
    [`---\nname: ${'a'.repeat(65)}\ndescription: d\n---\n`]: /name must be/,
    '---\nname: read-logs\n---\n':
      /^skills\/read-logs\/SKILL\.md: description is missing; add a line "description: …"/,
    [`---\nname: read-logs\ndescription: ${'x'.repeat(1025)}\n---\n`]:
      /description must be a text of 1 to 1024 characters.*; got "x{59}…$/,
    '---\nname: read-logs\ndescription: d\nallowed-tools: {a: b}\n---\n':
      /allowed-tools must be a list of tool names, or one text with the names in it; got/,
    '# Logs\n': /^skills\/read-logs\/SKILL\.md: The first line must be exactly ---/,
  };
  for (const [text, sentence] of Object.entries(complaints)) {
    test(`is refused with a sentence: ${sentence.source.slice(0, 60)}`, () => {
      assert.throws(() => read(text), { name: 'SvcError', message: sentence });
    });
  }
});

test('every skill that ships is good', () => {
  const folder = join(import.meta.dirname, '../../../../skills');
  const names = readdirSync(folder);
  assert.ok(names.length >= 2);
  for (const name of names) {
    const file = join(folder, name, 'SKILL.md');
    const skill = readSkill(readFileSync(file, 'utf8'), name, { file });
    assert.deepEqual(Object.keys(skill.extra), [], `${file} has keys that nobody reads`);
    assert.ok(
      skill.body.split('\n').length <= 500,
      `${file} is longer than an agent should have to read`,
    );
  }
});
