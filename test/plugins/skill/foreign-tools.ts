import type { ListedTool } from '../mcp/changing-server.ts';

/** Topics of tools of other products; some are close to those of svc. */
const products: Readonly<Record<string, readonly string[]>> = {
  GitHub: ['issue', 'pull request', 'commit', 'branch', 'release', 'workflow run'],
  Jira: ['ticket', 'sprint', 'board', 'comment', 'worklog', 'project'],
  Slack: ['message', 'channel', 'reaction', 'reminder', 'user group', 'file'],
  PagerDuty: [
    'incident',
    'schedule',
    'escalation policy',
    'service',
    'on-call shift',
    'notification rule',
  ],
  Grafana: ['dashboard', 'panel', 'data source', 'alert rule', 'annotation', 'folder'],
  Kubernetes: ['pod', 'deployment', 'node', 'namespace', 'config map', 'ingress'],
  AWS: ['instance', 'bucket', 'log group', 'alarm', 'security group', 'load balancer'],
  Datadog: ['monitor', 'metric', 'log index', 'trace', 'host', 'downtime'],
  Confluence: ['page', 'space', 'attachment', 'label', 'blog post', 'template'],
  Salesforce: ['account', 'contact', 'lead', 'opportunity', 'case', 'campaign'],
  Stripe: ['customer', 'invoice', 'payment', 'refund', 'subscription', 'coupon'],
  Notion: ['database', 'block', 'view', 'property', 'workspace', 'mention'],
  Cloudflare: ['zone', 'DNS record', 'firewall rule', 'worker', 'certificate', 'tunnel'],
  Terraform: ['plan', 'state', 'module', 'variable set', 'run', 'policy'],
  Snowflake: ['warehouse', 'table', 'query', 'role', 'stage', 'task'],
  Zendesk: ['request', 'macro', 'trigger', 'article', 'organization', 'satisfaction rating'],
};

const verbs: readonly (readonly [verb: string, says: (noun: string, product: string) => string])[] =
  [
    [
      'list',
      (noun, product) => `Lists every ${noun} in ${product}, newest first, with pagination.`,
    ],
    ['get', (noun, product) => `Shows the details of one ${noun} in ${product} by its id.`],
    ['search', (noun, product) => `Searches ${product} for a ${noun} by text and filters.`],
    ['create', (noun, product) => `Creates a new ${noun} in ${product}.`],
    ['delete', (noun, product) => `Removes a ${noun} from ${product} for good.`],
  ];

const wordOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]+/g, '_');

/** Several hundred tools as servers of other products list them. */
export const foreignTools: ListedTool[] = Object.entries(products).flatMap(([product, nouns]) =>
  nouns.flatMap((noun) =>
    verbs.map(([verb, says]) => ({
      name: `${wordOf(product)}_${verb}_${wordOf(noun)}`,
      description: says(noun, product),
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'string', description: `Id of the ${noun}.` } },
      },
    })),
  ),
);
