import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { chromium, type Page } from 'playwright-core';

import type { Outcome, Row } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';

const pages = ['/', '/ui/incidents', '/ui/devices', '/ui/explore', '/ui/logs'];
const password = 'correct horse';

interface Visit extends Row {
  readonly page: string;
  readonly visit: 'first' | 'again';
  readonly kib: number;
  readonly requests: number;
  readonly useful_ms: number;
}

/** Bytes, requests and the time until something useful is painted, of each page: first with nothing kept, then again. */
export async function run({ incidents = 50 }: { readonly incidents?: number }): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-console-'));
  const executablePath = findPeer('chromium');
  if (executablePath === undefined) {
    throw new Error('chromium is not installed (Debian: apt-get install chromium)');
  }
  const house = await startWholeHouse({ dataDir });
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  try {
    await fill(house, incidents);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${house.url}/`);
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const visits: Visit[] = [];
    for (const visit of ['first', 'again'] as const) {
      for (const address of pages) {
        if (visit === 'first') {
          const debug = await context.newCDPSession(page);
          await debug.send('Network.clearBrowserCache');
          await debug.detach();
        }
        visits.push({ page: address, visit, ...(await open(page, house.url + address)) });
      }
    }
    return { incidents, visits };
  } finally {
    await browser.close();
    await house.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function open(page: Page, url: string): Promise<Pick<Visit, 'kib' | 'requests' | 'useful_ms'>> {
  const began = performance.now();
  await page.goto(url);
  await page.locator('main h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  const usefulMs = performance.now() - began;
  const [bytes, requests] = await page.evaluate<[number, number]>(
    `(() => { const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]; return [all.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0), all.length]; })()`,
  );
  return { kib: Math.round(bytes / 102.4) / 10, requests, useful_ms: Math.round(usefulMs) };
}

/** One account, and so many rules that each hold. */
async function fill(house: WholeHouse, incidents: number): Promise<void> {
  const put = (path: string, body: object): Promise<Response> =>
    house.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await put('/api/v1/users', { email: 'ada@example.org', display_name: 'Ada', password, role: 'admin' });
  for (let number = 0; number < incidents; number += 1) {
    await put('/api/v1/alert-rules', {
      ...{ rule_key: `bench_${number}`, name: `Bench ${number}`, kind: 'metric_raw', source_type: 'svc_builtin', scope_type: 'global', join_mode: 'all' },
      ...{ severity: 'warning', conditions: [{ expr: 'vector(1) > 0' }] },
    });
  }
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await pause(500)) {
    const { total } = (await (await house.fetch('/api/v1/alerts/incidents')).json()) as { total: number };
    if (total >= incidents) {
      return;
    }
  }
  throw new Error(`the rules did not make ${incidents} incidents within two minutes`);
}
