import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { readPersona, readSkill } from 'svc/markdown-file';

import { filesIn, projectRoot } from '../house/source.ts';
import { guides, type Page, playbooks, prompts } from './playbooks.ts';

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');

/** Keys of the tools that svc and its agents bring, as their sources declare them. */
const tools: ReadonlySet<string> = new Set(
  filesIn('plugins')
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      [
        ...read(path).matchAll(
          /\bkey: '([a-z]+(?:[_.][a-z_]+)?)'|Key = '([a-z]+_[a-z]+)'|^ {6}'([a-z]+_[a-z]+)',$/gm,
        ),
      ].map((match) => match.slice(1).find((name) => name !== undefined)!),
    ),
);

const families = new Set([...tools].map((name) => name.split(/[_.]/)[0]!));
/** Labels that begin like a tool. */
const labels = new Set(['device_id', 'service_name']);

/** Names in the text of a page that begin like a tool, such as `metrics_query`. */
const toolsNamed = ({ body }: Page): readonly string[] =>
  [...body.replaceAll(/^```[^]*?^```/gm, '').matchAll(/`([a-z]+(?:[_.][a-z]+)*)`/g)]
    .map(([, name]) => name!)
    .filter(
      (name) => tools.has(name) || (/[_.]/.test(name) && families.has(name.split(/[_.]/)[0]!)),
    )
    .filter((name) => !labels.has(name));

test('every persona names its tools where it says how it works, shows an answer, and says what it cannot see', () => {
  assert.ok(prompts.length >= 17, `${prompts.length} personas`);
  for (const page of prompts) {
    const { tools: own } = readPersona(read(page.path), { file: page.path });
    const named = toolsNamed(page);
    assert.ok(new Set(named).size >= 2, `${page.path} names ${named.join(', ')}`);
    for (const name of named) {
      assert.ok(own.length === 0 || own.includes(name), `${page.path} has no tool ${name}`);
    }
    for (const name of own) {
      assert.ok(tools.has(name), `${page.path} lists ${name}, which nothing brings`);
    }
    assert.match(page.body, /^## What you cannot see\n\n- /m, page.path);
    assert.match(page.body, /^## Example\n\n> /m, page.path);
  }
});

test('every guide names tools that exist, and ends with what to answer', () => {
  assert.ok(guides.length >= 20, `${guides.length} guides`);
  for (const page of guides) {
    const [, folder = ''] = page.path.split('/');
    const guide = readSkill(read(page.path), folder, { file: page.path });
    assert.ok(guide.description.includes('Use it'), `${page.path} does not say when to use it`);
    assert.ok(toolsNamed(page).length > 0, `${page.path} names no tool`);
    for (const name of toolsNamed(page)) {
      assert.ok(tools.has(name), `${page.path} names ${name}, which nothing brings`);
    }
    for (const [, other] of page.body.matchAll(/guide `([a-z-]+)`/g)) {
      assert.ok(
        guides.some(({ path }) => path === `skills/${other}/SKILL.md`),
        `${page.path} points to ${other}`,
      );
    }
    for (const [, playbook] of page.body.matchAll(/playbook:\/\/([a-z/-]+\.md)/g)) {
      assert.ok(
        playbooks.some(({ path }) => path === `vault/${playbook}`),
        `${page.path} points to ${playbook}`,
      );
    }
    const lines = page.body.split('\n').length;
    assert.ok(lines >= 30 && lines <= 110, `${page.path} has ${lines} lines`);
  }
});
