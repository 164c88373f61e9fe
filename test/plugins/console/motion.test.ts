import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { Browser, Page } from 'playwright-core';

import { startWholeHouse, type WholeHouse } from '../../whole-house.ts';
import { assertClean, openBrowser, openView, signIn, type View } from './browser.ts';
import { faultsOf } from './look.ts';
import { pushPast } from './past.ts';

const password = 'correct horse';
let dataDir: string;
let house: WholeHouse;
let browser: Browser | undefined;
const endings: (() => unknown)[] = [];

const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const answer = await house.fetch(`/api/v1${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-motion-'));
  browser = await openBrowser({
    after: (end: () => unknown) => void endings.push(end),
    skip: () => undefined,
  });
  if (!browser) {
    return;
  }
  house = await startWholeHouse({ dataDir });
  await ask('POST', '/users', {
    email: 'ada@example.org',
    display_name: 'Ada',
    password,
    role: 'admin',
  });
  // More than a day of a queue that holds 40, and for ten minutes 90.
  await pushPast(house, 'shop_queue_length', { hours: 26, everyMinutes: 1 }, (minutesAgo) =>
    minutesAgo > 20 && minutesAgo <= 30 ? 90 : 40,
  );
  await pushPast(house, 'shop_workers', { hours: 26, everyMinutes: 1 }, () => 10);
  const at = BigInt(Date.now() - 25 * 60_000) * 1_000_000n;
  const answer = await house.fetch('/loki/api/v1/push', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      streams: [
        {
          stream: { service_name: 'shop' },
          values: [
            [String(at), 'orders pile up'],
            ...['ada', 'ben', 'ada'].map((user, index) => [
              String(at + BigInt(index + 1) * 1_000_000n),
              JSON.stringify({ level: 'error', msg: `order ${index} is late`, user }),
            ]),
          ],
        },
        { stream: { service_name: 'mail' }, values: [[String(at + 5_000_000n), 'sent']] },
      ],
    }),
  });
  assert.ok(answer.ok, await answer.text());
  await pushTrace('4bf92f3577b34da6a3ce929d0e0e4736', 300);
  await pushTrace('5bf92f3577b34da6a3ce929d0e0e4736', 80);
});

/** Sends a trace of the shop that waits for its database for some milliseconds. */
async function pushTrace(traceId: string, waits: number): Promise<void> {
  const began = BigInt(Date.now() - 120_000) * 1_000_000n;
  const at = (ms: number): string => String(began + BigInt(ms) * 1_000_000n);
  const spanOf = (service: string, span: Readonly<Record<string, unknown>>): object => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
    scopeSpans: [{ spans: [{ traceId, ...span }] }],
  });
  const answer = await house.fetch('/otlp/v1/traces', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      resourceSpans: [
        spanOf('shop', {
          spanId: '00f067aa0ba902b7',
          name: 'POST /orders',
          kind: 2,
          startTimeUnixNano: at(0),
          endTimeUnixNano: at(waits + 100),
        }),
        spanOf('database', {
          spanId: '00f067aa0ba902b8',
          parentSpanId: '00f067aa0ba902b7',
          name: 'insert order',
          kind: 2,
          startTimeUnixNano: at(50),
          endTimeUnixNano: at(50 + waits),
        }),
      ],
    }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

after(async () => {
  for (const end of endings) {
    await end();
  }
  await house?.end();
  rmSync(dataDir, { recursive: true, force: true });
});

async function signedIn(options: Parameters<typeof openView>[2] = {}): Promise<View> {
  const view = await openView(browser!, house.url, options);
  await signIn(view, house.url, 'ada@example.org', password);
  return view;
}

/** Opens the menu of a chart by the keyboard. */
async function openMenu(page: Page, title: string): Promise<void> {
  await page.getByRole('img', { name: new RegExp(`^${title}\\.`) }).waitFor();
  await page.getByRole('button', { name: `Actions: ${title}` }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: `Actions for “${title}”` }).waitFor();
}

const parameter = (page: Page, name: string): string | null =>
  new URL(page.url()).searchParams.get(name);

test(
  'a chart leads by the keyboard to a dashboard, a rule, the logs of its peak, a note, and a question to an agent',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    const explore = `${house.url}/ui/explore?q=shop_queue_length`;
    await page.goto(explore);
    await openMenu(page, 'shop_queue_length');
    await assertClean(view, 'the menu of a chart');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Make a rule' }).waitFor({ state: 'detached' });
    assert.equal(
      await page.evaluate('document.activeElement.getAttribute("aria-label")'),
      'Actions: shop_queue_length',
    );

    await openMenu(page, 'shop_queue_length');
    await page.getByRole('button', { name: /^Peak/ }).press('Enter');
    await page.getByRole('link', { name: 'Open logs' }).press('Enter');
    await page.getByText('orders pile up').waitFor();
    const [from, to] = parameter(page, 'at')!.split('-').map(Number);
    assert.ok(to! - from! < 1_200, 'the ten minutes of the peak, and some around it');
    assert.equal(parameter(page, 'q'), '{service_name="shop"}');

    await page.goto(explore);
    await openMenu(page, 'shop_queue_length');
    await page.getByRole('link', { name: 'Open traces' }).press('Enter');
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    assert.equal(parameter(page, 'q'), '{ resource.service.name = "shop" }');

    await page.goto(explore);
    await openMenu(page, 'shop_queue_length');
    await page.getByRole('link', { name: 'Ask an agent' }).press('Enter');
    const question = await page.getByLabel('Message').inputValue();
    assert.match(question, /“shop_queue_length” between \S+Z and \S+Z\?.*: shop_queue_length\n/);

    await page.goto(explore);
    await openMenu(page, 'shop_queue_length');
    await page.getByRole('link', { name: 'Make a rule' }).press('Enter');
    await page.getByRole('slider', { name: /^Threshold/ }).waitFor();

    await page.goto(explore);
    await openMenu(page, 'shop_queue_length');
    await page.getByRole('button', { name: /^Peak/ }).press('Enter');
    await page.getByRole('button', { name: 'Add note' }).press('Enter');
    await page.getByLabel('What happened').fill('the sale began');
    await assertClean(view, 'the dialog of a note');
    await page.keyboard.press('Enter');
    await page.getByRole('listitem').filter({ hasText: 'the sale began · Ada' }).waitFor();
    await assertClean(view, 'a chart with a note');

    await page.goto(explore);
    await openMenu(page, 'shop_queue_length');
    await page.getByRole('button', { name: 'Pin to dashboard' }).press('Enter');
    await page.getByLabel('Name of the dashboard').fill('Night watch');
    await page.getByLabel('Name of the panel').fill('Queue');
    await assertClean(view, 'the dialog of a pin');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Night watch' }).waitFor();
    await page.getByRole('img', { name: /^Queue\./ }).waitFor();
    assert.match(page.url(), /\/ui\/dashboards\/night-watch/);

    // A panel is a chart as every other: it goes to the dashboard that exists now.
    await openMenu(page, 'Queue');
    await page.getByRole('button', { name: 'Pin to dashboard' }).press('Enter');
    await page.getByLabel('Dashboard', { exact: true }).selectOption('night-watch');
    await page.getByLabel('Name of the panel').fill('Queue again');
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /^Queue again\./ }).waitFor();
    await assertClean(view, 'the dashboard');
  },
);

test(
  'a click into a chart asks about its moment, and the range goes along from page to page',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn({ width: 360, height: 740, dark: true });
    const { page } = view;
    await page.goto(`${house.url}/ui/explore?q=shop_queue_length`);
    const drawing = page.getByRole('img', { name: /^shop_queue_length\./ });
    await drawing.locator('canvas').waitFor();
    await drawing.click();
    await page.getByRole('button', { name: /^At \d/, pressed: true }).waitFor();
    await assertClean(view, 'the menu at 360 px');
    assert.deepEqual(await faultsOf(page), []);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Choose another time range' }).click();
    await page.getByLabel('Last', { exact: true }).fill('45x');
    await page.getByText('Write a number with m, h or d').waitFor();
    await page.getByLabel('Last', { exact: true }).fill('45m');
    await assertClean(view, 'the dialog of a range');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: '45m', pressed: true }).waitFor();
    await page.getByLabel('Refresh', { exact: true }).selectOption('off');
    await page.getByRole('link', { name: 'Logs', exact: true }).first().click();
    await page.getByText('orders pile up').waitFor();
    assert.deepEqual([parameter(page, 'at'), parameter(page, 'refresh')], ['45m', 'off']);
    // A page without a time of its own leaves it as it was.
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Rules' }).waitFor();
    assert.equal(parameter(page, 'at'), null);
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.getByRole('heading', { name: 'Traces' }).waitFor();
    assert.equal(parameter(page, 'at'), '45m');
    await page.getByRole('button', { name: '1h', exact: true }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('heading', { name: 'Explore' }).waitFor();
    assert.equal(parameter(page, 'at'), null);
    await assertClean(view, 'Explore');
  },
);

test(
  'queries and a formula of them are one chart, beside that of yesterday; a form writes a query and reads it',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/explore?q=shop_queue_length`);
    await page.getByRole('button', { name: 'Add query' }).click();
    await page.getByLabel('PromQL query B').fill('shop_workers');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add query' }).click();
    await page.getByLabel('PromQL query C').fill('A / B');
    await page.keyboard.press('Enter');
    // 40 orders for 10 workers.
    const ratio = page.getByRole('table', { name: 'Current values: C' });
    await ratio
      .getByRole('row')
      .filter({ hasText: /^\{.*4$|\{\}4$/ })
      .waitFor();
    await page.getByRole('button', { name: 'Hide query A' }).click();
    await page.getByRole('button', { name: 'Hide query B' }).click();
    const drawing = page.locator('.plot');
    await page.locator('.plot[aria-label*=" · C 4"]').waitFor();
    await page.getByLabel('Compare with').selectOption('yesterday');
    await page.locator('.plot[aria-label*=" · C yesterday 4"]').waitFor();
    assert.doesNotMatch((await drawing.getAttribute('aria-label'))!, / · [AB]\b/);
    await assertClean(view, 'Explore with three queries');
    assert.deepEqual(await faultsOf(page), []);
    // What was asked is in the address, so another reader sees the same.
    await page.reload();
    await page.locator('.plot[aria-label*=" · C yesterday 4"]').waitFor();
    await page.getByLabel('PromQL query C').fill('C + 1');
    await page.keyboard.press('Enter');
    await page.getByText('These queries refer to each other.').waitFor();

    await page.goto(
      `${house.url}/ui/explore?q=${encodeURIComponent('max(shop_queue_length{job="shop"})')}`,
    );
    await page.getByRole('button', { name: 'Builder' }).click();
    assert.equal(await page.getByLabel('Metric').inputValue(), 'shop_queue_length');
    assert.equal(await page.getByLabel('Value', { exact: true }).inputValue(), 'shop');
    await page.getByLabel('Function').selectOption('avg_over_time');
    await page.getByLabel('By labels').fill('job');
    await page.keyboard.press('Enter');
    await assertClean(view, 'the query builder');
    const written = page.getByLabel('PromQL query');
    const expected = 'max by (job) (avg_over_time(shop_queue_length{job="shop"}[5m]))';
    for (let look = 0; look < 600 && (await written.inputValue()) !== expected; look++) {
      await pause(100);
    }
    assert.equal(await written.inputValue(), expected);
    await page.getByLabel('PromQL query').fill('max(shop_queue_length) / 2');
    await page.keyboard.press('Enter');
    await page.getByText('The builder cannot show this query.').waitFor();
  },
);

test(
  'log lines are counted by level, filtered by a click, shown with columns and with the lines around them',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{}, { dark: true, width: 360 }]) {
      const view = await signedIn(options);
      const { page } = view;
      await page.goto(
        `${house.url}/ui/logs?q=${encodeURIComponent('{service_name=~"shop|mail"}')}`,
      );
      await page.getByRole('heading', { name: '5 lines' }).waitFor();
      await page
        .getByRole('listitem')
        .filter({ hasText: /^error3$/ })
        .waitFor();
      const fields = page.getByText('Fields of these lines');
      if (options.width !== undefined) {
        await fields.click();
      }
      await page.getByText('user 2 values').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Column user' }).press('Enter');
      await page.locator('.log-column', { hasText: 'ben' }).waitFor();
      await assertClean(view, 'lines with a column');
      assert.deepEqual(await faultsOf(page), []);
      await page.getByRole('link', { name: 'ada', exact: true }).press('Enter');
      await page.getByRole('heading', { name: '2 lines' }).waitFor();
      assert.equal(parameter(page, 'q'), '{service_name=~"shop|mail"} | json | user="ada"');

      // What came around a line is there, whatever the query leaves out.
      await page.getByRole('button', { name: /order 2 is late/ }).press('Enter');
      await page.getByRole('button', { name: 'Lines before and after' }).press('Enter');
      const around = page.getByRole('list', { name: 'Lines before and after' });
      await around.getByText('orders pile up').waitFor();
      await around.getByText(/order 1 is late/).waitFor();
      assert.equal(await around.getByText('sent').count(), 0);
      await assertClean(view, 'a line in its context');

      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download lines' }).press('Enter');
      assert.equal((await saved).suggestedFilename(), 'lines.log');
      await page.goto(`${house.url}/ui/logs?q=${encodeURIComponent('{service_name="shop"}')}`);
      await page.getByText('Patterns', { exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: /order .* is late/ }).press('Enter');
      await page.getByRole('heading', { name: '3 lines' }).waitFor();
      await assertClean(view, 'lines of a pattern');
      await view.context.close();
    }
  },
);

test(
  'a trace says what it waited for, beside another one; its services lead to their figures and logs',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{}, { dark: true, width: 360 }]) {
      const view = await signedIn(options);
      const { page } = view;
      await page.goto(`${house.url}/ui/traces/4bf92f3577b34da6a3ce929d0e0e4736`);
      // Of 400 ms, 300 were those of the database.
      const path = page.getByRole('table', { name: 'Critical path' });
      await path.getByRole('row', { name: /insert order .*300 ms 75 %/ }).waitFor();
      await path.getByRole('row', { name: /POST \/orders .*100 ms 25 %/ }).waitFor();
      await page.getByLabel('Trace ID').fill('5bf92f3577b34da6a3ce929d0e0e4736');
      await page.keyboard.press('Enter');
      await page
        .getByRole('table', { name: 'Compare with another trace' })
        .getByRole('row', { name: /insert order .*300 ms 80 ms \+220 ms/ })
        .waitFor();
      await page.getByRole('button', { name: /POST \/orders/ }).press('Enter');
      await page.getByText('Own work').waitFor();
      await assertClean(view, 'a trace beside another');
      assert.deepEqual(await faultsOf(page), []);
      assert.match(
        (await page.getByRole('link', { name: 'Logs of this time' }).getAttribute('href'))!,
        /q=%7Bservice_name%3D%22shop%22%7D&at=\d+-\d+$/,
      );
      await page.getByRole('link', { name: 'Service figures' }).press('Enter');
      await page.getByRole('heading', { name: 'Service shop' }).waitFor();
      await page.getByRole('heading', { name: 'Failed requests' }).waitFor();
      await page
        .getByRole('row', { name: /POST \/orders/ })
        .first()
        .waitFor();
      await assertClean(view, 'the traces of a service');
      await view.context.close();
    }
  },
);
