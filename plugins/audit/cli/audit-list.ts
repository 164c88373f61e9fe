import { type Command, clientOptions, openClient, printable, table, usageFailure } from 'svc/cli';

import { filters, queryOf } from './filters.ts';

interface Entry {
  readonly id: number;
  readonly occurred_at: string;
  readonly actor: {
    readonly type: string;
    readonly id: string;
    readonly email: string | null;
    readonly name: string | null;
  };
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly status: string;
  readonly error: string | null;
  readonly changes: { readonly after: unknown } | null;
}

interface Page {
  readonly items: readonly Entry[];
  readonly total: number;
}

const usualEntries = 50;
const maxEntries = 200;
const detailWidth = 120;
const brushes: Readonly<Record<string, 'good' | 'warn' | 'bad'>> = {
  success: 'good',
  denied: 'warn',
  failure: 'bad',
};

export const command: Command = {
  operands: [],
  options: {
    ...filters,
    limit: {
      value: 'count',
      about: `maximum number of entries; default: ${usualEntries}`,
      short: 'n',
    },
    ...clientOptions,
  },
  about:
    'Prints the newest entry first; with --json, prints every field of each entry. Listing is itself recorded in the audit log.',
  example: "svc audit list --actor anna@example.org --action 'incident:*' --since 24h",

  async run(call, shell) {
    const limit = Number(call.value('limit') ?? usualEntries);
    if (!Number.isInteger(limit) || limit < 1 || limit > maxEntries) {
      throw usageFailure(`--limit must be a whole number from 1 to ${maxEntries}`);
    }
    const query = queryOf(call);
    query.set('limit', String(limit));
    const client = await openClient(call, shell);
    const { items, total } = await client.get<Page>(`/api/v1/admin/audit-logs?${query.toString()}`);
    return {
      data: items,
      text: (paint) =>
        items.length === 0
          ? 'No matching entries'
          : [
              table([
                ['ID', 'AT', 'WHO', 'ACTION', 'TARGET', 'OUTCOME', 'DETAILS'],
                ...items.map((entry) => [
                  String(entry.id),
                  entry.occurred_at,
                  printable(whoOf(entry)),
                  entry.action,
                  printable(targetOf(entry)),
                  paint[brushes[entry.status] ?? 'faint'](entry.status),
                  printable(detailOf(entry)).slice(0, detailWidth),
                ]),
              ]),
              ...(total > items.length
                ? [`${items.length} of ${total} entries; "svc audit export" writes all of them`]
                : []),
            ].join('\n'),
    };
  },
};

const whoOf = ({ actor: { email, name, type, id } }: Entry): string =>
  email ?? (type === 'user' ? (name ?? id) : `${type}:${id}${name === null ? '' : ` (${name})`}`);

const targetOf = ({ resource_type: type, resource_id: id }: Entry): string =>
  id === null ? type : `${type} ${id}`;

/** Returns the values after the change, or why there was none. */
const detailOf = ({ error, changes }: Entry): string => {
  const after = changes?.after;
  if (error !== null) {
    return error;
  }
  return typeof after === 'object' && after !== null && !Array.isArray(after)
    ? Object.entries(after)
        .map(
          ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        .join(' ')
    : '';
};
