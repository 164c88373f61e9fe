import assert from 'node:assert/strict';

import { fileURLToPath } from 'node:url';

import { account } from '../console-house.ts';
import {
  closed,
  fill,
  go,
  type Hands,
  openTwice,
  press,
  pressChoices,
  pressed,
  save,
} from './hands.ts';

/** The packs that come with svc, by another name. */
const shipped = fileURLToPath(new URL('../../../../marketplace', import.meta.url));

async function packs(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/packs/registries');
  await openTwice(hands, () => press(hands, 'Add registry'));
  await fill(hands, { Name: 'away', 'Index URL, or a folder on this machine': shipped });
  await save(hands);
  const row = page.getByRole('row', { name: /away/ });
  await row.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('Registry refreshed').first().waitFor();
  await row.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await go(hands, '/ui/packs/find');
  const offer = page.getByRole('row', { name: /nginx/i });
  await openTwice(hands, () => offer.getByRole('button', { name: 'Install pack' }).click());
  await pressed(hands, 'Install pack', 'Pack installed', 'dialog');
  await go(hands, '/ui/packs/nginx-doctor');
  await press(hands, 'Disable pack');
  await pressed(hands, 'Enable pack', 'Pack updated');
  await page.getByRole('button', { name: 'Disable pack' }).waitFor();
  await press(hands, 'Uninstall pack');
  await page.waitForURL(/\/ui\/packs$/);
  await go(hands, '/ui/packs/two-versions');
  await press(hands, /^Roll back to/);
  await page.getByText('Pack updated').first().waitFor();
}

async function users(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/users');
  await openTwice(hands, () => press(hands, 'Create user'));
  await fill(hands, {
    Name: 'Grace',
    Email: 'grace@example.org',
    Password: 'correct horse battery',
  });
  await save(hands);
  const grace = page.getByRole('row', { name: /Grace/ });
  for (const [button, state] of [
    ['Disable user', 'Disabled'],
    ['Enable user', 'Active'],
  ] as const) {
    await grace.locator('.rowlink').click();
    await press(hands, button, 'dialog');
    await closed(hands);
    await grace.getByText(state, { exact: true }).waitFor();
  }
  await go(hands, '/ui/users/organizations');
  await openTwice(hands, () => press(hands, 'Create organization'));
  await fill(hands, { Name: 'Acme' });
  await save(hands);
  await page.getByRole('row', { name: /Acme/ }).locator('.rowlink').click();
  await fill(hands, { Description: 'anvils' });
  await save(hands);
}

async function settings(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/settings?q=write_enabled');
  const open = () => page.getByRole('row').locator('.rowlink').first().click();
  await openTwice(hands, open);
  const name = await page.locator('dialog[open] h2').innerText();
  await save(hands);
  await page.getByRole('row', { name }).locator('.rowlink').click();
  await pressed(hands, 'Reset setting', 'Setting reset; takes effect immediately', 'dialog');
  await go(hands, '/ui/audit');
  await page.getByText('All entries').click();
  await press(hands, 'Export as CSV');
  // There are as many rows as the steps before have made.
  await page
    .getByRole('button', { name: 'Show more' })
    .click({ timeout: 5_000 })
    .catch(() => undefined);
  await pressChoices(hands);
}

async function plugins(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/plugins/websearch');
  await press(hands, 'Reload plugin');
  await page.locator('.notice').first().waitFor();
  await press(hands, 'Disable plugin');
  await press(hands, 'Enable plugin');
  await page.getByRole('button', { name: 'Disable plugin' }).waitFor();
}

async function tryOut(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/api?q=silences+preview');
  await page.locator('.rowlink').first().click();
  await pressChoices(hands);
  await pressChoices(hands);
  await page.getByRole('button', { name: 'JSON' }).click();
  await fill(
    hands,
    {
      Body: '{"matchers": [{"name": "rule", "value": "x"}], "duration": "1h", "reason": "a test"}',
    },
    'main',
  );
  await press(hands, 'Send request as Ada');
  await page.getByText('200 OK').waitFor();
  assert.match(await page.locator('.answer-body').innerText(), /"firing_now": \d/);
  assert.match(
    await page.locator('.copyable code').innerText(),
    /^curl -X POST -H "Authorization: Bearer \$TOKEN" -H 'content-type: application\/json' --data '/,
  );
  const download = page.waitForEvent('download');
  await press(hands, 'Save response');
  await (await download).cancel();
  await press(hands, 'Copy');
  await fill(hands, { Body: '{' }, 'main');
  await press(hands, 'Send request as Ada');
  await page.getByText('400 Bad Request').waitFor();
  await go(hands, '/ui/api/getApiV1ConsoleLive');
  await press(hands, 'Send request as Ada');
  await page.locator('.answer-body').getByText('event: hello').waitFor();
  await press(hands, 'Cancel request');
  await page.getByRole('button', { name: 'Save response' }).waitFor();
}

async function frame(hands: Hands): Promise<void> {
  const { page } = hands;
  await page.route('**/api/v1/alert-rules?*', (route) =>
    route.fulfill({ status: 500, json: { error: 'internal', message: 'something broke' } }),
  );
  await page.goto(`${hands.url}/ui/rules`);
  await page.getByRole('alert').getByText('something broke').waitFor();
  await page.unroute('**/api/v1/alert-rules?*');
  await press(hands, 'Try again');
  await page.getByRole('row', { name: /always/ }).waitFor();
  const greetings = ['one', 'another'];
  await page.route('**/console/live', (route) => {
    const greeting = JSON.stringify({
      page: greetings.length > 1 ? greetings.shift() : greetings[0],
    });
    return route.fulfill({
      status: 200,
      contentType: 'text/event-stream',
      body: `event: hello\ndata: ${greeting}\n\n`,
    });
  });
  await page.evaluate('location.reload()');
  await page.getByText('svc was updated.').waitFor();
  await page.unroute('**/console/live');
  await press(hands, 'Reload page');
  await page.getByText('svc was updated.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Search or jump to' }).click();
  await press(hands, 'Close', 'dialog');
  await page.getByRole('button', { name: 'Switch theme' }).click();
  await page.getByRole('button', { name: 'Switch theme' }).click();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function ownAccount(hands: Hands): Promise<void> {
  const { page, url } = hands;
  await page.request.post(`${url}/api/v1/auth/login`, {
    data: { email: account.email, password: account.password },
    headers: { 'user-agent': 'another browser' },
  });
  await page.getByLabel('account menu').click();
  await page.getByRole('link', { name: 'Password, tokens and sessions' }).click();
  await openTwice(hands, () => press(hands, 'Create token'));
  await fill(hands, { Name: 'deploy script', Actions: 'edge:create' });
  await pressed(hands, 'Create token', /^svc_pat_/, 'dialog');
  await press(hands, 'Copy', 'dialog');
  await press(hands, 'Done', 'dialog');
  const token = page.getByRole('row', { name: /deploy script/ });
  await token.getByText('edge:create').waitFor();
  await token.getByRole('button').click();
  await token.waitFor({ state: 'detached' });
  const other = page.getByRole('row', { name: /another browser/ });
  await other.getByRole('button').click();
  await other.waitFor({ state: 'detached' });
  await fill(
    hands,
    { 'Current password': 'not the password', 'New password': 'another long password' },
    'main',
  );
  await pressed(hands, 'Change password', /current password/i);
  await press(hands, 'Sign out everywhere');
  await signIn(hands);
}

async function signIn(hands: Hands): Promise<void> {
  const { page } = hands;
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await press(hands, 'Sign in');
  await page.locator('main h1').first().waitFor();
}

async function welcome(hands: Hands): Promise<void> {
  const { page } = hands;
  await hands
    .ask('PUT', '/system-settings/auth/registration', { value: true })
    .catch(() => undefined);
  await ownAccount(hands);
  await page.getByLabel('account menu').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await press(hands, 'Forgot password?');
  await press(hands, /Send reset link/);
  await press(hands, 'Back to sign-in');
  await signIn(hands);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

export const runSteps = { packs, users, settings, plugins, tryOut, frame, welcome };
