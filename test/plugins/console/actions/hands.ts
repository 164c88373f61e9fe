import type { Locator, Page } from 'playwright-core';

import type { Presses } from '../presses.ts';

/** Context of a step: the page, and the real svc behind it. */
export interface Hands {
  readonly page: Page;
  readonly url: string;
  readonly presses: Presses;
  /** Requests as the operator; returns the answer. */
  ask<T = { id: number }>(method: string, path: string, body?: object): Promise<T>;
}

/** Returns where buttons are searched: in the open dialog, otherwise on the page. */
const place = (page: Page, where: 'main' | 'dialog'): Locator =>
  page.locator(where === 'main' ? 'main' : 'dialog[open]');

export async function go({ page, url }: Hands, address: string): Promise<void> {
  await page.goto(url + address);
  await page.locator('main h1, main .empty, main .refused').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

export const press = (
  { page }: Hands,
  name: string | RegExp,
  where: 'main' | 'dialog' = 'main',
): Promise<void> =>
  place(page, where)
    .getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
    .first()
    .click();

/** Presses, and waits for what svc or the page says to it. */
export async function pressed(
  hands: Hands,
  name: string | RegExp,
  said: string | RegExp,
  where: 'main' | 'dialog' = 'main',
): Promise<void> {
  await press(hands, name, where);
  await hands.page.getByText(said).locator('visible=true').first().waitFor();
}

/** Every button of every group of choices that is in sight. */
export async function pressChoices(
  { page }: Hands,
  where: 'main' | 'dialog' = 'main',
): Promise<void> {
  const choices = place(page, where).locator('.segments button');
  if (where === 'dialog') {
    await choices.first().waitFor();
  }
  for (const button of await choices.all()) {
    await button.click();
  }
}

export const closed = ({ page }: Hands): Promise<void> =>
  page.locator('dialog[open]').waitFor({ state: 'detached' });

export async function fill(
  { page }: Hands,
  fields: Readonly<Record<string, string>>,
  where: 'main' | 'dialog' = 'dialog',
): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    const field = place(page, where).getByLabel(label, { exact: true });
    await ((await field.evaluate((element) => (element as { tagName: string }).tagName)) ===
    'SELECT'
      ? field.selectOption(value)
      : field.fill(value));
  }
}

/** Opens a dialog, leaves it by its button "Cancel", and opens it again. */
export async function openTwice(hands: Hands, open: () => Promise<void>): Promise<void> {
  await open();
  await press(hands, 'Cancel', 'dialog');
  await closed(hands);
  await open();
}

export async function save(hands: Hands): Promise<void> {
  await press(hands, 'Save', 'dialog');
  await closed(hands);
}
