import assert from 'node:assert/strict';

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

async function overview(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/');
  await press(hands, 'Create test incident');
  await page.getByRole('link', { name: /Open incident \d+/ }).waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: /^Show as table: CPU usage/ }).click();
  await page.getByRole('region', { name: 'CPU usage' }).waitFor();
  await press(hands, 'Hide first steps');
  await page.getByText('First steps', { exact: true }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.equal(await page.getByText('First steps', { exact: true }).count(), 0, 'hidden is hidden');
}

async function incidents(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/incidents');
  await pressChoices(hands);
  await go(hands, '/ui/incidents/1');
  await page.getByRole('button', { name: /^Show as table/ }).click();
  await openTwice(hands, () => press(hands, 'Add note'));
  await fill(hands, { Note: 'seen by a test' });
  await pressed(hands, 'Add note', 'seen by a test', 'dialog');
  await openTwice(hands, () => press(hands, 'Silence'));
  await pressChoices(hands, 'dialog');
  await fill(hands, { Reason: 'a test looks at it' });
  await pressed(hands, 'Silence incident', 'Incident silenced', 'dialog');
  await pressed(hands, 'End silence', 'Silence ended; the incident is open again');
  await pressed(hands, 'Acknowledge', 'Incident acknowledged');
  await page.getByRole('button', { name: 'Silence', exact: true }).waitFor({ state: 'detached' });
  // Whoever works by keyboard goes on beside the button that is gone.
  await page.locator('main .actions button:focus').waitFor();
  await pressed(hands, 'Investigate incident', 'Investigation started');
  await page.getByRole('button', { name: 'Investigate again' }).waitFor({ timeout: 60_000 });
  await press(hands, 'Investigate again');
  await page
    .getByText('Investigating…')
    .or(page.getByText('Investigation started'))
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Send again' }).first().waitFor({ timeout: 60_000 });
  await pressed(hands, 'Send again', 'Notification queued again');
  await pressed(hands, 'Resolve', 'Incident resolved');
}

async function devices(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/devices');
  await page.keyboard.press('j');
  await page.locator('main .rowlink:focus').waitFor();
  await pressChoices(hands);
  for (const column of await page.locator('th .sort').all()) {
    await column.click();
  }
  for (const [action, given] of [
    ['Set tag…', { Tag: 'a=b' }],
    ['Add role…', { Role: 'web' }],
    ['Silence…', { Reason: 'planned' }],
    ['Rotate secrets…', {}],
    ['Remove…', {}],
  ] as const) {
    await page.locator('tbody .choose input').first().check();
    await openTwice(hands, () => press(hands, action));
    await fill(hands, given);
    await press(hands, 'Apply');
    await page.getByText(/^Done: /).waitFor();
    await page.locator('dialog .buttons button').last().click();
  }
  await page.locator('tbody .choose input').first().check();
  await press(hands, 'Clear selection');
  await press(hands, 'Add host');
  await press(hands, 'Copy');
  await go(hands, '/ui/devices/1');
  await pressChoices(hands);
  await openTwice(hands, () => press(hands, 'Edit device'));
  await fill(hands, { Name: 'renamed', Roles: 'db, web', Tags: 'place=here' });
  await save(hands);
  await page.getByRole('heading', { name: 'renamed' }).waitFor();
  for (const chart of await page.getByRole('button', { name: /^Show as table/ }).all()) {
    await chart.click();
  }
  await go(hands, '/ui/devices/1/logs');
  await pressChoices(hands);
  await press(hands, 'Follow logs');
  await press(hands, 'Stop following');
  await press(hands, 'Wrap lines');
  await go(hands, '/ui/devices/1/agents');
  await press(hands, 'Upgrade agent');
  await page.locator('.notice').first().waitFor();
  await press(hands, 'Rotate secret');
  await press(hands, 'Copy');
  await page.keyboard.press('Escape');
  await openTwice(hands, () => press(hands, 'Remove agent…'));
  await page.locator('dialog .buttons button').last().click();
  await go(hands, '/ui/devices/1/processes');
  await pressChoices(hands);
}

/** Two machines that claim one device, and one that was turned away: written into the tables before svc began. */
async function machines(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/devices/agents');
  await pressChoices(hands);
  await go(hands, '/ui/devices/agents');
  await pressed(
    hands,
    'Accept next machine',
    'The next machine that connects will become this agent.',
  );
  await go(hands, '/ui/devices?q=lost');
  await page.getByRole('link', { name: /lost/ }).click();
  await page.getByRole('link', { name: 'Agents', exact: true }).last().click();
  await page.locator('.claim').nth(1).waitFor();
  await press(hands, 'Reject machine');
  await page.locator('.claim').nth(1).waitFor({ state: 'detached' });
  await press(hands, 'Accept machine');
  await page.locator('.claim').first().waitFor({ state: 'detached' });
}

async function dashboards(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/dashboards');
  await openTwice(hands, () => press(hands, 'Import dashboard'));
  await fill(hands, { 'Dashboard JSON': '{' });
  await pressed(hands, 'Import dashboard', /Invalid JSON/, 'dialog');
  const panel = {
    type: 'timeseries',
    title: 'One',
    gridPos: { x: 0, y: 0, w: 12, h: 8 },
    targets: [{ expr: 'up', refId: 'A' }],
  };
  await fill(hands, {
    'Dashboard JSON': JSON.stringify({
      uid: 'brought',
      title: 'Brought',
      panels: [{ type: 'row', title: 'Below', gridPos: { x: 0, y: 0, w: 24, h: 1 } }, panel],
    }),
  });
  await press(hands, 'Import dashboard', 'dialog');
  await page.getByText('Brought').first().waitFor();
  await press(hands, 'Close Below');
  await press(hands, 'Open Below');
  await press(hands, 'Export');
  await go(hands, '/ui/dashboards');
  await openTwice(hands, () => press(hands, 'Create dashboard'));
  await fill(hands, { Title: 'Tested' });
  await press(hands, 'Create dashboard', 'dialog');
  await openTwice(hands, () => press(hands, 'Add panel'));
  await fill(hands, { 'Panel title': 'First', Query: 'svc_process_uptime_seconds' });
  await press(hands, 'Apply', 'dialog');
  await closed(hands);
  await openTwice(hands, () => press(hands, 'Add row'));
  await press(hands, 'Cancel', 'dialog');
  await press(hands, 'Duplicate First');
  await openTwice(hands, () => press(hands, 'Edit First (copy)'));
  await fill(hands, { 'Panel title': 'Second' });
  await press(hands, 'Apply', 'dialog');
  for (const handle of ['Move Second', 'Resize Second']) {
    await page.getByRole('button', { name: handle, exact: true }).focus();
    await page.keyboard.press('ArrowLeft');
  }
  await press(hands, 'Remove Second');
  await page.getByRole('button', { name: /^Undo/ }).click();
  await press(hands, 'Redo');
  await openTwice(hands, () => press(hands, 'Title and variables'));
  await press(hands, 'Add variable', 'dialog');
  await press(hands, 'Remove variable', 'dialog');
  await press(hands, 'Apply', 'dialog');
  await press(hands, 'Save dashboard');
  await pressChoices(hands);
  await press(hands, 'Edit dashboard');
  await press(hands, 'Discard changes');
  await page.getByRole('button', { name: /^Show as table: First/ }).click();
  await openTwice(hands, () => press(hands, 'Duplicate'));
  await fill(hands, { 'Title of the copy': 'Other' });
  await press(hands, 'Duplicate dashboard', 'dialog');
  await page.getByRole('heading', { name: 'Other' }).waitFor();
  await press(hands, 'Edit dashboard');
  await press(hands, 'Remove First');
  await page.getByRole('button', { name: /^Undo/ }).click();
  await openTwice(hands, () => press(hands, 'Title and variables'));
  await fill(hands, { Title: 'Another' });
  await press(hands, 'Apply', 'dialog');
  await press(hands, 'Save dashboard');
  await page.getByRole('heading', { name: 'Another' }).waitFor();
  await openTwice(hands, () => press(hands, 'Versions'));
  await press(hands, 'Version 1', 'dialog');
  await press(hands, 'Restore version 1', 'dialog');
  await closed(hands);
  await press(hands, 'Delete panels');
  await page.waitForURL(/\/ui\/dashboards$/);
}

async function queries(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/explore?q=svc_process_uptime_seconds');
  await press(hands, 'Run query');
  await pressChoices(hands);
  await page
    .getByRole('button', { name: /^Show as table/ })
    .first()
    .click();
  const now = Math.floor(Date.now() / 1000);
  await go(hands, `/ui/explore?q=svc_process_uptime_seconds&at=${now - 600}-${now}`);
  await press(hands, 'Back to now');
  await go(hands, '/ui/logs');
  await press(hands, 'Run query');
  await pressChoices(hands);
  await press(hands, 'Follow logs');
  await press(hands, 'Stop following');
  await press(hands, 'Wrap lines');
  await go(hands, '/ui/traces');
  await press(hands, 'Run query');
  await pressChoices(hands);
  await page.locator('.rowlink').first().click();
  await page.locator('.waterfall button').first().click();
  await page.locator('.span-more').waitFor();
}

/** A notification waits for its group, long enough to be cancelled. */
async function jobs(hands: Hands): Promise<void> {
  const { page, ask } = hands;
  const channel = await ask('POST', '/notification-channels', {
    name: 'gathering',
    channel_type: 'webhook',
    endpoint: 'http://127.0.0.1:9/',
    group_wait: '1h',
  });
  const rule = await ask('POST', '/alert-rules', {
    rule_key: 'waits_for_its_group',
    name: 'Waits for its group',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'info',
    conditions: [{ expr: 'vector(1) > 0' }],
  });
  await go(hands, '/ui/jobs');
  await pressChoices(hands);
  await go(hands, '/ui/jobs?state=waiting');
  await page.getByText('to gathering').first().waitFor({ timeout: 60_000 });
  await pressed(hands, 'Cancel job', 'Job cancelled');
  await go(hands, '/ui/jobs?state=failed');
  await page
    .getByText(/cancelled by/)
    .first()
    .waitFor();
  await ask('DELETE', `/alert-rules/${rule.id}`);
  await ask('DELETE', `/notification-channels/${channel.id}`);
}

export const watchSteps = { overview, incidents, jobs, devices, machines, dashboards, queries };
