import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { PolicyFile } from '../../../plugins/edge-uplink/policy/policy-file.ts';
import { closedPolicy, defaultPolicy } from '../../../plugins/edge-uplink/policy/profiles.ts';
import { readPolicy } from '../../../plugins/edge-uplink/policy/read-policy.ts';

/** The policy of a valid text. */
function valid(text: string) {
  const { policy, problems } = readPolicy(text);
  assert.deepEqual(problems, []);
  return policy;
}

const page = readFileSync(
  fileURLToPath(new URL('../../../docs/host-policy.md', import.meta.url)),
  'utf8',
);

test('every policy on the page of the manual is valid', () => {
  const examples = [...page.matchAll(/^ *```yaml\n([\s\S]*?)^ *```/gm)].map(([, text]) => text!);
  assert.equal(examples.length, 8);
  examples.forEach((text) => valid(text));
  assert.deepEqual(
    examples.slice(0, 4).map((text) => {
      const { skills } = valid(text);
      return [skills.enabled, skills.measure.includes('/**'), skills.views, skills.services];
    }),
    [
      [true, true, ['*'], []],
      [true, false, [], []],
      [true, false, ['units'], ['nginx', 'php-fpm']],
      [false, true, ['*'], []],
    ],
  );
});

test('without a file everything is measured and nothing changed; a file from before allows no more than it did', () => {
  assert.deepEqual(
    [defaultPolicy.skills.measure, defaultPolicy.skills.services, valid('')],
    [
      ['/**'],
      [],
      {
        ...defaultPolicy,
        skills: { ...defaultPolicy.skills, measure: ['/**', ...defaultPolicy.skills.paths] },
      },
    ],
  );
  const before = valid('skills:\n  paths: ["/srv/log/**"]\n').skills;
  assert.deepEqual([before.measure, before.views, before.containers], [['/srv/log/**'], [], []]);
  assert.deepEqual(valid('skills:\n  services: [web]\n').skills.views, ['*']);
});

test('an invalid section allows nothing and is named with its line; the others hold as they are written', () => {
  for (const [text, complaint, closed] of [
    [
      'skills: { profile: all }',
      /^line 1: skills\.profile must be one of observe, logs, listed; /,
      ['skills'],
    ],
    [
      'tcp: []\nskills:\n  kubeconfig: relative',
      /^line 3: skills\.kubeconfig must be an abs/,
      ['skills'],
    ],
    [
      'skills:\n\n  paths: [/a, b]',
      /^line 3: skills\.paths may list only absolute paths, .* but lists "b"/,
      ['skills'],
    ],
    ['skills: { look: [] }', /^line 1: skills has no key "look"; known keys: profile/, ['skills']],
    ['logs: /var/log', /^line 1: logs must be a mapping of keys to values/, ['logs']],
    ['webshell: true\ntcp: everything', /^line 2: tcp must be a list of targets, /, ['tcp']],
    [
      'skils: { enabled: false }\ntcp: []',
      /^line 1: the file has no key "skils"/,
      ['webshell', 'skills', 'plugins', 'logs'],
    ],
    [
      'a: b: c',
      /^line 1: Nested mappings .*only metrics of the machine are collected$/,
      ['tcp', 'webshell', 'skills', 'plugins', 'logs'],
    ],
    [
      'tcp: &x []\nlogs: { paths: *x }',
      /Aliases/,
      ['tcp', 'webshell', 'skills', 'plugins', 'logs'],
    ],
  ] as const) {
    const { policy, problems } = readPolicy(text);
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, complaint);
    const allowsNothing = Object.keys(policy).filter(
      (name) =>
        JSON.stringify(policy[name as keyof typeof policy]) ===
        JSON.stringify(closedPolicy[name as keyof typeof policy]),
    );
    assert.deepEqual(
      allowsNothing.filter((name) => !(name === 'tcp' && text.includes('tcp: []'))).toSorted(),
      [...closed].toSorted(),
      text,
    );
  }
  for (const [list, entry] of [
    ['databases', 'x=http://u:s3cret@h'],
    ['commands', 'x=relative --password s3cret'],
  ] as const) {
    const [secret] = readPolicy(`skills: { ${list}: ["${entry}"] }`).problems;
    assert.match(
      secret!,
      new RegExp(`skills\\.${list} may list only .* but lists another entry \\(1\\)`),
    );
    assert.doesNotMatch(secret!, /s3cret/);
  }
});

test('metrics of the machine go on under an invalid file, unless the owner has turned them off', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-policy-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const lines: string[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: object, line: string) => void lines.push(line),
  };
  const file = new PolicyFile(dataDir, log);
  const allowed = (text: string): readonly string[] => {
    writeFileSync(file.path, text);
    return file.current().plugins.allowed;
  };
  assert.deepEqual(allowed('tcp: [: :'), ['hostmetrics', 'procmetrics']);
  assert.match(file.problem!, /policy\.yaml is invalid: line 1: .*only metrics of the machine/);
  assert.deepEqual(allowed('tcp: 1\nplugins: { allowed: [] }\n'), []);
  assert.deepEqual(allowed('plugins: { allowed: [hostmetrics, logs] }\n'), ['hostmetrics', 'logs']);
  assert.equal(file.problem, undefined);
  assert.deepEqual(allowed('plugins: { allow: [logs] }\n'), ['hostmetrics']);
  assert.equal(lines.length, 3);
  rmSync(file.path);
  assert.deepEqual([file.current(), file.exists], [defaultPolicy, false]);
});
