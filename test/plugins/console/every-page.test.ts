import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import type { Browser } from 'playwright-core';

import { rounds } from '../../drill/rounds.ts';
import { barriers, openBrowser } from './browser.ts';
import { type ConsoleHouse, startConsoleHouse } from './console-house.ts';
import { everyPage, goToPage, openPage } from './every-page.ts';
import { forgetAnswers, hostileAnswers, lookedAt } from './hostile-answers.ts';
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
    house = await startConsoleHouse();
  }
});

after(async () => {
  for (const end of endings) {
    await end();
  }
  await house?.end();
});

test('every page of the navigation is looked at', () => {
  const listed = readFileSync(
    new URL('../../../plugins/console/web/pages/index.ts', import.meta.url),
    'utf8',
  );
  const ids = [...listed.matchAll(/\bid: '([a-z-]*)'/g)].map(([, id]) => id!);
  const seen = new Set(
    everyPage.map(({ address }) => /^\/(?:ui\/([a-z-]+))?/.exec(address)![1] ?? ''),
  );
  assert.ok(ids.length > 20);
  assert.deepEqual(
    ids.filter((id) => !seen.has(id)),
    [],
  );
});

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

for (const [size, dark] of rounds<readonly (readonly [typeof wide, boolean])[]>(
  [[narrow, true]],
  [
    [wide, false],
    [narrow, true],
  ],
)) {
  test(
    `every page at ${size.width} px in ${dark ? 'dark' : 'light'} has no barrier, no complaint, nothing too wide, and a focus that is seen`,
    { timeout: 300_000 },
    async (t) => {
      if (!browser) {
        return t.skip('chromium is not installed');
      }
      const view = await house.view(browser, { ...size, dark });
      const { page } = view;
      const faults: string[] = [];
      for (const one of everyPage) {
        await goToPage(page, one);
        faults.push(
          ...[...(await barriers(view)), ...(await faultsOf(page))].map(
            (fault) => `${one.address} ${fault}`,
          ),
        );
      }
      assert.deepEqual(faults, []);
      assert.deepEqual(view.complaints, []);
      await view.context.close();
      return undefined;
    },
  );
}

test('the first stop of Tab leads past the navigation', { timeout: 120_000 }, async (t) => {
  if (!browser) {
    return t.skip('chromium is not installed');
  }
  const { page, context } = await house.view(browser);
  await openPage(
    page,
    house.url,
    everyPage.find(({ name }) => name === 'devices')!,
  );
  for (const key of ['Tab', 'Enter', 'Tab']) {
    await page.keyboard.press(key);
  }
  assert.ok(await page.evaluate("document.activeElement.closest('main') !== null"));
  assert.equal(new URL(page.url()).pathname, '/ui/devices');
  await context.close();
  return undefined;
});

/** Script that measures layout shifts, as browsers count them. */
const watchShifts = `globalThis.shifts = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => (shifts += hadRecentInput ? 0 : value)))
  .observe({ type: 'layout-shift', buffered: true });`;

test(
  'what a page has shown stays where it is while the rest comes',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    for (const size of rounds([wide], [wide, narrow])) {
      const view = await house.view(browser, size, watchShifts);
      const faults: string[] = [];
      for (const one of everyPage) {
        await view.page.evaluate('void (globalThis.shifts = 0)');
        await openPage(view.page, house.url, one);
        const moved = await view.page.evaluate<number>('shifts');
        if (moved >= 0.1) {
          faults.push(`${one.address} moved by ${moved.toFixed(3)} at ${size.width} px`);
        }
      }
      assert.deepEqual(faults, []);
      await view.context.close();
    }
    return undefined;
  },
);

test(
  'whatever an answer says, also where it refuses, no page runs it, breaks, or grows wider',
  { timeout: 300_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await house.view(browser, {}, hostileAnswers);
    const { page } = view;
    const found: string[] = [];
    let shown = 0;
    for (const refuses of [false, true]) {
      await forgetAnswers(page);
      for (const [index, one] of everyPage.entries()) {
        await page.evaluate(`globalThis.shift = ${index}; globalThis.refuses = ${refuses}`);
        await goToPage(page, { ...one, sign: undefined });
        const look = await lookedAt(page);
        found.push(...look.faults.map((fault) => `${one.address} ${fault}`));
        shown += look.shown;
      }
    }
    assert.deepEqual(found, []);
    assert.ok(shown > 300, `${shown} hostile texts were shown`);
    view.forgive(/40\d/);
    assert.deepEqual(view.complaints, []);
    await view.context.close();
    return undefined;
  },
);
