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

async function rules(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/rules');
  await openTwice(hands, () => press(hands, 'Import rules'));
  await fill(hands, {
    'Rule file or PrometheusRule object':
      'groups: [{ name: g, rules: [{ alert: Brought, expr: up == 0 }] }]',
  });
  await pressed(hands, 'Import rules', '1 rule imported', 'dialog');
  await page.keyboard.press('Escape');
  await press(hands, 'Create rule');
  await page.getByRole('link', { name: /^CPU is busy/ }).click();
  await press(hands, 'Cancel');
  await press(hands, 'Create rule');
  await page.getByRole('link', { name: /^Any PromQL query/ }).click();
  await fill(hands, { Name: 'Made here', Query: 'vector(1)', Threshold: '2' }, 'main');
  await page.getByText('Scope, grouping and timing').click();
  await fill(hands, { Scope: 'global' }, 'main');
  await page.getByText('The rule would not have fired.').waitFor();
  await page.getByRole('button', { name: /^Show as table/ }).click();
  await press(hands, 'Add condition');
  await press(hands, 'Remove condition 2');
  await press(hands, 'Add label');
  await page.getByLabel('Label name').fill('team');
  await press(hands, 'Remove label team');
  await press(hands, 'JSON');
  await press(hands, 'Builder');
  await press(hands, 'Save');
  const row = page.getByRole('row', { name: /Made here/ });
  await row.getByRole('button').click();
  await row.getByRole('button', { name: /: Disabled$/ }).click();
  await row.getByRole('button', { name: /: Enabled$/ }).waitFor();
  await row.getByRole('link').click();
  await pressed(hands, 'Delete rule', 'Rule deleted');
}

async function silences(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/silences');
  await pressChoices(hands);
  await go(hands, '/ui/silences');
  await openTwice(hands, () => press(hands, 'Create silence'));
  await page.locator('.offers button').first().click();
  await press(hands, 'Add matcher', 'dialog');
  await press(hands, 'Remove matcher 2', 'dialog');
  await fill(hands, { 'Label of matcher 1': 'rule', 'Value of matcher 1': 'made_by_a_test' });
  await fill(hands, { Reason: 'a test' });
  await page.getByText(/^Silences 0 of/).waitFor();
  await pressChoices(hands, 'dialog');
  await press(hands, 'Create silence', 'dialog');
  await closed(hands);
  const row = page.getByRole('row', { name: /made_by_a_test/ });
  await row.getByRole('button', { name: 'Edit silence' }).click();
  await pressChoices(hands, 'dialog');
  await press(hands, 'Save silence', 'dialog');
  await closed(hands);
  await press(hands, 'Calendar');
  await press(hands, 'Later');
  await press(hands, 'Earlier');
  await page.locator('.calendar .entry').first().click();
  await press(hands, 'Cancel', 'dialog');
  await press(hands, 'List');
  await row.getByRole('button', { name: 'End silence' }).click();
  await page.getByText('Silence ended').waitFor();
}

async function channels(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/channels');
  await openTwice(hands, () => press(hands, 'Create channel'));
  await fill(hands, { Name: 'near', Endpoint: `${hands.url}/livez` });
  await save(hands);
  const row = page.getByRole('row', { name: /near/ });
  await row.getByRole('button', { name: 'Send test' }).click();
  await page
    .locator('.notice')
    .getByText(/^Test message/)
    .waitFor();
  await page.locator('.notice').getByRole('button', { name: 'Dismiss' }).first().click();
  await page
    .getByRole('row', { name: /delayed|failed/ })
    .getByRole('button', { name: 'Send again' })
    .first()
    .click();
  await row.locator('.rowlink').click();
  await fill(hands, { Name: 'nearer' });
  await save(hands);
  await page
    .getByRole('row', { name: /nearer/ })
    .locator('.rowlink')
    .click();
  await pressed(hands, 'Delete channel', 'Channel deleted', 'dialog');
}

async function chat(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/chat');
  await press(hands, 'New conversation');
  await page.getByLabel('Message').fill('what could you call?');
  await press(hands, 'Send');
  await page.getByText('I am a scripted model.').first().waitFor();
  // What was asked for Ada before, and waits.
  await page.locator('main .list a').filter({ hasText: 'call silence_create' }).first().click();
  await page.getByText('This change is waiting for approval.').waitFor();
  await press(hands, 'Stop');
  await page.getByRole('button', { name: 'Send' }).waitFor();
}

async function approvals(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/approvals');
  await pressChoices(hands);
  for (const [button, said] of [
    ['Deny', 'Approval denied'],
    ['Sign', 'Approval signed'],
  ] as const) {
    await go(hands, '/ui/approvals');
    await page.locator('.rowlink').first().click();
    await page.getByLabel('Comment, or reason for denial').fill('a test has read it');
    await pressed(hands, button, said);
    assert.equal(await page.getByRole('alert').count(), 0);
  }
}

async function agents(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/agents');
  await page.locator('main form input').first().fill('why is the disk full?');
  await page.locator('main form button').click();
  await page.locator('main [role="status"] a').first().waitFor();
  await go(hands, '/ui/agents/skills/incidents_list');
  await page.locator('main form button').click();
  await page.locator('main pre.code').nth(1).waitFor();
}

async function knowledge(hands: Hands): Promise<void> {
  const { page } = hands;
  await go(hands, '/ui/knowledge');
  await pressed(hands, 'Sync playbooks', 'Built-in playbooks synced');
  await page.locator('input[type="file"]').setInputFiles({
    name: 'brought.md',
    mimeType: 'text/markdown',
    buffer: Buffer.from('# Brought\n\nby hand\n'),
  });
  await page.getByText('brought.md uploaded').waitFor();
  await page.locator('.rowlink[aria-pressed="false"]').first().click();
  await go(hands, '/ui/knowledge');
  await openTwice(hands, () => press(hands, 'Create document'));
  await fill(hands, {
    'Path, such as runbooks/mail.md': 'runbooks/made.md',
    Markdown: '# Made here\n\nFirst.',
  });
  await save(hands);
  await go(hands, '/ui/knowledge?read=runbooks/made.md');
  await press(hands, 'Edit document');
  await press(hands, 'Cancel');
  await press(hands, 'Edit document');
  await fill(hands, { Markdown: '# Made here\n\nSecond.' }, 'main');
  await pressed(hands, 'Save', 'Second.');
  await pressed(hands, 'Delete document', 'Document deleted');
  await go(hands, '/ui/knowledge?read=vault/hosts/disk-full.md');
  await press(hands, 'Customize playbook');
  await pressed(hands, 'Save', /version 2/);
}

export const workSteps = { rules, silences, channels, chat, approvals, agents, knowledge };
