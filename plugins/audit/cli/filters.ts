import { type Call, usageFailure, spanOf } from 'svc/cli';

/** Options that select entries, for each command that reads the trail. */
export const filters = {
  actor: {
    value: 'who',
    about: 'filter by actor: an e-mail address, a user id, or kind:id such as token:7',
  },
  action: {
    value: 'name',
    about: 'filter by action, such as edge:create or edge:*',
  },
  'resource-type': { value: 'type', about: 'filter by target type, such as edge' },
  'resource-id': { value: 'id', about: 'filter by target id' },
  status: { value: 'status', about: 'filter by outcome: success, failure or denied' },
  since: { value: 'duration', about: 'only entries of the last 15m, 2h or 7d' },
  from: {
    value: 'time',
    about: 'only entries from this time onwards, such as 2026-11-20T18:00:00Z',
  },
  to: { value: 'time', about: 'only entries before this time' },
} as const;

/** Returns the query by which the API selects the same entries. */
export function queryOf(call: Call): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of Object.keys(filters).filter((one) => one !== 'since')) {
    const value = call.value(name);
    if (value !== undefined) {
      query.set(name.replaceAll('-', '_'), value);
    }
  }
  const since = call.value('since');
  if (since !== undefined) {
    if (query.has('from')) {
      throw usageFailure('use either --since or --from');
    }
    query.set('from', new Date(Date.now() - spanOf('since', since)).toISOString());
  }
  return query;
}
