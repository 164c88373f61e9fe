import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { readPersona } from '../../../../plugins/lib/markdown-file/persona-file.ts';
import { isSvcError } from '../../../../core/sdk/index.ts';

const where = { file: 'agents/x.md' };
const required = 'name: x\ndescription: d\nwhen_to_use: w\n';
const withHeader = (lines: string): string => `---\n${required}${lines}---\nYou are x.\n`;

describe('a persona file', () => {
  test('needs three lines; everything else has a default', () => {
    assert.deepEqual(readPersona(withHeader(''), where), {
      name: 'x',
      description: 'd',
      when_to_use: 'w',
      tools: [],
      disallowed_tools: [],
      permission_mode: 'read-only',
      max_turns: 0,
      model: '',
      critical_reminder: '',
      initial_prompt: '',
      background: false,
      omit_agent_md: false,
      metadata: {},
      unknown: {},
      body: 'You are x.\n',
      source: 'disk',
    });
  });

  test('may say everything', () => {
    const persona = readPersona(
      withHeader(`tools: [logs.query, host.processes]
disallowed_tools:
  - host.restart
permission_mode: dual-sign-required
max_turns: 100
model: openrouter/vendor/model-1
critical_reminder: Never guess.
initial_prompt: "Look at {{.incident_id}} on {{.device_id}}."
background: true
omit_agent_md: true
metadata:
  os: [linux, darwin]
  requires: { bins: [journalctl], config: [] }
  svc: { scope: manager, edge_runtime: any, edge_capabilities: [exec] }
  owner: night shift
`),
      where,
    );
    assert.equal(persona.permission_mode, 'dual-sign-required');
    assert.equal(persona.max_turns, 100);
    assert.equal(persona.initial_prompt, 'Look at {{.incident_id}} on {{.device_id}}.');
    assert.deepEqual(persona.metadata, {
      os: ['linux', 'darwin'],
      requires: { bins: ['journalctl'], config: [] },
      svc: { scope: 'manager', edge_runtime: 'any', edge_capabilities: ['exec'] },
      owner: 'night shift',
    });
    assert.deepEqual(persona.unknown, {});
  });

  test('keeps keys of later versions instead of failing on them', () => {
    const { unknown } = readPersona(
      withHeader('color: blue\nsource: user\nhooks: {before: [a, 1, null]}\n'),
      where,
    );
    assert.deepEqual(unknown, { color: 'blue', source: 'user', hooks: { before: ['a', 1, null] } });
  });

  test('is refused where a field that holds it back is spelt otherwise: kept unread it would hold nothing back', () => {
    for (const [key, meant] of Object.entries({
      tool: 'tools',
      'allowed-tools': 'tools',
      disallowedTools: 'disallowed_tools',
      'permission-mode': 'permission_mode',
      toools: 'tools',
      tolls: 'tools',
      tool_list: 'tools',
      denied_tools: 'disallowed_tools',
      disalowed_tools: 'disallowed_tools',
      mode: 'permission_mode',
      permision_mode: 'permission_mode',
      maxTurns: 'max_turns',
      max_turn: 'max_turns',
    })) {
      const text = `---\nname: a\ndescription: b\nwhen_to_use: c\n${key}: x\n---\n`;
      assert.throws(
        () => readPersona(text, { file: 'a.md' }),
        new RegExp(`a\\.md: ${key} is not a field of a persona; use ${meant}.`),
      );
    }
    const kept = readPersona(
      '---\nname: a\ndescription: b\nwhen_to_use: c\ntone: calm\ntoolbox: x\nx-tools: y\n---\n',
      { file: 'a.md' },
    );
    assert.deepEqual(kept.unknown, { tone: 'calm', toolbox: 'x', 'x-tools': 'y' });
  });

  test('takes a key without a value as not said', () => {
    const persona = readPersona(withHeader('tools:\npermission_mode:\nmodel: ""\n'), where);
    assert.deepEqual(
      [persona.tools, persona.permission_mode, persona.model],
      [[], 'read-only', ''],
    );
  });

  test('keeps the prompt byte for byte', () => {
    const body = '\n\n# Ünïcode  \r\n\t- list\n---\nname: not a header\n\n\n';
    assert.equal(readPersona(`---\n${required}---\n${body}`, where).body, body);
  });

  test('says where it came from by its place, not by its header', () => {
    assert.equal(
      readPersona(withHeader('source: user\n'), { ...where, source: 'builtin' }).source,
      'builtin',
    );
  });

  test('cannot be changed once it is read', () => {
    const persona = readPersona(withHeader(''), where);
    assert.throws(() => (persona.tools as string[]).push('everything'), TypeError);
    assert.throws(() => ((persona.metadata as Record<string, unknown>)['os'] = []), TypeError);
    assert.throws(() => ((persona as { body: string }).body = ''), TypeError);
  });

  const complaints: Record<string, string> = {
    'permission_mode: writ\n':
      'agents/x.md: permission_mode must be one of read-only, mutating-with-confirm, dual-sign-required; got "writ"',
    'permission_mode: [read-only]\n':
      'agents/x.md: permission_mode must be one of read-only, mutating-with-confirm, dual-sign-required; got ["read-only"]',
    'max_turns: 101\n': 'agents/x.md: max_turns must be a whole number from 0 to 100; got 101',
    'max_turns: -1\n': 'agents/x.md: max_turns must be a whole number from 0 to 100; got -1',
    'max_turns: 2.5\n': 'agents/x.md: max_turns must be a whole number from 0 to 100; got 2.5',
    'max_turns: "5"\n': 'agents/x.md: max_turns must be a whole number from 0 to 100; got "5"',
    'tools: Read, Grep\n':
      'agents/x.md: tools must be a list of tool names such as [a, b]; got "Read, Grep"',
    'tools: [ok, 5]\n': 'agents/x.md: tools.1 must be a tool name without blanks; got 5',
    'disallowed_tools: [two words]\n':
      'agents/x.md: disallowed_tools.0 must be a tool name without blanks; got "two words"',
    'model: gpt\n':
      'agents/x.md: model must be <provider>/<model>, or empty for the coordinator\'s default; got "gpt"',
    'background: yes\n': 'agents/x.md: background must be true or false; got "yes"',
    'initial_prompt: {{.incident_id}}\n':
      'agents/x.md: Line 5: every key must be a text; if a value begins with { or [, quote it',
    'metadata: {os: linux}\n':
      'agents/x.md: metadata.os must be a list of texts such as [a, b]; got "linux"',
    'metadata: {requires: {bins: [1]}}\n':
      'agents/x.md: metadata.requires.bins.0 must be a text; got 1',
    'tools: *all\n':
      'agents/x.md: Line 5: references (*name) are not supported; if the value is a text that begins with *, quote it',
  };
  for (const [lines, sentence] of Object.entries(complaints)) {
    test(`is refused with a sentence for ${lines.trim()}`, () => {
      assert.throws(() => readPersona(withHeader(lines), where), {
        name: 'SvcError',
        code: 'invalid_argument',
        message: sentence,
      });
    });
  }

  test('has a name that fits into a path', () => {
    for (const name of ['a', 'Incident_Scribe-2.0', 'x'.repeat(64)]) {
      assert.equal(
        readPersona(`---\nname: ${name}\ndescription: d\nwhen_to_use: w\n---\n`, where).name,
        name,
      );
    }
    for (const name of ['..', '-x', 'a/b', 'a b', 'ä', '"x\\n"', '1', 'x'.repeat(65)]) {
      assert.throws(
        () => readPersona(`---\nname: ${name}\ndescription: d\nwhen_to_use: w\n---\n`, where),
        /agents\/x\.md: name must be 1 to 64 letters/,
        name,
      );
    }
  });

  test('is told about everything that is missing at once', () => {
    assert.throws(
      () => readPersona('---\nname: x\ndescription: " "\n---\n', where),
      (error) =>
        isSvcError(error) &&
        error.message.includes(
          'when_to_use is missing; add a line "when_to_use: …" to the header',
        ) &&
        error.message.includes('description must be a text for the agent picker; got " "') &&
        error.details?.map(({ path }) => path).join() === '/when_to_use,/description',
    );
  });
});

test('every persona that ships is good, read-only unless it says why not, and called like its file', () => {
  const folder = join(import.meta.dirname, '../../../../agents');
  const personas = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({
      name,
      persona: readPersona(readFileSync(join(folder, name), 'utf8'), { file: name }),
    }));
  assert.ok(personas.length >= 3);
  for (const { name, persona } of personas) {
    assert.equal(`${persona.name}.md`, name);
    assert.deepEqual(persona.unknown, {}, `${name} has keys that nobody reads`);
    assert.ok(
      persona.permission_mode === 'read-only' || persona.critical_reminder !== '',
      `${name} may change things but reminds of nothing`,
    );
  }
});
