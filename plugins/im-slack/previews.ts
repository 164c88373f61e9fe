import type { ImApp, ImPreview, ImSent, ImTarget } from 'svc/contracts/imbridge';
import { notSent } from 'svc/im';

import type { Api } from './api.ts';
import { sectionOf } from './message-body.ts';

/** Shows what addresses in a message lead to. While it is still being written, Slack names it by an id of its own. */
export async function preview(
  api: Api,
  app: ImApp,
  at: ImTarget,
  previews: readonly ImPreview[],
): Promise<ImSent> {
  const { channel, ts, unfurl_id, source } = at;
  const shown = await api(app, 'chat.unfurl', {
    ...(unfurl_id === undefined ? { channel, ts } : { unfurl_id, source }),
    unfurls: Object.fromEntries(
      previews.map(({ url, text }) => [url, { blocks: [sectionOf(text)] }]),
    ),
  });
  return shown.result === 'ok'
    ? { result: 'sent', at, id: ts ?? unfurl_id ?? '', thread: at }
    : notSent(shown);
}
