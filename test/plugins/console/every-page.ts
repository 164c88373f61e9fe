import type { Page } from 'playwright-core';

export interface OnePage {
  /** Name, also of its picture. */
  readonly name: string;
  readonly address: string;
  /** Text that is there once it has rendered. */
  readonly sign: string | RegExp;
}

/** Every page of the console, with the first thing of each kind; a page that is not here is in no test (`every-page.test.ts` compares). */
export const everyPage: readonly OnePage[] = [
  { name: 'overview', address: '/', sign: 'Overview' },
  { name: 'incidents', address: '/ui/incidents?state=all', sign: 'Incidents' },
  { name: 'incident', address: '/ui/incidents/1', sign: 'Timeline' },
  { name: 'devices', address: '/ui/devices', sign: 'Devices' },
  { name: 'agents-of-devices', address: '/ui/devices/agents', sign: 'Agents' },
  { name: 'device', address: '/ui/devices/1', sign: 'Details' },
  { name: 'device-processes', address: '/ui/devices/1/processes', sign: 'Processes' },
  { name: 'device-logs', address: '/ui/devices/1/logs', sign: 'Logs' },
  { name: 'device-agents', address: '/ui/devices/1/agents', sign: 'Agents' },
  { name: 'checks', address: '/ui/checks', sign: 'Checks' },
  { name: 'check', address: '/ui/checks/front', sign: 'By place' },
  { name: 'heartbeats', address: '/ui/heartbeats', sign: 'Heartbeats' },
  { name: 'dashboards', address: '/ui/dashboards', sign: 'Dashboards' },
  { name: 'dashboard', address: '/ui/dashboards/overview', sign: 'Time range' },
  { name: 'own-dashboard', address: '/ui/dashboards/mine', sign: 'Processor' },
  {
    name: 'explore',
    address: '/ui/explore?q=avg%20by%20(instance)%20(node_cpu_usage_percent)&at=15m',
    sign: 'Explore',
  },
  { name: 'logs', address: '/ui/logs', sign: 'Logs' },
  { name: 'traces', address: '/ui/traces', sign: 'Traces' },
  { name: 'topology', address: '/ui/topology/1', sign: 'Topology' },
  { name: 'services', address: '/ui/topology/services', sign: 'Calls in the last' },
  { name: 'rules', address: '/ui/rules', sign: 'Rules' },
  { name: 'rule', address: '/ui/rules/1', sign: /Condition|Expression/ },
  { name: 'rule-templates', address: '/ui/rules/new', sign: 'CPU is busy' },
  { name: 'new-rule', address: '/ui/rules/new?template=cpu', sign: 'Notified channels' },
  { name: 'silences', address: '/ui/silences', sign: 'Silences' },
  { name: 'silence-calendar', address: '/ui/silences?view=calendar', sign: 'Later' },
  { name: 'channels', address: '/ui/channels', sign: 'Channels' },
  { name: 'conversations', address: '/ui/chat', sign: 'Chat' },
  { name: 'approvals', address: '/ui/approvals', sign: 'Approvals' },
  { name: 'shells', address: '/ui/shell', sign: 'Open shells' },
  { name: 'shell', address: '/ui/shell/1', sign: 'Open shell' },
  { name: 'recordings', address: '/ui/shell/recordings', sign: 'Recordings' },
  { name: 'agents', address: '/ui/agents', sign: 'Agents' },
  { name: 'schedules', address: '/ui/schedules', sign: 'Schedules' },
  {
    name: 'knowledge',
    address: '/ui/knowledge?read=vault/hosts/disk-full.md',
    sign: 'First three readings',
  },
  { name: 'library', address: '/ui/knowledge', sign: 'All documents' },
  { name: 'found', address: '/ui/knowledge?q=disk', sign: 'Results' },
  { name: 'packs', address: '/ui/packs', sign: 'Packs' },
  { name: 'users', address: '/ui/users', sign: 'Users and roles' },
  { name: 'roles', address: '/ui/users/roles', sign: 'Grants' },
  { name: 'who-may', address: '/ui/users/may?action=webshell', sign: 'Decision' },
  { name: 'stores', address: '/ui/stores', sign: 'Connected stores' },
  { name: 'settings', address: '/ui/settings', sign: 'Settings' },
  { name: 'jobs', address: '/ui/jobs', sign: 'Jobs' },
  { name: 'audit', address: '/ui/audit', sign: 'Audit' },
  { name: 'plugins', address: '/ui/plugins', sign: 'Plugins' },
  { name: 'plugin', address: '/ui/plugins/console', sign: 'Generation' },
  { name: 'api', address: '/ui/api', sign: 'API' },
  { name: 'evidence', address: '/ui/evidence', sign: 'No evidence selected' },
  { name: 'account', address: '/ui/account', sign: 'Sign out everywhere' },
  { name: 'operation', address: '/ui/api/postApiV1AlertRules', sign: 'curl command' },
  { name: 'nowhere', address: '/ui/nowhere', sign: 'Page not found' },
];

/** Opens a page and waits until no skeletons are left. */
export async function openPage(page: Page, url: string, one: OnePage): Promise<void> {
  await page.goto(url + one.address);
  await drawn(page, one.sign);
}

/** The same, as by a link: the document stays, and only what the page needs is asked for. */
export async function goToPage(
  page: Page,
  { address, sign }: Pick<OnePage, 'address'> & { readonly sign: OnePage['sign'] | undefined },
): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(address)}), dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await drawn(page, sign);
}

async function drawn(page: Page, sign: OnePage['sign'] | undefined): Promise<void> {
  const main = page.locator('main');
  const shown =
    sign === undefined
      ? main.locator('h1, .empty, .refused')
      : main.getByText(sign).or(main.getByLabel(sign));
  await shown.locator('visible=true').first().waitFor();
  await page
    .locator('.skeleton')
    .first()
    .waitFor({ state: 'detached' })
    .catch(async (error: unknown) => {
      const around = await page.evaluate<string>(
        "document.querySelector('.skeleton').parentElement.outerHTML.slice(0, 400)",
      );
      throw new Error(`${page.url()} goes on loading ${around}: ${String(error)}`);
    });
  // Charts are drawn a frame after their figures are known.
  await page.locator('.plot:not(:has(canvas))').first().waitFor({ state: 'detached' });
}
