import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from './source.ts';
import { parsed, parsedTexts } from './syntax.ts';
import { uiLiterals } from './ui-literals.ts';

const catalogue = '/text/english/';

/** The parts of plugins that run in a browser: each has a tsconfig of its own, which the browser's types ask for. */
const webs = readdirSync(join(projectRoot, 'plugins'))
  .map((plugin) => `plugins/${plugin}/web`)
  .filter((folder) => existsSync(join(projectRoot, folder)));

const files = webs.flatMap((folder) => parsed(`${folder}/tsconfig.json`));

test('what the console says stands in its catalogue, where a language pack can replace it', () => {
  assert.ok(files.length > 0);
  assert.deepEqual(
    files.filter(({ path }) => !path.includes(catalogue)).flatMap(uiLiterals),
    [],
    'move the text to plugins/console/web/text/english/',
  );
});

test('an area of the catalogue stands once, so that each text has one key', () => {
  const areas = files.flatMap(({ file }) =>
    [...file.text.matchAll(/\bwords\(\s*'([^']+)'/g)].map(([, area]) => area!),
  );
  assert.ok(areas.length > 0);
  assert.deepEqual(
    areas.filter((area, index) => areas.indexOf(area) !== index),
    [],
  );
});

const refused = [
  '<p>Nothing to show</p>',
  '<p>{isOld ? "Old" : text.fresh}</p>',
  '<p>{name ?? `Device ${id}`}</p>',
  '<Button label="Close" />',
  '<input placeholder={`Search ${name}`} />',
  '<img aria-label={isOpen ? "open" : "closed"} />',
  'tell("Saved.")',
  'throw new Error("svc does not answer")',
];

const allowed = [
  '<p class="soft wide">{text.empty} · {count}</p>',
  '<p>{state === "open" ? text.open : text.resolved}</p>',
  '<kbd>Ctrl K</kbd>',
  '<code>plugins/session</code>',
  '<Mark label={isDone ? "✓" : "–"} />',
  'if (event.key === "Enter") run()',
  'get("/devices", { sort: "name" })',
  'query("max by (device_id) (node_load1)")',
];

test('a literal text is found wherever a reader would meet it', () => {
  const pages = parsedTexts(
    [...refused, ...allowed].map((code, index) => [`page-${index}.tsx`, code] as const),
  );
  pages.forEach((page, index) =>
    assert.equal(uiLiterals(page).length > 0, index < refused.length, page.file.text),
  );
});
