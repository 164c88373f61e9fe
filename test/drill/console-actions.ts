import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import type { Browser } from 'playwright-core';
import { messageOf } from 'svc/sdk';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome } from '../exercise.ts';
import type { Hands } from '../plugins/console/actions/hands.ts';
import { runSteps } from '../plugins/console/actions/run.ts';
import { seed } from '../plugins/console/actions/seed.ts';
import { watchSteps } from '../plugins/console/actions/watch.ts';
import { workSteps } from '../plugins/console/actions/work.ts';
import { openBrowser, openView, signIn } from '../plugins/console/browser.ts';
import { account, startConsoleHouse } from '../plugins/console/console-house.ts';
import { Presses } from '../plugins/console/presses.ts';

/** Pressed by tests of their own: those of a shell need a machine to open one on (`shell.test.ts`), those of the first start an empty svc. */
const elsewhere = /^(?:shell|welcome): /;
/**
 * Errors that a step expects and checks itself: refusals by svc, and things offered to a user in
 * vain.
 */
const expected = /status of (?:40[049]|500)|ERR_INCOMPLETE|ERR_ABORTED/;

interface Options {
  /** Text to look for in the names of the steps to run. */
  readonly only?: string;
  /** Folder for a picture of each page on which a step failed. */
  readonly folder?: string;
}

/** Presses every button of every page of the console against a real svc, and looks whether it does what it says; names those that nobody has pressed. */
export async function run({ only = '', folder = '' }: Options = {}): Promise<Outcome> {
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end), skip: () => undefined };
  try {
    const browser = await openBrowser(t);
    return browser === undefined
      ? { ok: false, why: 'chromium is not installed' }
      : await press(browser, t, { only, folder });
  } finally {
    for (const end of ends.toReversed()) {
      await end();
    }
  }
}

async function press(
  browser: Browser,
  t: { after(end: () => unknown): void },
  { only, folder: pictures }: Required<Options>,
): Promise<Outcome> {
  const model = await FakeModel.start();
  t.after(() => model.close());
  const hook = createServer((request, answer) =>
    request.resume().on('end', () => answer.writeHead(400).end('no')),
  ).listen(0, '127.0.0.1');
  t.after(() => hook.close());
  const folder = mkdtempSync(join(tmpdir(), 'svc-console-packs-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
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
  await seed({
    house,
    ask,
    folder,
    hook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
  });
  const view = await openView(browser, house.url);
  const presses = new Presses();
  await presses.follow(view.page);
  await signIn(view, house.url, account.email, account.password);
  const hands: Hands = { page: view.page, url: house.url, presses, ask };
  const faults: string[] = [];
  for (const [name, step] of Object.entries({ ...watchSteps, ...workSteps, ...runSteps }).filter(
    ([name]) => new RegExp(only).test(name),
  )) {
    const fault = await step(hands).then(
      () => undefined,
      (error: unknown) => stripVTControlCharacters(messageOf(error)).replaceAll(/\s+/g, ' '),
    );
    view.forgive(expected);
    faults.push(
      ...(fault === undefined ? [] : [`${name}: ${fault.slice(0, 300)}`]),
      ...view.complaints.map((complaint) => `${name}: ${complaint}`),
    );
    view.forgive(/./);
    say(`${name}: ${fault ?? 'pressed'}`);
    if (fault !== undefined && pictures !== '') {
      await view.page.screenshot({ path: join(pictures, `${name}.png`) });
    }
  }
  // What some steps leave alone may be pressed by the others.
  const left = only === '' ? presses.left().filter((key) => !elsewhere.test(key)) : [];
  const unseen = only === '' ? neverSeen(presses.seen) : [];
  const list = (what: string, of: readonly string[]) => of.map((text) => ({ [what]: text }));
  return {
    ok: [faults, left, unseen].every(({ length }) => length === 0),
    pressed: presses.pressed.size,
    faults: list('fault', faults),
    left: list('not pressed', left),
    unseen: list('never seen', unseen),
  };
}

/** Buttons that the pages have by their code, and that none of them has shown. */
function neverSeen(all: ReadonlySet<string>): readonly string[] {
  const seen = new Set([...all].map((key) => key.slice(key.indexOf(': ') + 2)));
  const pages = new URL('../../plugins/console/web/pages/', import.meta.url);
  return readdirSync(pages, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx') && !elsewhere.test(`${file.split('/')[0]!}: `))
    .flatMap((file) =>
      labelsIn(readFileSync(new URL(file, pages), 'utf8'))
        .filter((label) => !seen.has(label))
        .map((label) => `${file}: ${label}`),
    );
}

/**
 * Returns the labels of a page's buttons and forms, as far as the catalogue contains them; composed ones
 * are left to the page.
 */
function labelsIn(source: string): readonly string[] {
  const words = textsOf(source);
  const buttons = [...withoutWork(source).matchAll(/<Button\b[\s\S]*?(?:<\/Button>|\/>)/g)].map(
    ([whole]) => whole,
  );
  const used = [
    ...buttons.flatMap((whole) => [...whole.matchAll(/\btext\.(\w+)/g)]),
    ...source.matchAll(/\bsubmit=\{text\.(\w+)\}/g),
  ];
  return [...new Set(used.map(([, key]) => words.get(key!)))].filter(
    (text): text is string => text !== undefined && !text.includes('{'),
  );
}

/** Returns the texts of a page by their keys: those of the catalogue's area that it imports. */
function textsOf(source: string): ReadonlyMap<string, string> {
  const [, area, file] =
    /import \{ (\w+) as text \} from '.*\/(text\/english\/[\w/-]+\.ts)'/.exec(source) ?? [];
  if (area === undefined) {
    return new Map();
  }
  const catalogue = readFileSync(
    new URL(`../../plugins/console/web/${file!}`, import.meta.url),
    'utf8',
  );
  const [, texts = ''] =
    new RegExp(`^export const ${area} = words\\([^{]*\\{([^]*?)^\\}\\);`, 'm').exec(catalogue) ??
    [];
  return new Map(
    [...texts.matchAll(/^ {2}(\w+): '((?:[^'\\]|\\.)*)',/gm)].map(([, key, text]) => [key!, text!]),
  );
}

/** Removes handlers: a button may show more text when it acts, which is not its name. */
function withoutWork(source: string): string {
  const [head, ...rest] = source.split('onClick={');
  const parts = rest.map((text) => {
    let depth = 1;
    let at = 0;
    for (; depth > 0 && at < text.length; at += 1) {
      depth += ({ '{': 1, '}': -1 } as Readonly<Record<string, number>>)[text[at]!] ?? 0;
    }
    return text.slice(at);
  });
  return [head, ...parts].join('');
}
