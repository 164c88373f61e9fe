import type { ImApp, ImTarget } from 'svc/contracts/imbridge';
import { type CallAnswer, type Calls, objectOf, textOf } from 'svc/im';

/** Calls a method of Slack's Web API as the bot of an app. */
export type Api = (app: ImApp, method: string, args: object) => Promise<CallAnswer>;

const usualEndpoint = 'https://slack.com/api';
/** Methods that take no JSON: they would see no arguments in it. */
const reading = new Set([
  'users.info',
  'conversations.history',
  'conversations.replies',
  'files.getUploadURLExternal',
]);
const passing = new Set([
  'ratelimited',
  'service_unavailable',
  'internal_error',
  'fatal_error',
  'request_timeout',
  'team_added_to_org',
]);

export const endpointOf = ({ endpoint }: ImApp): string => endpoint || usualEndpoint;

export const openApi =
  (calls: Calls): Api =>
  async (app, method, args) =>
    await calls.call({
      ...(reading.has(method)
        ? { method: 'GET', url: `${endpointOf(app)}/${method}?${queryOf(args)}` }
        : { url: `${endpointOf(app)}/${method}`, json: args }),
      headers: { authorization: `Bearer ${app.app_secret}` },
      judge: objection,
    });

/** Max messages searched for one that may have been sent before a crash. */
const lookedThrough = 50;

/** Returns the latest messages of a thread or a conversation. */
export async function latestOf(
  api: Api,
  app: ImApp,
  { channel, thread_ts: root }: ImTarget,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answer = await api(
    app,
    root === undefined ? 'conversations.history' : 'conversations.replies',
    {
      channel,
      ...(root !== undefined && { ts: root }),
      limit: lookedThrough,
      include_all_metadata: true,
    },
  );
  return answer.result === 'ok' && Array.isArray(answer.body['messages'])
    ? answer.body['messages'].map(objectOf)
    : [];
}

/** Returns whether an address is one of Slack: what we know goes nowhere else. */
export const isAddressOf = (
  { endpoint }: ImApp,
  hosts: ReadonlySet<string>,
  url: string,
): boolean =>
  URL.canParse(url) &&
  ((new URL(url).protocol === 'https:' && hosts.has(new URL(url).hostname)) ||
    (endpoint !== '' && new URL(url).origin === new URL(endpoint).origin));

const queryOf = (args: object): string =>
  new URLSearchParams(
    Object.entries(args).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();

function objection(body: Readonly<Record<string, unknown>>, status: number) {
  if (status === 200 && body['ok'] === true) {
    return undefined;
  }
  const code = textOf(body['error']);
  return code === ''
    ? { code: String(status), words: '' }
    : { code, words: '', again: passing.has(code) || status >= 500 || status === 429 };
}
