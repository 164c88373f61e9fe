import type { TestContext } from 'node:test';

import { isJson, json, only, type Platform, startPlatform } from './platform.ts';

export const pagerdutyPath = '/v2/enqueue';
export const routingKey = 'R0uting0123456789abcdefABCDEF012';
export const genieKey = 'eb243592-faa2-4ba2-a551q-1afdf565c889';

export interface Tracker extends Platform {
  /** Incidents as the platform keeps them: what was last asked of each. */
  readonly incidents: Map<string, 'triggered' | 'acknowledged' | 'resolved'>;
}

/** The Events API v2: knows one key, and no field that it does not know. */
export async function startPagerduty(t: Pick<TestContext, 'after'>): Promise<Tracker> {
  const incidents: Tracker['incidents'] = new Map();
  const bad = (...errors: string[]) => ({
    ...json({ status: 'invalid event', message: 'Event object is invalid', errors }, 400),
    taken: false,
  });
  const platform = await startPlatform(t, (request) => {
    const { body, url } = request;
    if (url.pathname !== pagerdutyPath || !isJson(request)) {
      return { ...json({ status: 'not found' }, 404), taken: false };
    }
    if (body.routing_key !== routingKey) {
      return bad("'routing_key' is invalid");
    }
    if (
      !only(
        body,
        'routing_key',
        'event_action',
        'dedup_key',
        'payload',
        'client',
        'client_url',
        'links',
      ) ||
      !/^.{1,255}$/.test(body.dedup_key)
    ) {
      return bad('unknown field');
    }
    const { payload, links = [] } = body;
    if (body.event_action === 'trigger') {
      const wrong =
        !only(
          payload,
          'summary',
          'source',
          'severity',
          'timestamp',
          'component',
          'group',
          'class',
          'custom_details',
        ) ||
        payload.summary === '' ||
        payload.summary.length > 1_024 ||
        payload.source === '' ||
        !['critical', 'error', 'warning', 'info'].includes(payload.severity) ||
        Number.isNaN(Date.parse(payload.timestamp)) ||
        links.some(({ href }: { href: string }) => !URL.canParse(href));
      if (wrong) {
        return bad("'payload' is invalid");
      }
      if (incidents.get(body.dedup_key) !== 'acknowledged') {
        incidents.set(body.dedup_key, 'triggered');
      }
    } else if (payload !== undefined || !['acknowledge', 'resolve'].includes(body.event_action)) {
      return bad('unknown action');
    } else if (incidents.get(body.dedup_key) === 'triggered' || body.event_action === 'resolve') {
      incidents.set(body.dedup_key, `${body.event_action as 'acknowledge'}d` as 'acknowledged');
    }
    return {
      ...json({ status: 'success', message: 'Event processed', dedup_key: body.dedup_key }, 202),
      taken: true,
    };
  });
  return Object.assign(platform, { incidents });
}

/** The Alert API: aliases name alerts until they are closed. */
export async function startOpsgenie(t: Pick<TestContext, 'after'>): Promise<Tracker> {
  const incidents: Tracker['incidents'] = new Map();
  const platform = await startPlatform(t, (request) => {
    const { body, url, headers } = request;
    if (headers.authorization !== `GenieKey ${genieKey}`) {
      return { ...json({ message: 'Could not authenticate', took: 0.1 }, 401), taken: false };
    }
    const [, alias, verb] =
      /^\/v2\/alerts(?:\/([^/]+)\/(close|acknowledge))?$/.exec(url.pathname) ?? [];
    if (
      !isJson(request) ||
      (alias !== undefined && url.searchParams.get('identifierType') !== 'alias')
    ) {
      return { ...json({ message: 'Request body is not processable' }, 422), taken: false };
    }
    if (alias === undefined) {
      const wrong =
        !only(
          body,
          'message',
          'alias',
          'description',
          'details',
          'priority',
          'source',
          'entity',
          'tags',
        ) ||
        !/^[^]{1,130}$/.test(body.message) ||
        !/^P[1-5]$/.test(body.priority) ||
        body.alias.length > 512;
      if (wrong) {
        return {
          ...json({ message: 'Request body is not processable', errors: {} }, 422),
          taken: false,
        };
      }
      if (incidents.get(body.alias) !== 'acknowledged') {
        incidents.set(body.alias, 'triggered');
      }
    } else if (!only(body, 'source', 'note', 'user')) {
      return { ...json({ message: 'Request body is not processable' }, 422), taken: false };
    } else {
      incidents.set(alias, verb === 'close' ? 'resolved' : 'acknowledged');
    }
    return {
      ...json(
        { result: 'Request will be processed', took: 0.1, requestId: crypto.randomUUID() },
        202,
      ),
      taken: true,
    };
  });
  return Object.assign(platform, { incidents });
}
