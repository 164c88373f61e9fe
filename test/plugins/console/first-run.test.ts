import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startWholeHouse } from '../../whole-house.ts';
import { assertClean, openBrowser, openView, signIn } from './browser.ts';

test('a newcomer makes the first administrator by the link of the banner, and comes back with a password', { timeout: 120_000 }, async (t) => {
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
  const token = readFileSync(join(dataDir, 'plugins/session/setup-token'), 'utf8').trim();
  assert.ok(house.output().includes(`${house.url}/#setup=${token}`), 'the banner has the link');

  const view = await openView(browser, house.url);
  const { page } = view;
  await page.goto(`${house.url}/`);
  await page.getByRole('heading', { name: 'This svc has no administrator yet' }).waitFor();
  assert.equal(await page.getByLabel('Password').count(), 0, 'never without the token, not even from this machine');
  await assertClean(view, 'before the link');

  await page.goto('about:blank');
  await page.goto(`${house.url}/#setup=${token}`);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  assert.equal(new URL(page.url()).hash, '', 'the token has left the address');
  await page.getByLabel('E-mail').fill('ada@example.org');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Make the account' }).click();
  await page.getByRole('alert').getByText('at least 10 characters').waitFor();
  view.forgive(/400/);
  await assertClean(view, 'refused');
  await page.getByLabel('Password').fill('correct horse');
  await page.getByRole('button', { name: 'Make the account' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByText('Nothing is firing.').waitFor();
  await page.getByText('First steps').waitFor();
  await assertClean(view, 'overview, light');

  const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
  assert.doesNotMatch(stored, /eyJ|svc_|refresh/, 'no token where a script could read it');
  const cookies = await view.context.cookies();
  assert.deepEqual(
    cookies.map(({ httpOnly, sameSite, path }) => [httpOnly, sameSite, path]),
    [[true, 'Strict', '/api/v1/auth']],
  );

  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Light or dark' }).click();
  await page.getByText('Nothing is firing.').waitFor();
  await assertClean(view, 'overview, dark');

  await page.getByLabel('your account').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await view.context.cookies(), []);
  await signIn(view, house.url, 'ada@example.org', 'correct horse');
  await assertClean(view, 'signed in again');
});
