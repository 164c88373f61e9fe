import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Browser } from 'playwright-core';

import { assertClean, openBrowser } from './browser.ts';
import { type ConsoleHouse, startConsoleHouse } from './console-house.ts';
import { faultsOf } from './look.ts';

const names = ['shop-db', 'shop-web', 'mail'];
const endings: (() => unknown)[] = [];
let browser: Browser | undefined;
let house: ConsoleHouse;

before(async () => {
  browser = await openBrowser({
    after: (end: () => unknown) => void endings.push(end),
    skip: () => undefined,
  });
  if (!browser) {
    return;
  }
  house = await startConsoleHouse({ hosts: names.length });
  for (const [at, name] of names.entries()) {
    await send('PATCH', `/devices/${at + 1}`, { display_name: name, tags: { env: 'prod' } });
  }
  await send('PATCH', '/devices/1/roles', { roles: ['db'] });
});

after(async () => {
  for (const end of endings) {
    await end();
  }
  await house?.end();
});

async function send(method: string, path: string, body: object): Promise<void> {
  const answer = await house.fetch(`/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, `${path} ${await answer.text()}`);
}

test(
  'devices are searched, sorted, grouped and mapped, and changed together, by keyboard',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{}, { dark: true, width: 360 }]) {
      const view = await house.view(browser, options);
      const { page } = view;
      await page.goto(`${house.url}/ui/devices?q=role%3Adb`);
      await page.getByRole('row', { name: /shop-db/ }).waitFor();
      await page.getByRole('row', { name: /mail/ }).waitFor({ state: 'detached' });
      await page.getByRole('searchbox').fill('env=prod -shop-web');
      await page.getByRole('row', { name: /mail/ }).waitFor();
      await page.getByRole('button', { name: 'Name' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('th[aria-sort="descending"]').waitFor();
      await page.getByRole('searchbox').fill('colour:red');
      await page.getByText('The search has no field colour').waitFor();
      view.forgive(/400/);
      await page.getByRole('searchbox').fill('');
      await page.getByText('How to search').click();
      await page.getByText('role:db -status:offline').waitFor();
      await assertClean(view, 'the list');
      await page.getByRole('button', { name: 'Map' }).click();
      await page.getByRole('img', { name: /^3 devices/ }).waitFor();
      await assertClean(view, 'the map');
      await page.getByLabel('Color by').selectOption('memory');
      await page.getByRole('img', { name: /^3 devices by memory: .* %; 0 not measured/ }).waitFor();
      await page.getByLabel('Other metric').fill('node_load5');
      await page.getByLabel('Other metric').press('Enter');
      await page.getByRole('img', { name: /^3 devices by node_load5/ }).waitFor();
      await assertClean(view, 'the map by a metric');
      assert.deepEqual(await faultsOf(page), []);
      await page.getByRole('button', { name: 'Groups' }).click();
      await page.getByRole('searchbox', { name: 'Tag' }).fill('env');
      await page.getByRole('link', { name: 'prod' }).waitFor();
      await assertClean(view, 'the groups');
      await view.context.close();
    }

    const view = await house.view(browser);
    const { page } = view;
    await page.goto(`${house.url}/ui/devices`);
    await page.getByRole('row', { name: /mail.* last hour: [\d.]+ % to [\d.]+ %/ }).waitFor();
    await page.getByRole('searchbox').fill('role:db');
    await page.getByRole('button', { name: 'Save view' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Databases');
    await assertClean(view, 'saving a view');
    await page.keyboard.press('Enter');
    const saved = page.getByRole('link', { name: 'Databases' });
    await saved.waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('row', { name: /mail/ }).waitFor();
    await saved.press('Enter');
    await page.getByRole('row', { name: /mail/ }).waitFor({ state: 'detached' });
    assert.match(page.url(), /\?q=role%3Adb$/);
    await page.getByRole('button', { name: 'Delete view Databases' }).press('Enter');
    await saved.waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('');
    await page.getByText('Columns', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Load, 1 h').check();
    await page.getByLabel('Last seen').uncheck();
    await page.getByRole('columnheader', { name: 'Last seen' }).waitFor({ state: 'detached' });
    await page
      .getByRole('img', { name: /last hour: [\d.]+ to [\d.]+$/ })
      .first()
      .waitFor();
    await assertClean(view, 'the columns');
    assert.deepEqual(await faultsOf(page), []);
    for (const name of ['mail', 'shop-web']) {
      await page.getByRole('checkbox', { name }).focus();
      await page.keyboard.press('Space');
    }
    // Somebody else tags them meanwhile, which the list does not show yet.
    for (const [at, name] of names.entries()) {
      await send('PATCH', `/devices/${at + 1}`, { tags: { env: 'prod', team: name } });
    }
    await page.getByRole('button', { name: 'Set tag…' }).click();
    await page.getByLabel('Tag', { exact: true }).fill('owner=ann');
    await assertClean(view, 'the question');
    await page.keyboard.press('Enter');
    await page.getByText('Done: 2 of 2').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    const mail = names.indexOf('mail') + 1;
    const { tags } = (await (await house.fetch(`/api/v1/devices/${mail}`)).json()) as {
      tags: object;
    };
    assert.deepEqual(tags, { env: 'prod', team: 'mail', owner: 'ann' });
    await page.getByRole('searchbox').fill('owner=ann');
    await page.getByRole('row', { name: /mail/ }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all listed rows' }).check();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('is online and watches device').first().waitFor();
    await page.getByText('Done: 0 of 2').waitFor();
    await assertClean(view, 'what was refused', /409/);
    await view.context.close();
    return undefined;
  },
);

test(
  'the page of a host shows its processes over time, its disks, and what it can answer itself, in one range',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{}, { dark: true, width: 360 }]) {
      const view = await house.view(browser, options);
      const { page } = view;
      await page.goto(`${house.url}/ui/devices/1`);
      await page.getByRole('img', { name: /^CPU\..* nginx \(400\) [\d.]+ %/ }).waitFor();
      await page.getByRole('button', { name: 'Memory', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('img', { name: /^Memory\..* nginx \(400\) [\d.]+ GiB/ }).waitFor();
      await page
        .getByRole('table', { name: 'Disks by mount point' })
        .getByRole('row', { name: /^\/.*%/ })
        .waitFor();
      // The agent of this host has no such skill, and the page says what to do.
      await page.getByText('Units', { exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('The agent of this device does not offer this.').waitFor();
      view.forgive(/404/);
      await page.getByRole('button', { name: '15m', exact: true }).click();
      await page.getByRole('img', { name: /^Memory\./ }).waitFor();
      await assertClean(view, 'the page of a host');
      assert.deepEqual(await faultsOf(page), []);
      // Hours that nobody remembers are not drawn as empty.
      const end = Math.floor(Date.now() / 1000) - 30 * 86_400;
      await page.goto(`${house.url}/ui/devices/1?at=${end - 3_600}-${end}`);
      await page.getByText('No process was noted in this time range.').waitFor();
      await page.getByText('no figures of disks arrived in this time range.').waitFor();
      await page.getByRole('link', { name: 'Open Agents' }).first().click();
      await page.getByRole('heading', { name: 'shop-db' }).waitFor();
      await view.context.close();
    }
  },
);

test(
  'services show who calls whom, how often, how well and how fast, and lead to their traces',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{}, { dark: true, width: 360 }]) {
      const view = await house.view(browser, options);
      const { page } = view;
      await page.goto(`${house.url}/ui/topology/services`);
      await page.getByRole('img', { name: /^3 services with \d connections/ }).waitFor();
      const call = page.getByRole('row', { name: /^front-0001 → cart-0001 [\d.]+\/s [\d.]+ %/ });
      await call.waitFor();
      await page.getByRole('button', { name: 'Zoom in' }).press('Enter');
      await assertClean(view, 'the services');
      assert.deepEqual(await faultsOf(page), []);
      await call.getByRole('link').press('Enter');
      await page.getByRole('heading', { name: 'Service cart-0001' }).waitFor();
      await page.getByRole('link', { name: 'serve' }).first().waitFor();
      await page.goto(`${house.url}/ui/topology`);
      await page.getByRole('img', { name: /^Map of 3 nodes, \d with alerts/ }).waitFor();
      await assertClean(view, 'the nodes');
      await view.context.close();
    }
    return undefined;
  },
);

test(
  'people meet names of devices in legends, and in lists of traces, and the secret of an agent is rotated on its page',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await house.view(browser);
    const { page } = view;
    await page.goto(`${house.url}/ui/explore?q=${encodeURIComponent('node_load1{device="mail"}')}`);
    await page.getByRole('cell', { name: /device="mail"/ }).waitFor();
    await page.goto(`${house.url}/ui/traces`);
    await page
      .getByRole('row')
      .getByText(/^(?:mail|shop-web|shop-db)/)
      .first()
      .waitFor();
    await page.goto(`${house.url}/ui/devices/1/agents`);
    await page.getByRole('button', { name: 'Rotate secret' }).first().click();
    await page.getByText('A connected agent has already received it').waitFor();
    await assertClean(view, 'the new secret');
    await view.context.close();
    return undefined;
  },
);

test(
  'the audit log shows what changed, by whom and from where, and finds it by person and resource',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{}, { dark: true, width: 360 }]) {
      const view = await house.view(browser, options);
      const { page } = view;
      await page.goto(`${house.url}/ui/audit?resource_type=device&resource_id=1`);
      await page
        .getByRole('button', { name: /device:update/ })
        .last()
        .click();
      const changed = page.getByRole('table', { name: 'What changed' });
      await changed.getByRole('row', { name: /display_name .* shop-db/ }).waitFor();
      await assertClean(view, 'an entry');
      await page.getByRole('link', { name: 'All entries about this resource' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('searchbox', { name: /^Address/ }).fill('192.0.2.77');
      await page.getByText('No matching entries').waitFor();
      await assertClean(view, 'the filters');
      await view.context.close();
    }
    return undefined;
  },
);

test(
  'an incident is handed over with what is known, as a text that stays in its timeline',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const options of [{ width: 1_280 }, { dark: true, width: 360 }]) {
      const view = await house.view(browser, options);
      const { page } = view;
      await page.goto(`${house.url}/ui/incidents/1`);
      await page.getByRole('button', { name: 'Hand over' }).press('Enter');
      const summary = page.getByLabel('Summary', { exact: true });
      await summary.waitFor();
      const written = await summary.inputValue();
      assert.match(written, /^it is always so\nCritical, Open\nFired /);
      assert.ok(written.endsWith(`${house.url}/ui/incidents/1`), written);
      await summary.fill(`${written}\nBen goes on at ${options.width} pixels.`);
      await assertClean(view, 'what is handed over');
      await page.getByRole('button', { name: 'Add to timeline' }).press('Enter');
      await page
        .locator('.timeline')
        .getByText(`Ben goes on at ${options.width} pixels.`)
        .first()
        .waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await view.context.close();
    }
    return undefined;
  },
);
