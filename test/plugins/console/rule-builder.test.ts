import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import type { Browser } from 'playwright-core';

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
  dataDir = mkdtempSync(join(tmpdir(), 'svc-rule-builder-'));
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
  await ask('POST', '/notification-channels', {
    name: 'far',
    channel_type: 'webhook',
    endpoint: 'https://192.0.2.1/hook',
  });
  // Ten hours of a queue that holds 40, and once for half an hour 90.
  await pushPast(house, 'shop_queue_length', { hours: 10, everyMinutes: 1 }, (minutesAgo) =>
    minutesAgo > 180 && minutesAgo <= 210 ? 90 : 40,
  );
});

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

interface Saved {
  readonly rule_key: string;
  readonly name: string;
  readonly severity: string;
  readonly scope_type: string;
  readonly conditions: readonly object[];
  readonly labels: object;
  readonly annotations: object;
  readonly runbook_url: string;
  readonly notify_channel_ids: readonly number[];
}

const rules = async (q: string): Promise<readonly Saved[]> =>
  (await ask<{ items: readonly Saved[] }>('GET', `/alert-rules?q=${q}`)).items;

test(
  'a query becomes a rule by the keyboard: its curve, a line above it, and the firings below the line',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/rules/new?q=shop_queue_length`);
    const line = page.getByRole('slider', { name: /^Threshold/ });
    await line.waitFor();
    // Just above what the query has measured, so that nothing fires.
    const threshold = page.getByLabel('Threshold', { exact: true });
    await page.locator('[role=slider][aria-valuetext="99"]').waitFor();
    assert.equal(await threshold.inputValue(), '99');
    await page.getByText('The rule would not have fired.').waitFor();
    await assertClean(view, 'the builder');
    assert.deepEqual(await faultsOf(page), []);
    await line.focus();
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press('ArrowDown');
    }
    const moved = Number(await threshold.inputValue());
    assert.ok(moved < 90 && moved > 40, `${moved} is between both levels`);
    await page.getByText('The rule would have fired once.').waitFor();
    await page.getByText('Show the firing').click();
    await page.getByRole('row', { name: /preview/ }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Queue is long');
    await page.getByLabel('For at least').fill('10m');
    await page.getByLabel('Severity').selectOption('critical');
    await page.getByLabel('far', { exact: true }).check();
    await page.getByLabel('Summary').fill('{{ $value }} orders wait');
    await page.getByLabel('Runbook').fill('https://wiki.example.org/queue');
    await page.getByRole('button', { name: 'Add label' }).click();
    await page.getByLabel('Label name').fill('team');
    await page.getByLabel('Value of team').fill('shop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Queue is long/ }).waitFor();
    const [saved] = await rules('queue_is_long');
    const { conditions, severity, scope_type, labels, annotations, runbook_url } = saved!;
    assert.deepEqual(
      [conditions, severity, scope_type, labels, annotations, runbook_url],
      [
        [{ expr: `shop_queue_length > ${moved}`, for: '10m' }],
        'critical',
        'global',
        { team: 'shop' },
        { summary: '{{ $value }} orders wait' },
        'https://wiki.example.org/queue',
      ],
    );
    assert.equal(saved!.notify_channel_ids.length, 1);

    await page
      .getByRole('row', { name: /Queue is long/ })
      .getByRole('link')
      .click();
    await line.waitFor();
    assert.equal(await threshold.inputValue(), String(moved), 'it opens as it was saved');
    const { x, y, width } = (await line.boundingBox())!;
    const plot = (await page.locator('.plot').boundingBox())!;
    await page.mouse.move(x + width / 2, y);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, plot.y + plot.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.locator(`[role=slider]:not([aria-valuenow="${moved}"])`).waitFor();
    const dragged = Number(await threshold.inputValue());
    assert.ok(dragged < moved, `${dragged} is lower than ${moved}`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('row', { name: /Queue is long/ })
      .getByRole('link')
      .click();
    await line.waitFor();
    // What was answered when it was opened before would bring the old threshold back.
    assert.equal(await threshold.inputValue(), String(dragged), 'it opens as it is now');
    assert.deepEqual(view.complaints, []);
    await view.context.close();
    return undefined;
  },
);

test(
  'each template is a rule that svc accepts, on a phone in dark mode, too',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn({ width: 360, height: 740, dark: true });
    const { page } = view;
    await page.goto(`${house.url}/ui/rules/new`);
    await page.getByText('CPU is busy').waitFor();
    await assertClean(view, 'the templates');
    const links: string[] = [];
    for (const link of await page.locator('.template-choice a').all()) {
      links.push(house.url + (await link.getAttribute('href'))!);
    }
    assert.ok(links.length > 15);
    for (const [index, link] of links.entries()) {
      await page.goto(link);
      await page
        .getByRole('status')
        .getByText(/^The rule would/)
        .waitFor();
      await page.getByLabel('Name', { exact: true }).fill(`Template ${index}`);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Rules' }).waitFor();
    }
    assert.equal((await rules('template_')).length, links.length);
    await page.goto(links[0]!);
    await page
      .getByRole('status')
      .getByText(/^The rule would/)
      .waitFor();
    await assertClean(view, 'the builder on a phone');
    assert.deepEqual(await faultsOf(page), []);
    await view.context.close();
    return undefined;
  },
);

test(
  'JSON and form are one rule; what the form cannot show opens as JSON and says why',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/rules/new?template=own`);
    await page.getByLabel('Name', { exact: true }).fill('Written');
    await page.getByRole('button', { name: 'JSON' }).click();
    const json = page.getByLabel('Rule as JSON');
    const draft = JSON.parse(await json.inputValue()) as Record<string, unknown>;
    assert.equal(draft['rule_key'], 'written');
    await json.fill('{');
    await page.getByText(/^Invalid JSON/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
    await json.fill(JSON.stringify({ ...draft, conditions: [{ expr: 'shop_queue_length < 7' }] }));
    await page.getByRole('button', { name: 'Builder' }).click();
    assert.equal(await page.getByLabel('Threshold', { exact: true }).inputValue(), '7');
    assert.equal(await page.getByLabel('Fires if the value is').inputValue(), '<');
    await page.getByLabel('Query', { exact: true }).fill('shop_queue_length > 1 and up');
    await page.getByLabel('Fires if the value is').selectOption('any');
    await page.getByText('The query makes the comparison').waitFor();
    await page.locator('.plot canvas').waitFor();
    await page.getByRole('button', { name: 'JSON' }).click();
    await json.fill(
      JSON.stringify({ ...draft, conditions: [{ expr: 'up > 1', unheard_of: true }] }),
    );
    await page.getByText('The builder does not know the field unheard_of').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Builder' }).count(), 0);
    await page.getByRole('status').getByText('unheard_of').waitFor();
    await assertClean(view, 'the rule as JSON', /400/);
    await view.context.close();
    return undefined;
  },
);
