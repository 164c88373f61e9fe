import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { defaultPolicy, readPolicy } from '../../../plugins/edge-uplink/policy.ts';

const page = readFileSync(
  fileURLToPath(new URL('../../../docs/host-policy.md', import.meta.url)),
  'utf8',
);

test('every policy on the page of the manual is valid', () => {
  const examples = [...page.matchAll(/^ *```yaml\n([\s\S]*?)^ *```/gm)].map(([, text]) => text!);
  assert.equal(examples.length, 6);
  examples.forEach((text) => readPolicy(text));
  assert.deepEqual(
    examples.slice(0, 4).map((text) => {
      const { skills } = readPolicy(text);
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
    [defaultPolicy.skills.measure, defaultPolicy.skills.services, readPolicy('')],
    [
      ['/**'],
      [],
      {
        ...defaultPolicy,
        skills: { ...defaultPolicy.skills, measure: ['/**', ...defaultPolicy.skills.paths] },
      },
    ],
  );
  const before = readPolicy('skills:\n  paths: ["/srv/log/**"]\n').skills;
  assert.deepEqual([before.measure, before.views, before.containers], [['/srv/log/**'], [], []]);
  assert.deepEqual(readPolicy('skills:\n  services: [web]\n').skills.views, ['*']);
  for (const [text, complaint] of [
    ['skills: { profile: all }', /profile must be one of observe, logs, listed/],
    ['skills: { kubeconfig: relative }', /kubeconfig must be an absolute path/],
    ['skills: { databases: ["x=http://h"] }', /skills\.databases must be a list/],
    ['skills: { look: [] }', /no field "look"/],
  ] as const) {
    assert.throws(() => readPolicy(text), complaint);
  }
});
