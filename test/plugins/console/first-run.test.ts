import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startWholeHouse } from '../../whole-house.ts';
import { assertClean, openBrowser, openView, signIn } from './browser.ts';

test(
  'a newcomer comes from the link of the banner to a resolved test incident, and back with a password',
  { timeout: 180_000 },
  async (t) => {
    const browser = await openBrowser(t);
    if (!browser) {
      return;
    }
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-console-'));
    const began = performance.now();
    const house = await startWholeHouse({ dataDir });
    t.after(async () => {
      await house.end();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const token = readFileSync(join(dataDir, 'plugins/session/setup-token'), 'utf8').trim();
    assert.ok(house.output().includes(`${house.url}/#setup=${token}`), 'the banner has the link');

    const view = await openView(browser, house.url);
    const { page } = view;
    await page.goto(`${house.url}/`);
    await page.getByRole('heading', { name: 'svc has no administrator yet' }).waitFor();
    assert.equal(
      await page.getByLabel('Password').count(),
      0,
      'never without the token, not even from this machine',
    );
    await assertClean(view, 'before the link');

    await page.goto('about:blank');
    await page.goto(`${house.url}/#setup=${token}`);
    await page.getByLabel('Your name').fill('Ada Lovelace');
    assert.equal(new URL(page.url()).hash, '', 'the token has left the address');
    await page.getByLabel('Email').fill('ada@example.org');
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByRole('alert').getByText('at least 10 characters').waitFor();
    view.forgive(/400/);
    await assertClean(view, 'refused');
    await page.getByLabel('Password').fill('correct horse');
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('No open incidents').first().waitFor();
    await page.getByText('First steps', { exact: true }).waitFor();
    await assertClean(view, 'overview, light');

    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    assert.doesNotMatch(stored, /eyJ|svc_|refresh/, 'no token where a script could read it');
    const cookies = await view.context.cookies();
    assert.deepEqual(
      cookies.map(({ httpOnly, sameSite, path }) => [httpOnly, sameSite, path]),
      [[true, 'Strict', '/api/v1/auth']],
    );

    // From here by clicks alone; the page follows by itself.
    let clicks = 3;
    const click = async (name: string): Promise<void> => {
      await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click();
      clicks += 1;
    };
    await click('Create install command');
    await page
      .getByText(/svc edge|install|curl/)
      .first()
      .waitFor();
    await click('Create test incident');
    await page.getByRole('link', { name: /Open incident \d+/ }).waitFor({ timeout: 60_000 });
    await click('Open incident');
    await page.getByRole('heading', { name: 'Test incident: nothing is wrong' }).waitFor();
    await assertClean(view, 'the incident');
    await click('Acknowledge');
    await page.getByText(/^Acknowledged · fired/).waitFor();
    await click('Add note');
    await page.getByRole('dialog').getByLabel('Note').fill('Looked at it: **all is well**');
    await page.getByRole('dialog').getByRole('button', { name: 'Add note' }).click();
    await page.getByText('all is well', { exact: true }).waitFor();
    await click('Resolve');
    await page.getByText(/^Resolved · fired/).waitFor();
    const seconds = Math.round((performance.now() - began) / 1_000);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('1 / 5').waitFor();
    clicks += 3;
    t.diagnostic(
      `from an empty data folder to a resolved test incident: ${seconds} s, ${clicks} clicks`,
    );
    assert.ok(clicks <= 25, `${clicks} clicks`);
    assert.ok(seconds <= 90, `${seconds} s, looking for barriers on the way included`);
    await assertClean(view, 'after the incident');

    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Switch theme' }).click();
    await page.getByText('First steps', { exact: true }).waitFor();
    await assertClean(view, 'overview, dark');

    await page.getByLabel('account menu').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await view.context.cookies(), []);
    await page.getByLabel('Email').fill('ada@example.org');
    await page.getByRole('button', { name: 'Forgot password?' }).click();
    assert.equal(
      await page.getByLabel('Email').inputValue(),
      'ada@example.org',
      'what was typed stands there',
    );
    assert.equal(await page.evaluate<string>('document.activeElement.type'), 'email');
    await page.getByRole('button', { name: 'Send reset link' }).click();
    await page.getByRole('alert').getByText('no SMTP server is configured').waitFor();
    view.forgive(/409/);
    await assertClean(view, 'no link without e-mail');
    await page.goto('about:blank');
    await page.goto(`${house.url}/#reset=spent`);
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('alert').getByText('request a new one').waitFor();
    view.forgive(/401/);
    await assertClean(view, 'a link that was used');
    await page.getByRole('button', { name: 'Request another link' }).click();
    await page.getByRole('heading', { name: 'Reset password' }).waitFor();
    await page.getByRole('button', { name: 'Back to sign-in' }).click();
    await signIn(view, house.url, 'ada@example.org', 'correct horse');
    await assertClean(view, 'signed in again');
  },
);
