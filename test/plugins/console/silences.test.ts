import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Browser } from 'playwright-core';

import { assertClean, openBrowser } from './browser.ts';
import { type ConsoleHouse, startConsoleHouse } from './console-house.ts';
import { faultsOf } from './look.ts';

let house: ConsoleHouse;
let browser: Browser | undefined;
const endings: (() => unknown)[] = [];

before(async () => {
  browser = await openBrowser({
    after: (end: () => unknown) => void endings.push(end),
    skip: () => undefined,
  });
  if (browser) {
    house = await startConsoleHouse({ hosts: 1 });
  }
});

after(async () => {
  for (const end of endings) {
    await end();
  }
  await house?.end();
});

/** Script that finds controls of the dialog that reach over its edge. */
const beyond = `(() => {
  const edge = document.querySelector('dialog[open]').getBoundingClientRect().right;
  return [...document.querySelectorAll('dialog[open] :is(input, select, button)')]
    .filter((element) => element.getBoundingClientRect().right > edge)
    .map((element) => element.outerHTML.slice(0, 120));
})()`;

interface Listed {
  readonly id: number;
  readonly matchers: readonly object[];
  readonly reason: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly recurrence?: object;
}

async function silenceFor(reason: string): Promise<Listed> {
  const answer = await house.fetch('/api/v1/alerts/silences');
  const { items } = (await answer.json()) as { items: readonly Listed[] };
  const found = items.find((one) => one.reason === reason);
  assert.ok(found !== undefined, `there is a silence for ${reason}`);
  return found;
}

test(
  'a label of what fires becomes a maintenance window that the calendar shows and that can be edited there',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await house.view(browser);
    const { page } = view;
    await page.goto(`${house.url}/ui/silences`);
    await page.getByRole('button', { name: 'Create silence' }).click();
    const dialog = page.locator('dialog[open]');
    // Every incident of the rule has the label team, and no other has.
    await dialog.getByRole('button', { name: /^team = shop/ }).click();
    assert.equal(await dialog.getByLabel('Value of matcher 1').inputValue(), 'shop');
    await dialog.getByText(/^Silences 1 of \d+ firing instances now/).waitFor();
    await dialog.getByRole('button', { name: 'Recurring window' }).click();
    await dialog.getByLabel('Mon').check();
    await dialog.getByLabel('From', { exact: true }).fill('22:30');
    await dialog.getByLabel('For', { exact: true }).fill('90m');
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByLabel('Reason').fill('move of the racks');
    await dialog.getByText('Next windows:').waitFor();
    await assertClean(view, 'the dialog');
    await dialog.getByRole('button', { name: 'Create silence' }).click();
    await page.getByRole('row', { name: /Mon, Sat, Sun 22:30/ }).waitFor();
    const made = await silenceFor('move of the racks');
    assert.deepEqual(
      [made.matchers, made.recurrence],
      [
        [{ name: 'team', op: '=', value: 'shop' }],
        {
          days: ['mon', 'sat', 'sun'],
          start: '22:30',
          duration: '5400s',
          time_zone: 'Europe/Berlin',
        },
      ],
    );

    await page.getByRole('button', { name: 'Calendar' }).click();
    const entries = page.locator('.calendar .entry', { hasText: 'move of the racks' });
    await entries.first().waitFor();
    // Three a week; one that reaches past midnight of the reader stands on two days.
    assert.ok((await entries.count()) >= 10);
    await assertClean(view, 'the calendar');
    assert.deepEqual(await faultsOf(page), []);
    await entries.last().focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Mon').uncheck();
    assert.equal(await dialog.getByLabel('For', { exact: true }).inputValue(), '90m');
    await dialog.getByRole('button', { name: 'Save silence' }).click();
    await dialog.waitFor({ state: 'detached' });
    const edited = await silenceFor('move of the racks');
    assert.deepEqual([edited.id, edited.starts_at], [made.id, made.starts_at]);
    assert.deepEqual((edited.recurrence as { days: readonly string[] }).days, ['sat', 'sun']);
    await view.context.close();
    return undefined;
  },
);

test(
  'a silence of an incident opens filled in, on a phone in dark mode, for a time that is chosen',
  { timeout: 180_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await house.view(browser, { width: 360, height: 740, dark: true });
    const { page } = view;
    await page.goto(`${house.url}/ui/silences?match=${encodeURIComponent('rule = always')}`);
    const dialog = page.locator('dialog[open]');
    await dialog.getByText(/^Silences 1 of/).waitFor();
    await assertClean(view, 'the dialog on a phone');
    assert.deepEqual(await page.evaluate(beyond), [], 'nothing of the dialog is cut off');
    await dialog.getByRole('button', { name: 'Once' }).click();
    await dialog.getByLabel('Start').fill('2027-01-10T10:00');
    await dialog.getByLabel('End').fill('2027-01-10T08:00');
    await dialog.getByLabel('Reason').fill('a disk');
    await dialog.getByText('A silence must end after its start').waitFor();
    await dialog.getByLabel('End').fill('2027-01-10T12:00');
    await dialog.getByText(/^Silences 1 of/).waitFor();
    await dialog.getByRole('button', { name: 'Create silence' }).click();
    await dialog.waitFor({ state: 'detached' });
    const made = await silenceFor('a disk');
    assert.equal(Date.parse(made.ends_at) - Date.parse(made.starts_at), 2 * 3_600_000);
    await page.goto(`${house.url}/ui/silences?view=calendar&from=2027-01-04`);
    await page.locator('.calendar .entry', { hasText: 'a disk' }).waitFor();
    await assertClean(view, 'the calendar on a phone', /400/);
    assert.deepEqual(await faultsOf(page), []);
    await view.context.close();
    return undefined;
  },
);
