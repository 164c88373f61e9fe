import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startWholeHouse } from '../../whole-house.ts';
import { assertClean, openBrowser, openView, signIn } from './browser.ts';

const password = 'correct horse';
const soon = { timeout: 2_000 };

test(
  'under an open page a token expires, a role loses a right, plugins are loaded anew and go, a session ends: each is said or goes unnoticed',
  {
    timeout: 180_000,
  },
  async (t) => {
    const browser = await openBrowser(t);
    if (!browser) {
      return;
    }
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-console-'));
    const house = await startWholeHouse({ dataDir });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const send = async <T = { id: number }>(
      method: string,
      path: string,
      body: object = {},
    ): Promise<T> => {
      const answer = await house.fetch(`/api/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      assert.ok(answer.ok, `${path} ${text}`);
      return (text === '' ? {} : JSON.parse(text)) as T;
    };
    const role = {
      name: 'watch',
      description: 'keeps watch',
      grants: ['alert:write', 'channel:*'],
    };
    await send('POST', '/roles', role);
    await send('POST', '/users', {
      email: 'root@example.org',
      display_name: 'Root',
      password,
      role: 'admin',
    });
    await send('POST', '/users', {
      email: 'ada@example.org',
      display_name: 'Ada',
      password,
      role: role.name,
    });
    const view = await openView(browser, house.url);
    const { page } = view;
    await signIn(view, house.url, 'ada@example.org', password);
    await page.evaluate('globalThis.sameDocument = true');

    await t.test('an access token that has expired is renewed, and nobody is told', async () => {
      let refusals = 0;
      // Before the first refusal: what was open until now may ask for them, too.
      const renewed = page.waitForResponse(/auth\/refresh/);
      await page.route('**/api/v1/alerts/silences*', async (route) => {
        refusals += 1;
        await (refusals === 1
          ? route.fulfill({
              status: 401,
              json: { error: 'unauthorized', message: 'the access token has expired' },
            })
          : route.continue());
      });
      await page.getByRole('link', { name: 'Silences' }).click();
      await page.getByText('No silences').or(page.locator('main .empty')).first().waitFor();
      assert.equal((await renewed).status(), 200);
      await page.unroute('**/api/v1/alerts/silences*');
      await assertClean(view, 'with another token', /401/);
    });

    await t.test(
      'a right that a role loses takes its buttons away, and what is asked all the same is refused in words',
      async () => {
        await page.getByRole('link', { name: 'Rules', exact: true }).click();
        const add = page.getByRole('button', { name: 'Create rule' });
        await add.waitFor();
        await send('PATCH', `/roles/${role.name}`, { grants: ['channel:*'] });
        await add.waitFor({ state: 'detached', ...soon });
        await page.goto(`${house.url}/ui/audit`);
        await page.getByText('Your role does not allow this.').waitFor();
        await assertClean(view, 'refused', /403/);
        await page.evaluate('globalThis.sameDocument = true');
      },
    );

    await t.test('a plugin that is loaded anew leaves what is shown where it is', async () => {
      await page.getByRole('link', { name: 'Channels' }).click();
      await page.getByRole('button', { name: 'Create channel' }).click();
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await send('POST', '/notification-channels', {
        name: 'far',
        channel_type: 'webhook',
        endpoint: 'https://192.0.2.1/hook',
        match_severity_min: 'critical',
      });
      await page.reload();
      await page.getByRole('row', { name: /far/ }).waitFor();
      await page.evaluate('globalThis.sameDocument = true');
      await send('POST', '/plugins/notify/reload');
      await send('POST', '/plugins/console/reload');
      await send('POST', '/notification-channels', {
        name: 'near',
        channel_type: 'webhook',
        endpoint: 'https://192.0.2.1/hook',
        match_severity_min: 'critical',
      });
      await page.getByRole('row', { name: /near/ }).waitFor({ timeout: 15_000 });
      await page.getByText('Disconnected since').waitFor({ state: 'detached' });
      await assertClean(view, 'after two plugins were loaded anew', /50\d|404|ERR_/);
    });

    await t.test(
      'a page whose plugin is away says so, keeps what it shows, and goes on by itself',
      async () => {
        await send('POST', '/plugins/notify/disable');
        const said = page.getByRole('alert').getByText(/Plugin notify is not running/);
        await said.waitFor(soon);
        await page.getByRole('row', { name: /near/ }).waitFor();
        await assertClean(view, 'without its plugin', /50\d|404/);
        await send('POST', '/plugins/notify/enable');
        await said.waitFor({ state: 'detached', timeout: 5_000 });
        await page.getByRole('row', { name: /near/ }).waitFor();
        assert.equal(await page.evaluate('globalThis.sameDocument'), true, 'without a reload');
        await assertClean(view, 'with its plugin again', /50\d|404/);
      },
    );

    await t.test(
      'a dialog gives the focus back to what has opened it, and no key leads away from it',
      async () => {
        const opener = page.getByRole('button', { name: 'Create channel' });
        await opener.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').waitFor();
        await page.keyboard.press('Control+k');
        assert.equal(await page.locator('dialog[open]').count(), 1);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await opener.and(page.locator(':focus')).waitFor(soon);
      },
    );

    await t.test(
      'where another account signs in beside it, the page is signed out, and what it was about to do is not done',
      async () => {
        const cookie = { email: 'root@example.org', password, cookie: true };
        assert.ok(
          (
            await view.context.request.post(`${house.url}/api/v1/auth/login`, {
              data: cookie,
              headers: { origin: house.url },
            })
          ).ok(),
        );
        // An event may have it asked for once more meanwhile; what counts is as whom.
        const tokens = new Set<string | undefined>();
        await page.route('**/api/v1/alerts/silences*', async (route) => {
          tokens.add(route.request().headers()['authorization']);
          await route.fulfill({
            status: 401,
            json: { error: 'unauthorized', message: 'the access token has expired' },
          });
        });
        await page.getByRole('link', { name: 'Silences' }).click();
        await page.getByText('A different user has signed in from another tab').waitFor(soon);
        assert.equal(await page.getByRole('link', { name: 'Silences' }).count(), 0);
        assert.equal(tokens.size, 1);
        await page.unroute('**/api/v1/alerts/silences*');
        await assertClean(view, 'beside another account', /401/);
        await page.goto(`${house.url}/ui/channels`);
        await page.getByRole('row', { name: /near/ }).waitFor();
        await view.context.clearCookies();
        await page.goto(`${house.url}/ui/channels`);
        await page.getByLabel('Email').fill('ada@example.org');
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('row', { name: /near/ }).waitFor();
      },
    );

    await t.test(
      'a session that was ended says so, and signing in leads back to the page that was open',
      async () => {
        // As she would from another machine.
        const json = { 'content-type': 'application/json' };
        const login = await fetch(`${house.url}/api/v1/auth/login`, {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ email: 'ada@example.org', password }),
        });
        const { access_token: token } = (await login.json()) as { access_token: string };
        const all = await fetch(`${house.url}/api/v1/auth/logout-all`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
        });
        assert.ok(all.ok, await all.text());
        await page.getByText('Your session has ended').waitFor(soon);
        await assertClean(view, 'signed out', /401/);
        await page.getByLabel('Email').fill('ada@example.org');
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('row', { name: /near/ }).waitFor();
        assert.equal(new URL(page.url()).pathname, '/ui/channels');
        await assertClean(view, 'signed in again');
      },
    );
  },
);
