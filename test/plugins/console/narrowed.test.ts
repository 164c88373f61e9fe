import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { Browser, Page } from 'playwright-core';

import { openBrowser, openView, signIn, type View } from './browser.ts';
import { type ConsoleHouse, startConsoleHouse } from './console-house.ts';
import { everyPage, goToPage } from './every-page.ts';

const password = 'a long enough passphrase';
const member = 'mia@example.org';

/** Data of each customer; both have the same. */
interface Customer {
  readonly device: number;
  readonly incident: number;
  readonly node: number;
  /** Words that stand in whatever is shown of it. */
  readonly marks: readonly string[];
}

let house: ConsoleHouse;
let browser: Browser | undefined;
let own: Customer;
let other: Customer;
const endings: (() => unknown)[] = [];

before(async () => {
  browser = await openBrowser({
    after: (end: () => unknown) => void endings.push(end),
    skip: () => undefined,
  });
  if (browser) {
    house = await startConsoleHouse();
    [own, other] = await customers();
  }
});

after(async () => {
  for (const end of endings) {
    await end();
  }
  await house?.end();
});

// oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is read of it
async function ask(method: string, path: string, body?: object): Promise<any> {
  const answer = await house.fetch(`/api/v1${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Two customers with a host each, and a member of the first of them who may do whatever is no administrator's. */
async function customers(): Promise<[Customer, Customer]> {
  await ask('POST', '/alert-rules', {
    rule_key: 'there',
    name: 'There',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'host',
    join_mode: 'all',
    severity: 'warning',
    conditions: [{ expr: 'node_cpu_usage_percent > -1' }],
  });
  const { items: devices } = await ask('GET', '/devices?limit=10');
  const names = ['acme', 'bravo'] as const;
  const made: Customer[] = [];
  for (const [index, { id: device, hostname, ip_address: address }] of devices
    .toReversed()
    .entries()) {
    const name = names[index]!;
    await ask('PATCH', `/devices/${device}`, {
      display_name: `host of ${name}`,
      tags: { customer: name },
    });
    const { items: edges } = await ask('GET', `/edges?device_id=${device}`);
    await ask('POST', '/changes', { summary: `deploy of ${name}`, device_id: device });
    await ask('POST', '/alerts/silences', {
      matchers: [
        { name: 'device_id', value: String(device) },
        { name: 'who', value: name },
      ],
      duration: '1h',
      reason: `for ${name}`,
    });
    let incident: number | undefined;
    for (const deadline = Date.now() + 120_000; incident === undefined; await pause(200)) {
      assert.ok(Date.now() < deadline, 'the incident of each host is there within two minutes');
      const { items } = await ask('GET', '/alerts/incidents?rule=there&status=active');
      incident = items.find(
        ({ device_id: of }: { device_id: string }) => of === String(device),
      )?.id;
    }
    const { items: nodes } = await ask('GET', '/topology/nodes?limit=50');
    const node = nodes.find(({ device_id: of }: { device_id: number }) => of === device)!.id;
    made.push({
      device,
      incident,
      node,
      marks: [name, hostname, edges[0].name, address].filter(
        (mark): mark is string => typeof mark === 'string',
      ),
    });
  }
  const { items: actions } = await ask('GET', '/policy/actions?limit=200');
  await ask('POST', '/roles', {
    name: 'most',
    description: 'All but administration',
    grants: actions.map(({ action }: { action: string }) => action),
  });
  const { id } = await ask('POST', '/users', {
    email: member,
    display_name: 'Mia',
    password,
    role: 'most',
  });
  const org = await ask('POST', '/orgs', { name: 'Acme' });
  await ask('POST', `/orgs/${org.id}/members`, { user_id: id });
  return [made[0]!, made[1]!];
}

/** Everything that is on the page, also what is not seen; what the address says again is not counted. */
const everything = (page: Page): Promise<string> =>
  page.evaluate<string>('document.documentElement.outerHTML');

async function memberView(): Promise<View> {
  const view = await openView(browser!, house.url);
  await signIn(view, house.url, member, password);
  return view;
}

test('an administrator narrows an organization in the form, which says how many devices it keeps', async (t) => {
  if (!browser) {
    return t.skip('chromium is not installed');
  }
  const view = await house.view(browser);
  const { page } = view;
  await goToPage(page, { address: '/ui/users/organizations', sign: 'Acme' });
  await page.getByText('Acme').click();
  const field = page.getByLabel('Devices its members can see');
  for (const [typed, said] of [
    ['customer=nobody', 'Matches no devices'],
    ['customer', 'Matches 2 of 2 devices.'],
    [' customer=acme, ', 'Matches 1 of 2 devices.'],
  ] as const) {
    await field.fill(typed);
    await page.getByText(said).waitFor();
  }
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('main').getByText('customer=acme', { exact: true }).waitFor();
  assert.deepEqual(view.complaints, []);
  await view.context.close();
  return undefined;
});

test(
  'every page shows a member their own devices, of others nothing, and in words what it cannot show',
  { timeout: 120_000 },
  async (t) => {
    if (!browser) {
      return t.skip('chromium is not installed');
    }
    const view = await memberView();
    const { page } = view;
    page.setDefaultTimeout(8_000);
    const faults: string[] = [];
    const ofOwn = (address: string): string =>
      address
        .replace(/^\/ui\/devices\/1/, `/ui/devices/${own.device}`)
        .replace(/^\/ui\/shell\/1/, `/ui/shell/${own.device}`)
        .replace(/^\/ui\/incidents\/1/, `/ui/incidents/${own.incident}`)
        .replace(/^\/ui\/topology\/1/, `/ui/topology/${own.node}`);
    const othersPages = [
      ...['', '/processes', '/logs', '/agents'].map((more) => `/ui/devices/${other.device}${more}`),
      ...[
        `/ui/shell/${other.device}`,
        `/ui/incidents/${other.incident}`,
        `/ui/topology/${other.node}`,
      ],
    ];
    let shown = 0;
    for (const address of [
      ...everyPage.map((one) => ofOwn(one.address)),
      ...othersPages,
      '/ui/users/organizations',
    ]) {
      const before = view.complaints.length;
      await goToPage(page, { address, sign: undefined }).catch((error: unknown) =>
        faults.push(`${address} is not drawn: ${String(error).split('\n')[0]}`),
      );
      await pause(300);
      const all = await everything(page);
      faults.push(
        ...other.marks
          .filter((mark) => all.includes(mark))
          .map((mark) => `${address} shows ${mark}`),
      );
      shown += own.marks.some((mark) => all.includes(mark)) ? 1 : 0;
      const said = await page.locator('main .refused').allInnerTexts();
      faults.push(
        ...said
          .filter((text) => !/^(Your role does not allow this|[Tt]here is no )/.test(text))
          .map((text) => `${address} says ${text}`),
      );
      // Where it says so, in words of a refusal or as a page that there is not, it has asked.
      const mayAsk = said.length > 0 || othersPages.includes(address);
      const complaints = view.complaints
        .slice(before)
        .filter((complaint) => !mayAsk || !/status of 40[34]/.test(complaint));
      faults.push(...complaints.map((complaint) => `${address} complains ${complaint}`));
    }
    assert.deepEqual(faults, []);
    assert.ok(shown >= 10, `${shown} pages show something of their own`);
    await view.context.close();
    return undefined;
  },
);
