import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parseForeignYaml } from 'svc/foreign-yaml';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Texts that a recursive parser ends its process with. */
const nests: Readonly<Record<string, string>> = {
  lists: '[',
  maps: '{',
  'lists of lists': '- ',
  'explicit keys': '? ',
  'keys in a list': '[? ',
  'maps of maps': '{a: ',
  'values without a key': ': ',
  'lists in pairs': 'a: [',
  'a list a line': '[\n',
};

test('a text that nests without end is refused before it is parsed', () => {
  for (const [name, piece] of Object.entries(nests)) {
    const text = piece.repeat(8_000);
    assert.throws(() => parseForeignYaml(text), { name: 'RangeError', message: /levels/ }, name);
  }
  const stairs = Array.from({ length: 200 }, (_, at) => `${' '.repeat(at)}a:`).join('\n');
  assert.throws(() => parseForeignYaml(stairs), /levels/);
});

test('keys of any length, values in several lines and closed brackets are not depth', () => {
  const wide = Array.from({ length: 300 }, (_, at) => `${'k'.repeat(at + 1)}: [{a: {b: [c, d]}}]`);
  const value = parseForeignYaml(
    `${wide.join('\n')}\ntext: |\n${'  [ [ {\n'.repeat(300)}quoted: "${'[ \n  {'.repeat(300)}"\n`,
  );
  assert.equal(Object.keys(value as object).length, 302);
});

test('files that ship are read as the parser alone reads them', () => {
  const folder = join(root, 'plugins/monitor/dashboards');
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    assert.deepEqual(parseForeignYaml(text), parse(text), name);
  }
});

test('a key twice and a broken text are refused with their place', () => {
  assert.throws(() => parseForeignYaml('a: 1\nb:\n  c: 1\n  c: 2\n'), {
    name: 'SyntaxError',
    message: 'Map keys must be unique at line 4, column 3',
  });
  assert.throws(() => parseForeignYaml('a: [b'), { name: 'SyntaxError', message: /line 1, col/ });
});

test('a hundred times the keys or errors take about a hundred times as long', () => {
  const keys = (count: number): string =>
    Array.from({ length: count }, (_, at) => `k${at}: 1`).join('\n');
  const errors = (count: number): string => '!!a '.repeat(count);
  for (const make of [keys, errors]) {
    const took = (count: number): number => {
      const text = make(count);
      const began = process.cpuUsage();
      try {
        parseForeignYaml(text);
      } catch {
        // Both are timed, refused or not.
      }
      return process.cpuUsage(began).user;
    };
    took(2_000);
    const few = took(2_000);
    // Twelve times is linear with room; the square is a hundred.
    assert.ok(took(20_000) < 40 * few, make(1));
  }
});

test('lines of a scalar count: each takes the parser as much as a value', () => {
  const bounds = { lexemes: 1_000 };
  assert.throws(() => parseForeignYaml(`a: |\n${' |\n'.repeat(1_000)}`, bounds), {
    name: 'RangeError',
    message: /1,000 YAML tokens and lines/,
  });
  assert.deepEqual(parseForeignYaml(`a: |\n${' |\n'.repeat(900)}`, bounds), {
    a: '|\n'.repeat(900),
  });
});
