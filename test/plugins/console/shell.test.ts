import assert from 'node:assert/strict';
import { test } from 'node:test';

import { password } from '../../trust/household.ts';
import { rooms, shellHouse, until } from '../webshell/house.ts';
import { startSshd } from '../webshell/sshd.ts';
import { assertClean, openBrowser, openView, signIn } from './browser.ts';
import { Presses } from './presses.ts';

test(
  'a shell is opened, used and played from its recording, under the policy of the page',
  { timeout: 240_000 },
  async (t) => {
    const browser = await openBrowser(t);
    const sshd = await startSshd(t);
    if (!browser || !sshd) {
      return;
    }
    const { house, fleet, person, device } = await shellHouse(t, () => sshd.port, {
      plugins: [...rooms, 'console'],
    });
    const { email } = await person('ada', 'admin');
    const id = await device(1);
    const view = await openView(browser, house.url);
    const { page } = view;
    const presses = new Presses();
    await presses.follow(page);
    await signIn(view, house.url, email, password);

    await page.goto(`${house.url}/ui/shell/${id}`);
    await page.getByLabel('User on the device').fill(sshd.user);
    await page.getByRole('button', { name: 'Private key' }).click();
    await page.getByRole('button', { name: 'Password' }).click();
    await page.getByRole('button', { name: 'Private key' }).click();
    await page.getByLabel('Private key', { exact: true }).fill(sshd.privateKey);
    // This house has few rooms, and the overview asks for more.
    await assertClean(view, 'before the shell', /404/);
    await page.getByRole('button', { name: 'Open shell' }).click();
    await page.getByText(/^Connected · recorded/).waitFor();
    const screen = page.locator('.terminal .xterm-rows');
    // A colour of its own and a link that a program prints: neither may run into the policy, nor lead anywhere.
    await page.keyboard.type(
      String.raw`printf '\033[38;2;10;200;30mgreen\033[0m \033]8;;https://evil.example\007li''nk\033]8;;\007 <b>bo''ld</b>\n'`,
    );
    await page.keyboard.press('Enter');
    await screen.getByText('link <b>bold</b>').first().waitFor();
    assert.equal(
      await page.evaluate(
        `getComputedStyle([...document.querySelectorAll('.xterm-rows span')].find((cell) => cell.textContent === 'green')).color`,
      ),
      'rgb(10, 200, 30)',
    );
    assert.equal(await page.locator('.terminal a, .terminal b').count(), 0);
    await assertClean(view, 'in the shell', /404/);

    await page.keyboard.type('exit 3');
    await page.keyboard.press('Enter');
    await page.getByText('Shell exited with status 3').waitFor();
    const again = async (): Promise<void> => {
      await page.getByLabel('User on the device').fill(sshd.user);
      await page.getByRole('button', { name: 'Private key' }).click();
      await page.getByLabel('Private key', { exact: true }).fill(sshd.privateKey);
      await page.getByRole('button', { name: 'Open shell' }).click();
      await page.getByText(/^Connected · recorded/).waitFor();
    };
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await again();
    await page.getByRole('button', { name: 'End shell' }).click();
    await page.getByText(/^Connected · recorded/).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await again();
    const other = await view.context.newPage();
    await other.goto(`${house.url}/ui/shell`);
    await other.getByRole('button', { name: 'End shell', exact: true }).click();
    await other.getByText('Shell ended').waitFor();
    await other.close();
    await page.getByText(/^Connected · recorded/).waitFor({ state: 'detached' });
    await page.goto(`${house.url}/ui/shell/recordings`);
    await page.getByText('Complete').first().waitFor();
    await assertClean(view, 'the list of recordings', /404/);
    await page.locator('.rowlink').last().click();
    await page.getByLabel('Skip idle time').click();
    await page.getByLabel('Skip idle time').click();
    for (const speed of ['2×', '4×', '16×', '1×']) {
      await page
        .locator('.player .segments')
        .getByRole('button', { name: speed, exact: true })
        .click();
    }
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Play' }).click();
    await screen.getByText('link <b>bold</b>').first().waitFor();
    await page.getByLabel('Position').fill('0');
    await until(
      'what was shown later is gone',
      async () => (await screen.getByText('link <b>bold</b>').count()) === 0,
    );
    await assertClean(view, 'the player');
    assert.equal(fleet.sockets.size, 0, 'the way to the device is closed');
    // 'End shell' was pressed in a window that nobody listens to.
    assert.deepEqual(
      presses.left().filter((key) => key.startsWith('shell: ')),
      [],
    );
  },
);
