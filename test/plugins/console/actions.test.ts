import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { FakeModel } from '../../../bin/fake-model/fake-model.ts';
import type { Hands } from './actions/hands.ts';
import { runSteps } from './actions/run.ts';
import { seed } from './actions/seed.ts';
import { watchSteps } from './actions/watch.ts';
import { workSteps } from './actions/work.ts';
import { openBrowser, openView, signIn } from './browser.ts';
import { account, startConsoleHouse } from './console-house.ts';
import { Presses } from './presses.ts';

/** Pressed by tests of their own: those of a shell need a machine to open one on (`shell.test.ts`), those of the first start an empty svc. */
const elsewhere = /^(?:shell|welcome): /;

test('every button of every page is pressed, and svc does what it says', { timeout: 420_000 }, async (t) => {
  const browser = await openBrowser(t);
  if (!browser) {
    return;
  }
  const model = await FakeModel.start();
  const hook = createServer((request, answer) => request.resume().on('end', () => answer.writeHead(400).end('no'))).listen(0, '127.0.0.1');
  const folder = mkdtempSync(join(tmpdir(), 'svc-console-packs-'));
  t.after(async () => {
    await model.close();
    hook.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const house = await startConsoleHouse({
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: model.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      SVC_INVESTIGATE_SEVERITY: 'never',
    },
  });
  t.after(() => house.end());
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await house.fetch(`/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as T;
  };
  await seed({ house, ask, folder, hook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/` });

  const view = await openView(browser, house.url);
  const presses = new Presses();
  await presses.follow(view.page);
  await signIn(view, house.url, account.email, account.password);
  const hands: Hands = { page: view.page, url: house.url, presses, ask };
  for (const [name, step] of Object.entries({ ...watchSteps, ...workSteps, ...runSteps })) {
    await t.test(name, async () => {
      await step(hands);
      // What svc refuses, or a reader is offered in vain, is said by the step that expects it.
      view.forgive(/status of (?:40[049]|500)|ERR_INCOMPLETE|ERR_ABORTED/);
      assert.deepEqual(view.complaints, []);
    });
  }

  await t.test('none is left', () => {
    const left = presses.left().filter((key) => !elsewhere.test(key));
    assert.deepEqual(left, []);
    assert.ok(presses.pressed.size > 150, `${presses.pressed.size} buttons were pressed`);
    t.diagnostic(`${presses.pressed.size} buttons were pressed`);
  });

  await t.test('none that the code has was never seen', () => {
    const seen = new Set([...presses.seen].map((key) => key.slice(key.indexOf(': ') + 2)));
    const pages = new URL('../../../plugins/console/web/pages/', import.meta.url);
    const missing = readdirSync(pages, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.tsx') && !elsewhere.test(`${file.split('/')[0]!}: `))
      .flatMap((file) =>
        labelsIn(readFileSync(new URL(file, pages), 'utf8'))
          .filter((label) => !seen.has(label))
          .map((label) => `${file}: ${label}`),
      );
    assert.deepEqual(missing, []);
  });
});

/** What the buttons and forms of a page may say, as far as it stands in its words; what is put together is left to the eye of the page. */
function labelsIn(source: string): readonly string[] {
  const words = new Map([...source.matchAll(/^ {2}(\w+): '((?:[^'\\]|\\.)*)',/gm)].map(([, key, text]) => [key!, text!]));
  const buttons = [...source.matchAll(/<Button\b[\s\S]*?(?:<\/Button>|\/>)/g)].map(([whole]) => whole);
  const used = [...buttons.flatMap((whole) => [...whole.matchAll(/\btext\.(\w+)/g)]), ...source.matchAll(/\bsubmit=\{text\.(\w+)\}/g)];
  return [...new Set(used.map(([, key]) => words.get(key!)))].filter((text): text is string => text !== undefined && !text.includes('{'));
}
