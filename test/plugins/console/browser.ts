import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

import { findBrowser, peer } from '../../peers.ts';

/** Flags that disable anything that contacts the network or draws on a screen. */
const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface View {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page: of scripts, of the policy, of requests. */
  readonly complaints: readonly string[];
  /** Takes a complaint back that the test has caused on purpose. */
  forgive(pattern: RegExp): void;
}

/**
 * Opens a Chromium that ends with the test; undefined (and the test is skipped) if there is none.
 */
export async function openBrowser(
  t: Pick<TestContext, 'after' | 'skip'>,
): Promise<Browser | undefined> {
  const executablePath = findBrowser() ?? peer(t, 'chromium-headless-shell');
  if (executablePath === undefined) {
    return undefined;
  }
  const browser = await chromium.launch({ executablePath, args: flags });
  t.after(() => browser.close());
  return browser;
}

/** A fresh window: no cookies, nothing kept. Whatever is said in its console, or asked of another host, counts. */
export async function openView(
  browser: Browser,
  url: string,
  {
    width = 1280,
    height = 800,
    dark = false,
  }: { readonly width?: number; readonly height?: number; readonly dark?: boolean } = {},
): Promise<View> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  // What has to be quick says so itself; the rest only has to come, on a busy machine, too.
  page.setDefaultTimeout(60_000);
  let complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      complaints.push(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) {
      complaints.push(`asks elsewhere: ${request.url()}`);
    }
  });
  return {
    page,
    context,
    get complaints() {
      return complaints;
    },
    forgive(pattern) {
      complaints = complaints.filter((text) => !pattern.test(text));
    },
  };
}

/**
 * Returns accessibility problems found by axe, each as one line. It is injected by the debugger,
 * which the policy of the page does not bind.
 */
export async function barriers({ page, context }: View): Promise<readonly string[]> {
  const debug = await context.newCDPSession(page);
  const run = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + help + ': ' + html.slice(0, 200) + ' ' + (failureSummary.split('\\n')[1] ?? ''))))`;
  try {
    await debug.send('Runtime.evaluate', { expression: axe });
    const { result, exceptionDetails } = await debug.send('Runtime.evaluate', {
      expression: run,
      awaitPromise: true,
      returnByValue: true,
    });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value as readonly string[];
  } finally {
    await debug.detach();
  }
}

/** Signs in by the form, as somebody would. */
export async function signIn(
  { page }: View,
  url: string,
  email: string,
  password: string,
): Promise<void> {
  await page.goto(`${url}/`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Search or jump to' }).waitFor();
}

/** `forgiven`: complaints that belong to what was done, whenever they come. */
export async function assertClean(view: View, at: string, forgiven?: RegExp): Promise<void> {
  assert.deepEqual(await barriers(view), [], `barriers ${at}`);
  if (forgiven !== undefined) {
    view.forgive(forgiven);
  }
  assert.deepEqual(view.complaints, [], `complaints ${at}`);
}
