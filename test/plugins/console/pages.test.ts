import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import type { Browser } from 'playwright-core';
import type { Findings, Snapshot } from 'svc/rca';

import { actionsFor } from '../../../plugins/investigate/surroundings.ts';
import { startWholeHouse, type WholeHouse } from '../../whole-house.ts';
import { assertClean, barriers, openBrowser, openView, signIn, type View } from './browser.ts';
import { hostile } from './hostile.ts';

/** Every page, and what is there once it has drawn. */
const pages: readonly (readonly [address: string, sign: string])[] = [
  ['/', 'Overview'],
  ['/ui/incidents?state=all', 'Incidents'],
  ['/ui/incidents/1', 'Timeline'],
  ['/ui/devices', 'Devices'],
  ['/ui/explore?q=svc_process_uptime_seconds', 'Explore'],
  ['/ui/logs', 'Logs'],
  ['/ui/traces', 'Traces'],
  ['/ui/knowledge?read=vault/hosts/disk-full.md', 'First three readings'],
  ['/ui/nowhere', 'Page not found'],
];

const password = 'correct horse';
let dataDir: string;
let house: WholeHouse;
let browser: Browser | undefined;
const endings: (() => unknown)[] = [];

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-console-'));
  browser = await openBrowser({
    after: (end: () => unknown) => void endings.push(end),
    skip: () => undefined,
  });
  if (!browser) {
    return;
  }
  house = await startWholeHouse({ dataDir });
  const put = async (path: string, body: object): Promise<{ id: number }> => {
    const answer = await house.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as { id: number };
  };
  await put('/api/v1/users', {
    email: 'ada@example.org',
    display_name: '<b>Ada</b> \u202eevil',
    password,
    role: 'admin',
  });
  await put('/api/v1/alert-rules', {
    rule_key: 'always',
    name: hostile[0],
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'critical',
    conditions: [{ expr: 'vector(1) > 0' }],
    labels: { team: '<img src=x onerror=globalThis.ran=1>' },
    annotations: {
      summary: `<script>globalThis.ran=1</script> \u202e${'W'.repeat(300)}`,
      description: '<style>*{display:none}</style>',
    },
  });
  await until(
    async () =>
      ((await (await house.fetch('/api/v1/alerts/incidents')).json()) as { total: number }).total >
      0,
  );
  for (const text of hostile) {
    await put('/api/v1/alerts/incidents/1/notes', { text });
  }
  const at = BigInt(Date.now()) * 1_000_000n;
  const push = {
    streams: [
      {
        stream: { service_name: 'hostile' },
        values: hostile.map((line, index) => [String(at + BigInt(index)), line]),
      },
    ],
  };
  await house.fetch('/loki/api/v1/push', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(push),
  });
});

after(async () => {
  for (const end of endings) {
    await end();
  }
  await house?.end();
  rmSync(dataDir, { recursive: true, force: true });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds());) {
    assert.ok(Date.now() < deadline, 'within 60 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function signedIn(options: Parameters<typeof openView>[2] = {}): Promise<View> {
  const view = await openView(browser!, house.url, options);
  await signIn(view, house.url, 'ada@example.org', password);
  return view;
}

/** Something wider than the window would have to be pushed around. */
const tooWide = `(() => {
  const main = document.querySelector('main');
  const isWide = document.documentElement.scrollWidth > innerWidth + 1 || main.scrollWidth > main.clientWidth + 1;
  const beyond = (element) => element.getBoundingClientRect().right > main.getBoundingClientRect().right + 1;
  return isWide ? [main.scrollWidth + ' of ' + main.clientWidth, ...[...main.querySelectorAll('*')].filter(beyond).map((element) => element.outerHTML.slice(0, 120))] : [];
})()`;

for (const [size, dark] of [
  [{ width: 1280, height: 800 }, false],
  [{ width: 360, height: 740 }, true],
] as const) {
  test(
    `every page at ${size.width} px in ${dark ? 'dark' : 'light'} has no barrier, no complaint, nothing too wide, and runs nothing`,
    { timeout: 180_000 },
    async (t) => {
      if (!browser) {
        return t.skip('chromium is not installed');
      }
      const view = await signedIn({ ...size, dark });
      const { page } = view;
      for (const [address, sign] of pages) {
        await page.goto(house.url + address);
        await page.getByText(sign).locator('visible=true').first().waitFor();
        await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        await assertClean(view, `${address} at ${size.width} px`);
        assert.deepEqual(
          await page.evaluate(tooWide),
          [],
          `${address} is wider than ${size.width} px`,
        );
        assert.equal(
          await page.evaluate('globalThis.ran'),
          undefined,
          `${address} ran what others wrote`,
        );
      }
      await view.context.close();
      return undefined;
    },
  );
}

test(
  'text of others is shown as it is, and what would be invisible is made visible',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/incidents/1`);
    await page.getByText('back␈space').waitFor();
    const shown = await page.locator('main').innerText();
    for (const part of [
      '<script>globalThis.ran=1</script>',
      '[U+202E]gnp.exe',
      '␛[31mred␛[0m',
      'user[U+2066]admin',
      'zero[U+200B]width',
      '&lt;script&gt;',
      'مرحبا',
      '[x]',
    ]) {
      assert.ok(shown.includes(part), `${part} is shown`);
    }
    assert.equal(
      await page
        .locator(
          'main img, main iframe, main script, main style, main form, main a[href^="javascript"]',
        )
        .count(),
      0,
    );
    await page.goto(`${house.url}/ui/logs?q=${encodeURIComponent('{service_name="hostile"}')}`);
    await page.getByText('bell␇').waitFor();
    await page.locator('.log').getByText('␛]52;c;ZXZpbA==␇').first().waitFor();
    assert.equal(await page.evaluate('globalThis.ran'), undefined);
    assert.deepEqual(view.complaints, []);
    await view.context.close();
    return undefined;
  },
);

test(
  'an incident shows its playbook for its device, runs a reading beside its text and requests a change',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.route('**/api/v1/alerts/incidents/1', async (route) => {
      const response = await route.fetch();
      const incident = (await response.json()) as object;
      const runbook_url = 'playbook://alerting/absent-data.md';
      await route.fulfill({
        response,
        json: { ...incident, runbook_url, device_id: '12', device_name: 'app-12' },
      });
    });
    let requested: unknown;
    await page.route('**/api/v1/skills/service_restart/execute', async (route) => {
      requested = route.request().postDataJSON();
      await route.fulfill({ status: 202, json: { status: 'approval', approval_id: 'of-a-test' } });
    });
    await page.goto(`${house.url}/ui/incidents/1`);
    await page.getByRole('heading', { name: 'Runbook: A metric has stopped arriving' }).waitFor();
    const reading = page.locator('.runbook > li', { hasText: 'count({device_id="12"})' }).first();
    await reading.getByRole('button', { name: 'Run query' }).click();
    await reading.locator('figure.chart').waitFor();
    const step = page.locator('.runbook > li', { has: page.getByText('Request change') });
    assert.match(await step.innerText(), /Risk[^]*Takes[^]*Undo/);
    await step.getByRole('button', { name: 'Request change' }).click();
    await step.getByRole('link', { name: 'Waiting for signatures' }).waitFor();
    assert.deepEqual(requested, {
      params: { service: 'prometheus-node-exporter' },
      device_id: 12,
    });
    assert.deepEqual(await page.evaluate(tooWide), []);
    assert.deepEqual(view.complaints, []);
    await view.context.close();
    return undefined;
  },
);

test('the keyboard alone leads everywhere', { timeout: 120_000 }, async (t) => {
  if (!browser) {
    return t.skip('chromium is not installed');
  }
  const view = await signedIn();
  const { page } = view;
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('heading', { name: 'Incidents' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('script');
  await page.getByRole('row', { name: /script/ }).waitFor();
  assert.match(page.url(), /\?q=script$/, 'what is shown has an address');
  await page.locator('.rowlink').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Incidents' }).waitFor();
  assert.match(page.url(), /\?q=script$/, 'back leads to where one was');
  await page.locator('h1').click();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  assert.deepEqual(await barriers(view), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search and commands' });
  await field.fill('explo');
  await page.getByRole('option', { name: /Explore/ }).waitFor();
  assert.deepEqual(await barriers(view), []);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Explore' }).waitFor();
  const query = page.getByRole('textbox', { name: 'PromQL query' });
  await query.pressSequentially('svc_process_upt');
  await page.getByRole('option', { name: 'svc_process_uptime_seconds' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await query.inputValue(), 'svc_process_uptime_seconds');
  await query.fill('sum(rate(foo[5m]) by');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('parse error').first().waitFor();
  assert.match(
    await page.locator('.query-wrong pre').innerText(),
    /\n {18}\^\^/,
    'the mark stands under the word',
  );
  view.forgive(/400/);
  assert.deepEqual(view.complaints, []);
  await view.context.close();
  return undefined;
});

test(
  'the trail begins with what was done; rows that open pages add by themselves are one click away',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    await page.goto(`${house.url}/ui/audit`);
    await page
      .getByRole('row', { name: /auth:login/ })
      .first()
      .waitFor();
    assert.equal(await page.getByRole('row', { name: /auth:refresh/ }).count(), 0);
    await page.getByText('All entries').click();
    await page
      .getByRole('row', { name: /auth:refresh/ })
      .first()
      .waitFor();
    await assertClean(view, 'the trail');
    await view.context.close();
    return undefined;
  },
);

test(
  'what an investigation says to do next opens as the query that it was, in its time',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    const query = 'max by (job) (svc_process_uptime_seconds{job!~"a|b (c)"})';
    const window = { from: Date.now() - 3_600_000, to: Date.now() };
    const evidence = { id: 'E1', source: 'metrics', query };
    const hypothesis = {
      node: 'device:7',
      node_name: 'host-7',
      indicator: { evidence: 'E1', name: 'uptime' },
    };
    const snapshot = {
      evidence: [evidence],
      symptom: {},
      checks: [],
      window,
    } as unknown as Snapshot;
    const findings = {
      root_cause: { node: 'device:7' },
      hypotheses: [hypothesis],
      onset_at: Date.now() - 600_000,
    } as unknown as Findings;
    const report = {
      status: 'ready',
      verdict: 'suspected',
      summary: 'host-7',
      suggested_actions: actionsFor(findings, snapshot, new Map()),
    };
    await page.route('**/api/v1/alerts/incidents/1/investigation', (route) =>
      route.fulfill({ json: report }),
    );
    await page.goto(`${house.url}/ui/incidents/1`);
    await page.getByRole('link', { name: 'Look at uptime of host-7' }).click();
    await page.getByText('Explore').locator('visible=true').first().waitFor();
    const address = new URL(page.url());
    assert.deepEqual([address.pathname, address.searchParams.get('q')], ['/ui/explore', query]);
    // The span of the incident is chosen, in place of a length that ends now.
    await page.locator('.filters .soft').getByText('–').waitFor();
    await assertClean(view, 'the query of a report');
    await view.context.close();
    return undefined;
  },
);

test(
  'the id of a device that a store makes up is no part of what is asked about the busiest',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const asked: string[] = [];
    const vector = (...result: readonly object[]) => ({
      status: 'success',
      data: { resultType: 'vector', result },
    });
    const one = (metric: object, value: string): object => ({ metric, value: [1, value] });
    await view.page.route('**/prometheus/api/v1/query?*', async (route) => {
      const query = new URL(route.request().url()).searchParams.get('query') ?? '';
      const isOfAll = query.startsWith('topk(');
      if (!isOfAll) {
        asked.push(query);
      }
      const ofAll = vector(
        one({ device_id: '7"} or vector(1) #', instance: 'made-up' }, '99'),
        one({ device_id: '7', instance: 'host-7' }, '98'),
      );
      await route.fulfill({
        json: isOfAll
          ? ofAll
          : vector(one({ __name__: 'node_memory_used_percent', device_id: '7' }, '41')),
      });
    });
    await view.page.goto(`${house.url}/`);
    await view.page.getByRole('row', { name: /host-7.*98.*41/s }).waitFor();
    assert.match(asked[0]!, /device_id=~"NaN[|]7"/);
    await view.context.close();
    return undefined;
  },
);

test(
  'the form of a check takes a login, headers and a proxy, and shows none of their secrets again',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await signedIn();
    const { page } = view;
    const create = async (target: string, fields: Readonly<Record<string, string>>) => {
      await page.goto(`${house.url}/ui/checks`);
      await page.getByRole('button', { name: 'Watch an address' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByLabel('Address').fill(target);
      await dialog.getByRole('button', { name: 'More settings' }).click();
      for (const [label, value] of Object.entries({ 'Interval in seconds': '3600', ...fields })) {
        await dialog.getByLabel(label, { exact: true }).fill(value);
      }
      return dialog;
    };
    const made = async (name: string): Promise<Readonly<Record<string, unknown>>> =>
      (await (await house.fetch(`/api/v1/checks/${name}`)).json()) as Record<string, unknown>;

    const cache = await create('192.0.2.1:6379', {
      Name: 'cache',
      User: 'svc',
      Password: 'a secret',
    });
    await cache.getByLabel('Kind').selectOption('redis');
    await assertClean(view, 'the form of a check');
    await cache.getByRole('button', { name: 'Watch an address' }).click();
    await page.getByRole('row', { name: /cache/ }).first().waitFor();
    const { kind, username, has_password: hasPassword } = await made('cache');
    assert.deepEqual([kind, username, hasPassword], ['redis', 'svc', true]);
    await page.goto(`${house.url}/ui/checks/cache`);
    await page.getByText('svc, with a password').waitFor();

    const shop = await create('http://192.0.2.1/health', {
      Name: 'behind-proxy',
      'HTTP headers': 'Authorization: Bearer abc:def\nX-Probe: svc',
      Proxy: 'http://192.0.2.2:3128',
    });
    await shop.getByRole('button', { name: 'Watch an address' }).click();
    await page
      .getByRole('row', { name: /behind-proxy/ })
      .first()
      .waitFor();
    const { proxy, header_names: headers } = await made('behind-proxy');
    assert.deepEqual([proxy, headers], ['http://192.0.2.2:3128', ['Authorization', 'X-Probe']]);
    await page.goto(`${house.url}/ui/checks/behind-proxy`);
    await page.getByText('http://192.0.2.2:3128').waitFor();

    // What the form does not know, and what is sealed, stays as it is.
    await house.fetch('/api/v1/checks/behind-proxy', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ retries: 3, method: 'HEAD' }),
    });
    await page.reload();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const edit = page.locator('dialog[open]');
    assert.equal(await edit.getByLabel('Proxy').inputValue(), 'http://192.0.2.2:3128');
    assert.equal(await edit.getByLabel('Interval in seconds').inputValue(), '3600');
    await edit.getByLabel('Group').fill('shop');
    await edit.getByLabel('Proxy').fill('');
    await edit.getByLabel('Conditions').fill('[STATUS] == 204');
    await assertClean(view, 'the form of a check that is there');
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByText('[STATUS] == 204').waitFor();
    const edited = await made('behind-proxy');
    assert.deepEqual(
      ['group', 'proxy', 'conditions', 'retries', 'method', 'header_names', 'interval_s'].map(
        (field) => edited[field],
      ),
      ['shop', undefined, ['[STATUS] == 204'], 3, 'HEAD', ['Authorization', 'X-Probe'], 3600],
    );

    const login = await create('http://192.0.2.1/login', { Name: 'sign-in' });
    await login.getByLabel('Kind').selectOption('browser');
    const step = async (form: typeof login, number: number, kind: string, ...typed: string[]) => {
      await form.getByRole('button', { name: 'Add a step' }).click();
      await form.getByLabel(`Step ${number}`, { exact: true }).selectOption(kind);
      for (const label of ['CSS selector', 'Text']) {
        const field = form.getByLabel(`${label} of step ${number}`, { exact: true });
        const text = typed.shift();
        await (text === undefined ? undefined : field.fill(text));
      }
    };
    await step(login, 1, 'fill', '#password');
    await login.getByLabel('Encrypt the text of step 1').check();
    await login.getByLabel('Text of step 1', { exact: true }).fill('correct-horse');
    await step(login, 2, 'click', 'button');
    await assertClean(view, 'the form of steps');
    await login.getByRole('button', { name: 'Watch an address' }).click();
    await page
      .getByRole('row', { name: /sign-in/ })
      .first()
      .waitFor();
    await page.goto(`${house.url}/ui/checks/sign-in`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await step(edit, 3, 'wait_for_selector', '#welcome');
    await edit.getByRole('button', { name: 'Delete step 2' }).click();
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    const { steps, secret_names: secrets } = await made('sign-in');
    assert.deepEqual(steps, [
      { do: 'fill', selector: '#password', secret: 'step-1' },
      { do: 'wait_for_selector', selector: '#welcome' },
    ]);
    assert.deepEqual(secrets, ['step-1']);
    await view.context.close();
    return undefined;
  },
);
