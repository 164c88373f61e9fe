import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { type Browser, chromium } from 'playwright-core';

import type { Outcome, Row } from '../exercise.ts';
import { findBrowser } from '../peers.ts';
import { everyPage, type OnePage, openPage } from '../plugins/console/every-page.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sizes = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
];

interface Demo {
  readonly url: string;
  readonly email: string;
  readonly password: string;
}

/**
 * A picture of every page, of each width, in light and dark, in `folder`; of `svc demo` once its incident is investigated, or of the svc at
 * `url`. `only` names pages, `widths` picks widths, both separated by commas.
 */
export async function run({
  folder = 'pictures',
  only = '',
  widths = '',
  url = '',
  email = '',
  password = '',
}: Options): Promise<Outcome> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Error('chromium is not installed (Debian: apt-get install chromium-headless-shell)');
  }
  mkdirSync(folder, { recursive: true });
  const own = url === '' ? await startDemo() : undefined;
  const browser = await chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  });
  try {
    const wanted =
      String(widths) === ''
        ? sizes
        : sizes.filter(({ width }) => String(widths).split(',').includes(String(width)));
    const cases = wanted.flatMap((size) => [false, true].map((dark) => ({ size, dark })));
    const failures: Row[] = [];
    let pictures = 0;
    const all = own === undefined ? everyPage : [...everyPage, await furnish(own.demo)];
    const pages = only === '' ? all : all.filter(({ name }) => only.split(',').includes(name));
    for (const { size, dark } of cases) {
      const missed = await picture(browser, own?.demo ?? { url, email, password }, {
        size,
        dark,
        folder,
        pages,
      });
      failures.push(...missed.failures);
      pictures += missed.pictures;
    }
    return { ok: failures.length === 0, pictures, folder, failures };
  } finally {
    await browser.close();
    await own?.end();
  }
}

interface Options {
  readonly folder?: string;
  readonly only?: string;
  readonly widths?: string | number;
  readonly url?: string;
  readonly email?: string;
  readonly password?: string;
}

interface Shot {
  readonly size: (typeof sizes)[number];
  readonly dark: boolean;
  readonly folder: string;
  readonly pages: readonly OnePage[];
}

async function picture(
  browser: Browser,
  { url, email, password }: Demo,
  { size, dark, folder, pages }: Shot,
) {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const failures: Row[] = [];
  let pictures = 0;
  await page.goto(`${url}/`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Search or jump to' }).waitFor();
  for (const one of pages) {
    try {
      await openPage(page, url, one);
      // Figures of a list are asked for once its rows are known.
      await page.waitForTimeout(400);
      await page.screenshot({
        path: join(folder, `${one.name}-${size.width}-${dark ? 'dark' : 'light'}.png`),
      });
      pictures += 1;
    } catch (error) {
      failures.push({
        page: one.name,
        width: size.width,
        dark,
        cause: String(error).split('\n')[0]!.slice(0, 120),
      });
    }
  }
  await context.close();
  return { failures, pictures };
}

/**
 * Adds what people would have by then: a panel of their own, and a question; returns the page of
 * that conversation.
 */
async function furnish({ url, email, password }: Demo): Promise<OnePage> {
  let authorization: Record<string, string> = {};
  const post = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${path}: ${text}`);
    }
    return JSON.parse(text) as T;
  };
  const { access_token: token } = await post<{ access_token: string }>('/auth/login', {
    email,
    password,
  });
  authorization = { authorization: `Bearer ${token}` };
  await post('/monitor/panels', {
    dashboard_uid: 'mine',
    title: 'Processor',
    type: 'timeseries',
    query: 'avg(node_cpu_usage_percent)',
  });
  const { id } = await post<{ id: string }>('/chat/sessions', {});
  await post(`/chat/sessions/${id}/messages`, {
    content: 'What is wrong with the shop? call incidents_list {}',
  });
  return { name: 'chat', address: `/ui/chat/${id}`, sign: /What is wrong/ };
}

/** Starts `svc demo` on a free port, and waits until its story is over. */
async function startDemo(): Promise<{ readonly demo: Demo; readonly end: () => Promise<void> }> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(root, 'bin/svc'), 'demo', '--port', '0', '--hosts', '16', '--fault-after', '10'],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  );
  const end = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill('SIGINT');
    await gone;
  };
  let url = '';
  let signIn: readonly string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    url = /is ready at (\S+)/.exec(line)?.[1] ?? url;
    signIn = /Sign in as (\S+) with password (\S+)/.exec(line)?.slice(1) ?? signIn;
    if (line.includes('The demo cannot go on')) {
      await end();
      throw new Error(line);
    }
    if (line.includes('/ui/incidents/')) {
      return { demo: { url, email: signIn[0]!, password: signIn[1]! }, end };
    }
  }
  throw new Error('svc demo ended before its story was told');
}
