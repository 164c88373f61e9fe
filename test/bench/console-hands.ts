import type { Page } from 'playwright-core';

import type { Row } from '../exercise.ts';

/** Script that measures from a key or a click to the resulting paint, in steps of 8 ms. */
const watch = `(() => {
  globalThis.slowest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ interactionId, duration }) => interactionId && (globalThis.slowest = Math.max(globalThis.slowest, duration))))
    .observe({ type: 'event', durationThreshold: 16, buffered: false });
})()`;

export interface Interaction extends Row {
  readonly interaction: string;
  /** Time from the key or the click to the next paint. */
  readonly paint_ms: number;
  /** Time until the answer of svc is on the page, as seen from outside. */
  readonly answered_ms: number;
}

/** Uses the page as hands would, and says how long each thing took until it was seen. */
export async function useConsole(
  page: Page,
  url: string,
  devices: number,
): Promise<readonly Interaction[]> {
  const found: Interaction[] = [];
  const step = async (
    interaction: string,
    act: () => Promise<unknown>,
    answered: () => Promise<unknown>,
  ): Promise<void> => {
    await page.evaluate('globalThis.slowest = 0');
    const began = performance.now();
    await act();
    await answered();
    const answeredMs = performance.now() - began;
    // Entries come a picture later; one that is not there took less than 16 ms.
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))',
    );
    found.push({
      interaction,
      paint_ms: Number(await page.evaluate('globalThis.slowest')),
      answered_ms: Math.round(answeredMs),
    });
  };
  const rows = (name: string | RegExp) => page.getByRole('row', { name }).first().waitFor();
  const footer = (text: RegExp) => page.locator('main footer').getByText(text).waitFor();

  await page.goto(`${url}/ui/devices`);
  await footer(new RegExp(`of ${devices.toLocaleString('en-US')}`));
  await page.evaluate(watch);
  const search = page.getByRole('searchbox');
  await search.focus();
  await step(
    'devices: a letter in the search',
    () => page.keyboard.press('q'),
    () => rows(/quito/),
  );
  await step(
    'devices: a whole name',
    () => page.keyboard.type('uito-web-000'),
    () => rows(/quito-web-000/),
  );
  await step(
    'devices: only those that are silent',
    () => page.getByRole('button', { name: 'Offline' }).click(),
    () => rows(/quito-web-000/),
  );
  await search.fill('');
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await footer(new RegExp(`of ${devices.toLocaleString('en-US')}`));
  for (let more = 0; more < 8; more += 1) {
    await page.evaluate("document.querySelector('main').scrollTo(0, 1e9)");
    await page.waitForTimeout(150);
  }
  await page.locator('.rowlink').last().focus();
  await step(
    `devices: a key in a list of ${await page.evaluate<number>("Number(document.querySelector('main footer')?.innerText.replaceAll(/\\\\D.*$/g, '').trim() || 0)")}`,
    () => page.keyboard.press('k'),
    () => page.locator('.rowlink:focus').waitFor(),
  );
  await step(
    'devices: open one',
    () => page.keyboard.press('Enter'),
    () => page.getByText('Details').waitFor(),
  );
  await step(
    'device: back to the list',
    () => page.goBack(),
    () => page.getByRole('searchbox').waitFor(),
  );
  await step(
    'palette: find a device',
    async () => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('osaka-web-0000');
    },
    () =>
      page
        .getByRole('option', { name: /osaka-web-0000/ })
        .first()
        .waitFor(),
  );
  await page.keyboard.press('Escape');
  await step(
    'incidents: by keys',
    async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('i');
    },
    () => rows(/is hot/),
  );
  await page.getByRole('searchbox').focus();
  await step(
    'incidents: a word in the search',
    () => page.keyboard.type('lisbon'),
    () => rows(/lisbon/),
  );
  return found;
}
