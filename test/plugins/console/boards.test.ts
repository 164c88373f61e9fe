import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

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

interface Whole {
  readonly title: string;
  readonly version: number;
  readonly variables: readonly { readonly name: string }[];
  readonly panels: readonly {
    readonly title: string;
    readonly query: string;
    readonly position: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  }[];
}

const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const answer = await house.fetch(`/api/v1${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

const whole = (uid: string): Promise<Whole> => ask('GET', `/monitor/dashboards/${uid}`);
const placesOf = async (uid: string): Promise<Readonly<Record<string, readonly number[]>>> =>
  Object.fromEntries(
    (await whole(uid)).panels.map(({ title, position: { x, y, w, h } }) => [title, [x, y, w, h]]),
  );

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-boards-'));
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
  await pushPast(house, 'shop_queue_length', { hours: 2, everyMinutes: 1 }, (ago) => 40 + ago);
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

async function pressKey(page: Page, handle: string, ...keys: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: handle, exact: true }).focus();
  for (const key of keys) {
    await page.keyboard.press(key);
  }
}

const said = (page: Page, text: string): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor({ state: 'attached' });

test(
  'a dashboard is made, arranged, undone and saved by the keyboard alone',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/dashboards`);
    await page.getByRole('button', { name: 'Create dashboard' }).press('Enter');
    await page.getByLabel('Title', { exact: true }).fill('Night watch');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add panel' }).press('Enter');
    await page.getByLabel('Panel title').fill('Queue');
    await page.getByLabel('Query', { exact: true }).fill('shop_queue_length');
    await page.getByLabel('Warning from').fill('60');
    await assertClean(view, 'the fields of a panel', /404/);
    await page.getByLabel('Panel title').press('Enter');
    await page.getByRole('img', { name: /^Queue\./ }).waitFor();

    await pressKey(page, 'Duplicate Queue', 'Enter');
    await page.getByRole('img', { name: /^Queue \(copy\)\./ }).waitFor();
    await pressKey(page, 'Move Queue (copy)', 'ArrowLeft');
    await said(page, 'Queue (copy): column 12, row 1, 12 wide, 8 high');
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Shift+ArrowLeft');
    await said(page, 'Queue (copy): column 13, row 1, 11 wide, 8 high');
    await pressKey(page, 'Resize Queue', 'ArrowDown', 'ArrowDown');
    await said(page, 'Queue: column 1, row 1, 12 wide, 10 high');

    // A link leads away from the draft, and back to it with its steps.
    await page.getByRole('link', { name: 'Logs', exact: true }).press('Enter');
    await page.getByText('Your changes to Night watch are not saved.').waitFor();
    await page.getByRole('link', { name: 'Dashboards', exact: true }).press('Enter');
    await assertClean(view, 'a draft that was left');
    await page.getByRole('link', { name: 'Continue editing' }).press('Enter');
    await page.getByRole('img', { name: /^Queue \(copy\)\./ }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByRole('button', { name: 'Redo' }).press('Enter');

    await page.getByRole('button', { name: 'Title and variables' }).press('Enter');
    await page.getByRole('button', { name: 'Add variable' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('service');
    await page
      .locator('fieldset')
      .getByLabel('Query', { exact: true })
      .fill('label_values(shop_queue_length, service_name)');
    await page.getByLabel('Allow all values').check();
    await assertClean(view, 'title and variables');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await assertClean(view, 'the editor');
    assert.deepEqual(await faultsOf(page), []);

    await page.getByRole('button', { name: 'Save dashboard' }).press('Enter');
    await page.getByRole('button', { name: 'Edit dashboard' }).waitFor();
    await page.getByLabel('service').waitFor();
    assert.deepEqual(await placesOf('night-watch'), {
      Queue: [0, 0, 12, 10],
      'Queue (copy)': [12, 0, 11, 8],
    });
    assert.deepEqual(
      (await whole('night-watch')).variables.map(({ name }) => name),
      ['service'],
    );
    await assertClean(view, 'the dashboard');
    await view.context.close();
    return undefined;
  },
);

test(
  'a panel is dragged and sized by the pointer; versions say what changed and bring it back',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const panel = { type: 'timeseries', query: 'shop_queue_length' };
    await ask('PUT', '/monitor/dashboards/day', {
      title: 'Day watch',
      panels: [
        { ...panel, title: 'One', position: { x: 0, y: 0, w: 12, h: 8 } },
        { ...panel, title: 'Two', position: { x: 12, y: 0, w: 12, h: 8 } },
      ],
    });
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/dashboards/day`);
    await page.getByRole('button', { name: 'Edit dashboard' }).click();
    await page.getByRole('img', { name: /^One\./ }).waitFor();
    const slot = page.getByRole('group', { name: 'One', exact: true });
    const { x, y, width } = (await slot.boundingBox())!;
    await page.mouse.move(x + 80, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + 80 + width, y + 14, { steps: 8 });
    await page.mouse.up();
    await said(page, 'One: column 13, row 1, 12 wide, 8 high');
    const corner = (await page
      .getByRole('button', { name: 'Resize Two', exact: true })
      .boundingBox())!;
    await page.mouse.move(corner.x + 10, corner.y + 10);
    await page.mouse.down();
    await page.mouse.move(corner.x + 10 - width / 2, corner.y + 10 - 68, { steps: 6 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.getByRole('button', { name: 'Edit dashboard' }).waitFor();
    const places = await placesOf('day');
    assert.deepEqual(places['One'], [12, 0, 12, 8], JSON.stringify(places));
    assert.equal(places['Two']![2], 6, 'half as wide');
    assert.ok(places['Two']![3]! < 8, 'and less high');

    // What somebody else has saved meanwhile is not overwritten.
    await page.getByRole('button', { name: 'Edit dashboard' }).click();
    await page.getByRole('button', { name: 'Remove Two' }).click();
    const { version: _, ...other } = await whole('day');
    await ask('PUT', '/monitor/dashboards/day', { ...other, uid: undefined, title: 'Late watch' });
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.getByText(/is now at version 3, made by/).waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('heading', { name: 'Late watch' }).waitFor();
    assert.equal(await page.getByText('has changes that you have not saved').count(), 0);

    await page.getByRole('button', { name: 'Versions' }).press('Enter');
    await page.getByRole('heading', { name: 'Changed: title Late watch' }).waitFor();
    await page.getByRole('button', { name: 'Version 2', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Moved: panel One' }).waitFor();
    await assertClean(view, 'the versions', /409/);
    await page.getByRole('button', { name: 'Version 1', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Restore version 1' }).press('Enter');
    await page.getByRole('heading', { name: 'Day watch', level: 1 }).waitFor();
    assert.deepEqual((await placesOf('day'))['One'], [0, 0, 12, 8]);

    await page.getByRole('button', { name: 'Duplicate', exact: true }).press('Enter');
    await page.getByLabel('Title of the copy').fill('Other day');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Other day' }).waitFor();
    assert.deepEqual(Object.keys(await placesOf('other-day')).toSorted(), ['One', 'Two']);
    await view.context.close();
    return undefined;
  },
);

test(
  'a built-in dashboard keeps its panels, and is edited on a phone in dark mode',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn({ width: 360, height: 740, dark: true });
    const { page } = view;
    await page.goto(`${house.url}/ui/dashboards/alerts?edit=on`);
    await page.getByRole('button', { name: 'Add panel' }).click();
    await page.getByLabel('Panel title').fill('Note');
    await page.getByLabel('Visualization').selectOption('text');
    await page.getByLabel('Text', { exact: true }).fill('Call **Kim** first.');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Kim', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 1);
    await assertClean(view, 'the editor on a phone');
    assert.deepEqual(await faultsOf(page), []);
    await page.getByRole('button', { name: 'Save dashboard' }).click();
    await page.getByRole('button', { name: 'Edit dashboard' }).waitFor();
    assert.deepEqual(
      (await whole('alerts')).panels.map(({ title }) => title),
      ['Note'],
    );
    await view.context.close();
    return undefined;
  },
);

test(
  'a dashboard fills the screen, and a public link shows it without an account until it is revoked',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    await ask('PUT', '/monitor/dashboards/wall', {
      title: 'Wall',
      panels: [{ title: 'Queue', type: 'timeseries', query: 'shop_queue_length', legend: 'queue' }],
    });
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/dashboards/wall`);
    await page.getByRole('img', { name: /^Queue\./ }).waitFor();
    await page.getByRole('button', { name: 'Full screen' }).press('Enter');
    await page.getByRole('navigation').waitFor({ state: 'hidden' });
    await assertClean(view, 'the dashboard on the whole screen');
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').waitFor();

    await page.getByRole('button', { name: 'Share' }).press('Enter');
    await page.getByLabel('For whom').fill('Kim');
    await page.keyboard.press('Enter');
    const address = await page.locator('.copyable code').textContent();
    await page.getByRole('listitem').filter({ hasText: 'Kim' }).waitFor();
    await assertClean(view, 'the links of a dashboard');

    const reader = await openView(browser, house.url, { width: 360, height: 740, dark: true });
    await reader.page.goto(address!);
    await reader.page.getByRole('heading', { name: 'Wall' }).waitFor();
    await reader.page.getByRole('img', { name: /^Queue\./ }).waitFor();
    assert.equal(await reader.page.getByRole('navigation').count(), 0);
    assert.ok(!(await reader.page.content()).includes('shop_queue_length'));
    await assertClean(reader, 'a shared dashboard');
    assert.deepEqual(await faultsOf(reader.page), []);

    await page.getByRole('button', { name: /^Revoke link/ }).press('Enter');
    await page.getByText('No links', { exact: true }).waitFor();
    await reader.page.reload();
    await reader.page.getByText(/does not exist or has ended/).waitFor();
    await assertClean(reader, 'a link that has ended', /404/);
    await reader.context.close();
    await view.context.close();
    return undefined;
  },
);

test(
  'panels show traces, states and the topology, lead to other dashboards, and are edited by the keyboard',
  { timeout: 240_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const started = Date.now() - 60_000;
    const pushed = await house.fetch('/v1/traces', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
            scopeSpans: [
              {
                spans: [
                  {
                    traceId: '0af7651916cd43dd8448eb211c80319c',
                    spanId: 'b7ad6b7169203331',
                    name: 'GET /cart',
                    startTimeUnixNano: `${started}000000`,
                    endTimeUnixNano: `${started + 250}000000`,
                  },
                ],
              },
            ],
          },
        ],
      }),
    });
    assert.ok(pushed.ok, await pushed.text());
    await ask('PUT', '/monitor/dashboards/target', {
      title: 'Target',
      panels: [{ title: 'Queue', type: 'stat', query: 'shop_queue_length' }],
    });
    await ask('PUT', '/monitor/dashboards/kinds', {
      title: 'Kinds',
      panels: [
        {
          title: 'Requests',
          type: 'traces',
          query: '{ resource.service.name = "shop" }',
          links: [{ title: 'To the target', dashboard: 'target' }],
        },
        {
          title: 'Queues',
          type: 'status',
          query: 'shop_queue_length',
          legend: 'queue',
          thresholds: [{ value: 1, state: 'warning' }],
        },
        { title: 'Nodes', type: 'topology', query: '' },
      ],
    });
    for (const options of [{}, { width: 360, height: 740, dark: true }]) {
      const view = await signedIn(options);
      const { page } = view;
      await page.goto(`${house.url}/ui/dashboards/kinds?at=15m`);
      await page.getByRole('link', { name: 'GET /cart' }).waitFor();
      await page.getByRole('list', { name: 'Queues' }).getByText('queue').waitFor();
      await page.getByText('Nodes', { exact: true }).waitFor();
      await assertClean(view, 'the kinds of panels');
      assert.deepEqual(await faultsOf(page), []);
      await page.getByRole('link', { name: 'To the target' }).press('Enter');
      await page.getByRole('heading', { name: 'Target' }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('at'), '15m');
      await page.goBack();
      await page.getByRole('link', { name: 'GET /cart' }).press('Enter');
      await page.getByRole('heading', { name: /GET \/cart/ }).waitFor();
      await view.context.close();
    }

    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/dashboards/kinds?edit=on`);
    await page.getByRole('button', { name: 'Edit Queues' }).press('Enter');
    await page.getByRole('button', { name: 'Add link' }).press('Enter');
    await page.getByLabel('Dashboard', { exact: true }).selectOption('target');
    await page.getByLabel('Link text').fill('Elsewhere');
    await assertClean(view, 'the fields of a panel with a link');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await page.getByRole('button', { name: 'Save dashboard' }).press('Enter');
    await page.getByRole('link', { name: 'Elsewhere' }).waitFor();
    await view.context.close();
    return undefined;
  },
);
