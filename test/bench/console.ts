import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Browser, chromium, type Page } from 'playwright-core';

import type { Outcome, Row } from '../exercise.ts';
import { findBrowser } from '../peers.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { drawLive } from './console-chart.ts';
import { letIn, pushFigures, raise, writeDevices } from './console-fleet.ts';
import { useConsole } from './console-hands.ts';

const pages = ['/', '/ui/incidents', '/ui/devices', '/ui/explore', '/ui/logs'];
const password = 'correct horse';
const email = 'ada@example.org';

/** A page of a fleet that is ten times too large is measured, too. */
const longestMs = 180_000;

/** Goals of the page. */
const goals = { firstPageKib: 60, paintMs: 100 };

interface Visit extends Row {
  readonly devices: number;
  readonly page: string;
  readonly visit: 'first' | 'again';
  /** Compressed size of the document, scripts and styles alone, without response headers. */
  readonly code_kib: number;
  readonly kib: number;
  readonly requests: number;
  readonly painted_ms: number;
  readonly useful_ms: number;
}

/**
 * Bytes, requests and the time until something useful is painted, of each page, first with nothing kept, then again; what hands wait for;
 * and pictures a second of a chart of fifty lines that is live. With so many devices and incidents, and with `times` as many.
 */
export async function run({
  devices = 10_000,
  incidents = 500,
  times = 10,
}: {
  readonly devices?: number;
  readonly incidents?: number;
  readonly times?: number;
}): Promise<Outcome> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Error('chromium is not installed (Debian: apt-get install chromium-headless-shell)');
  }
  const browser = await chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  });
  try {
    const all = [];
    for (const factor of times > 1 ? [1, times] : [1]) {
      all.push(await oneFleet(browser, devices * factor, incidents * factor));
    }
    const [own] = all;
    const firstPageKib = own!.visits.find(
      ({ page, visit }) => page === '/' && visit === 'first',
    )!.code_kib;
    const slowestPaintMs = Math.max(...own!.hands.map(({ paint_ms: ms }) => Number(ms)));
    return {
      ok: firstPageKib <= goals.firstPageKib && slowestPaintMs <= goals.paintMs,
      devices,
      incidents,
      first_page_kib: firstPageKib,
      slowest_paint_ms: slowestPaintMs,
      visits: all.flatMap(({ visits }) => visits),
      hands: all.flatMap(({ hands }) => hands),
      charts: all.map(({ chart }) => chart),
    };
  } finally {
    await browser.close();
  }
}

async function oneFleet(browser: Browser, devices: number, incidents: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-console-'));
  let house = await startWholeHouse({ dataDir });
  try {
    await house.fetch('/api/v1/users', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, display_name: 'Ada', password, role: 'admin' }),
    });
    await house.end();
    writeDevices(dataDir, devices);
    house = await startWholeHouse({ dataDir });
    await letIn(house, devices * 8);
    await pushFigures(house, devices, incidents);
    await raise(house, incidents);
    return await measured(browser, house, devices);
  } finally {
    await house.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measured(browser: Browser, house: WholeHouse, devices: number) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
  });
  const page = await context.newPage();
  await page.goto(`${house.url}/`);
  await page.getByLabel('Email').fill(email);
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
      visits.push({ devices, page: address, visit, ...(await open(page, house.url + address)) });
    }
  }
  const hands = (await useConsole(page, house.url, devices)).map((row): Row => ({
    devices,
    ...row,
  }));
  const chart: Row = { devices, ...(await drawLive(page, house)) };
  await context.close();
  return { visits, hands, chart };
}

async function open(
  page: Page,
  url: string,
): Promise<Pick<Visit, 'code_kib' | 'kib' | 'requests' | 'painted_ms' | 'useful_ms'>> {
  const began = performance.now();
  await page.goto(url);
  await page.locator('main h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached', timeout: longestMs });
  const usefulMs = performance.now() - began;
  const [code, bytes, requests, painted] = await page.evaluate<[number, number, number, number]>(
    `(() => {
      const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      const sum = (entries) => entries.reduce((total, { transferSize = 0 }) => total + transferSize, 0);
      const packed = (entries) => entries.reduce((total, { transferSize, encodedBodySize }) => total + (transferSize > 0 ? encodedBodySize : 0), 0);
      const code = all.filter(({ name }) => !new URL(name).pathname.startsWith('/api/') && !/^[/](?:prometheus|loki|tempo|readyz)/.test(new URL(name).pathname));
      return [packed(code), sum(all), all.length, performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0];
    })()`,
  );
  const kib = (size: number): number => Math.round(size / 102.4) / 10;
  return {
    code_kib: kib(code),
    kib: kib(bytes),
    requests,
    painted_ms: Math.round(painted),
    useful_ms: Math.round(usefulMs),
  };
}
