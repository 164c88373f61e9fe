import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { guardedText } from '../../../plugins/skill/guard/result-guard.ts';

const linesOf = (name: string): readonly string[] =>
  readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '));

test('secrets of command lines inside logs are hidden, and other lines kept', () => {
  const secrets = linesOf('secrets-in-lines.txt');
  const passed = secrets.filter((line) => guardedText(line).includes('S3cretWord'));
  assert.equal(secrets.length, 80);
  assert.ok(passed.length <= 4, `${passed.length} pass:\n${passed.join('\n')}`);
  const harmless = linesOf('harmless-lines.txt');
  const changed = harmless.filter((line) => guardedText(line) !== line);
  assert.equal(harmless.length, 40);
  assert.ok(
    changed.length <= 2,
    `${changed.length} changed:\n${changed.map((line) => guardedText(line)).join('\n')}`,
  );
  // A text of many lines is guarded line by line, and as long as it takes to read it.
  const long = `${harmless.join('\n')}\n`.repeat(400);
  const from = performance.now();
  assert.ok(guardedText(`${long}${secrets[0]}`).endsWith('[redacted] shop'));
  assert.ok(performance.now() - from < 8_000, `${Math.round(performance.now() - from)} ms`);
});
